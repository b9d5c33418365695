//! Fields of comma-separated values.

use std::borrow::Cow;

/// A field as RFC 4180 wants it.
pub(crate) fn field(text: &str) -> Cow<'_, str> {
    // All bytes without a branch for each, which is several at once.
    let is_special = |found, byte| found | matches!(byte, b'"' | b',' | b'\n' | b'\r');
    if text.bytes().fold(false, is_special) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}
