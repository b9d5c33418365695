//! What of a table for programs is written, and in which format.

use std::borrow::Cow;

use super::cell::CellKind;

/// In which format the rows of a table are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// Comma-separated values, as RFC 4180 has them.
    Csv,
    /// A stream of Arrow IPC, whose columns have types; in builds with the cargo feature `arrow`.
    Arrow,
    /// Comma-separated values for data frames, with names where others have numbers (of streams). A line above says of
    /// which kind each column is, whatever its values: `Text`, `Unsigned`, `Signed`, `Real`, `Flag` or `Time` \[ns\].
    Frame,
}

/// Which part of a table is written, and how: all of it, or of several files what is about one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsPart<'f> {
    /// In which format.
    pub format: RowFormat,
    /// The file that the rows are about, which is their first column (`file`); `None`: there is no such column.
    pub file: Option<&'f str>,
    /// Whether the table begins with them: what stands above its rows is written.
    pub begins: bool,
    /// Whether it ends with them; after the last of several parts, [`RowFormat::end`] may be written in place of that.
    pub ends: bool,
}

/// What ends a stream of Arrow IPC: the mark of a message, and that it has no bytes.
const ARROW_END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

impl RowFormat {
    /// What stands below a table.
    pub const fn end(self) -> &'static [u8] {
        match self {
            Self::Csv | Self::Frame => &[],
            Self::Arrow => &ARROW_END,
        }
    }
}

/// A column of a table as it is stated above the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field<'n> {
    pub(crate) name: Cow<'n, str>,
    pub(crate) kind: CellKind,
}

impl<'n> Field<'n> {
    pub(crate) fn new(name: impl Into<Cow<'n, str>>, kind: CellKind) -> Self {
        Self { name: name.into(), kind }
    }
}

impl RowsPart<'_> {
    /// A table of comma-separated values.
    pub const CSV: Self = Self::whole(RowFormat::Csv);

    /// A table that is about one file.
    pub const fn whole(format: RowFormat) -> Self {
        Self { format, file: None, begins: true, ends: true }
    }
}
