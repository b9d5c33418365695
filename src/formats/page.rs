//! Text with tables in it: for reading as it is, as Markdown for pasting, or in parts for a page.

use comfy_table::Table;
use serde_json::json;

use super::columns::{Column, plain_table, table, texts};
use super::html;
use super::markdown::{escaped_line, write_markdown, write_rows};

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
    pub(crate) fn new(style: TableStyle) -> Self {
        Self { style, text: String::new() }
    }

    /// Whether tables leave rows out that nobody would read.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self.style, TableStyle::Plain | TableStyle::Html)
    }

    /// How many rows a table has at most that would be cut after `most`.
    pub(crate) fn most_rows(&self, most: usize) -> usize {
        match self.style {
            TableStyle::Plain => most,
            TableStyle::Html => most.min(html::MAX_ROWS),
            TableStyle::Markdown | TableStyle::Parts => usize::MAX,
        }
    }

    pub(crate) fn line(&mut self, text: &str) {
        match self.style {
            TableStyle::Plain => self.text += text,
            TableStyle::Markdown => self.text += &escaped_line(text),
            TableStyle::Html => self.text.extend(["<p>", &html::escaped(text), "</p>"]),
            TableStyle::Parts => self.text += &json!(text).to_string(),
        }
        self.text.push('\n');
    }

    /// An entry of a list.
    pub(crate) fn item(&mut self, text: &str) {
        match self.style {
            TableStyle::Plain => self.line(&format!("  {text}")),
            TableStyle::Markdown => self.text.extend(["- ", &escaped_line(text), "\n"]),
            TableStyle::Html | TableStyle::Parts => self.line(text),
        }
    }

    /// A line, which is an entry of a list where lines beside each other would be one paragraph.
    pub(crate) fn line_of_several(&mut self, text: &str) {
        match self.style {
            TableStyle::Plain | TableStyle::Html | TableStyle::Parts => self.line(text),
            TableStyle::Markdown => self.item(text),
        }
    }

    /// An empty line. Markdown has its own around tables, and needs no second one.
    pub(crate) fn blank(&mut self) {
        if self.style == TableStyle::Html {
            return;
        }
        if self.style == TableStyle::Plain || !(self.text.is_empty() || self.text.ends_with("\n\n")) {
            self.text.push('\n');
        }
    }

    /// Lines whose letters stand below each other.
    pub(crate) fn code(&mut self, lines: &str) {
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
            TableStyle::Html => self.text.extend(["<pre>", &html::escaped(lines.trim_end()), "</pre>\n"]),
            TableStyle::Parts => lines.lines().for_each(|line| self.line(line)),
        }
    }

    pub(crate) fn table<R>(&mut self, columns: &[Column<R>], rows: impl IntoIterator<Item = R>) {
        self.table_by(ToString::to_string, columns, rows);
    }

    /// A table without spaces at the ends of lines.
    pub(crate) fn trimmed_table<R>(&mut self, columns: &[Column<R>], rows: impl IntoIterator<Item = R>) {
        self.table_by(Table::trim_fmt, columns, rows);
    }

    fn table_by<R>(
        &mut self,
        plain: impl Fn(&Table) -> String,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = R>,
    ) {
        match self.style {
            TableStyle::Plain => self.line(&plain(&table(columns, rows))),
            TableStyle::Markdown => self.markdown(|out| write_markdown(columns, rows, out)),
            TableStyle::Html | TableStyle::Parts => {
                let (titles, rows) = texts(columns, rows);
                self.part(&titles, rows);
            }
        }
    }

    /// A trimmed table of at most `most` rows where tables are cut. How many it leaves out is said then, before what
    /// they are, as in " jobs", and what lists all of them.
    pub(crate) fn first_rows<R>(
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
    pub(crate) fn rest(&mut self, count: usize, what: &str, listed_by: &str) {
        if count > 0 {
            self.line(&format!(" ... and {count} more{what}; {listed_by} lists all of them"));
        }
    }

    /// A table whose columns are known only now: titles, of which the first `words` stand to the left.
    pub(crate) fn cells(&mut self, titles: &[&str], words: usize, rows: impl Iterator<Item = Vec<String>>) {
        match self.style {
            TableStyle::Plain => {
                let mut table = plain_table(titles, words..titles.len());
                table.add_rows(rows);
                self.line(&table.to_string());
            }
            TableStyle::Markdown => {
                let titles: Vec<(&str, bool)> = (0..).zip(titles).map(|(at, title)| (*title, at < words)).collect();
                self.markdown(|out| write_rows(&titles, rows, out));
            }
            TableStyle::Html | TableStyle::Parts => {
                let titles: Vec<(&str, bool)> = (0..).zip(titles).map(|(at, title)| (*title, at < words)).collect();
                self.part(&titles, rows);
            }
        }
    }

    fn markdown(&mut self, write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) {
        self.blank();
        let mut out = Vec::new();
        // Writing to memory cannot fail, and all that is written is text.
        let _ = write(&mut out);
        self.text += &String::from_utf8_lossy(&out);
        self.text.push('\n');
    }

    /// A table in HTML, or for a page that makes its own.
    fn part(&mut self, titles: &[(&str, bool)], mut rows: impl Iterator<Item = Vec<String>>) {
        if self.style == TableStyle::Html {
            html::push_table(titles, rows.by_ref().take(html::MAX_ROWS), &mut self.text);
            return match rows.count() {
                0 => (),
                left => self.line(&format!("... and {left} more")),
            };
        }
        let rows: Vec<Vec<String>> = rows.collect();
        self.text += &json!({"titles": titles, "rows": rows}).to_string();
        self.text.push('\n');
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
pub(crate) const MAX_ROWS: usize = 1_000;
