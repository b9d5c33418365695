//! Limits on the form of a document, checked before it is parsed.
//!
//! The parser's work grows with the square of the attributes of one element and of nested namespace declarations, and
//! whoever walks a document wants its depth bounded. No model comes near these limits.

use super::error::Problem;
use crate::limits::count_turn;

/// Elements inside each other.
const MAX_DEPTH: usize = 256;
/// Attributes of one element.
const MAX_ATTRIBUTES: usize = 1_000;
/// Namespace declarations in all.
const MAX_NAMESPACES: usize = 1_000;

/// Refuses a document over one of the limits. What is no XML is left to the parser.
pub(super) fn check(text: &str) -> Result<(), Problem> {
    let mut depth = 0_usize;
    let mut namespaces = 0_usize;
    let mut at = 0;
    while let Some(tag) = text.get(at..).and_then(|rest| rest.find('<')).map(|found| at + found) {
        count_turn();
        let rest = &text[tag..];
        let Some(end) = end_of(rest) else { return Ok(()) };
        at = tag + end;
        if rest.starts_with("<!") || rest.starts_with("<?") {
            continue;
        }
        if rest.starts_with("</") {
            depth = depth.saturating_sub(1);
            continue;
        }
        let inside = &rest[..end];
        let attributes = inside.bytes().filter(|&byte| byte == b'=').count();
        // Values may hold an equals sign too, so this counts at least the attributes, and seldom more.
        if attributes > MAX_ATTRIBUTES && attributes_of(inside) > MAX_ATTRIBUTES {
            return Err(Problem::at(tag, format!("this element has more than {MAX_ATTRIBUTES} attributes")));
        }
        if attributes > 0 {
            namespaces += inside.matches("xmlns").count();
            if namespaces > MAX_NAMESPACES {
                return Err(Problem::at(tag, format!("more than {MAX_NAMESPACES} namespaces are declared")));
            }
        }
        if !inside.ends_with("/>") {
            depth += 1;
            if depth > MAX_DEPTH {
                return Err(Problem::at(tag, format!("elements are nested more than {MAX_DEPTH} deep")));
            }
        }
    }
    Ok(())
}

/// The length of the markup at the beginning of `rest`, or `None` if it does not end.
fn end_of(rest: &str) -> Option<usize> {
    for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] {
        if let Some(inside) = rest.strip_prefix(start) {
            return inside.find(end).map(|found| start.len() + found + end.len());
        }
    }
    let mut quote = None;
    for (index, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(index + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    None
}

/// Attributes of a start tag: its quoted values.
fn attributes_of(tag: &str) -> usize {
    let mut quote = None;
    let mut closed = 0;
    for byte in tag.bytes() {
        match quote {
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            Some(open) if open == byte => {
                quote = None;
                closed += 1;
            }
            _ => {}
        }
    }
    closed
}
