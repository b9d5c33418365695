//! A text whose lists and objects are known.

use super::scan::{Container, behind_scalar, behind_string};

/// A text that is JSON, with its lists and objects.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) containers: Vec<Container>,
}

impl Source<'_> {
    /// The value that begins at `start`, as it is written; `container` is its number if it is a list or object.
    pub(super) fn raw(&self, start: usize, container: usize) -> &str {
        let bytes = self.text.as_bytes();
        let end = match bytes.get(start) {
            Some(b'{' | b'[') => self.containers.get(container).map_or(bytes.len(), |container| container.end),
            Some(b'"') => behind_string(bytes, start).0,
            _ => behind_scalar(bytes, start),
        };
        self.text.get(start..end).unwrap_or_default()
    }
}
