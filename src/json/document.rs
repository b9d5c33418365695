//! A whole text, and the place of a problem in it.

use std::fmt::Write;

use serde_json::value::RawValue;

use super::error::{JsonError, Problem, ShownPlace, floor_char_boundary, place};
use super::node::Node;
use super::object::Object;

/// A text that is valid JSON, with the name under which errors mention it.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    file: &'a str,
    text: &'a str,
    root: &'a RawValue,
}

impl<'a> Document<'a> {
    /// Checks the syntax of `text`; `file` is the name used in errors.
    ///
    /// # Errors
    /// [`JsonError`] at the place where `text` stops being JSON.
    pub fn parse(file: &'a str, text: &'a str) -> Result<Self, JsonError> {
        match serde_json::from_str(text) {
            Ok(root) => Ok(Self { file, text, root }),
            Err(error) => {
                let line_start = match error.line() {
                    0 | 1 => 0,
                    line => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1),
                };
                // serde_json counts columns in bytes and points behind the character it stumbled over.
                let offset = line_start + error.column().saturating_sub(1);
                let what = error.to_string();
                let what = what.split(" at line ").next().unwrap_or(&what);
                Err(locate(file, text, Problem { offset, what: format!("not valid JSON: {what}"), help: None }))
            }
        }
    }

    /// The outermost value.
    #[must_use]
    pub fn root(&self) -> Node<'a> {
        Node::new(self.root.get(), self.text)
    }

    /// The file, line, column and path of a problem found in this document.
    #[must_use]
    pub fn locate(&self, problem: Problem) -> JsonError {
        locate(self.file, self.text, problem)
    }
}

/// Turns an offset \[bytes\] in `text` into line, column, path and excerpt.
fn locate(file: &str, text: &str, problem: Problem) -> JsonError {
    let ShownPlace { line, column, excerpt, excerpt_column } = place(text, problem.offset);
    JsonError {
        file: file.to_owned(),
        line,
        column,
        path: path_to(text, floor_char_boundary(text, problem.offset.min(text.len()))),
        what: problem.what,
        help: problem.help,
        excerpt,
        excerpt_column,
    }
}

/// The path of the innermost value that starts at or before `offset` and reaches beyond it.
fn path_to(text: &str, offset: usize) -> String {
    let mut path = String::new();
    // A syntax error leaves nothing to walk through.
    let Ok(mut raw) = serde_json::from_str::<&RawValue>(text).map(RawValue::get) else {
        return path;
    };
    let start = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    while start(raw) != offset {
        let holds = |child: &Node<'_>| (start(child.raw())..start(child.raw()) + child.raw().len()).contains(&offset);
        let node = Node::new(raw, text);
        if let Ok(object) = node.object() {
            let Some((key, child)) = Object::into_entries(object).into_iter().find(|(_, child)| holds(child)) else {
                break;
            };
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&key);
            raw = child.raw();
        } else if let Ok(list) = node.list() {
            let Some((index, child)) = list.into_iter().enumerate().find(|(_, child)| holds(child)) else { break };
            // Writing to a string cannot fail.
            let _ = write!(path, "[{index}]");
            raw = child.raw();
        } else {
            break;
        }
    }
    path
}
