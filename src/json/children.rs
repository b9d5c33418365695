//! What stands in a list or object, one after another.

use std::borrow::Cow;

use super::error::Problem;
use super::node::Node;
use super::scan::{behind_space, behind_string};
use super::source::Source;

/// A cursor on the inside of a list or object.
pub(super) struct Children<'a> {
    source: &'a Source<'a>,
    /// Behind the opening bracket, a colon, or the last value.
    at: usize,
    /// The number that the next list or object has.
    container: usize,
}

impl<'a> Children<'a> {
    /// Before the first value of a list or object.
    pub(super) fn of(node: Node<'a>) -> Self {
        Self { source: node.source(), at: node.start() + 1, container: node.container() + 1 }
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
        let node = Node::new(self.source, self.at, self.container);
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

impl<'a> Node<'a> {
    /// The elements of a list.
    ///
    /// # Errors
    /// [`Problem`] if this is no list.
    pub fn list(&self) -> Result<Vec<Node<'a>>, Problem> {
        if !self.is_list() {
            return Err(self.expected("a list"));
        }
        let mut children = Children::of(*self);
        Ok(std::iter::from_fn(|| children.next_value()).collect())
    }

    /// The elements of a list that must not be empty.
    ///
    /// # Errors
    /// [`Problem`] if this is no list, or an empty one.
    pub fn filled_list(&self) -> Result<Vec<Node<'a>>, Problem> {
        let list = self.list()?;
        if list.is_empty() { Err(self.problem("expected at least one entry, found an empty list")) } else { Ok(list) }
    }
}
