//! What is wrong with an input file, and where.

use std::fmt;

/// Something in a JSON text that is not as it should be; its position is an offset \[bytes\] until
/// [`Document::locate`](super::Document::locate) turns it into a [`JsonError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub(super) offset: usize,
    pub(super) what: String,
    pub(super) help: Option<String>,
}

impl Problem {
    /// One with what begins at this offset \[bytes\].
    pub fn at(offset: usize, what: impl Into<String>) -> Self {
        Self { offset, what: what.into(), help: None }
    }

    /// Adds advice on how to mend the input.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// An error in an input file that its author can act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// The file's name, as the user gave it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column \[characters\], from 1.
    pub column: usize,
    /// The field, such as `benchmarks[2].thread_count`; empty at top level.
    pub path: String,
    /// What was found and what was expected.
    pub what: String,
    /// How to mend it, where that is known.
    pub help: Option<String>,
    /// The line of text in which it stands, shortened around the column, with an ellipsis where something is left out.
    pub excerpt: String,
    /// Where in `excerpt` the value starts \[characters\].
    pub excerpt_column: usize,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}", self.what)?;
        write_excerpt(f, &self.excerpt, self.excerpt_column)?;
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for JsonError {}

/// Characters of a line shown on either side of the error.
const EXCERPT_REACH: usize = 60;

/// A place in a text as people find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownPlace {
    /// Line, from 1.
    pub line: usize,
    /// Column \[characters\], from 1.
    pub column: usize,
    /// The line of text in which it stands, shortened around the column, with an ellipsis where something is left out.
    pub excerpt: String,
    /// Where in `excerpt` it is \[characters\].
    pub excerpt_column: usize,
}

/// Writes an excerpt below a message, with a mark under the place.
///
/// # Errors
///
/// If `f` cannot be written to.
pub fn write_excerpt(f: &mut fmt::Formatter<'_>, excerpt: &str, column: usize) -> fmt::Result {
    if excerpt.is_empty() {
        return Ok(());
    }
    write!(f, "\n  | {excerpt}\n  | {}^", " ".repeat(column))
}

/// Turns an offset \[bytes\] in `text` into line, column and excerpt.
pub fn place(text: &str, offset: usize) -> ShownPlace {
    let offset = floor_char_boundary(text, offset.min(text.len()));
    let line_start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
    let line_text = text[line_start..line_end].trim_end_matches('\r');
    let column = text[line_start..offset].chars().count();
    let first = column.saturating_sub(EXCERPT_REACH);
    let mut rest = line_text.chars().skip(first);
    let shown = rest.by_ref().take(2 * EXCERPT_REACH).map(|c| if c.is_control() { ' ' } else { c });
    let mut excerpt: String = if first > 0 { "…" } else { "" }.chars().chain(shown).collect();
    if rest.next().is_some() {
        excerpt.push('…');
    }
    ShownPlace {
        line: text[..offset].matches('\n').count() + 1,
        column: column + 1,
        excerpt,
        excerpt_column: column - first + usize::from(first > 0),
    }
}

/// The start of the character at `offset`.
pub(super) fn floor_char_boundary(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}
