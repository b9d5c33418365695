//! A whole text: the place of a problem in it, and the text with another value in a field.

use std::fmt::Write;

use serde_json::value::RawValue;

use super::error::{JsonError, Problem, ShownPlace, floor_char_boundary, place};
use super::node::Node;
use super::object::Object;
use super::scan;
use super::scan::{Source, behind_space, scan};
use crate::words::did_you_mean;

/// Editors on Windows begin a text with it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text without the byte order mark that it may begin with.
pub fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK.encode_utf8(&mut [0; 4]).as_bytes()).unwrap_or(text)
}

/// A text that is valid JSON, with the name under which errors mention it.
#[derive(Debug)]
pub struct Document<'a> {
    file: &'a str,
    source: Source<'a>,
}

impl<'a> Document<'a> {
    /// Checks the syntax of `text`, before which a byte order mark may stand; `file` is the name used in errors.
    ///
    /// # Errors
    /// [`JsonError`] at the place where `text` stops being JSON.
    pub fn parse(file: &'a str, text: &'a str) -> Result<Self, JsonError> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        match scan(text) {
            Some(source) => Ok(Self { file, source }),
            None => Err(broken(file, text)),
        }
    }

    /// The outermost value.
    pub fn root(&self) -> Node<'_> {
        Node::new(&self.source, scan::place(behind_space(self.source.text.as_bytes(), 0)), 0)
    }

    /// The text, without a byte order mark.
    pub(super) fn text(&self) -> &'a str {
        self.source.text
    }

    /// Whether any object has a comment: a key that begins with that word.
    pub(crate) fn has_comments(&self) -> bool {
        self.source.has_comments
    }

    /// The file, line, column and path of a problem found in this document.
    pub fn locate(&self, problem: Problem) -> JsonError {
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
pub fn without_path(file: &str, text: &str, problem: Problem) -> JsonError {
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

// A text in which the value of a field is another one.

/// Keys whose value is the name of what stands in a list.
const NAMES: [&str; 2] = ["name", "label"];

/// Objects whose keys are names that the author chose: what is not there is a name that is wrong.
const BY_NAME: [&str; 2] = ["kernels", "processes"];

/// A text with another value in a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The text: as it was, but for that value.
    pub text: String,
    /// The path of the field, as errors have it.
    pub path: String,
}

/// Where a path leads to.
enum Place<'a> {
    /// A value that is there.
    Value(Node<'a>),
    /// A key that an object does not have.
    Absent(Node<'a>, String),
}

/// The text of a JSON document in which the field of that path has that `value`, which is JSON. The path is written as
/// errors have it, `streams[0].period`; in place of its number, what stands in a list may be called by its name, as
/// `streams[camera].period`. A key that is not there is added to the object that would have it.
///
/// # Errors
/// What of the path is not there, and what is.
pub fn with_field(text: &str, path: &str, value: &str) -> Result<Edited, String> {
    let document = Document::parse("", text).map_err(|error| error.to_string())?;
    let text = document.text();
    let (place, canonical) = find(document.root(), path)?;
    let changed = match place {
        Place::Value(node) => {
            let (start, end) = (node.start(), node.start() + node.raw().len());
            [&text[..start], value, &text[end..]].concat()
        }
        Place::Absent(object, key) => {
            let (before, behind) = text.split_at(object.start() + 1);
            let key = serde_json::Value::from(key).to_string();
            let separator = if behind.trim_start().starts_with('}') { "" } else { ", " };
            [before, &key, ": ", value, separator, behind].concat()
        }
    };
    Ok(Edited { text: changed, path: canonical })
}

/// Follows a path; with it as errors write it.
fn find<'a>(root: Node<'a>, path: &str) -> Result<(Place<'a>, String), String> {
    let (mut node, mut rest, mut canonical) = (root, path, String::new());
    loop {
        let here = || if canonical.is_empty() { "the file".to_owned() } else { canonical.clone() };
        if let Some(inner) = rest.strip_prefix('[') {
            let (name, behind) = inner.split_once(']').ok_or_else(|| format!("{path:?} has a [ without a ]"))?;
            let list = node.list().map_err(|_| format!("{} is no list", here()))?;
            let index = element(&list, name, &here())?;
            node = list[index];
            canonical = format!("{canonical}[{index}]");
            rest = behind;
        } else {
            let name = if canonical.is_empty() { rest } else { rest.strip_prefix('.').unwrap_or_default() };
            if name.is_empty() {
                return Err(format!("{path:?} is no path of a field, such as streams[0].period"));
            }
            let entries = node.object().map_err(|_| format!("{} is no object", here()))?.into_entries();
            let entries: Vec<_> = entries.into_iter().collect();
            let separator = if canonical.is_empty() { "" } else { "." };
            // Names of kernels may have dots: the longest key that fits is meant.
            let is_meant = |key: &str| !key.is_empty() && name.strip_prefix(key).is_some_and(ends_key);
            let found = entries.iter().filter(|(key, _)| is_meant(key)).max_by_key(|(key, _)| key.len());
            let Some((key, value)) = found else {
                let key = name.split(['.', '[']).next().unwrap_or_default();
                if key == name && !BY_NAME.contains(&&*canonical) {
                    return Ok((Place::Absent(node, key.to_owned()), format!("{canonical}{separator}{key}")));
                }
                let known: Vec<&str> = entries.iter().map(|(key, _)| &**key).collect();
                let near = did_you_mean(key, known.iter().copied());
                return Err(format!("there is no {key:?} in {}{near}; there are {}", here(), known.join(", ")));
            };
            canonical = format!("{canonical}{separator}{key}");
            rest = &name[key.len()..];
            node = *value;
        }
        if rest.is_empty() {
            return Ok((Place::Value(node), canonical));
        }
    }
}

/// Whether a key ends before what follows it in a path.
fn ends_key(behind: &str) -> bool {
    behind.is_empty() || behind.starts_with(['.', '['])
}

/// The number of the element that is called so, by its number or its name.
fn element(list: &[Node<'_>], name: &str, of: &str) -> Result<usize, String> {
    if let Ok(index) = name.parse::<usize>() {
        return match list.len() {
            0 => Err(format!("{of} is empty")),
            length if index >= length => Err(format!("there is no {of}[{index}]: the last is {of}[{}]", length - 1)),
            _ => Ok(index),
        };
    }
    let name_of = |node: &Node<'_>| {
        let mut entries = node.object().ok()?.into_entries().into_iter();
        entries.find(|(key, _)| NAMES.contains(&&**key))?.1.string().ok()
    };
    let names: Vec<Option<String>> = list.iter().map(name_of).collect();
    let mut found = (0..names.len()).filter(|&index| names[index].as_deref() == Some(name));
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (Some(_), Some(_)) => Err(format!("several of {of} are called {name:?}: say which by its number")),
        (None, _) => {
            let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
            let near = did_you_mean(name, known.iter().copied());
            Err(format!("none of {of} is called {name:?}{near}; there are {}", known.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"kernels": {"a.b": {"blocks": 1}, "a": {}}, "streams": [{"name": "one"}, {"name": "two", "jobs": [3, 4]}]}"#;

    fn edited(path: &str) -> Result<String, String> {
        with_field(TEXT, path, "7").map(|edited| format!("{} {}", edited.path, edited.text))
    }

    #[test]
    fn a_value_is_replaced_where_its_path_leads_and_all_else_stays() {
        for (path, canonical, old, new) in [
            ("kernels.a.b.blocks", "kernels.a.b.blocks", "1}", "7}"),
            ("streams[1].jobs[0]", "streams[1].jobs[0]", "[3", "[7"),
            ("streams[two].jobs", "streams[1].jobs", "[3, 4]", "7"),
            ("kernels.a.blocks", "kernels.a.blocks", r#""a": {}"#, r#""a": {"blocks": 7}"#),
            ("streams[one].period", "streams[0].period", r#"{"name": "one""#, r#"{"period": 7, "name": "one""#),
            ("seed", "seed", r#"{"kernels""#, r#"{"seed": 7, "kernels""#),
        ] {
            assert_eq!(edited(path), Ok(format!("{canonical} {}", TEXT.replacen(old, new, 1))), "{path}");
        }
    }

    #[test]
    fn a_path_that_leads_nowhere_is_told_with_what_is_there() {
        for (path, message) in [
            (
                "kernel.a.blocks",
                "there is no \"kernel\" in the file (did you mean \"kernels\"?); there are kernels, streams",
            ),
            ("kernels.b", "there is no \"b\" in kernels; there are a.b, a"),
            ("streams[2].jobs", "there is no streams[2]: the last is streams[1]"),
            ("streams[three].jobs", "none of streams is called \"three\"; there are one, two"),
            ("streams.jobs", "streams is no object"),
            ("kernels[0]", "kernels is no list"),
            ("streams[0", "\"streams[0\" has a [ without a ]"),
            ("streams[0]x", "\"streams[0]x\" is no path of a field, such as streams[0].period"),
            ("", "\"\" is no path of a field, such as streams[0].period"),
        ] {
            assert_eq!(edited(path), Err(message.to_owned()), "{path}");
        }
    }
}
