//! A whole text, and the place of a problem in it.

use std::fmt::Write;

use serde_json::value::RawValue;

use super::error::{JsonError, Problem, ShownPlace, floor_char_boundary, place};
use super::node::Node;
use super::object::Object;
use super::scan::{self, Scan, behind_space, scan};
use super::source::Source;

/// Editors on Windows begin a text with it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text without the byte order mark that it may begin with.
pub(crate) fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK.encode_utf8(&mut [0; 4]).as_bytes()).unwrap_or(text)
}

/// A text that is valid JSON, with the name under which errors mention it.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    file: &'a str,
    source: Source<'a>,
}

impl<'a> Document<'a> {
    /// Checks the syntax of `text`, before which a byte order mark may stand; `file` is the name used in errors.
    ///
    /// # Errors
    /// [`JsonError`] at the place where `text` stops being JSON.
    pub(crate) fn parse(file: &'a str, text: &'a str) -> Result<Self, JsonError> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        match scan(text) {
            Some(Scan { containers, fields }) => Ok(Self { file, source: Source { text, containers, fields } }),
            None => Err(broken(file, text)),
        }
    }

    /// The outermost value.
    pub(crate) fn root(&self) -> Node<'_> {
        Node::new(&self.source, scan::place(behind_space(self.source.text.as_bytes(), 0)), 0)
    }

    /// The text, without a byte order mark.
    pub(super) fn text(&self) -> &'a str {
        self.source.text
    }

    /// Whether any object has a comment: a key that begins with that word.
    pub(crate) fn has_comments(&self) -> bool {
        self.source.fields.iter().any(|field| field.is_comment(&self.source))
    }

    /// The file, line, column and path of a problem found in this document.
    pub(crate) fn locate(&self, problem: Problem) -> JsonError {
        let offset = floor_char_boundary(self.source.text, problem.offset.min(self.source.text.len()));
        let path = path_to(self.root(), offset);
        JsonError { path, ..without_path(self.file, self.source.text, problem) }
    }
}

/// What is wrong with a text that is no JSON.
fn broken(file: &str, text: &str) -> JsonError {
    let (mut offset, mut what) = (0, String::new());
    if let Err(error) = serde_json::from_str::<&RawValue>(text) {
        let line_start = match error.line() {
            0 | 1 => 0,
            line => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1),
        };
        // serde_json counts columns in bytes and points behind the character it stumbled over.
        offset = line_start + error.column().saturating_sub(1);
        what = error.to_string();
    }
    let what = what.split(" at line ").next().unwrap_or(&what);
    if what.is_empty() {
        let what = "a text of more than 4 GiB, which is the most that is read".to_owned();
        return without_path(file, text, Problem { offset: 0, what, help: None });
    }
    let what = match trailing_comma(text, offset) {
        Some((comma, end)) => {
            offset = comma;
            format!("trailing comma before {end:?}")
        }
        None => what.to_owned(),
    };
    without_path(file, text, Problem { offset, what: format!("not valid JSON: {what}"), help: None })
}

/// Where the comma is behind which a list or object ends at `offset`, and with what it ends.
fn trailing_comma(text: &str, offset: usize) -> Option<(usize, char)> {
    let (before, rest) = text.split_at_checked(offset)?;
    let end = rest.chars().next().filter(|end| matches!(end, '}' | ']'))?;
    let before = before.trim_end_matches([' ', '\n', '\t', '\r']);
    before.ends_with(',').then(|| (before.len() - 1, end))
}

/// Whether a text is JSON with comments in it.
pub fn has_comments(text: &str) -> bool {
    Document::parse("", text).is_ok_and(|document| document.has_comments())
}

/// Turns an offset \[bytes\] in `text` into line, column and excerpt.
pub(crate) fn without_path(file: &str, text: &str, problem: Problem) -> JsonError {
    let ShownPlace { line, column, excerpt, excerpt_column } = place(text, problem.offset);
    JsonError {
        file: file.to_owned(),
        line,
        column,
        path: String::new(),
        what: problem.what,
        help: problem.help,
        excerpt,
        excerpt_column,
    }
}

/// The path of the innermost value that starts at or before `offset` and reaches beyond it.
fn path_to(root: Node<'_>, offset: usize) -> String {
    let (mut path, mut node) = (String::new(), root);
    let holds = |child: &Node<'_>| (child.start()..child.start() + child.raw().len()).contains(&offset);
    while node.start() != offset {
        if let Ok(object) = node.object() {
            let Some((key, child)) = Object::into_entries(object).into_iter().find(|(_, child)| holds(child)) else {
                break;
            };
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&key);
            node = child;
        } else if let Ok(list) = node.list() {
            let Some((index, child)) = list.into_iter().enumerate().find(|(_, child)| holds(child)) else { break };
            // Writing to a string cannot fail.
            let _ = write!(path, "[{index}]");
            node = child;
        } else {
            break;
        }
    }
    path
}
