//! Fields of comma-separated values.

use std::borrow::Cow;

/// A field as RFC 4180 wants it.
pub(crate) fn field(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}
