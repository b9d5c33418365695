//! Drawings as SVG. One user unit is 1/100 mm, so that all numbers are whole.

use std::collections::BTreeMap;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::drawing::{Anchor, Dash, Drawing, Shape, Stroke, Text};
use super::geometry::{Point, Rect, millimetres};
use super::theme::{Colour, Fill, Hatch, Theme};

impl Drawing {
    /// The picture as an SVG document, the same bytes each time.
    pub fn to_svg(&self) -> String {
        let mut writer = Writer { out: String::new(), patterns: BTreeMap::new() };
        for fill in self.flat().filter_map(Shape::fill).filter(|fill| fill.hatch != Hatch::Plain) {
            writer.patterns.entry((fill.hatch, fill.ink)).or_insert_with(|| Pattern::new(fill.hatch, fill.ink));
        }
        // Writing to a string cannot fail.
        let _ = writer.document(self);
        writer.out
    }
}

struct Writer {
    out: String,
    /// By what they show.
    patterns: BTreeMap<(Hatch, Colour), Pattern>,
}

struct Pattern {
    /// Made of the definition: in a page with several figures an id means one pattern, whichever figure it is looked up
    /// in.
    id: String,
    definition: String,
}

/// Bytes of a definition's hash that its id has.
const ID_BYTES: usize = 6;

impl Pattern {
    /// A tile with its strokes in the middle: strokes along an edge would be cut in two, and show seams.
    fn new(hatch: Hatch, ink: Colour) -> Self {
        let (tile, ink) = (Theme::PAPER.hatch_tile, ink.hex());
        let turn = match hatch {
            Hatch::Rising | Hatch::Crossed => " patternTransform=\"rotate(45)\"",
            Hatch::Falling => " patternTransform=\"rotate(-45)\"",
            _ => "",
        };
        let middle = tile / 2;
        let drawn = match hatch {
            Hatch::Plain => String::new(),
            Hatch::Dots => {
                let radius = Theme::PAPER.hatch_line * 6 / 5;
                format!("<circle cx=\"{middle}\" cy=\"{middle}\" r=\"{radius}\" fill=\"{ink}\"/>")
            }
            _ => {
                let across = format!("M0 {middle}H{tile}");
                let down = format!("M{middle} 0V{tile}");
                let lines = match hatch {
                    Hatch::Crossed | Hatch::Grid => across + &down,
                    Hatch::Vertical | Hatch::Rising | Hatch::Falling => down,
                    _ => across,
                };
                let line = Theme::PAPER.hatch_line;
                format!("<path d=\"{lines}\" stroke=\"{ink}\" stroke-width=\"{line}\"/>")
            }
        };
        let definition = format!(" patternUnits=\"userSpaceOnUse\" width=\"{tile}\" height=\"{tile}\"{turn}>{drawn}");
        let hash = Sha256::digest(&definition);
        let id = hash.iter().take(ID_BYTES).fold("hatch-".to_owned(), |id, byte| id + &format!("{byte:02x}"));
        Self { id, definition }
    }
}

impl Writer {
    fn document(&mut self, drawing: &Drawing) -> std::fmt::Result {
        let (width, height) = (drawing.width, drawing.height);
        writeln!(
            self.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}mm\" height=\"{}mm\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"{}\" role=\"img\">",
            millimetres(width),
            millimetres(height),
            Theme::PAPER.font_family,
        )?;
        writeln!(self.out, "<title>{}</title>", escaped(&drawing.title))?;
        if !self.patterns.is_empty() {
            self.out.push_str("<defs>\n");
            for Pattern { id, definition } in self.patterns.values() {
                writeln!(self.out, "<pattern id=\"{id}\"{definition}</pattern>")?;
            }
            self.out.push_str("</defs>\n");
        }
        writeln!(self.out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>")?;
        for shape in &drawing.shapes {
            self.shape(shape)?;
            self.out.push('\n');
        }
        self.out.push_str("</svg>\n");
        Ok(())
    }

    fn shape(&mut self, shape: &Shape) -> std::fmt::Result {
        match shape {
            Shape::Box { area, fill, stroke } => self.painted(&rectangle(area), *fill, *stroke),
            Shape::Polygon { corners, fill, stroke } => self.painted(&polygon(corners), Some(*fill), *stroke),
            Shape::Line { from, to, stroke } => write!(
                self.out,
                "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>",
                from.x,
                from.y,
                to.x,
                to.y,
                strokes(Some(*stroke))
            ),
            Shape::Path { points, stroke, dash } => self.path(points, *stroke, *dash),
            Shape::Text(text) => self.text(text),
            Shape::Explained { tooltip, shapes } => {
                write!(self.out, "<g><title>{}</title>", escaped(tooltip))?;
                for shape in shapes {
                    self.shape(shape)?;
                }
                self.out.push_str("</g>");
                Ok(())
            }
        }
    }

    fn path(&mut self, points: &[Point], stroke: Stroke, dash: Dash) -> std::fmt::Result {
        let lengths: Vec<String> = dash.lengths().iter().map(ToString::to_string).collect();
        let dashes =
            if lengths.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", lengths.join(" ")) };
        write!(
            self.out,
            "<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\"{}{dashes}/>",
            coordinates(points),
            strokes(Some(stroke))
        )
    }

    /// The background, and over it the hatch, each with the same outline.
    fn painted(&mut self, outline: &str, fill: Option<Fill>, stroke: Option<Stroke>) -> std::fmt::Result {
        let Some(fill) = fill else { return write!(self.out, "<{outline} fill=\"none\"{}/>", strokes(stroke)) };
        let background = fill.background.hex();
        match self.patterns.get(&(fill.hatch, fill.ink)) {
            None => write!(self.out, "<{outline} fill=\"{background}\"{}/>", strokes(stroke)),
            Some(Pattern { id, .. }) => write!(
                self.out,
                "<{outline} fill=\"{background}\"/><{outline} fill=\"url(#{id})\"{}/>",
                strokes(stroke)
            ),
        }
    }

    fn text(&mut self, text: &Text) -> std::fmt::Result {
        let Point { x, y } = text.at;
        let anchor = match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if text.bold { " font-weight=\"bold\"" } else { "" };
        let turn = if text.upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        write!(
            self.out,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"{anchor}{weight}{turn}>{}</text>",
            text.size,
            text.colour.hex(),
            escaped(&text.text)
        )
    }
}

fn rectangle(area: &Rect) -> String {
    format!("rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", area.x, area.y, area.width, area.height)
}

fn polygon(corners: &[Point]) -> String {
    format!("polygon points=\"{}\"", coordinates(corners))
}

fn coordinates(points: &[Point]) -> String {
    let points: Vec<String> = points.iter().map(|point| format!("{},{}", point.x, point.y)).collect();
    points.join(" ")
}

fn strokes(stroke: Option<Stroke>) -> String {
    stroke.map_or_else(String::new, |stroke| {
        format!(" stroke=\"{}\" stroke-width=\"{}\"", stroke.colour.hex(), stroke.width)
    })
}

/// `text` with what XML gives a meaning replaced; control characters, which XML does not allow, become the
/// replacement character.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(character),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escaped("a<b & \"c\">\u{1}"), "a&lt;b &amp; &quot;c&quot;&gt;\u{fffd}");
    }

    #[test]
    fn a_pattern_has_one_id_in_every_figure_and_no_other_has_it() {
        let hatches = [Hatch::Rising, Hatch::Falling, Hatch::Dots, Hatch::Horizontal, Hatch::Vertical, Hatch::Grid];
        let inks = (0..=u8::MAX).map(|red| Colour(red, 0, 255 - red));
        let patterns = inks.flat_map(|ink| hatches.map(|hatch| Pattern::new(hatch, ink)));
        let ids: BTreeMap<String, String> = patterns.map(|pattern| (pattern.id, pattern.definition)).collect();
        assert_eq!(ids.len(), hatches.len() * 256);
        // SHA-256 of the definition, by hand with `sha256sum`.
        let definition = " patternUnits=\"userSpaceOnUse\" width=\"100\" height=\"100\"><path d=\"M0 50H100\" \
                          stroke=\"#000000\" stroke-width=\"14\"/>";
        let pattern = Pattern::new(Hatch::Horizontal, Colour::BLACK);
        assert_eq!((&*pattern.definition, &*pattern.id), (definition, "hatch-dea2cb50fcb4"));
    }
}
