//! What all formats need: a table is declared once, by its columns, and follows as text, Markdown, CSV, JSON or Arrow.

#[cfg(feature = "arrow")]
mod arrow_rows;
mod cell;
pub(crate) mod columns;
mod csv;
mod frames;
mod html;
mod json_document;
mod json_lines;
mod markdown;
mod page;
mod report;
mod rows;
mod rows_part;
mod streamed;

pub(crate) use cell::{Cell, CellKind, CellOf, Real, Text};
pub(crate) use columns::{Column, Object, cells_line, entries};
pub use frames::{Frame, frames_of};
pub use html::escaped as escaped_html;
pub use json_document::{Cut, write_json};
pub use json_lines::write_json_lines;
pub use markdown::escaped as escaped_markdown;
pub(crate) use page::MAX_ROWS;
pub use page::{Page, TableStyle};
pub use report::{DocumentWriter, Report, csv_of, frame_of_rows, text_of};
pub(crate) use report::{Rows, fields};
pub(crate) use rows::{RowsWriter, csv_text, write_csv};
pub(crate) use rows_part::Field;
pub use rows_part::{RowFormat, RowsPart};
pub(crate) use streamed::{Streamed, StreamedMap};
