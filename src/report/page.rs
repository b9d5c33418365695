//! Text with tables in it: for reading as it is, or as Markdown for pasting.

use super::columns::{Column, plain_table, table};
use super::markdown::{write_markdown, write_rows};

/// How the tables of a text are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableStyle {
    /// In columns of spaces; very long tables are cut, which is said.
    Plain,
    /// In Markdown, with all rows.
    Markdown,
}

/// A text that is being written.
pub(crate) struct Page {
    style: TableStyle,
    text: String,
}

impl Page {
    pub(crate) fn new(style: TableStyle) -> Self {
        Self { style, text: String::new() }
    }

    /// How many rows a table has at most that would be cut after `most`.
    pub(crate) fn most_rows(&self, most: usize) -> usize {
        if self.style == TableStyle::Plain { most } else { usize::MAX }
    }

    /// A line.
    pub(crate) fn line(&mut self, text: &str) {
        self.text += text;
        self.text.push('\n');
    }

    /// An entry of a list.
    pub(crate) fn item(&mut self, text: &str) {
        self.text += if self.style == TableStyle::Plain { "  " } else { "- " };
        self.line(text);
    }

    /// An empty line. Markdown has its own around tables, and needs no second one.
    pub(crate) fn blank(&mut self) {
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
                self.line("```text");
                self.line(lines.trim_end());
                self.line("```");
                self.blank();
            }
        }
    }

    /// A table.
    pub(crate) fn table<R>(&mut self, columns: &[Column<R>], rows: impl IntoIterator<Item = R>) {
        match self.style {
            TableStyle::Plain => self.line(&table(columns, rows).to_string()),
            TableStyle::Markdown => self.markdown(|out| write_markdown(columns, rows, out)),
        }
    }

    /// A table without spaces at the ends of lines.
    pub(crate) fn trimmed_table<R>(&mut self, columns: &[Column<R>], rows: impl IntoIterator<Item = R>) {
        match self.style {
            TableStyle::Plain => self.line(&table(columns, rows).trim_fmt()),
            TableStyle::Markdown => self.markdown(|out| write_markdown(columns, rows, out)),
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

    /// The text, whose last line is not empty.
    pub(crate) fn finish(self) -> String {
        match self.style {
            TableStyle::Plain => self.text,
            TableStyle::Markdown => self.text.trim_end().to_owned() + "\n",
        }
    }
}
