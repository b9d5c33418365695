//! Drawings as PNG, painted shape by shape with the embedded font: the same bytes each time.

use std::collections::HashMap;

use tiny_skia::{
    Color, FillRule, FilterQuality, LineJoin, Paint, Path, PathBuilder, Pattern, Pixmap, SpreadMode, Stroke as Pen,
    StrokeDash, Transform,
};
use ttf_parser::{Face, FaceParsingError, OutlineBuilder};

use super::drawing::{Anchor, Dash, Drawing, Shape, Stroke, Text};
use super::font;
use super::format::DrawError;
use super::geometry::{Length, MM, Point, Rect};
use super::theme::{Colour, Fill, Hatch, Theme};

/// Resolution at scale 1 [pixels per inch].
const BASE_DPI: f64 = 300.0;
const MM_PER_INCH: f64 = 25.4;
/// Pixels on one side, at most.
const MOST_PIXELS: f64 = 30_000.0;

impl Drawing {
    /// The picture as a PNG file of `scale` times 300 pixels per inch, which the file states. Text is set letter by
    /// letter, without kerning and ligatures.
    ///
    /// # Errors
    /// [`DrawError::Scale`] if the scale is no positive number or asks for more than 30,000 pixels on one side;
    /// [`DrawError::Backend`] if the picture cannot be drawn.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, DrawError> {
        let backend = |error: String| DrawError::Backend { format: "PNG", error };
        let pixels_per_unit = scale * BASE_DPI / (MM_PER_INCH * MM as f64);
        let width = pixels(self.width, pixels_per_unit).ok_or(DrawError::Scale { scale })?;
        let height = pixels(self.height, pixels_per_unit).ok_or(DrawError::Scale { scale })?;
        let mut pixmap = Pixmap::new(width, height).ok_or(DrawError::Scale { scale })?;
        pixmap.fill(Color::WHITE);
        let to_pixels = Transform::from_scale(width as f32 / self.width as f32, height as f32 / self.height as f32);
        let letters = Letters::new().map_err(|error| backend(error.to_string()))?;
        let mut painter = Painter { pixmap, to_pixels, letters, tiles: HashMap::new() };
        self.flat().for_each(|shape| painter.shape(shape));
        encode(&painter.pixmap, scale).map_err(|error| backend(error.to_string()))
    }
}

struct Painter {
    pixmap: Pixmap,
    /// From lengths on paper to pixels.
    to_pixels: Transform,
    letters: Letters,
    /// One tile of each hatch in each ink.
    tiles: HashMap<(Hatch, Colour), Option<Pixmap>>,
}

impl Painter {
    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Box { area, fill, stroke } => self.painted(rectangle(area), *fill, *stroke),
            Shape::Polygon { corners, fill, stroke } => self.painted(through(corners, true), Some(*fill), *stroke),
            Shape::Line { from, to, stroke } => {
                self.stroke(through(&[*from, *to], false).as_ref(), *stroke, &Pen::default());
            }
            Shape::Path { points, stroke, dash } => self.path(points, *stroke, *dash),
            Shape::Text(text) => self.text(text),
            // A flat list holds what is in it instead.
            Shape::Explained { .. } => {}
        }
    }

    /// The background, and over it the hatch, and over that the edge.
    fn painted(&mut self, outline: Option<Path>, fill: Option<Fill>, stroke: Option<Stroke>) {
        let Some(outline) = outline else { return };
        if let Some(Fill { background, hatch, ink }) = fill {
            self.fill(&outline, background, self.to_pixels);
            if hatch != Hatch::Plain {
                self.hatch(&outline, hatch, ink);
            }
        }
        if let Some(stroke) = stroke {
            self.stroke(Some(&outline), stroke, &Pen::default());
        }
    }

    fn fill(&mut self, outline: &Path, colour: Colour, transform: Transform) {
        self.pixmap.fill_path(outline, &ink(colour), FillRule::Winding, transform, None);
    }

    fn path(&mut self, points: &[Point], stroke: Stroke, dash: Dash) {
        let lengths = dash.lengths().iter().map(|length| *length as f32).collect();
        let pen = Pen { line_join: LineJoin::Round, dash: StrokeDash::new(lengths, 0.0), ..Pen::default() };
        self.stroke(through(points, false).as_ref(), stroke, &pen);
    }

    fn stroke(&mut self, line: Option<&Path>, Stroke { colour, width }: Stroke, pen: &Pen) {
        let Some(line) = line else { return };
        let pen = Pen { width: width as f32, ..pen.clone() };
        self.pixmap.stroke_path(line, &ink(colour), &pen, self.to_pixels, None);
    }

    fn hatch(&mut self, outline: &Path, hatch: Hatch, colour: Colour) {
        let side = Theme::PAPER.hatch_tile as f32;
        let to_pixels = self.to_pixels;
        let tile = self.tiles.entry((hatch, colour)).or_insert_with(|| tile(hatch, colour, side * to_pixels.sx));
        let Some(tile) = tile else { return };
        let scale = side / tile.width() as f32;
        let turned = Transform::from_rotate(turn(hatch)).pre_scale(scale, scale);
        let shader = Pattern::new(tile.as_ref(), SpreadMode::Repeat, FilterQuality::Bicubic, 1.0, turned);
        let paint = Paint { shader, ..Paint::default() };
        self.pixmap.fill_path(outline, &paint, FillRule::Winding, to_pixels, None);
    }

    fn text(&mut self, text: &Text) {
        let width = font::width(&text.text, text.size, text.bold) as f32;
        let begin = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let turn = if text.upwards { -90.0 } else { 0.0 };
        let at = self.to_pixels.pre_translate(text.at.x as f32, text.at.y as f32).pre_rotate(turn);
        let size = text.size as f32 / f32::from(font::UNITS_PER_EM);
        let mut advance = 0.0;
        for character in text.text.chars() {
            if let Some(outline) = self.letters.outline(character, text.bold) {
                // Letters stand on their baseline with y upwards.
                self.fill(&outline, text.colour, at.pre_translate(begin + advance * size, 0.0).pre_scale(size, -size));
            }
            advance += f32::from(font::advance(character, text.bold));
        }
    }
}

/// By how much the lines of a hatch are turned \[degrees\].
const fn turn(hatch: Hatch) -> f32 {
    match hatch {
        Hatch::Rising | Hatch::Crossed => 45.0,
        Hatch::Falling => -45.0,
        _ => 0.0,
    }
}

/// A tile for so many pixels, with its strokes in the middle, as SVG has it; twice as fine as these, so that strokes
/// stay as dark as they are when a tile of whole pixels is laid over others.
fn tile(hatch: Hatch, colour: Colour, pixels: f32) -> Option<Pixmap> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a tile is 1 mm of a picture")]
    let pixels = 2 * pixels.ceil() as u32;
    let mut pixmap = Pixmap::new(pixels, pixels)?;
    let side = Theme::PAPER.hatch_tile as f32;
    let transform = Transform::from_scale(pixels as f32 / side, pixels as f32 / side);
    let (middle, pen) = (side / 2.0, Pen { width: Theme::PAPER.hatch_line as f32, ..Pen::default() });
    let mut lines = PathBuilder::new();
    let (across, down) = match hatch {
        Hatch::Plain => return None,
        Hatch::Dots => {
            let radius = (Theme::PAPER.hatch_line * 6 / 5) as f32;
            let dot = PathBuilder::from_circle(middle, middle, radius)?;
            pixmap.fill_path(&dot, &ink(colour), FillRule::Winding, transform, None);
            return Some(pixmap);
        }
        Hatch::Horizontal => (true, false),
        Hatch::Vertical | Hatch::Rising | Hatch::Falling => (false, true),
        Hatch::Crossed | Hatch::Grid => (true, true),
    };
    if across {
        lines.move_to(0.0, middle);
        lines.line_to(side, middle);
    }
    if down {
        lines.move_to(middle, 0.0);
        lines.line_to(middle, side);
    }
    pixmap.stroke_path(&lines.finish()?, &ink(colour), &pen, transform, None);
    Some(pixmap)
}

fn ink(Colour(red, green, blue): Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    paint
}

/// Nothing of a rectangle without an inside, as in SVG.
fn rectangle(area: &Rect) -> Option<Path> {
    let corners = [(area.x, area.y), (area.right(), area.y), (area.right(), area.bottom()), (area.x, area.bottom())];
    let has_inside = area.width > 0 && area.height > 0;
    has_inside.then(|| through(&corners.map(|(x, y)| Point { x, y }), true)).flatten()
}

/// A line through points, or around them; nothing of fewer than two.
fn through(points: &[Point], is_closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (index, point) in points.iter().enumerate() {
        let (x, y) = (point.x as f32, point.y as f32);
        if index == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if is_closed {
        path.close();
    }
    path.finish()
}

/// The embedded font: outlines of letters, in parts of the font size.
struct Letters {
    regular: Face<'static>,
    bold: Face<'static>,
    known: HashMap<(char, bool), Option<Path>>,
}

impl Letters {
    fn new() -> Result<Self, FaceParsingError> {
        let face = |file| Face::parse(file, 0);
        let (regular, bold) = (face(dejavu::sans::regular())?, face(dejavu::sans::bold())?);
        Ok(Self { regular, bold, known: HashMap::new() })
    }

    /// The outline of a character, or the box that stands for those that the font lacks; `None` for blanks.
    fn outline(&mut self, character: char, bold: bool) -> Option<Path> {
        let face = if bold { &self.bold } else { &self.regular };
        let outline = || {
            let mut outline = Outline(PathBuilder::new());
            face.outline_glyph(face.glyph_index(character).unwrap_or_default(), &mut outline)?;
            outline.0.finish()
        };
        self.known.entry((character, bold)).or_insert_with(outline).clone()
    }
}

struct Outline(PathBuilder);

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
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

#[cfg(test)]
mod tests;
