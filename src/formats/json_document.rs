//! Reports as one JSON document each.

use std::io::{self, Write};

use serde::Serialize;

/// A report that is one JSON document.
pub trait JsonDocument: Serialize {
    /// Whether it stands on several indented lines, for people too, and not on one.
    const IS_INDENTED: bool = false;
}

/// Why a document tells less than was asked for.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Cut {
    /// What stopped the command.
    pub reason: &'static str,
}

/// A document that tells less than was asked for, and says so.
#[derive(Debug, Serialize)]
pub struct CutDocument<'d, D> {
    /// What was complete.
    #[serde(flatten)]
    pub document: &'d D,
    /// Why there is no more.
    pub cut: Cut,
}

impl<D: JsonDocument> JsonDocument for CutDocument<'_, D> {
    const IS_INDENTED: bool = D::IS_INDENTED;
}

/// Writes a document, with the end of its last line.
///
/// # Errors
/// Whatever `out` or the document refuses.
pub fn write_json<T: JsonDocument + ?Sized>(document: &T, mut out: impl Write) -> io::Result<()> {
    if T::IS_INDENTED {
        serde_json::to_writer_pretty(&mut out, document)?;
    } else {
        serde_json::to_writer(&mut out, document)?;
    }
    out.write_all(b"\n")
}
