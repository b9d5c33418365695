//! How wide text is, by the metrics of the font that pictures are set in.

use std::sync::LazyLock;

use skrifa::raw::TableProvider;
use skrifa::raw::tables::hmtx::Hmtx;
use skrifa::{FontRef, MetadataProvider};

use super::geometry::Length;

/// Advance widths are given in this many parts of the font size, unless the font says otherwise.
const DEFAULT_UNITS_PER_EM: u16 = 2048;

/// Metrics of the regular face; `None` never happens with the embedded font.
static REGULAR: LazyLock<Option<Metrics<'static>>> = LazyLock::new(|| Metrics::read(dejavu::sans::regular()));
static BOLD: LazyLock<Option<Metrics<'static>>> = LazyLock::new(|| Metrics::read(dejavu::sans::bold()));

struct Metrics<'a> {
    font: FontRef<'a>,
    advances: Hmtx<'a>,
    units_per_em: u16,
}

impl<'a> Metrics<'a> {
    fn read(file: &'a [u8]) -> Option<Self> {
        let font = FontRef::new(file).ok()?;
        let units_per_em = font.head().map_or(DEFAULT_UNITS_PER_EM, |head| head.units_per_em());
        Some(Self { advances: font.hmtx().ok()?, font, units_per_em })
    }

    fn advance(&self, character: char) -> Option<u16> {
        self.advances.advance(self.font.charmap().map(character)?)
    }
}

/// The width of `text` set in the regular or bold face at `size`, rounded up. Kerning, which only brings letters closer, is left
/// out; a character that the font lacks counts as wide as it is high.
pub(crate) fn width(text: &str, size: Length, bold: bool) -> Length {
    let metrics = if bold { BOLD.as_ref() } else { REGULAR.as_ref() };
    let units_per_em = metrics.map_or(DEFAULT_UNITS_PER_EM, |metrics| metrics.units_per_em);
    let advance = |character| metrics.and_then(|metrics| metrics.advance(character)).unwrap_or(units_per_em);
    let units: i64 = text.chars().map(|character| i64::from(advance(character))).sum();
    (units * size + i64::from(units_per_em) - 1) / i64::from(units_per_em)
}

/// `text`, or as much of its beginning as fits `room` together with an ellipsis; empty if nothing does.
pub(crate) fn truncated(text: &str, size: Length, bold: bool, room: Length) -> String {
    if width(text, size, bold) <= room {
        return text.to_owned();
    }
    let mut kept: String = text.to_owned();
    while kept.pop().is_some() {
        let shortened = format!("{}…", kept.trim_end());
        if width(&shortened, size, bold) <= room {
            return shortened;
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // DejaVu Sans 2.37: K is 1343, the digits 1303, the colon 690 of 2048 units.
        assert_eq!(width("K", 2048, false), 1343);
        assert_eq!(width("K1:0", 2048, false), 1343 + 1303 + 690 + 1303);
        assert_eq!(width("", 250, false), 0);
        assert!(width("SM", 250, true) > width("SM", 250, false));
    }

    #[test]
    fn long_texts_end_in_an_ellipsis_and_fit() {
        let text = "a benchmark with a long label";
        let short = truncated(text, 250, false, 2_000);
        assert!(short.ends_with('…') && short.len() < text.len());
        assert!(width(&short, 250, false) <= 2_000);
        assert_eq!(truncated(text, 250, false, 100_000), text);
        assert_eq!(truncated(text, 250, false, 10), "");
    }
}
