//! The lists of a report as tables for data frames: names where other formats have numbers, and of which kind each
//! column is, whatever its values.

use std::io::{self, Write};

use super::report::{DocumentWriter, Report};
use super::rows_part::{RowFormat, RowsPart};
use crate::proven::Proven;

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
