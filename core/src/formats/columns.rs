//! Columns of reports, each declared once: its name in every format that has it, and how its value is read from a row.
//!
//! Formats follow from that, and take rows one by one: a table for people ([`plain_table`]), JSON objects
//! ([`RowObject`]), and, in files of their own, tables for programs and Markdown. Times are rounded to what people read
//! in tables, and whole nanoseconds elsewhere; what is missing is a dash, an empty field, or null.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::cell::{Cell, CellKind, CellOf, Kind, Source};
use crate::limits::end_if_stopped;
use crate::words::{shortened, shortened_apart};

/// A column of rows of type `R`.
#[derive(Debug)]
#[doc(hidden)]
pub struct Column<R> {
    csv: Option<&'static str>,
    frame: Option<&'static str>,
    json: Option<&'static str>,
    title: Option<&'static str>,
    to_the_left: bool,
    is_name: bool,
    pub(super) source: Source<R>,
}

impl<R> Column<R> {
    /// In every format: `key` for programs, `title` above a table.
    pub fn new<K: Kind>(key: &'static str, title: &'static str, cell: for<'r> fn(&'r R) -> CellOf<'r, K>) -> Self {
        Self { json: Some(key), title: Some(title), ..Self::csv(key, cell) }
    }

    /// For programs only.
    pub fn data<K: Kind>(key: &'static str, cell: for<'r> fn(&'r R) -> CellOf<'r, K>) -> Self {
        Self { json: Some(key), ..Self::csv(key, cell) }
    }

    /// In comma-separated values only.
    pub fn csv<K: Kind>(key: &'static str, cell: for<'r> fn(&'r R) -> CellOf<'r, K>) -> Self {
        Self { csv: Some(key), frame: Some(key), ..Self::nowhere(cell) }
    }

    /// In JSON only.
    pub fn json<K: Kind>(key: &'static str, cell: for<'r> fn(&'r R) -> CellOf<'r, K>) -> Self {
        Self { json: Some(key), ..Self::nowhere(cell) }
    }

    /// In tables only.
    pub fn table<K: Kind>(title: &'static str, cell: for<'r> fn(&'r R) -> CellOf<'r, K>) -> Self {
        Self { title: Some(title), ..Self::nowhere(cell) }
    }

    fn nowhere<K: Kind>(cell: for<'r> fn(&'r R) -> CellOf<'r, K>) -> Self {
        Self {
            csv: None,
            frame: None,
            json: None,
            title: None,
            to_the_left: false,
            is_name: false,
            source: K::source(cell),
        }
    }

    /// The same column under this name in data frames, or in none: those have a name where others have a number.
    pub(crate) fn in_frames_as(self, frame: Option<&'static str>) -> Self {
        Self { frame, ..self }
    }

    /// The same column, standing to the left in tables: words do, numbers stand to the right.
    pub fn left(self) -> Self {
        Self { to_the_left: true, ..self }
    }

    /// The same column, whose words are names: plain tables shorten long ones to what tells them apart.
    pub fn names(self) -> Self {
        Self { is_name: true, ..self.left() }
    }

    /// What stands above it in tables, if they have it.
    pub(crate) const fn title(&self) -> Option<&'static str> {
        self.title
    }

    /// Its name for programs and what kind its values are, if tables of that format have it.
    pub(crate) fn stated(&self, format: RowFormat) -> Option<(&'static str, CellKind)> {
        let name = match format {
            RowFormat::Csv | RowFormat::Arrow => self.csv,
            RowFormat::Frame => self.frame,
        };
        Some((name?, self.source.kind()))
    }

    pub(crate) fn cell<'r>(&self, row: &'r R) -> Cell<'r> {
        self.source.cell(row)
    }

    /// Its value in a row, as people read it.
    pub(crate) fn text(&self, row: &R) -> String {
        self.cell(row).for_people()
    }
}

/// The columns that people see.
pub(super) struct Titles<'t> {
    /// Their titles, each with whether its column stands to the left.
    pub(super) shown: Vec<(&'t str, bool)>,
    /// Which of them hold names.
    pub(super) names: Vec<usize>,
}

/// The cells of each row as people read them. What formats make of them is compiled once, not for each type of rows.
pub(super) type TextRows<'r> = &'r mut dyn Iterator<Item = Vec<String>>;

/// The columns that people see, and what stands in them.
pub(super) fn texts<R>(
    columns: &[Column<R>],
    rows: impl IntoIterator<Item = R>,
) -> (Titles<'static>, impl Iterator<Item = Vec<String>>) {
    let mut titles = Titles { shown: Vec::new(), names: Vec::new() };
    for column in columns {
        if let Some(title) = column.title {
            if column.is_name {
                titles.names.push(titles.shown.len());
            }
            titles.shown.push((title, column.to_the_left));
        }
    }
    let count = titles.shown.len();
    let cells = move |row| {
        let mut cells = Vec::with_capacity(count);
        for column in columns {
            if column.title.is_some() {
                cells.push(column.text(&row));
            }
        }
        cells
    };
    (titles, rows.into_iter().map(cells))
}

/// Rows as a table for people, without frames.
pub(super) fn plain_table(titles: &Titles<'_>, rows: TextRows<'_>) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(titles.shown.iter().map(|(title, _)| *title));
    for (index, _) in titles.shown.iter().enumerate().filter(|(_, (_, is_to_the_left))| !is_to_the_left) {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut add = |row| {
        end_if_stopped();
        table.add_row::<Vec<String>>(row);
    };
    if titles.names.is_empty() {
        rows.for_each(add);
    } else {
        let mut all: Vec<Vec<String>> = rows.collect();
        shorten_names(&mut all, &titles.names);
        all.into_iter().for_each(&mut add);
    }
    table
}

/// Characters of a name in a plain table at most, unless it takes more to tell it from another.
const LONGEST_NAME: usize = 48;

/// The same of names that so much does not tell apart; those that this does not either are numbered.
const LONGER_NAMES: [usize; 3] = [LONGEST_NAME, 72, 108];

/// Shortens the long names in the `named` columns of some rows, the same name to the same in all of them.
fn shorten_names(rows: &mut [Vec<String>], named: &[usize]) {
    let mut long: BTreeSet<String> = BTreeSet::new();
    for row in &*rows {
        let names = named.iter().filter_map(|&place| row.get(place));
        long.extend(names.filter(|name| name.chars().nth(LONGEST_NAME).is_some()).cloned());
    }
    let (mut left, mut shown): (Vec<&str>, BTreeMap<&str, String>) =
        (long.iter().map(String::as_str).collect(), BTreeMap::new());
    for most in LONGER_NAMES {
        let short = shortened_apart(&left, |_, text| text.chars().nth(most).is_none());
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for text in &short {
            *counts.entry(text.clone()).or_default() += 1;
        }
        let (apart, alike): (Vec<_>, Vec<_>) =
            left.into_iter().zip(short).partition(|(_, text)| counts.get(text) == Some(&1));
        shown.extend(apart);
        left = alike.into_iter().map(|(name, _)| name).collect();
    }
    let short = left.iter().map(|name| shortened(name, |text| text.chars().nth(LONGEST_NAME).is_none()));
    shown.extend(left.iter().copied().zip((1..).zip(short).map(|(number, text)| format!("{text} ({number})"))));
    for row in rows {
        for &place in named {
            if let Some(cell) = row.get_mut(place)
                && let Some(text) = shown.get(cell.as_str())
            {
                cell.clone_from(text);
            }
        }
    }
}

/// The name of a column, if it has one.
type Key<R> = fn(&Column<R>) -> Option<&'static str>;

/// A row as a JSON object.
#[doc(hidden)]
pub struct RowObject<'c, R> {
    columns: &'c [Column<R>],
    row: R,
    /// Which columns it has, and under which names.
    key: Key<R>,
}

impl<'c, R> RowObject<'c, R> {
    #[doc(hidden)]
    pub const fn new(columns: &'c [Column<R>], row: R) -> Self {
        Self { columns, row, key: |column| column.json }
    }

    /// With the columns and names of comma-separated values, for lists that JSON documents do not have.
    pub(crate) const fn as_csv(columns: &'c [Column<R>], row: R) -> Self {
        Self { columns, row, key: |column| column.csv }
    }
}

impl<R> Serialize for RowObject<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        entries_by(self.key, self.columns, &self.row, &mut map)?;
        map.end()
    }
}

/// The columns of one row as entries of a JSON object that may have others.
///
/// # Errors
/// That of `map`.
#[doc(hidden)]
pub fn entries<R, M: SerializeMap>(columns: &[Column<R>], row: &R, map: &mut M) -> Result<(), M::Error> {
    entries_by(|column| column.json, columns, row, map)
}

fn entries_by<R, M: SerializeMap>(key: Key<R>, columns: &[Column<R>], row: &R, map: &mut M) -> Result<(), M::Error> {
    for column in columns {
        if let Some(key) = key(column) {
            map.serialize_entry(key, &column.cell(row))?;
        }
    }
    Ok(())
}

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
#[doc(hidden)]
pub struct Field<'n> {
    pub(crate) name: Cow<'n, str>,
    pub(crate) kind: CellKind,
}

impl<'n> Field<'n> {
    #[doc(hidden)]
    pub fn new(name: impl Into<Cow<'n, str>>, kind: CellKind) -> Self {
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
