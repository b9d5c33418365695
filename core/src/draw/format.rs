//! File formats of pictures, and why a picture cannot be drawn.

use std::path::Path;

use thiserror::Error;

use super::drawing::Drawing;
use crate::effort::Counted;
use crate::limits::count;

/// What a shape comes to where work is counted if it is rendered, which takes longer than to write it down.
const RENDERED: u64 = 8;

/// A file format of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureFormat {
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Network Graphics.
    Png,
    /// Portable Document Format.
    Pdf,
    /// TikZ, to be included in a LaTeX document.
    Tex,
}

impl FigureFormat {
    /// The format that a file name's extension states, in any case.
    ///
    /// # Errors
    /// [`DrawError::UnknownFormat`], or [`DrawError::NoPng`] and [`DrawError::NoPdf`] without the cargo features `png`
    /// and `pdf`.
    pub fn of(path: &Path) -> Result<Self, DrawError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Ok(Self::Svg),
            "png" if cfg!(feature = "png") => Ok(Self::Png),
            "png" => Err(DrawError::NoPng),
            "tex" => Ok(Self::Tex),
            "pdf" if cfg!(feature = "pdf") => Ok(Self::Pdf),
            "pdf" => Err(DrawError::NoPdf),
            _ => Err(DrawError::UnknownFormat { name: path.display().to_string() }),
        }
    }
}

impl Drawing {
    /// The picture as a file; `scale` counts for PNG only: so many times 300 pixels per inch.
    ///
    /// # Errors
    /// [`DrawError`] of PNG and PDF: a scale that makes no picture, what cannot be drawn, and formats that this library
    /// was built without.
    #[cfg_attr(not(feature = "png"), expect(unused_variables, reason = "nothing else has a scale"))]
    pub fn to_file(&self, format: FigureFormat, scale: f64) -> Result<Vec<u8>, DrawError> {
        if matches!(format, FigureFormat::Png | FigureFormat::Pdf) {
            count(Counted::Shapes, self.flat().count() as u64 * RENDERED);
        }
        match format {
            FigureFormat::Svg => Ok(self.to_svg().into_bytes()),
            #[cfg(feature = "png")]
            FigureFormat::Png => self.to_png(scale),
            #[cfg(not(feature = "png"))]
            FigureFormat::Png => Err(DrawError::NoPng),
            #[cfg(feature = "pdf")]
            FigureFormat::Pdf => self.to_pdf(),
            #[cfg(not(feature = "pdf"))]
            FigureFormat::Pdf => Err(DrawError::NoPdf),
            FigureFormat::Tex => Ok(self.to_tex().into_bytes()),
        }
    }

    /// The picture as a PDF file of one page in its size, with real text in the embedded font.
    ///
    /// # Errors
    /// [`DrawError::Backend`] if the picture cannot be drawn.
    #[cfg(feature = "pdf")]
    pub fn to_pdf(&self) -> Result<Vec<u8>, DrawError> {
        use std::sync::Arc;

        use krilla::geom::Size;
        use krilla::page::PageSettings;
        use krilla_svg::{SurfaceExt, SvgSettings};
        use krilla_usvg::{Options, Tree, fontdb::Database};

        use super::geometry::{Length, MM};
        use super::theme::Theme;

        const POINTS_PER_MM: f64 = 72.0 / 25.4;

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

/// A picture that cannot be drawn.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DrawError {
    /// A scale that makes no picture.
    #[error("the scale {scale} makes no picture of 1 to 30000 pixels on each side")]
    Scale {
        /// The scale.
        scale: f64,
    },
    /// A file name that tells no format.
    #[error("{name:?} does not end in .svg, .png, .tex or .pdf, which would tell the format")]
    UnknownFormat {
        /// The name.
        name: String,
    },
    /// PNG without what it needs.
    #[error("this gpusched was built without PNG; build it with the cargo feature \"png\", or write .svg or .tex")]
    NoPng,
    /// PDF without what it needs.
    #[error(
        "this gpusched was built without PDF; build it with the cargo feature \"pdf\", or write .svg, .png or .tex"
    )]
    NoPdf,
    /// What a library refused.
    #[error("the {format} cannot be drawn: {error}")]
    Backend {
        /// The format.
        format: &'static str,
        /// Its message.
        error: String,
    },
}
