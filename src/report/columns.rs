//! Columns of reports, each declared once: its name in every format that has it, and how its value is read from a row.
//!
//! Formats follow from that, and take rows one by one: a table for people ([`table`]), comma-separated values
//! ([`write_csv`]), JSON objects ([`Objects`]), and Markdown (in a file of its own). Times are rounded to what people read in tables, and whole
//! nanoseconds elsewhere; what is missing is a dash, an empty field, or null.

use std::borrow::Cow;
use std::io::{self, Write};

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::csv::field;
use crate::tasks::TaskTime;
use crate::time::{Duration, Instant};

/// A value of a report.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell<'r> {
    /// None, as of an instant that was not reached.
    Missing,
    /// Words.
    Text(Cow<'r, str>),
    /// A number that is never negative.
    Unsigned(u64),
    /// A number that may be negative.
    Signed(i128),
    /// A number with a fraction, with as many digits as it takes to tell it from others.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// An instant.
    At(Instant),
    /// A length of time.
    Lasting(Duration),
}

/// A column of rows of type `R`.
#[derive(Debug)]
pub(crate) struct Column<R> {
    csv: Option<&'static str>,
    json: Option<&'static str>,
    title: Option<&'static str>,
    to_the_left: bool,
    cell: for<'r> fn(&'r R) -> Cell<'r>,
}

impl<R> Column<R> {
    /// In every format: `key` for programs, `title` above a table.
    pub(crate) const fn new(key: &'static str, title: &'static str, cell: for<'r> fn(&'r R) -> Cell<'r>) -> Self {
        Self { csv: Some(key), json: Some(key), title: Some(title), to_the_left: false, cell }
    }

    /// For programs only.
    pub(crate) const fn data(key: &'static str, cell: for<'r> fn(&'r R) -> Cell<'r>) -> Self {
        Self { csv: Some(key), json: Some(key), title: None, to_the_left: false, cell }
    }

    /// In comma-separated values only.
    pub(crate) const fn csv(key: &'static str, cell: for<'r> fn(&'r R) -> Cell<'r>) -> Self {
        Self { csv: Some(key), json: None, title: None, to_the_left: false, cell }
    }

    /// In JSON only.
    pub(crate) const fn json(key: &'static str, cell: for<'r> fn(&'r R) -> Cell<'r>) -> Self {
        Self { csv: None, json: Some(key), title: None, to_the_left: false, cell }
    }

    /// In tables only.
    pub(crate) const fn table(title: &'static str, cell: for<'r> fn(&'r R) -> Cell<'r>) -> Self {
        Self { csv: None, json: None, title: Some(title), to_the_left: false, cell }
    }

    /// The same column, standing to the left in tables: words do, numbers stand to the right.
    pub(crate) const fn left(self) -> Self {
        Self { to_the_left: true, ..self }
    }

    /// What stands above it in tables, if they have it.
    pub(super) const fn title(&self) -> Option<&'static str> {
        self.title
    }

    /// Whether it stands to the left in tables.
    pub(super) const fn is_to_the_left(&self) -> bool {
        self.to_the_left
    }

    /// Its value in a row, as people read it.
    pub(super) fn text(&self, row: &R) -> String {
        (self.cell)(row).for_people()
    }
}

/// Which part of a table of comma-separated values is written: all of it, or of several files what is about one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvPart<'f> {
    /// The file that the rows are about, which is their first column (`file`); `None`: there is no such column.
    pub file: Option<&'f str>,
    /// Whether the line of names stands above them.
    pub names: bool,
}

impl CsvPart<'_> {
    /// A table that is about one file.
    pub const WHOLE: Self = Self { file: None, names: true };

    /// Writes the line of names, if it is wanted.
    pub(super) fn write_names<R>(self, columns: &[Column<R>], out: &mut impl Write) -> io::Result<()> {
        let names = self.file.map(|_| "file").into_iter().chain(columns.iter().filter_map(|column| column.csv));
        if self.names { out.write_all(cells_line(names.map(Cell::from)).as_bytes()) } else { Ok(()) }
    }

    /// Writes a line for each row.
    pub(super) fn write_rows<R>(
        self,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = R>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let columns: Vec<_> = columns.iter().filter(|column| column.csv.is_some()).map(|column| column.cell).collect();
        let mut line = String::new();
        for row in rows {
            line.clear();
            push_cells(self.file.map(Cell::from).into_iter().chain(columns.iter().map(|cell| cell(&row))), &mut line);
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    /// Writes both.
    pub(super) fn write<R>(
        self,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = R>,
        mut out: impl Write,
    ) -> io::Result<()> {
        self.write_names(columns, &mut out)?;
        self.write_rows(columns, rows, &mut out)
    }
}

/// Writes a line of names, then one for each row, as RFC 4180 has it.
///
/// # Errors
/// Whatever `out` refuses.
pub(crate) fn write_csv<R>(
    columns: &[Column<R>],
    rows: impl IntoIterator<Item = R>,
    out: impl Write,
) -> io::Result<()> {
    CsvPart::WHOLE.write(columns, rows, out)
}

/// One line of comma-separated values, for tables whose columns are known only when they are written.
pub(crate) fn cells_line<'r>(cells: impl IntoIterator<Item = Cell<'r>>) -> String {
    let mut line = String::new();
    push_cells(cells, &mut line);
    line
}

/// Appends one line of comma-separated values.
fn push_cells<'r>(cells: impl IntoIterator<Item = Cell<'r>>, line: &mut String) {
    let mut digits = itoa::Buffer::new();
    for (index, cell) in cells.into_iter().enumerate() {
        if index > 0 {
            line.push(',');
        }
        match cell {
            Cell::Missing => {}
            Cell::Text(text) => line.push_str(&field(&text)),
            Cell::Unsigned(number) => line.push_str(digits.format(number)),
            Cell::Signed(number) => line.push_str(digits.format(number)),
            Cell::Real(number) => line.push_str(&number.to_string()),
            Cell::Flag(flag) => line.push_str(if flag { "true" } else { "false" }),
            Cell::At(instant) => line.push_str(digits.format(instant.as_ns())),
            Cell::Lasting(time) => line.push_str(digits.format(time.as_ns())),
        }
    }
    line.push('\n');
}

/// As [`write_csv`], in memory.
pub(crate) fn csv_text<R>(columns: &[Column<R>], rows: impl IntoIterator<Item = R>) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail, and all that is written is text.
    let _ = write_csv(columns, rows, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// The rows as a table for people.
pub(crate) fn table<R>(columns: &[Column<R>], rows: impl IntoIterator<Item = R>) -> Table {
    let shown: Vec<_> = columns.iter().filter_map(|column| Some((column.title?, column))).collect();
    let header: Vec<&str> = shown.iter().map(|(title, _)| *title).collect();
    let mut table = plain_table(&header, 0..0);
    for (index, _) in shown.iter().enumerate().filter(|(_, (_, column))| !column.to_the_left) {
        align_right(&mut table, index);
    }
    for row in rows {
        let cells: Vec<String> = shown.iter().map(|(_, column)| column.text(&row)).collect();
        table.add_row(cells);
    }
    table
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

/// Which columns JSON objects have, and under which names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    /// Those of JSON.
    Json,
    /// Those of comma-separated values.
    Csv,
}

impl Keys {
    const fn of<R>(self, column: &Column<R>) -> Option<&'static str> {
        match self {
            Self::Json => column.json,
            Self::Csv => column.csv,
        }
    }
}

/// Rows as a JSON list of objects, made one by one while they are written.
pub(crate) struct Objects<'c, R, F> {
    columns: &'c [Column<R>],
    rows: F,
    keys: Keys,
}

impl<'c, R, F, I> Objects<'c, R, F>
where
    F: Fn() -> I,
    I: Iterator<Item = R>,
{
    /// The rows that `rows` gives each time.
    pub(crate) const fn new(columns: &'c [Column<R>], rows: F) -> Self {
        Self { columns, rows, keys: Keys::Json }
    }

    /// The same with the columns and names of comma-separated values, for lists that JSON documents do not have.
    pub(crate) const fn as_csv(columns: &'c [Column<R>], rows: F) -> Self {
        Self { columns, rows, keys: Keys::Csv }
    }
}

impl<R, F, I> Serialize for Objects<'_, R, F>
where
    F: Fn() -> I,
    I: Iterator<Item = R>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for row in (self.rows)() {
            list.serialize_element(&Object { columns: self.columns, row: &row, keys: self.keys })?;
        }
        list.end()
    }
}

/// A row as a JSON object.
pub(crate) struct Object<'c, R> {
    columns: &'c [Column<R>],
    row: &'c R,
    keys: Keys,
}

impl<'c, R> Object<'c, R> {
    /// With the columns and names of comma-separated values.
    pub(crate) const fn as_csv(columns: &'c [Column<R>], row: &'c R) -> Self {
        Self { columns, row, keys: Keys::Csv }
    }
}

impl<R> Serialize for Object<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        entries_by(self.keys, self.columns, self.row, &mut map)?;
        map.end()
    }
}

/// The columns of one row as entries of a JSON object that may have others.
pub(crate) fn entries<R, M: SerializeMap>(columns: &[Column<R>], row: &R, map: &mut M) -> Result<(), M::Error> {
    entries_by(Keys::Json, columns, row, map)
}

fn entries_by<R, M: SerializeMap>(keys: Keys, columns: &[Column<R>], row: &R, map: &mut M) -> Result<(), M::Error> {
    for column in columns {
        if let Some(key) = keys.of(column) {
            map.serialize_entry(key, &(column.cell)(row))?;
        }
    }
    Ok(())
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Unsigned(number) => serializer.serialize_u64(*number),
            Self::Signed(number) => serializer.serialize_i128(*number),
            Self::Real(number) => serializer.serialize_f64(*number),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::At(instant) => instant.serialize(serializer),
            Self::Lasting(time) => time.serialize(serializer),
        }
    }
}

impl Cell<'_> {
    fn for_people(self) -> String {
        match self {
            Self::Missing => "-".to_owned(),
            Self::Text(text) => text.into_owned(),
            Self::Unsigned(number) => number.to_string(),
            Self::Signed(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
            Self::Flag(flag) => if flag { "yes" } else { "no" }.to_owned(),
            Self::At(instant) => instant.to_string(),
            Self::Lasting(time) => time.to_string(),
        }
    }
}

impl<'r, T: Into<Cell<'r>>> From<Option<T>> for Cell<'r> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

macro_rules! cells {
    ($($from:ty => |$value:ident| $cell:expr;)*) => {
        $(impl<'r> From<$from> for Cell<'r> {
            fn from($value: $from) -> Self {
                $cell
            }
        })*
    };
}

cells! {
    &'r str => |text| Self::Text(Cow::Borrowed(text));
    String => |text| Self::Text(Cow::Owned(text));
    u16 => |number| Self::Unsigned(number.into());
    u32 => |number| Self::Unsigned(number.into());
    u64 => |number| Self::Unsigned(number);
    usize => |number| Self::Unsigned(number as u64);
    i64 => |number| Self::Signed(number.into());
    i128 => |number| Self::Signed(number);
    f64 => |number| Self::Real(number);
    bool => |flag| Self::Flag(flag);
    TaskTime => |time| Self::Unsigned(time.units());
    Instant => |instant| Self::At(instant);
    Duration => |time| Self::Lasting(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row {
        name: &'static str,
        finish: Option<Instant>,
    }

    fn columns() -> [Column<Row>; 3] {
        [
            Column::new("name", "who", |row: &Row| row.name.into()).left(),
            Column::new("finish_ns", "finished", |row| row.finish.into()),
            Column::json("length", |row| row.name.len().into()),
        ]
    }

    fn rows() -> [Row; 2] {
        [Row { name: "a,\"b", finish: Some(Instant::from_ns(1_500_000_000)) }, Row { name: "c", finish: None }]
    }

    #[test]
    fn one_declaration_gives_every_format_its_names_units_and_gaps() {
        assert_eq!(csv_text(&columns(), rows()), "name,finish_ns\n\"a,\"\"b\",1500000000\nc,\n");
        assert_eq!(table(&columns(), rows()).trim_fmt(), " who   finished\n a,\"b     1.5 s\n c            -");
        let columns = columns();
        let json = serde_json::to_string(&Objects::new(&columns, || rows().into_iter())).expect("JSON");
        let first = r#"{"name":"a,\"b","finish_ns":1500000000,"length":4}"#;
        assert_eq!(json, format!("[{first},{}]", r#"{"name":"c","finish_ns":null,"length":1}"#));
    }
}
