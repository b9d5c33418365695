//! A text whose lists, objects and fields are known.

use std::borrow::Cow;

use super::scan::{Container, Field, Mark, behind_scalar, behind_string};

/// A text that is JSON, with its lists and objects.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) containers: Vec<Container>,
    /// The fields of each object, one after another.
    pub(super) fields: Vec<Field>,
}

impl Source<'_> {
    /// The list or object of that number.
    pub(super) fn container(&self, number: u32) -> Container {
        self.containers.get(number as usize).copied().unwrap_or_default()
    }

    /// The offset just after the value that begins at `start` \[bytes\]; `container` is the value's number if it is a
    /// list or object.
    pub(super) fn end(&self, start: usize, container: u32) -> usize {
        let bytes = self.text.as_bytes();
        match bytes.get(start) {
            Some(b'{' | b'[') => self.container(container).end as usize,
            Some(b'"') => behind_string(bytes, start).0,
            _ => behind_scalar(bytes, start),
        }
    }

    /// The fields of an object.
    pub(super) fn fields(&self, container: u32) -> &[Field] {
        let Container { first_field, fields, .. } = self.container(container);
        let first = first_field as usize;
        self.fields.get(first..first + fields as usize).unwrap_or_default()
    }
}

/// Whether what a key has is free text.
pub(crate) fn is_comment(key: &str) -> bool {
    key.starts_with("comment")
}

impl Field {
    /// Its key, borrowed from the text unless it has escapes; `None` if it contains half a surrogate pair, which is
    /// no text.
    pub(super) fn key<'a>(&self, source: &'a Source<'_>) -> Option<Cow<'a, str>> {
        let (text, start) = (source.text, self.key as usize);
        let (end, is_plain) = behind_string(text.as_bytes(), start);
        if is_plain {
            text.get(start + 1..end - 1).map(Cow::Borrowed)
        } else {
            text.get(start..end).and_then(|key| serde_json::from_str(key).ok()).map(Cow::Owned)
        }
    }

    /// Whether its key is `key`, if they are not known to have different marks.
    #[inline]
    pub(super) fn is(&self, source: &Source<'_>, key: &str) -> bool {
        if self.mark == Mark::ESCAPED {
            return self.key(source).is_some_and(|own| own == key);
        }
        let start = self.key as usize + 1;
        let own = source.text.as_bytes().get(start..=start + key.len());
        // Behind a key without escapes is a quotation mark, and there is none in it.
        own.and_then(<[u8]>::split_last).is_some_and(|(end, own)| *end == b'"' && own == key.as_bytes())
    }

    /// Whether it is free text.
    pub(super) fn is_comment(&self, source: &Source<'_>) -> bool {
        self.key(source).is_some_and(|key| is_comment(&key))
    }
}
