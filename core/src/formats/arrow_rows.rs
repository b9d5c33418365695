//! Rows as a stream of Arrow IPC: columns with types, in record batches of so many rows.
//!
//! Integers are 64-bit integers; times are unsigned ones, and those and differences of times say their unit in the
//! metadata of their field. What is missing is null.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions, write_message};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};

use super::cell::{Cell, CellKind};
use super::columns::{Field, RowFormat, RowsPart};

/// Rows of one record batch, of which so many are held in memory.
const BATCH_ROWS: usize = 8192;

/// Writes a stream of Arrow IPC.
pub struct ArrowRows<'f> {
    out: &'f mut dyn Write,
    part: RowsPart<'f>,
    schema: SchemaRef,
    columns: Vec<Values>,
    /// Rows in the columns.
    rows: usize,
    encoder: IpcDataGenerator,
    // There are none, but the encoder asks.
    dictionaries: DictionaryTracker,
    options: IpcWriteOptions,
    context: IpcWriteContext,
}

impl<'f> ArrowRows<'f> {
    /// Begins a stream, with its schema if the part begins the table.
    pub(crate) fn begin<'n>(
        part: RowsPart<'f>,
        fields: impl Iterator<Item = Field<'n>>,
        out: &'f mut dyn Write,
    ) -> io::Result<Self> {
        let fields: Vec<Field<'_>> = fields.collect();
        let columns = fields.iter().map(|field| Values::new(field.kind)).collect();
        let schema = Arc::new(Schema::new(fields.iter().map(arrow_field).collect::<Vec<_>>()));
        let mut rows = Self {
            out,
            part,
            schema,
            columns,
            rows: 0,
            encoder: IpcDataGenerator::default(),
            dictionaries: DictionaryTracker::new(true),
            options: IpcWriteOptions::default(),
            context: IpcWriteContext::default(),
        };
        if part.begins {
            let (schema, options) = (&rows.schema, &rows.options);
            let message = rows.encoder.schema_to_bytes_with_dictionary_tracker(schema, &mut rows.dictionaries, options);
            write_message(&mut rows.out, message, &rows.options).map_err(refused)?;
        }
        Ok(rows)
    }

    pub(crate) fn row<'r>(&mut self, cells: impl IntoIterator<Item = Cell<'r>>) -> io::Result<()>
    where
        'f: 'r,
    {
        let cells = self.part.file.map(Cell::from).into_iter().chain(cells);
        for (index, (cell, values)) in cells.zip(&mut self.columns).enumerate() {
            values.push(cell).map_err(|cell| {
                let name = self.schema.fields().get(index).map_or("", |field| field.name());
                io::Error::other(format!("{cell:?} has no place in the column {name} of Arrow IPC"))
            })?;
        }
        self.rows += 1;
        if self.rows == BATCH_ROWS { self.write_batch() } else { Ok(()) }
    }

    fn write_batch(&mut self) -> io::Result<()> {
        let arrays = self.columns.iter_mut().map(Values::finish).collect();
        self.rows = 0;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(refused)?;
        let (_, message) =
            self.encoder.encode(&batch, &mut self.dictionaries, &self.options, &mut self.context).map_err(refused)?;
        write_message(&mut self.out, message, &self.options).map_err(refused)?;
        Ok(())
    }

    /// Writes the rows that are left, and the end if the part ends the table.
    pub(crate) fn end(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.write_batch()?;
        }
        if self.part.ends { self.out.write_all(RowFormat::Arrow.end()) } else { Ok(()) }
    }
}

fn arrow_field(field: &Field<'_>) -> arrow_schema::Field {
    let data_type = match field.kind {
        CellKind::Text => DataType::Utf8,
        CellKind::Unsigned | CellKind::Time => DataType::UInt64,
        CellKind::Signed => DataType::Int64,
        CellKind::Real => DataType::Float64,
        CellKind::Flag => DataType::Boolean,
    };
    let stated = arrow_schema::Field::new(&*field.name, data_type, true);
    // Differences of times have a sign, and are named as times are.
    let is_time = field.kind == CellKind::Time || field.name.ends_with("_ns");
    if is_time { stated.with_metadata(HashMap::from([("unit".to_owned(), "ns".to_owned())])) } else { stated }
}

/// What `out` refused is told as such, a closed pipe among others.
fn refused(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        error => io::Error::other(error),
    }
}

/// The values of a column that are not written yet.
enum Values {
    Text(StringBuilder),
    Unsigned(UInt64Builder),
    Signed(Int64Builder),
    Real(Float64Builder),
    Flag(BooleanBuilder),
}

impl Values {
    fn new(kind: CellKind) -> Self {
        match kind {
            CellKind::Text => Self::Text(StringBuilder::new()),
            CellKind::Unsigned | CellKind::Time => Self::Unsigned(UInt64Builder::new()),
            CellKind::Signed => Self::Signed(Int64Builder::new()),
            CellKind::Real => Self::Real(Float64Builder::new()),
            CellKind::Flag => Self::Flag(BooleanBuilder::new()),
        }
    }

    /// Adds a value, or gives back one that is not of this kind or, of 128 bits, takes more than 64.
    fn push<'r>(&mut self, cell: Cell<'r>) -> Result<(), Cell<'r>> {
        match (self, cell) {
            (Self::Text(values), Cell::Text(text)) => values.append_value(text),
            (Self::Text(values), Cell::Missing) => values.append_null(),
            (Self::Unsigned(values), Cell::Unsigned(number)) => values.append_value(number),
            (Self::Unsigned(values), Cell::At(instant)) => values.append_value(instant.as_ns()),
            (Self::Unsigned(values), Cell::Lasting(time) | Cell::AtMost(time)) => values.append_value(time.as_ns()),
            (Self::Unsigned(values), Cell::Missing) => values.append_null(),
            (Self::Signed(values), cell @ Cell::Signed(number)) => {
                values.append_value(i64::try_from(number).map_err(|_| cell)?);
            }
            (Self::Signed(values), Cell::Missing) => values.append_null(),
            (Self::Real(values), Cell::Real(number) | Cell::Rounded(number)) => values.append_value(number),
            (Self::Real(values), Cell::Missing) => values.append_null(),
            (Self::Flag(values), Cell::Flag(flag)) => values.append_value(flag),
            (Self::Flag(values), Cell::Missing) => values.append_null(),
            (_, cell) => return Err(cell),
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(values) => Arc::new(values.finish()),
            Self::Unsigned(values) => Arc::new(values.finish()),
            Self::Signed(values) => Arc::new(values.finish()),
            Self::Real(values) => Arc::new(values.finish()),
            Self::Flag(values) => Arc::new(values.finish()),
        }
    }
}
