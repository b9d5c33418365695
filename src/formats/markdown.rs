//! Markdown: tables with the columns and values of those for people, and all rows; and text that stays text.
//!
//! Names and messages come from files of somebody else's. What Markdown (`CommonMark` 0.31 with the tables and the
//! strikethrough of GitHub's) or HTML would take for a sign of its own is written so that every reader shows the same
//! characters: no link, no tag, no other cell. `<` and `&` are written as entities, as there are readers of Markdown
//! that know no backslash before them.

use super::columns::TextRows;
use crate::limits::count_turn;

/// Appends a line of titles, each with whether its column stands to the left, one that says to which side each stands,
/// and one for each row.
pub(super) fn write_rows(titles: &[(&str, bool)], rows: TextRows<'_>, text: &mut String) {
    for (title, _) in titles {
        text.extend(["| ", &escaped(title), " "]);
    }
    *text += "|\n";
    for (_, is_to_the_left) in titles {
        *text += if *is_to_the_left { "| --- " } else { "| ---: " };
    }
    *text += "|\n";
    for row in rows {
        for cell in row {
            text.extend(["| ", &escaped(&cell), " "]);
        }
        *text += "|\n";
    }
}

/// Text within a line of Markdown, such as a cell, a heading or an entry of a list, which is read as just that text.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        count_turn();
        let after = letters.peek().copied();
        match letter {
            '<' => out.push_str("&lt;"),
            '&' if after.is_some_and(|after| after == '#' || after.is_ascii_alphanumeric()) => out.push_str("&amp;"),
            // Within a word it is no sign.
            '_' if [before, after].iter().flatten().filter(|beside| beside.is_alphanumeric()).count() == 2 => {
                out.push(letter);
            }
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(letter);
            }
            // No reader knows this one.
            '\0' => out.push(char::REPLACEMENT_CHARACTER),
            // Ends of lines, and blanks at the ends, which would be cut off.
            _ if letter.is_ascii_control() || (letter == ' ' && (before.is_none() || after.is_none())) => {
                out.extend(["&#", &u32::from(letter).to_string(), ";"]);
            }
            _ => out.push(letter),
        }
        before = Some(letter);
    }
    out
}

/// Text that is a line of its own, which is a paragraph whatever it begins with.
pub(crate) fn escaped_line(text: &str) -> String {
    let text = escaped(text.trim());
    let number = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let at = match number.chars().next() {
        // An entry of a numbered list.
        Some('.' | ')') if number.len() < text.len() => text.len() - number.len(),
        Some('#' | '>' | '-' | '+' | '=') if number.len() == text.len() => 0,
        _ => return text,
    };
    format!("{}\\{}", &text[..at], &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::columns::{Column, texts};

    #[test]
    fn a_cell_stays_one_cell_and_numbers_stand_to_the_right() {
        let columns = [
            Column::table("who", |name: &&str| (*name).into()).left(),
            Column::new("length", "long", |name| name.len().into()),
            Column::data("for_programs", |_| 1_u32.into()),
        ];
        let (titles, mut rows) = texts(&columns, ["a|b", "c\nd"]);
        let mut text = String::new();
        write_rows(&titles.shown, &mut rows, &mut text);
        assert_eq!(text, "| who | long |\n| --- | ---: |\n| a\\|b | 3 |\n| c&#10;d | 3 |\n");
    }

    #[test]
    fn words_that_need_no_escape_have_none() {
        for plain in ["vector_add (x86_64)", "a & b", "50 %", "1.5 ms", "-", "g_max = 4; h > 3", "é: ok!"] {
            assert_eq!(escaped(plain), plain);
        }
    }
}
