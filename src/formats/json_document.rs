//! Reports as one JSON document each.

use std::io::{self, BufWriter, IntoInnerError, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::report::{DocumentWriter, Report};
use super::streamed::Once;

/// Why a document tells less than was asked for.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Cut {
    /// What stopped the command.
    pub reason: &'static str,
}

/// The entries of a JSON object.
struct Map<'m, M>(&'m mut M);

impl<M: SerializeMap> DocumentWriter for Map<'_, M> {
    type Error = M::Error;
    const IS_LINES: bool = false;

    fn entry<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), M::Error> {
        self.0.serialize_entry(key, value)
    }

    fn list<I: IntoIterator<Item: Serialize>>(&mut self, key: &str, elements: I) -> Result<(), M::Error> {
        self.0.serialize_entry(key, &Once::new(elements))
    }
}

struct Whole<'r, R: ?Sized> {
    report: &'r R,
    cut: Option<Cut>,
}

impl<R: Report> Serialize for Whole<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.report.document(&mut Map(&mut map))?;
        if let Some(cut) = &self.cut {
            map.serialize_entry("cut", cut)?;
        }
        map.end()
    }
}

/// Writes a report as JSON, with the end of its last line; `cut` if it tells less than was asked for.
///
/// # Errors
/// Whatever `out` refuses.
pub fn write_json<R: Report>(report: &R, cut: Option<Cut>, out: &mut dyn Write) -> io::Result<()> {
    // So that what writes a report is compiled once, and still appends its many small texts where it stands.
    let mut out = BufWriter::new(out);
    let whole = Whole { report, cut };
    match report.file() {
        Some(file) => out.write_all(file.as_bytes())?,
        None if R::IS_INDENTED => serde_json::to_writer_pretty(&mut out, &whole)?,
        None => serde_json::to_writer(&mut out, &whole)?,
    }
    out.write_all(b"\n")?;
    out.into_inner().map(drop).map_err(IntoInnerError::into_error)
}
