//! Tables for programs: one writer of rows before all formats of them.

use std::borrow::Cow;
use std::io::{self, Write};

#[cfg(feature = "arrow")]
use super::arrow_rows::ArrowRows;
use super::cell::{Cell, CellKind};
use super::columns::{Column, Field, RowFormat, RowsPart};
use crate::limits::NowAndThen;
use crate::proven::Proven;

impl RowsPart<'_> {
    #[doc(hidden)]
    pub fn write<R>(
        self,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = R>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut writer = RowsWriter::begin(self, columns, out)?;
        writer.rows(columns, rows)?;
        writer.end()
    }
}

/// Writes a table part by part.
pub enum RowsWriter<'f> {
    /// Comma-separated values.
    Csv(RowsPart<'f>, &'f mut dyn Write),
    #[cfg(feature = "arrow")]
    /// A stream of Arrow IPC.
    Arrow(Box<ArrowRows<'f>>),
}

impl<'f> RowsWriter<'f> {
    /// Begins a table of these columns.
    pub(crate) fn begin<R>(part: RowsPart<'f>, columns: &[Column<R>], out: &'f mut dyn Write) -> io::Result<Self> {
        let stated = columns.iter().filter_map(|column| column.stated(part.format));
        Self::begin_with(part, stated.map(|(name, kind)| Field::new(name, kind)), out)
    }

    /// Begins a table whose columns are known only now.
    ///
    /// # Errors
    /// Whatever `out` refuses, and [`io::ErrorKind::Unsupported`] of a format that this build does not have.
    #[doc(hidden)]
    pub fn begin_with<'n>(
        part: RowsPart<'f>,
        fields: impl Iterator<Item = Field<'n>>,
        out: &'f mut dyn Write,
    ) -> io::Result<Self> {
        let RowsPart { format, file, .. } = part;
        let of_file = file.map(|_| Field::new("file", CellKind::Text));
        let fields = of_file.into_iter().chain(fields);
        match format {
            RowFormat::Csv | RowFormat::Frame => {
                if part.begins {
                    let (kinds, names): (Vec<_>, Vec<_>) = fields.map(|field| (field.kind, field.name)).unzip();
                    if format == RowFormat::Frame {
                        let kinds = kinds.into_iter().map(|kind| kind.name().into());
                        out.write_all(cells_line(kinds).as_bytes())?;
                    }
                    out.write_all(cells_line(names.into_iter().map(Cell::Text)).as_bytes())?;
                }
                Ok(Self::Csv(part, out))
            }
            #[cfg(feature = "arrow")]
            RowFormat::Arrow => Ok(Self::Arrow(Box::new(ArrowRows::begin(part, fields, out)?))),
            #[cfg(not(feature = "arrow"))]
            RowFormat::Arrow => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "this build writes no Arrow; the cargo feature \"arrow\" adds it",
            )),
        }
    }

    /// Writes rows of the columns with which the table was begun.
    pub(crate) fn rows<R>(&mut self, columns: &[Column<R>], rows: impl IntoIterator<Item = R>) -> io::Result<()> {
        match self {
            Self::Csv(part, out) => part.write_lines(columns, rows, out),
            #[cfg(feature = "arrow")]
            Self::Arrow(arrow) => {
                let columns: Vec<_> =
                    columns.iter().filter(|column| column.stated(RowFormat::Arrow).is_some()).collect();
                rows.into_iter().try_for_each(|row| arrow.row(columns.iter().map(|column| column.cell(&row))))
            }
        }
    }

    /// Writes one row, a cell for each column.
    #[doc(hidden)]
    pub fn cells<'r>(&mut self, cells: impl IntoIterator<Item = Cell<'r>>) -> io::Result<()>
    where
        'f: 'r,
    {
        match self {
            Self::Csv(part, out) => {
                let file = part.file.map(|file| Cell::Text(Cow::Borrowed(file)));
                out.write_all(cells_line(file.into_iter().chain(cells)).as_bytes())
            }
            #[cfg(feature = "arrow")]
            Self::Arrow(arrow) => arrow.row(cells),
        }
    }

    #[doc(hidden)]
    pub fn end(self) -> io::Result<()> {
        match self {
            Self::Csv(_, out) => out.write_all(RowFormat::Csv.end()),
            #[cfg(feature = "arrow")]
            Self::Arrow(arrow) => arrow.end(),
        }
    }
}

/// Rows of comma-separated values are written together as soon as they are so long \[bytes\]: past the buffer of
/// whoever takes them, which would be one copy more.
const TOGETHER: usize = 1 << 16;

impl RowsPart<'_> {
    /// Writes a line of comma-separated values for each row.
    fn write_lines<R>(
        self,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = R>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let is_stated = |column: &&Column<R>| column.stated(self.format).is_some();
        let columns: Vec<_> = columns.iter().filter(is_stated).map(|column| &column.source).collect();
        let (mut lines, mut digits) = (Vec::with_capacity(TOGETHER + TOGETHER / 8), itoa::Buffer::new());
        let mut now_and_then = NowAndThen::default();
        for row in rows {
            now_and_then.end_if_stopped();
            if let Some(file) = self.file {
                push_cell(file.into(), &mut digits, &mut lines);
                lines.push(b',');
            }
            for source in &columns {
                push_cell(source.cell(&row), &mut digits, &mut lines);
                lines.push(b',');
            }
            // There is no comma behind the last.
            lines.pop();
            lines.push(b'\n');
            if lines.len() >= TOGETHER {
                out.write_all(&lines)?;
                lines.clear();
            }
        }
        out.write_all(&lines)
    }
}

/// One line of comma-separated values, for tables whose columns are known only when they are written.
pub fn cells_line<'r>(cells: impl IntoIterator<Item = Cell<'r>>) -> String {
    let (mut line, mut digits) = (Vec::new(), itoa::Buffer::new());
    for (index, cell) in cells.into_iter().enumerate() {
        if index > 0 {
            line.push(b',');
        }
        push_cell(cell, &mut digits, &mut line);
    }
    line.push(b'\n');
    String::from_utf8(line).proven("all that is written is text")
}

/// Appends one field.
#[inline]
fn push_cell(cell: Cell<'_>, digits: &mut itoa::Buffer, line: &mut Vec<u8>) {
    let text: &str = match cell {
        Cell::Missing => return,
        Cell::Text(text) => return line.extend_from_slice(field(&text).as_bytes()),
        Cell::Unsigned(number) => match u8::try_from(number) {
            // As most counts and indexes are.
            Ok(digit @ 0..10) => return line.push(b'0' + digit),
            _ => digits.format(number),
        },
        // Those of 128 bits take several times as long to write.
        Cell::Signed(number) => match i64::try_from(number) {
            Ok(number) => digits.format(number),
            Err(_) => digits.format(number),
        },
        Cell::Real(number) => return line.extend_from_slice(number.to_string().as_bytes()),
        Cell::Rounded(_) => return line.extend_from_slice(cell.for_people().as_bytes()),
        Cell::Flag(true) => "true",
        Cell::Flag(false) => "false",
        Cell::At(instant) => digits.format(instant.as_ns()),
        Cell::Lasting(time) | Cell::AtMost(time) => digits.format(time.as_ns()),
    };
    line.extend_from_slice(text.as_bytes());
}

/// A field as RFC 4180 wants it.
fn field(text: &str) -> Cow<'_, str> {
    // All bytes without a branch for each, which is several at once.
    let is_special = |found, byte| found | matches!(byte, b'"' | b',' | b'\n' | b'\r');
    if text.bytes().fold(false, is_special) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// Writes a line of names, then one for each row, as RFC 4180 has it.
///
/// # Errors
/// Whatever `out` refuses.
pub fn write_csv<R>(columns: &[Column<R>], rows: impl IntoIterator<Item = R>, out: &mut dyn Write) -> io::Result<()> {
    RowsPart::CSV.write(columns, rows, out)
}

/// As [`write_csv`], in memory.
pub fn csv_text<R>(columns: &[Column<R>], rows: impl IntoIterator<Item = R>) -> String {
    in_memory(|out| write_csv(columns, rows, out))
}

pub(super) fn in_memory(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).proven("memory takes all");
    String::from_utf8(out).proven("all that is written is text")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::columns::{RowObject, plain_table, texts};
    use crate::time::Instant;

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
        let columns = columns();
        let (titles, mut texts) = texts(&columns, rows());
        assert_eq!(plain_table(&titles, &mut texts).trim_fmt(), " who   finished\n a,\"b     1.5 s\n c            -");
        let json = rows().map(|row| serde_json::to_string(&RowObject::new(&columns, row)).expect("JSON"));
        let first = r#"{"name":"a,\"b","finish_ns":1500000000,"length":4}"#;
        assert_eq!(json, [first, r#"{"name":"c","finish_ns":null,"length":1}"#]);
    }
}
