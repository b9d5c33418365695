//! Drawings as PDF, by way of SVG.

use std::sync::Arc;

use krilla::geom::Size;
use krilla::page::PageSettings;
use krilla_svg::{SurfaceExt, SvgSettings};
use krilla_usvg::{Options, Tree, fontdb::Database};

use super::drawing::Drawing;
use super::error::DrawError;
use super::geometry::{Length, MM};
use super::theme::Theme;

const POINTS_PER_MM: f64 = 72.0 / 25.4;

impl Drawing {
    /// The picture as a PDF file of one page in its size, with real text in the embedded font.
    ///
    /// # Errors
    /// [`DrawError::Backend`] if the picture cannot be drawn.
    pub fn to_pdf(&self) -> Result<Vec<u8>, DrawError> {
        let backend = |error: String| DrawError::Backend { format: "PDF", error };
        let mut fonts = Database::new();
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        fonts.load_font_data(dejavu::sans::bold().to_vec());
        let family = Theme::PAPER.font_family.split(',').next().unwrap_or_default();
        let options = Options { fontdb: Arc::new(fonts), font_family: family.to_owned(), ..Options::default() };
        let tree = Tree::from_str(&self.to_svg(), &options).map_err(|error| backend(error.to_string()))?;

        #[expect(clippy::cast_possible_truncation, reason = "a page is a few hundred points")]
        let points = |length: Length| (length as f64 / MM as f64 * POINTS_PER_MM) as f32;
        let size = Size::from_wh(points(self.width), points(self.height))
            .ok_or_else(|| backend("the page has no size".to_owned()))?;
        let mut document = krilla::Document::new();
        let mut page = document.start_page_with(PageSettings::new(size));
        let mut surface = page.surface();
        surface
            .draw_svg(&tree, size, SvgSettings::default())
            .ok_or_else(|| backend("the SVG cannot be converted".to_owned()))?;
        surface.finish();
        page.finish();
        document.finish().map_err(|error| backend(format!("{error:?}")))
    }
}
