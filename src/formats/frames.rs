//! The lists of a report as tables for data frames: names where other formats have numbers, and of which kind each
//! column is, whatever its values.

use std::io;

use serde::Serialize;

use super::report::{DocumentWriter, Report};
use super::rows_part::{RowFormat, RowsPart};

/// A table for a data frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Under which key the report's document has the list.
    pub list: String,
    /// Its rows, as [`RowFormat::Frame`] has them; empty where they were not asked for.
    pub rows: String,
}

/// The lists of a report that have columns, in the order of its document; the rows of all, or of the `wanted` one.
#[must_use]
pub fn frames_of<R: Report>(report: &R, wanted: Option<&str>) -> Vec<Frame> {
    let mut frames = Frames { wanted, found: Vec::new() };
    // Memory takes all.
    let _ = report.document(&mut frames);
    let text = |bytes| String::from_utf8(bytes).unwrap_or_default();
    frames.found.into_iter().map(|(list, rows)| Frame { list, rows: text(rows) }).collect()
}

struct Frames<'w> {
    wanted: Option<&'w str>,
    found: Vec<(String, Vec<u8>)>,
}

impl DocumentWriter for Frames<'_> {
    type Error = io::Error;
    const IS_LINES: bool = true;
    const IS_FRAMES: bool = true;

    fn entry<T: Serialize + ?Sized>(&mut self, _key: &str, _value: &T) -> io::Result<()> {
        Ok(())
    }

    fn list<I: IntoIterator<Item: Serialize>>(&mut self, _key: &str, _elements: I) -> io::Result<()> {
        Ok(())
    }

    fn frame(&mut self, key: &str, write: impl FnOnce(RowsPart<'_>, &mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
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
