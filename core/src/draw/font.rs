//! How wide text is, by the metrics of the font that pictures are set in.
//!
//! The advance widths of `DejaVu Sans` 2.37 and its bold face are compiled in as a table, so that pictures are laid out
//! the same without the font itself, which only pixels need.

use super::geometry::Length;
use crate::words;

/// Advance widths are in this many parts of the font size.
pub(super) const UNITS_PER_EM: u16 = 2048;

static REGULAR: Widths = Widths(include_bytes!("font/dejavu-sans.widths"));
static BOLD: Widths = Widths(include_bytes!("font/dejavu-sans-bold.widths"));

/// Runs of characters of one width, ascending: the first character in 4 bytes, how many there are in 2, how wide they
/// are in 2, all of them big-endian. Characters in no run are those that the face lacks.
struct Widths(&'static [u8]);

impl Widths {
    fn runs(&self) -> &'static [[u8; 8]] {
        self.0.as_chunks().0
    }

    fn advance(&self, character: char) -> Option<u16> {
        let code = u32::from(character);
        let runs = self.runs();
        let after = runs.partition_point(|run| first(*run) <= code);
        let run @ [.., count_high, count_low, high, low] = *runs.get(after.checked_sub(1)?)?;
        let count = u16::from_be_bytes([count_high, count_low]);
        (code - first(run) < u32::from(count)).then_some(u16::from_be_bytes([high, low]))
    }
}

const fn first([a, b, c, d, ..]: [u8; 8]) -> u32 {
    u32::from_be_bytes([a, b, c, d])
}

/// The width of `text` set in the regular or bold face at `size`, rounded up. Kerning, which only brings letters
/// closer, is left out; a character that the font lacks counts as wide as it is high.
pub(crate) fn width(text: &str, size: Length, bold: bool) -> Length {
    let units: i64 = text.chars().map(|character| i64::from(advance(character, bold))).sum();
    (units * size + i64::from(UNITS_PER_EM) - 1) / i64::from(UNITS_PER_EM)
}

/// How wide a character is, in parts of the font size.
pub(super) fn advance(character: char, bold: bool) -> u16 {
    let widths = if bold { &BOLD } else { &REGULAR };
    widths.advance(character).unwrap_or(UNITS_PER_EM)
}

/// `text` [shortened](words::shortened) to `room` where it is set at `size`.
pub(crate) fn shortened(text: &str, size: Length, bold: bool, room: Length) -> String {
    words::shortened(text, |text| width(text, size, bold) <= room)
}

/// All of some texts [`shortened()`] to the room that each has, so that different ones
/// [stay different](words::shortened_apart) where that can be.
pub(crate) fn shortened_apart(texts: &[(&str, Length)], size: Length) -> Vec<String> {
    let names: Vec<&str> = texts.iter().map(|(text, _)| *text).collect();
    words::shortened_apart(&names, |place, text| width(text, size, false) <= texts[place].1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::joined;

    #[test]
    fn widths_are_those_of_the_font() {
        // DejaVu Sans 2.37: K is 1343, the digits 1303, the colon 690 of 2048 units.
        assert_eq!(width("K", 2048, false), 1343);
        assert_eq!(width("K1:0", 2048, false), 1343 + 1303 + 690 + 1303);
        assert_eq!(width("", 250, false), 0);
        assert!(width("SM", 250, true) > width("SM", 250, false));
    }

    #[test]
    fn the_table_has_the_width_of_every_character_of_the_font_and_of_no_other() {
        for (file, table) in [(dejavu::sans::regular(), &REGULAR), (dejavu::sans::bold(), &BOLD)] {
            let face = ttf_parser::Face::parse(file, 0).expect("a font");
            assert_eq!(face.units_per_em(), UNITS_PER_EM);
            for character in '\0'..=char::MAX {
                // Glyph 0 stands for characters that the font lacks.
                let glyph = face.glyph_index(character).filter(|glyph| glyph.0 != 0);
                let stated = glyph.and_then(|glyph| face.glyph_hor_advance(glyph));
                assert_eq!(table.advance(character), stated, "{character:?}");
            }
        }
    }

    #[test]
    fn long_texts_lose_their_middle_and_fit() {
        let text = "a benchmark with a long label";
        let short = shortened(text, 250, false, 2_000);
        assert!(short.starts_with("a b") && short.contains('…') && short.ends_with("bel") && short.len() < text.len());
        assert!(width(&short, 250, false) <= 2_000);
        assert_eq!(shortened(text, 250, false, 100_000), text);
        assert_eq!(shortened(text, 250, false, 10), "");
    }

    #[test]
    fn a_text_keeps_as_much_as_fits_in_any_room() {
        // Blanks at the cut are dropped, so that one character more may be no wider.
        for text in ["a benchmark with a long label", "  of   blanks    and i l W ", "K"] {
            let characters: Vec<char> = text.chars().collect();
            for room in (0..width(text, 250, false)).step_by(7) {
                let kept = |kept: usize| {
                    let (head, tail) = (kept.div_ceil(2), characters.len() - kept / 2);
                    joined(&characters[..head], &characters[tail..])
                };
                let longest = (1..characters.len()).rev().map(kept).find(|short| width(short, 250, false) <= room);
                assert_eq!(shortened(text, 250, false, room), longest.unwrap_or_default(), "{text} in {room}");
            }
        }
    }

    #[test]
    fn what_tells_names_apart_is_kept() {
        let names: Vec<String> = (8..31).map(|n| format!("perception_stage_{n}_of_the_left_camera")).collect();
        let room = 1_800;
        let texts: Vec<(&str, Length)> = names.iter().map(|name| (name.as_str(), room)).collect();
        let mut short = shortened_apart(&texts, 229);
        assert!(short.iter().all(|name| width(name, 229, false) <= room), "{short:?}");
        assert!(short[0].contains('8') && short[22].contains("30"), "{short:?}");
        short.sort_unstable();
        short.dedup();
        assert_eq!(short.len(), names.len(), "{short:?}");
        let apart = shortened_apart(&[("K2, should run with K1's last block", 1_500), ("K3", 1_500)], 229);
        assert!(apart[0].starts_with("K2") && apart[0].ends_with("ock") && apart[1] == "K3", "{apart:?}");
    }
}
