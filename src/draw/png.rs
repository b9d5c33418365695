//! Drawings as PNG, by way of SVG, with the embedded font: the same bytes on every machine.

use std::sync::Arc;

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use super::drawing::Drawing;
use super::error::DrawError;
use super::geometry::{Length, MM};
use super::theme::Theme;

/// Resolution at scale 1 [pixels per inch].
const BASE_DPI: f64 = 300.0;
const MM_PER_INCH: f64 = 25.4;
/// Pixels on one side, at most.
const MOST_PIXELS: f64 = 30_000.0;

impl Drawing {
    /// The picture as a PNG file of `scale` times 300 pixels per inch, which the file states.
    ///
    /// # Errors
    /// [`DrawError::Scale`] if the scale is no positive number or asks for more than 30,000 pixels on one side;
    /// [`DrawError::Backend`] if the picture cannot be drawn.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, DrawError> {
        let backend = |error: String| DrawError::Backend { format: "PNG", error };
        let pixels_per_unit = scale * BASE_DPI / (MM_PER_INCH * MM as f64);
        let width = pixels(self.width, pixels_per_unit).ok_or(DrawError::Scale { scale })?;
        let height = pixels(self.height, pixels_per_unit).ok_or(DrawError::Scale { scale })?;

        let mut fonts = Database::new();
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        fonts.load_font_data(dejavu::sans::bold().to_vec());
        let family = Theme::PAPER.font_family.split(',').next().unwrap_or_default();
        let options = Options { fontdb: Arc::new(fonts), font_family: family.to_owned(), ..Options::default() };
        let tree = Tree::from_str(&self.to_svg(), &options).map_err(|error| backend(error.to_string()))?;

        let mut pixmap = Pixmap::new(width, height).ok_or(DrawError::Scale { scale })?;
        pixmap.fill(Color::WHITE);
        let size = tree.size();
        let transform = Transform::from_scale(width as f32 / size.width(), height as f32 / size.height());
        resvg::render(&tree, transform, &mut pixmap.as_mut());
        encode(&pixmap, scale).map_err(|error| backend(error.to_string()))
    }
}

fn pixels(length: Length, pixels_per_unit: f64) -> Option<u32> {
    let pixels = (length as f64 * pixels_per_unit).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    (1.0..=MOST_PIXELS).contains(&pixels).then_some(pixels as u32)
}

/// Writes opaque pixels with their physical size, which word processors and LaTeX use.
fn encode(pixmap: &Pixmap, scale: f64) -> Result<Vec<u8>, png::EncodingError> {
    let opaque: Vec<u8> = pixmap.pixels().iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the scale was checked")]
    let per_metre = (scale * BASE_DPI / MM_PER_INCH * 1_000.0).round() as u32;
    encoder.set_pixel_dims(Some(png::PixelDimensions { xppu: per_metre, yppu: per_metre, unit: png::Unit::Meter }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&opaque)?;
    writer.finish()?;
    Ok(file)
}
