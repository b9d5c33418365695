//! What stands in a list or object, one after another.

use std::borrow::Cow;

use super::node::Node;
use super::scan::{Container, behind_scalar, behind_space, behind_string};

/// A text that is JSON, with its lists and objects.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) containers: Vec<Container>,
}

impl Source<'_> {
    /// The value that begins at `start`; `container` is its number if it is a list or object.
    pub(super) fn value(&self, start: usize, container: usize) -> Node<'_> {
        let bytes = self.text.as_bytes();
        let end = match bytes.get(start) {
            Some(b'{' | b'[') => self.containers.get(container).map_or(bytes.len(), |container| container.end),
            Some(b'"') => behind_string(bytes, start).0,
            _ => behind_scalar(bytes, start),
        };
        Node::new(self, self.text.get(start..end).unwrap_or_default(), container)
    }
}

/// A cursor on the inside of a list or object.
pub(super) struct Children<'a> {
    source: &'a Source<'a>,
    /// Behind the opening bracket, a colon, or the last value.
    at: usize,
    /// The number that the next list or object has.
    container: usize,
}

impl<'a> Children<'a> {
    /// Before the first value of the list or object that begins at `start` and has this number.
    pub(super) fn new(source: &'a Source<'a>, start: usize, container: usize) -> Self {
        Self { source, at: start + 1, container: container + 1 }
    }

    /// Goes to the next key or value. Says whether there is one.
    fn advance(&mut self) -> bool {
        let bytes = self.source.text.as_bytes();
        self.at = behind_space(bytes, self.at);
        if bytes.get(self.at) == Some(&b',') {
            self.at = behind_space(bytes, self.at + 1);
        }
        !matches!(bytes.get(self.at), None | Some(b'}' | b']'))
    }

    /// The value at the cursor, which goes behind it.
    fn value(&mut self) -> Node<'a> {
        let node = self.source.value(self.at, self.container);
        if node.is_list() || node.is_object() {
            self.container = self.source.containers.get(self.container).map_or(usize::MAX, |container| container.next);
        }
        self.at += node.raw().len();
        node
    }

    /// The next value of a list.
    pub(super) fn next_value(&mut self) -> Option<Node<'a>> {
        self.advance().then(|| self.value())
    }

    /// The next key of an object and its value; a key is `None` if it is no text, for half a surrogate pair stands in it.
    pub(super) fn next_entry(&mut self) -> Option<(Option<Cow<'a, str>>, Node<'a>)> {
        if !self.advance() {
            return None;
        }
        let text = self.source.text;
        let bytes = text.as_bytes();
        let (end, is_plain) = behind_string(bytes, self.at);
        let key = if is_plain {
            text.get(self.at + 1..end - 1).map(Cow::Borrowed)
        } else {
            text.get(self.at..end).and_then(|key| serde_json::from_str(key).ok()).map(Cow::Owned)
        };
        let colon = behind_space(bytes, end);
        self.at = behind_space(bytes, colon + 1);
        Some((key, self.value()))
    }
}
