//! Reports as one JSON document each, or as JSON lines: one object a line, so that a program takes rows as they come.
//!
//! Lines follow from the document: each element of each of its lists is a line, and `row` says of which list;
//! everything else is in the first line, whose `row` is `document`. A list without elements is left out. Entries are
//! made one by one while they are written, so that of a row no more is held than the row.

use std::cell::Cell;
use std::io::{self, BufWriter, IntoInnerError, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::report::{Cut, DocumentWriter, Report};
use crate::limits::end_if_stopped;
use crate::scenario::ahead::{Give, in_order};

/// Elements of a part of a list leave together once they are so long \[bytes\]; mostly all of the part is shorter.
const TOGETHER: usize = 1 << 17;

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

/// The entries of a JSON object without spaces, of whose longer lists several parts are made at once.
struct Object<W> {
    out: W,
    /// What stands before the next entry.
    before: u8,
}

impl<W: Write> Object<W> {
    fn key(&mut self, key: &str) -> io::Result<()> {
        self.out.write_all(&[std::mem::replace(&mut self.before, b',')])?;
        serde_json::to_writer(&mut self.out, key)?;
        self.out.write_all(b":")
    }

    fn end(mut self) -> io::Result<()> {
        self.out.write_all(if self.before == b'{' { b"{}" } else { b"}" })
    }
}

impl<W: Write> DocumentWriter for Object<W> {
    type Error = io::Error;
    const IS_LINES: bool = false;

    fn entry<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> io::Result<()> {
        self.key(key)?;
        Ok(serde_json::to_writer(&mut self.out, value)?)
    }

    fn list<I: IntoIterator<Item: Serialize>>(&mut self, key: &str, elements: I) -> io::Result<()> {
        self.entry(key, &Once::new(elements))
    }

    fn parts<P: Send, I: IntoIterator<Item: Serialize>>(
        &mut self,
        key: &str,
        parts: impl IntoIterator<Item = P>,
        elements: impl Fn(P) -> I + Sync,
    ) -> io::Result<()> {
        self.key(key)?;
        // Each element with what stands before it.
        let text = |part, give: Give<'_, io::Result<Vec<u8>>>| {
            let mut text = Vec::with_capacity(TOGETHER);
            for element in elements(part) {
                end_if_stopped();
                text.push(b',');
                if let Err(error) = serde_json::to_writer(&mut text, &element) {
                    _ = give(Err(error.into()));
                    return;
                }
                if text.len() >= TOGETHER && !give(Ok(std::mem::replace(&mut text, Vec::with_capacity(TOGETHER)))) {
                    return;
                }
            }
            _ = give(Ok(text));
        };
        let mut is_begun = false;
        in_order(parts, text, |text| {
            let mut text = text?;
            if let Some(before) = text.first_mut().filter(|_| !std::mem::replace(&mut is_begun, true)) {
                *before = b'[';
            }
            self.out.write_all(&text)
        })?;
        self.out.write_all(if is_begun { b"]" } else { b"[]" })
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
    match report.file() {
        Some(file) => out.write_all(file.as_bytes())?,
        None => report.json(cut, out).unwrap_or_else(|| write_document(report, cut, out))?,
    }
    out.write_all(b"\n")
}

/// Writes its document alone, for [`Report::json`].
pub(crate) fn write_document<R: Report>(report: &R, cut: Option<Cut>, out: &mut dyn Write) -> io::Result<()> {
    // So that what writes a report is compiled once, and still appends its many small texts where it stands.
    let mut out = BufWriter::new(out);
    if R::IS_INDENTED {
        serde_json::to_writer_pretty(&mut out, &Whole { report, cut })?;
    } else {
        let mut object = Object { out: &mut out, before: b'{' };
        report.document(&mut object)?;
        cut.map_or(Ok(()), |cut| object.entry("cut", &cut))?;
        object.end()?;
    }
    out.into_inner().map(drop).map_err(IntoInnerError::into_error)
}

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
    report.json_lines(file, cut, out).unwrap_or_else(|| write_lines(report, file, cut, out))
}

/// Writes its lines, for [`Report::json_lines`].
pub(crate) fn write_lines<R: Report>(
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

/// A list with the elements that the function gives each time.
pub struct Streamed<F>(pub F);

impl<F, I> Serialize for Streamed<F>
where
    F: Fn() -> I,
    I: Iterator,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)().inspect(|_| end_if_stopped()))
    }
}

/// An object with the keys and values that the function gives each time.
pub struct StreamedMap<F>(pub(crate) F);

impl<F, I, K, V> Serialize for StreamedMap<F>
where
    F: Fn() -> I,
    I: Iterator<Item = (K, V)>,
    K: Serialize,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map((self.0)().inspect(|_| end_if_stopped()))
    }
}

/// A list that is written once, with these elements.
pub(crate) struct Once<I>(Cell<Option<I>>);

impl<I: IntoIterator> Once<I> {
    pub(crate) const fn new(elements: I) -> Self {
        Self(Cell::new(Some(elements)))
    }
}

impl<I: IntoIterator<Item: Serialize>> Serialize for Once<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.take().into_iter().flatten().inspect(|_| end_if_stopped()))
    }
}
