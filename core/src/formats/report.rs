//! What a report declares of itself, from which every format follows.

use std::io::{self, Write};
use std::iter;

use serde::Serialize;

use super::columns::{Column, RowFormat, RowObject, RowsPart};
use super::page::{Page, TableStyle};
use super::rows::in_memory;
use crate::proven::Proven;
use crate::scenario::ahead::AT_ONCE;

/// Why a document tells less than was asked for.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Cut {
    /// What stopped the command.
    pub reason: &'static str,
}

/// What a command tells: declared once, and written in any format.
pub trait Report {
    /// Whether its JSON stands on several indented lines, for people too: as many lines as there are kernels, jobs or
    /// rows would be read by nobody.
    const IS_INDENTED: bool = false;

    /// Tells the entries of its document, in their order: the whole as one JSON object, or line by line.
    ///
    /// # Errors
    /// Whatever `to` refuses.
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error>;

    /// The list of its document that is its table for programs.
    const TABLE: &'static str = "";

    /// Writes its table for programs.
    ///
    /// # Errors
    /// Whatever `out` refuses.
    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.document(&mut OneTable { list: Self::TABLE, part, out })
    }

    /// Writes its document as one JSON object, if it does so itself: so what writes one of millions of entries is
    /// compiled, and optimised, where the report is.
    fn json(&self, cut: Option<Cut>, out: &mut dyn Write) -> Option<io::Result<()>> {
        let _ = (cut, out);
        None
    }

    /// The same of its document line by line.
    fn json_lines(&self, file: Option<&str>, cut: Option<Cut>, out: &mut dyn Write) -> Option<io::Result<()>> {
        let _ = (file, cut, out);
        None
    }

    /// What people read.
    fn text(&self, page: &mut Page);

    /// A file of its own, of reports whose JSON is one and not the document.
    fn file(&self) -> Option<String> {
        None
    }
}

/// A report as people read it.
pub fn text_of<R: Report>(report: &R, style: TableStyle) -> String {
    let mut page = Page::new(style);
    report.text(&mut page);
    page.finish()
}

/// A report's table as comma-separated values.
pub fn csv_of<R: Report>(report: &R) -> String {
    in_memory(|out| report.rows(RowsPart::CSV, out))
}

/// A report's table for a data frame, as [`RowFormat::Frame`] has it.
pub fn frame_of_rows<R: Report>(report: &R) -> String {
    in_memory(|out| report.rows(RowsPart::whole(RowFormat::Frame), out))
}

/// What takes the entries of a report's document; one that takes nothing of a kind leaves that out.
pub trait DocumentWriter {
    /// Why it does not.
    type Error;
    /// Whether each element of a list becomes a line, of which no more is told than fits there.
    const IS_LINES: bool;
    /// Whether it takes lists at all.
    const HAS_LISTS: bool = true;
    /// Whether lists are told as tables, those that have columns.
    const IS_TABLES: bool = false;

    /// An entry that is no list of objects.
    ///
    /// # Errors
    /// Whatever cannot be written.
    fn entry<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Self::Error> {
        let _ = (key, value);
        Ok(())
    }

    /// A list of objects, which are made while they are written.
    ///
    /// # Errors
    /// Whatever cannot be written.
    fn list<I: IntoIterator<Item: Serialize>>(&mut self, key: &str, elements: I) -> Result<(), Self::Error> {
        let _ = (key, elements);
        Ok(())
    }

    /// A list whose elements come in parts, those of each by themselves: of many parts several are made at once.
    ///
    /// # Errors
    /// Whatever cannot be written.
    fn parts<P: Send, I: IntoIterator<Item: Serialize>>(
        &mut self,
        key: &str,
        parts: impl IntoIterator<Item = P>,
        elements: impl Fn(P) -> I + Sync,
    ) -> Result<(), Self::Error> {
        self.list(key, parts.into_iter().flat_map(elements))
    }

    /// A list with columns, or a part of it, where lists are told as tables; `write` writes its rows.
    ///
    /// # Errors
    /// Whatever cannot be written.
    fn table(
        &mut self,
        key: &str,
        write: impl FnOnce(RowsPart<'_>, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Self::Error> {
        let _ = (key, write);
        Ok(())
    }
}

/// Writes one list of a document as a table, and nothing else of it.
struct OneTable<'f> {
    list: &'static str,
    part: RowsPart<'f>,
    out: &'f mut dyn Write,
}

impl DocumentWriter for OneTable<'_> {
    type Error = io::Error;
    const IS_LINES: bool = true;
    const IS_TABLES: bool = true;

    fn table(
        &mut self,
        key: &str,
        write: impl FnOnce(RowsPart<'_>, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if key == self.list { write(self.part, self.out) } else { Ok(()) }
    }
}

/// Rows of columns as lists of a document.
pub trait Rows: DocumentWriter {
    /// The rows with their columns for JSON.
    ///
    /// # Errors
    /// That of the writer.
    fn rows<R>(
        &mut self,
        key: &str,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = R>,
    ) -> Result<(), Self::Error> {
        if Self::IS_TABLES {
            return self.table(key, |part, out| part.write(columns, rows, out));
        }
        self.list(key, rows.into_iter().map(|row| RowObject::new(columns, row)))
    }

    /// The same of rows that may be many, and told on other threads than this.
    ///
    /// # Errors
    /// That of the writer.
    fn many_rows<R: Send>(
        &mut self,
        key: &str,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = R>,
    ) -> Result<(), Self::Error> {
        if Self::IS_TABLES {
            return self.rows(key, columns, rows);
        }
        let mut rows = rows.into_iter().fuse();
        let part = || Some(rows.by_ref().take(AT_ONCE).collect()).filter(|part: &Vec<R>| !part.is_empty());
        let object = |row| RowObject::new(columns, row);
        self.parts(key, iter::from_fn(part), |part| part.into_iter().map(object))
    }

    /// A list whose elements tell more than its columns, or in another order.
    ///
    /// # Errors
    /// That of the writer.
    fn elements<R>(
        &mut self,
        key: &str,
        elements: impl IntoIterator<Item: Serialize>,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = R>,
    ) -> Result<(), Self::Error> {
        if Self::IS_TABLES { self.rows(key, columns, rows) } else { self.list(key, elements) }
    }

    /// The same of elements that may be many.
    ///
    /// # Errors
    /// That of the writer.
    fn many_elements<'r, R: Serialize + Sync>(
        &mut self,
        key: &str,
        elements: &'r [R],
        columns: &[Column<&'r R>],
    ) -> Result<(), Self::Error> {
        if Self::IS_TABLES {
            return self.rows(key, columns, elements);
        }
        self.parts(key, elements.chunks(AT_ONCE), |part| part)
    }

    /// The rows of the table for programs, which the document has as lines alone.
    ///
    /// # Errors
    /// That of the writer.
    fn lines<R>(
        &mut self,
        key: &str,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = R>,
    ) -> Result<(), Self::Error> {
        if Self::IS_TABLES {
            return self.rows(key, columns, rows);
        }
        if Self::IS_LINES {
            self.list(key, rows.into_iter().map(|row| RowObject::as_csv(columns, row)))
        } else {
            Ok(())
        }
    }
}

impl<D: DocumentWriter> Rows for D {}

/// Tells fields of a value as entries of a document, under their own names.
#[macro_export]
#[doc(hidden)]
macro_rules! fields {
    ($to:expr, $value:expr => $($field:ident),+ $(,)?) => {
        $($to.entry(stringify!($field), &$value.$field)?;)+
    };
}

pub use fields;

/// A table for a data frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Under which key the report's document has the list.
    pub list: String,
    /// Its rows, as [`RowFormat::Frame`] has them; empty where they were not asked for.
    pub rows: String,
}

/// The lists of a report that have columns, in the order of its document; the rows of all, or of the `wanted` one.
pub fn frames_of<R: Report>(report: &R, wanted: Option<&str>) -> Vec<Frame> {
    let mut frames = Frames { wanted, found: Vec::new() };
    // Memory takes all.
    let _ = report.document(&mut frames);
    let text = |bytes| String::from_utf8(bytes).proven("all that is written is text");
    frames.found.into_iter().map(|(list, rows)| Frame { list, rows: text(rows) }).collect()
}

struct Frames<'w> {
    wanted: Option<&'w str>,
    found: Vec<(String, Vec<u8>)>,
}

impl DocumentWriter for Frames<'_> {
    type Error = io::Error;
    const IS_LINES: bool = true;
    const IS_TABLES: bool = true;

    fn table(
        &mut self,
        key: &str,
        write: impl FnOnce(RowsPart<'_>, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let known = self.found.iter().position(|(list, _)| list == key);
        let at = known.unwrap_or(self.found.len());
        if known.is_none() {
            self.found.push((key.to_owned(), Vec::new()));
        }
        if self.wanted.is_some_and(|wanted| wanted != key) {
            return Ok(());
        }
        let part = RowsPart { begins: known.is_none(), ..RowsPart::whole(RowFormat::Frame) };
        write(part, &mut self.found[at].1)
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;
    use crate::formats::{Column, Page, Rows, frame_of_rows};
    use crate::time::Instant;

    /// A launch, and when it finished.
    #[derive(Clone, Copy, Serialize)]
    struct Launch {
        stream: i64,
        finish_ns: Option<u64>,
    }

    const LAUNCHES: [Launch; 2] = [Launch { stream: 0, finish_ns: Some(7) }, Launch { stream: -1, finish_ns: None }];

    fn columns() -> [Column<Launch>; 4] {
        [
            Column::data("stream", |row: &Launch| row.stream.into()).in_frames_as(None),
            Column::table("stream", |row: &Launch| if row.stream < 0 { "NULL" } else { "a" }.into())
                .in_frames_as(Some("stream")),
            Column::data("finish_ns", |row| row.finish_ns.map(Instant::from_ns).into()),
            Column::json("only_json", |row| row.stream.into()),
        ]
    }

    struct Told;

    impl Report for Told {
        const TABLE: &'static str = "kernels";

        fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
            to.entry("name", "x")?;
            to.elements("kernels", LAUNCHES, &columns(), LAUNCHES)?;
            to.list("sms", [0.5])?;
            to.rows("none", &columns(), [])?;
            // One list in two parts.
            to.lines("blocks", &columns(), [LAUNCHES[0]])?;
            to.lines("blocks", &columns(), [LAUNCHES[1]])
        }

        fn text(&self, _: &mut Page) {}
    }

    #[test]
    fn frames_state_kinds_and_names_above_rows_and_have_streams_by_name() {
        let head = "Text,Time\nstream,finish_ns\n";
        let all = format!("{head}a,7\nNULL,\n");
        let frame = |list: &str, rows: &str| Frame { list: list.to_owned(), rows: rows.to_owned() };
        let expected = [frame("kernels", &all), frame("none", head), frame("blocks", &all)];
        assert_eq!(frames_of(&Told, None), expected);
        assert_eq!(frame_of_rows(&Told), all);
        let one = [frame("kernels", ""), frame("none", ""), frame("blocks", &all)];
        assert_eq!(frames_of(&Told, Some("blocks")), one);
        assert_eq!(crate::formats::csv_of(&Told), "stream,finish_ns\n0,7\n-1,\n");
    }
}
