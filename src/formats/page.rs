//! Text with tables in it: for reading as it is, as Markdown for pasting, or in parts for a page.

use comfy_table::Table;
use serde_json::json;

use super::columns::{Column, TextRows, Titles, plain_table, texts};
use super::html;
use super::markdown::{escaped_line, write_rows};

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
        let (titles, mut rows) = texts(columns, rows);
        self.text_rows(&titles, &mut rows, ToString::to_string);
    }

    /// A table without spaces at the ends of lines.
    pub(crate) fn trimmed_table<R>(&mut self, columns: &[Column<R>], rows: impl IntoIterator<Item = R>) {
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
                html::push_table(&titles.shown, &mut rows.take(html::MAX_ROWS), &mut self.text);
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
    pub(crate) fn cells(&mut self, titles: &[&str], words: usize, mut rows: impl Iterator<Item = Vec<String>>) {
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
pub(crate) const MAX_ROWS: usize = 1_000;
