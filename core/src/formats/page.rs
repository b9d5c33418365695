//! Text with tables in it: for reading as it is, as Markdown or HTML for pasting, or in parts for a page.
//!
//! Tables in Markdown have the columns and values of those for people, and all rows. Names and messages come from files
//! of somebody else's. What Markdown (`CommonMark` 0.31 with the tables and the strikethrough of GitHub's) or HTML
//! would take for a sign of its own is written so that every reader shows the same characters: no link, no tag, no
//! other cell. `<` and `&` are written as entities, as there are readers of Markdown that know no backslash before
//! them.

use comfy_table::Table;
use serde_json::json;

use super::columns::{Column, TextRows, Titles, plain_table, texts};
use crate::limits::count_turn;

/// How the tables of a text are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableStyle {
    /// In columns of spaces; very long tables are cut, which is said.
    Plain,
    /// In Markdown, with all rows.
    Markdown,
    /// In HTML, as it may stand in a page of others; long tables are cut, which is said.
    Html,
    /// For a page that makes its own tables, with all rows: a JSON value on each line, which is a text, or an object
    /// with `titles` (each a text, and whether its column stands to the left) and `rows` of cells as people read them.
    Parts,
}

/// A text that is being written.
#[derive(Debug)]
pub struct Page {
    style: TableStyle,
    text: String,
}

impl Page {
    #[doc(hidden)]
    pub fn new(style: TableStyle) -> Self {
        Self { style, text: String::new() }
    }

    /// Whether tables leave rows out that nobody would read.
    #[doc(hidden)]
    pub fn is_cut(&self) -> bool {
        matches!(self.style, TableStyle::Plain | TableStyle::Html)
    }

    /// How many rows a table has at most that would be cut after `most`.
    #[doc(hidden)]
    pub fn most_rows(&self, most: usize) -> usize {
        match self.style {
            TableStyle::Plain => most,
            TableStyle::Html => most.min(MAX_HTML_ROWS),
            TableStyle::Markdown | TableStyle::Parts => usize::MAX,
        }
    }

    #[doc(hidden)]
    pub fn line(&mut self, text: &str) {
        match self.style {
            TableStyle::Plain => self.text += text,
            TableStyle::Markdown => self.text += &escaped_line(text),
            TableStyle::Html => self.text.extend(["<p>", &escaped_html(text), "</p>"]),
            TableStyle::Parts => self.text += &json!(text).to_string(),
        }
        self.text.push('\n');
    }

    /// A title, the highest of level 1.
    pub(crate) fn heading(&mut self, level: usize, text: &str) {
        match self.style {
            TableStyle::Plain | TableStyle::Parts => {
                self.blank();
                self.line(text);
            }
            TableStyle::Markdown => {
                self.blank();
                self.text.extend([&"#".repeat(level), " ", &escaped_line(text), "\n\n"]);
            }
            TableStyle::Html => {
                let level = level.to_string();
                self.text.extend(["<h", &level, ">", &escaped_html(text), "</h", &level, ">\n"]);
            }
        }
    }

    /// An entry of a list.
    #[doc(hidden)]
    pub fn item(&mut self, text: &str) {
        match self.style {
            TableStyle::Plain => self.line(&format!("  {text}")),
            TableStyle::Markdown => self.text.extend(["- ", &escaped_line(text), "\n"]),
            TableStyle::Html | TableStyle::Parts => self.line(text),
        }
    }

    /// A line, which is an entry of a list where lines beside each other would be one paragraph.
    #[doc(hidden)]
    pub fn line_of_several(&mut self, text: &str) {
        match self.style {
            TableStyle::Plain | TableStyle::Html | TableStyle::Parts => self.line(text),
            TableStyle::Markdown => self.item(text),
        }
    }

    /// An empty line. Markdown has its own around tables, and needs no second one.
    #[doc(hidden)]
    pub fn blank(&mut self) {
        if self.style == TableStyle::Html {
            return;
        }
        if self.style == TableStyle::Plain || !(self.text.is_empty() || self.text.ends_with("\n\n")) {
            self.text.push('\n');
        }
    }

    /// Lines whose letters stand below each other.
    #[doc(hidden)]
    pub fn code(&mut self, lines: &str) {
        match self.style {
            TableStyle::Plain => self.text += lines,
            TableStyle::Markdown => {
                self.blank();
                // Longer than what is in the lines, which would end it.
                let longest = lines.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
                let fence = "`".repeat(longest.max(2) + 1);
                self.text.extend([&fence, "text\n", lines.trim_end(), "\n", &fence, "\n"]);
                self.blank();
            }
            TableStyle::Html => self.text.extend(["<pre>", &escaped_html(lines.trim_end()), "</pre>\n"]),
            TableStyle::Parts => lines.lines().for_each(|line| self.line(line)),
        }
    }

    #[doc(hidden)]
    pub fn table<R>(&mut self, columns: &[Column<R>], rows: impl IntoIterator<Item = R>) {
        let (titles, mut rows) = texts(columns, rows);
        self.text_rows(&titles, &mut rows, ToString::to_string);
    }

    /// A table without spaces at the ends of lines.
    #[doc(hidden)]
    pub fn trimmed_table<R>(&mut self, columns: &[Column<R>], rows: impl IntoIterator<Item = R>) {
        let (titles, mut rows) = texts(columns, rows);
        self.text_rows(&titles, &mut rows, Table::trim_fmt);
    }

    /// A table of texts, whatever its rows were made of.
    fn text_rows(&mut self, titles: &Titles<'_>, rows: TextRows<'_>, plain: fn(&Table) -> String) {
        match self.style {
            TableStyle::Plain => self.line(&plain(&plain_table(titles, rows))),
            TableStyle::Markdown => {
                self.blank();
                write_rows(&titles.shown, rows, &mut self.text);
                self.text.push('\n');
            }
            TableStyle::Html => {
                push_table(&titles.shown, &mut rows.take(MAX_HTML_ROWS), &mut self.text);
                match rows.count() {
                    0 => (),
                    left => self.line(&format!("... and {left} more")),
                }
            }
            TableStyle::Parts => {
                let rows: Vec<Vec<String>> = rows.collect();
                self.text += &json!({"titles": titles.shown, "rows": rows}).to_string();
                self.text.push('\n');
            }
        }
    }

    /// A trimmed table of at most `most` rows where tables are cut. How many it leaves out is said then, before what
    /// they are, as in " jobs", and what lists all of them.
    #[doc(hidden)]
    pub fn first_rows<R>(
        &mut self,
        most: usize,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = R>,
        what: &str,
        listed_by: &str,
    ) {
        let mut rows = rows.into_iter();
        self.trimmed_table(columns, rows.by_ref().take(self.most_rows(most)));
        self.rest(rows.count(), what, listed_by);
    }

    /// Says how many rows a table leaves out, if it does.
    #[doc(hidden)]
    pub fn rest(&mut self, count: usize, what: &str, listed_by: &str) {
        if count > 0 {
            self.line(&format!(" ... and {count} more{what}; {listed_by} lists all of them"));
        }
    }

    /// A table whose columns are known only now: titles, of which the first `words` stand to the left.
    #[doc(hidden)]
    pub fn cells(&mut self, titles: &[&str], words: usize, mut rows: impl Iterator<Item = Vec<String>>) {
        let shown = (0..).zip(titles).map(|(at, title)| (*title, at < words)).collect();
        self.text_rows(&Titles { shown, names: Vec::new() }, &mut rows, ToString::to_string);
    }

    /// The text, whose last line is not empty.
    pub(crate) fn finish(self) -> String {
        match self.style {
            TableStyle::Plain | TableStyle::Html | TableStyle::Parts => self.text,
            TableStyle::Markdown => self.text.trim_end().to_owned() + "\n",
        }
    }
}

/// Rows beyond which a table is no longer something to read.
pub const MAX_ROWS: usize = 1_000;

/// Rows of a table in HTML beyond which nobody reads on.
const MAX_HTML_ROWS: usize = 200;

/// Text as the content of an element.
pub fn escaped_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Appends a table of titles, each with whether its column stands to the left, and rows of cells. It scrolls by itself
/// where it is long or wide, and brings no style sheet, which would change the page around it.
fn push_table(titles: &[(&str, bool)], rows: TextRows<'_>, text: &mut String) {
    *text += "<div style=\"max-height:30em;overflow:auto\"><table>\n<thead>";
    push_row("th", titles, titles.iter().map(|(title, _)| *title), text);
    *text += "</thead>\n<tbody>\n";
    for cells in rows {
        push_row("td", titles, cells.iter().map(String::as_str), text);
        text.push('\n');
    }
    *text += "</tbody>\n</table></div>\n";
}

fn push_row<'c>(cell: &str, titles: &[(&str, bool)], contents: impl Iterator<Item = &'c str>, text: &mut String) {
    *text += "<tr>";
    for (content, (_, is_to_the_left)) in contents.zip(titles) {
        let side = if *is_to_the_left { "left" } else { "right" };
        text.extend(["<", cell, " style=\"text-align:", side, "\">", &escaped_html(content), "</", cell, ">"]);
    }
    *text += "</tr>";
}

/// Appends a line of titles, each with whether its column stands to the left, one that says to which side each stands,
/// and one for each row.
fn write_rows(titles: &[(&str, bool)], rows: TextRows<'_>, text: &mut String) {
    for (title, _) in titles {
        text.extend(["| ", &escaped_markdown(title), " "]);
    }
    *text += "|\n";
    for (_, is_to_the_left) in titles {
        *text += if *is_to_the_left { "| --- " } else { "| ---: " };
    }
    *text += "|\n";
    for row in rows {
        for cell in row {
            text.extend(["| ", &escaped_markdown(&cell), " "]);
        }
        *text += "|\n";
    }
}

/// Text within a line of Markdown, such as a cell, a heading or an entry of a list, which is read as just that text.
pub fn escaped_markdown(text: &str) -> String {
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
fn escaped_line(text: &str) -> String {
    let text = escaped_markdown(text.trim());
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
    fn words_stand_to_the_left_numbers_to_the_right_and_text_is_text() {
        assert_eq!(escaped_html("<b>&</b>"), "&lt;b&gt;&amp;&lt;/b&gt;");
        let (mut text, row) = (String::new(), vec!["a<b".to_owned(), "1".to_owned()]);
        push_table(&[("who", true), ("n", false)], &mut std::iter::once(row), &mut text);
        let (left, right) = ("style=\"text-align:left\"", "style=\"text-align:right\"");
        let rows = [
            format!("<tr><th {left}>who</th><th {right}>n</th></tr>"),
            format!("<tr><td {left}>a&lt;b</td><td {right}>1</td></tr>"),
        ];
        for row in rows {
            assert!(text.contains(&row), "{text}");
        }
    }

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
            assert_eq!(escaped_markdown(plain), plain);
        }
    }
}
