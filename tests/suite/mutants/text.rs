//! Changes of pieces of a text of any format: markup, lines, fields of lines.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Pieces that take the place of others, or stand beside them.
const PIECES: [&str; 36] = [
    "",
    "<",
    ">",
    "/>",
    "\"",
    "'",
    "&",
    "&lt;",
    "&x;",
    "&#0;",
    "&#x110000;",
    "]]>",
    "<!--",
    "<!DOCTYPE a>",
    "0",
    "-1",
    "1e99",
    "1e308",
    "2147483648",
    "4294967296",
    "9223372036854775808",
    "18446744073709551616",
    "NaN",
    "inf",
    "xsi:type=\"am:Ticks\"",
    "<items xsi:type=\"am:Group\">",
    "</items>",
    "%zz+%C3",
    "?type=Runnable",
    "value=\"\"",
    ",",
    "\"\",",
    "\u{0}",
    "\u{1F600}",
    "\u{202e}",
    "\n",
];

/// The borders between markup, names, fields and values of a text, at which pieces of it begin and end.
fn borders(text: &str) -> Vec<usize> {
    let is_border = |c: char| "<>\"=/? :+,\n".contains(c);
    let mut borders: Vec<usize> =
        text.char_indices().filter(|&(_, c)| is_border(c)).flat_map(|(at, c)| [at, at + c.len_utf8()]).collect();
    borders.dedup();
    borders
}

/// A text with one change, and what it is.
pub(super) fn changed(text: &str, random: &mut ChaCha8Rng) -> Option<(String, &'static str)> {
    let borders = borders(text);
    if borders.is_empty() {
        return None;
    }
    let any = |random: &mut ChaCha8Rng| random.random_range(0..borders.len());
    let span = |random: &mut ChaCha8Rng, most: usize| {
        let first = any(random);
        borders[first]..borders[(first + random.random_range(0..most)).min(borders.len() - 1)]
    };
    let mut changed = text.to_owned();
    Some(match random.random_range(0..6) {
        0..3 => {
            let range = span(random, 6);
            changed.replace_range(range, PIECES[random.random_range(0..PIECES.len())]);
            (changed, "another piece")
        }
        3 => {
            let range = span(random, 60);
            changed.insert_str(borders[any(random)], &text[range]);
            (changed, "a piece of elsewhere")
        }
        4 => {
            let from: Vec<usize> = text.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
            let at = *from.get(random.random_range(0..from.len().max(1)))?;
            let end = text[at..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |length| at + length);
            changed.replace_range(at..end, PIECES[14 + random.random_range(0..10)]);
            (changed, "another number")
        }
        _ => {
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            let line = random.random_range(0..lines.len());
            match random.random_range(0..3) {
                0 => drop(lines.remove(line)),
                1 => lines.insert(line, lines[line]),
                _ => lines.swap(0, line),
            }
            (lines.concat(), "lines")
        }
    })
}
