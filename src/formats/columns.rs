//! Columns of reports, each declared once: its name in every format that has it, and how its value is read from a row.
//!
//! Formats follow from that, and take rows one by one: a table for people ([`table`]), JSON objects ([`Object`]), and,
//! in files of their own, tables for programs and Markdown. Times are rounded to what people read in tables, and whole
//! nanoseconds elsewhere; what is missing is a dash, an empty field, or null.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::cell::{Cell, CellKind, CellOf, Kind, Source};
use super::csv::field;
use super::rows_part::{RowFormat, RowsPart};
use crate::limits::{NowAndThen, end_if_stopped};
use crate::shortened::shortened_apart;

/// A column of rows of type `R`.
#[derive(Debug)]
pub(crate) struct Column<R> {
    csv: Option<&'static str>,
    frame: Option<&'static str>,
    json: Option<&'static str>,
    title: Option<&'static str>,
    to_the_left: bool,
    is_name: bool,
    source: Source<R>,
}

impl<R> Column<R> {
    /// In every format: `key` for programs, `title` above a table.
    pub(crate) fn new<K: Kind>(
        key: &'static str,
        title: &'static str,
        cell: for<'r> fn(&'r R) -> CellOf<'r, K>,
    ) -> Self {
        Self { json: Some(key), title: Some(title), ..Self::csv(key, cell) }
    }

    /// For programs only.
    pub(crate) fn data<K: Kind>(key: &'static str, cell: for<'r> fn(&'r R) -> CellOf<'r, K>) -> Self {
        Self { json: Some(key), ..Self::csv(key, cell) }
    }

    /// In comma-separated values only.
    pub(crate) fn csv<K: Kind>(key: &'static str, cell: for<'r> fn(&'r R) -> CellOf<'r, K>) -> Self {
        Self { csv: Some(key), frame: Some(key), ..Self::nowhere(cell) }
    }

    /// In JSON only.
    pub(crate) fn json<K: Kind>(key: &'static str, cell: for<'r> fn(&'r R) -> CellOf<'r, K>) -> Self {
        Self { json: Some(key), ..Self::nowhere(cell) }
    }

    /// In tables only.
    pub(crate) fn table<K: Kind>(title: &'static str, cell: for<'r> fn(&'r R) -> CellOf<'r, K>) -> Self {
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
    pub(crate) fn left(self) -> Self {
        Self { to_the_left: true, ..self }
    }

    /// The same column, whose words are names: plain tables shorten long ones to what tells them apart.
    pub(crate) fn names(self) -> Self {
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

/// Rows of comma-separated values are written together as soon as they are so long \[bytes\]: past the buffer of
/// whoever takes them, which would be one copy more.
const TOGETHER: usize = 1 << 16;

impl RowsPart<'_> {
    /// Writes a line of comma-separated values for each row.
    pub(super) fn write_lines<R>(
        self,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = R>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let is_stated = |column: &&Column<R>| column.stated(self.format).is_some();
        let columns: Vec<_> = columns.iter().filter(is_stated).map(|column| &column.source).collect();
        let (mut lines, mut digits) = (String::with_capacity(TOGETHER + TOGETHER / 8), itoa::Buffer::new());
        let mut now_and_then = NowAndThen::default();
        for row in rows {
            now_and_then.end_if_stopped();
            if let Some(file) = self.file {
                push_cell(file.into(), &mut digits, &mut lines);
                lines.push(',');
            }
            for source in &columns {
                push_cell(source.cell(&row), &mut digits, &mut lines);
                lines.push(',');
            }
            // There is no comma behind the last.
            lines.pop();
            lines.push('\n');
            if lines.len() >= TOGETHER {
                out.write_all(lines.as_bytes())?;
                lines.clear();
            }
        }
        out.write_all(lines.as_bytes())
    }
}

/// One line of comma-separated values, for tables whose columns are known only when they are written.
pub(crate) fn cells_line<'r>(cells: impl IntoIterator<Item = Cell<'r>>) -> String {
    let mut line = String::new();
    push_cells(cells, &mut line);
    line
}

/// Appends one line of comma-separated values.
pub(crate) fn push_cells<'r>(cells: impl IntoIterator<Item = Cell<'r>>, line: &mut String) {
    let mut digits = itoa::Buffer::new();
    for (index, cell) in cells.into_iter().enumerate() {
        if index > 0 {
            line.push(',');
        }
        push_cell(cell, &mut digits, line);
    }
    line.push('\n');
}

/// Appends one field.
#[inline]
fn push_cell(cell: Cell<'_>, digits: &mut itoa::Buffer, line: &mut String) {
    match cell {
        Cell::Missing => {}
        Cell::Text(text) => line.push_str(&field(&text)),
        Cell::Unsigned(number) => match u8::try_from(number) {
            // As most counts and indexes are.
            Ok(digit @ 0..10) => line.push(char::from(b'0' + digit)),
            _ => line.push_str(digits.format(number)),
        },
        // Those of 128 bits take several times as long to write.
        Cell::Signed(number) => match i64::try_from(number) {
            Ok(number) => line.push_str(digits.format(number)),
            Err(_) => line.push_str(digits.format(number)),
        },
        Cell::Real(number) => line.push_str(&number.to_string()),
        Cell::Rounded(_) => line.push_str(&cell.for_people()),
        Cell::Flag(flag) => line.push_str(if flag { "true" } else { "false" }),
        Cell::At(instant) => line.push_str(digits.format(instant.as_ns())),
        Cell::Lasting(time) => line.push_str(digits.format(time.as_ns())),
    }
}

/// The columns that people see, as titles with whether they stand to the left, and the cells of each row as they read
/// them.
pub(crate) fn texts<R>(
    columns: &[Column<R>],
    rows: impl IntoIterator<Item = R>,
) -> (Vec<(&'static str, bool)>, impl Iterator<Item = Vec<String>>) {
    let shown = || columns.iter().filter_map(|column| Some((column.title?, column)));
    let titles = shown().map(|(title, column)| (title, column.to_the_left)).collect();
    (titles, rows.into_iter().map(move |row| shown().map(|(_, column)| column.text(&row)).collect()))
}

/// The rows as a table for people.
pub(crate) fn table<R>(columns: &[Column<R>], rows: impl IntoIterator<Item = R>) -> Table {
    let (titles, rows) = texts(columns, rows);
    let header: Vec<&str> = titles.iter().map(|(title, _)| *title).collect();
    let mut table = plain_table(&header, 0..0);
    for (index, _) in titles.iter().enumerate().filter(|(_, (_, is_to_the_left))| !is_to_the_left) {
        align_right(&mut table, index);
    }
    let shown = columns.iter().filter(|column| column.title.is_some());
    let named: Vec<usize> = shown.enumerate().filter(|(_, column)| column.is_name).map(|(place, _)| place).collect();
    let mut rows: Box<dyn Iterator<Item = Vec<String>>> = Box::new(rows);
    if !named.is_empty() {
        let mut all: Vec<Vec<String>> = rows.collect();
        shorten_names(&mut all, &named);
        rows = Box::new(all.into_iter());
    }
    for row in rows {
        end_if_stopped();
        table.add_row(row);
    }
    table
}

/// Characters of a name in a plain table at most, unless it takes more to tell it from another.
const LONGEST_NAME: usize = 48;

/// Shortens the long names in the `named` columns of some rows, the same name to the same in all of them.
fn shorten_names(rows: &mut [Vec<String>], named: &[usize]) {
    let fits = |text: &str| text.chars().nth(LONGEST_NAME).is_none();
    let mut long: BTreeSet<String> = BTreeSet::new();
    for row in &*rows {
        long.extend(named.iter().filter_map(|&place| row.get(place)).filter(|name| !fits(name)).cloned());
    }
    let names: Vec<&str> = long.iter().map(String::as_str).collect();
    let short = shortened_apart(&names, |_, text| fits(text));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in &short {
        *counts.entry(text).or_default() += 1;
    }
    let is_apart = |text: &str| counts.get(text) == Some(&1);
    let shown: BTreeMap<&str, &String> = names.iter().copied().zip(&short).filter(|(_, text)| is_apart(text)).collect();
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

/// A table without frames whose numbers stand to the right.
pub(crate) fn plain_table(header: &[&str], numbers: std::ops::Range<usize>) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(header.to_vec());
    for column in numbers {
        align_right(&mut table, column);
    }
    table
}

fn align_right(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// The name of a column, if it has one.
type Key<R> = fn(&Column<R>) -> Option<&'static str>;

/// A row as a JSON object.
pub(crate) struct Object<'c, R> {
    columns: &'c [Column<R>],
    row: R,
    /// Which columns it has, and under which names.
    key: Key<R>,
}

impl<'c, R> Object<'c, R> {
    pub(crate) const fn new(columns: &'c [Column<R>], row: R) -> Self {
        Self { columns, row, key: |column| column.json }
    }

    /// With the columns and names of comma-separated values, for lists that JSON documents do not have.
    pub(crate) const fn as_csv(columns: &'c [Column<R>], row: R) -> Self {
        Self { columns, row, key: |column| column.csv }
    }
}

impl<R> Serialize for Object<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        entries_by(self.key, self.columns, &self.row, &mut map)?;
        map.end()
    }
}

/// The columns of one row as entries of a JSON object that may have others.
pub(crate) fn entries<R, M: SerializeMap>(columns: &[Column<R>], row: &R, map: &mut M) -> Result<(), M::Error> {
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
