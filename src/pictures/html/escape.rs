//! Text from scenarios inside HTML.

use crate::limits::count_turn;
use std::io::{self, Write};

use serde_json::ser::{CompactFormatter, Formatter};

/// The largest integer up to which JavaScript's numbers hold all integers.
const MAX_EXACT: u64 = 1 << 53;

/// Writes JSON that may stand inside a `<script>` element: no `<`, so that no text ends the element or opens a
/// comment in it; and no integer that JavaScript would not hold exactly: those are texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct InsideScript;

impl Formatter for InsideScript {
    fn write_u64<W: ?Sized + Write>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        if value <= MAX_EXACT { CompactFormatter.write_u64(writer, value) } else { write!(writer, "\"{value}\"") }
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((before, after)) = rest.split_once('<') {
            count_turn();
            CompactFormatter.write_string_fragment(writer, before)?;
            writer.write_all(b"\\u003c")?;
            rest = after;
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[test]
    fn no_text_ends_a_script_and_it_reads_back_the_same() {
        let text = "a</script><!--\"\\\n&";
        let mut out = Vec::new();
        text.serialize(&mut serde_json::Serializer::with_formatter(&mut out, InsideScript)).expect("it can be written");
        let written = String::from_utf8(out).expect("UTF-8");
        assert!(!written.contains('<'), "{written}");
        assert_eq!(serde_json::from_str::<String>(&written).expect("JSON"), text);
    }
}
