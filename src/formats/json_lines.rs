//! A report as JSON lines: one object a line, so that a program takes rows as they come.
//!
//! They follow from the document: each element of each of its lists is a line, and `row` says of which list; everything
//! else is in the first line, whose `row` is `document`. A list without elements is left out. Of a row no more is held
//! than the row.

use std::io::{self, Write};

use serde::Serialize;

use super::json_document::Cut;
use super::report::{DocumentWriter, Report};
use crate::limits::end_if_stopped;

/// Writes a report line by line; with the `file` that it is about, if there are several, and `cut` if it tells less
/// than was asked for.
///
/// # Errors
/// Whatever `out` refuses.
pub fn write_json_lines<R: Report>(
    report: &R,
    file: Option<&str>,
    cut: Option<Cut>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut first = FirstLine(br#"{"row":"document""#.to_vec());
    file.map_or(Ok(()), |file| first.entry("file", file))?;
    report.document(&mut first)?;
    cut.map_or(Ok(()), |cut| first.entry("cut", &cut))?;
    first.0.extend_from_slice(b"}\n");
    out.write_all(&first.0)?;
    report.document(&mut ListLines { out, file, line: first.0 })
}

/// Everything but lists of objects.
struct FirstLine(Vec<u8>);

impl DocumentWriter for FirstLine {
    type Error = io::Error;
    const IS_LINES: bool = true;
    const HAS_LISTS: bool = false;

    fn entry<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> io::Result<()> {
        let Self(line) = self;
        let before = line.len();
        line.push(b',');
        serde_json::to_writer(&mut *line, key)?;
        line.push(b':');
        let begin = line.len();
        serde_json::to_writer(&mut *line, value)?;
        if &line[begin..] == b"[]" {
            line.truncate(before);
        }
        Ok(())
    }
}

/// The lists of objects.
struct ListLines<'f> {
    out: &'f mut dyn Write,
    file: Option<&'f str>,
    /// The line that is being made.
    line: Vec<u8>,
}

#[derive(Serialize)]
struct Listed<'r, T> {
    row: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'r str>,
    #[serde(flatten)]
    element: T,
}

impl DocumentWriter for ListLines<'_> {
    type Error = io::Error;
    const IS_LINES: bool = true;

    fn list<I: IntoIterator<Item: Serialize>>(&mut self, key: &str, elements: I) -> io::Result<()> {
        let Self { out, file, line } = self;
        elements.into_iter().try_for_each(|element| {
            end_if_stopped();
            line.clear();
            serde_json::to_writer(&mut *line, &Listed { row: key, file: *file, element })?;
            line.push(b'\n');
            out.write_all(line)
        })
    }
}
