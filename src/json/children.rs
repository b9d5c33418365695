//! What stands in a list, one after another.

use super::error::Problem;
use super::node::Node;
use super::scan::{behind_space, place};
use super::source::Source;

/// A cursor on the inside of a list.
struct Children<'a> {
    source: &'a Source<'a>,
    /// Behind the opening bracket, or the last value \[bytes\].
    at: usize,
    /// The number that the next list or object has.
    container: u32,
}

impl<'a> Iterator for Children<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        let bytes = self.source.text.as_bytes();
        self.at = behind_space(bytes, self.at);
        if bytes.get(self.at) == Some(&b',') {
            self.at = behind_space(bytes, self.at + 1);
        }
        let node = match bytes.get(self.at) {
            None | Some(b']') => return None,
            Some(_) => Node::new(self.source, place(self.at), self.container),
        };
        if node.is_list() || node.is_object() {
            let container = self.source.container(self.container);
            (self.at, self.container) = (container.end as usize, container.next);
        } else {
            self.at = self.source.end(self.at, self.container);
        }
        Some(node)
    }
}

impl<'a> Node<'a> {
    /// The elements of a list.
    ///
    /// # Errors
    /// [`Problem`] if this is no list.
    pub(crate) fn list(&self) -> Result<Vec<Node<'a>>, Problem> {
        if !self.is_list() {
            return Err(self.expected("a list"));
        }
        Ok(Children { source: self.source(), at: self.start() + 1, container: self.container() + 1 }.collect())
    }

    /// The elements of a list that must not be empty.
    ///
    /// # Errors
    /// [`Problem`] if this is no list, or an empty one.
    pub(crate) fn filled_list(&self) -> Result<Vec<Node<'a>>, Problem> {
        let list = self.list()?;
        if list.is_empty() { Err(self.problem("expected at least one entry, found an empty list")) } else { Ok(list) }
    }
}
