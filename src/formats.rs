//! What all formats need: a table is declared once, by its columns, and follows as text, Markdown, CSV, JSON or Arrow.

#[cfg(feature = "arrow")]
mod arrow_rows;
mod cell;
pub(crate) mod columns;
mod json;
mod page;
mod report;
mod rows;

pub(crate) use cell::{Cell, CellKind, CellOf, Real, Text};
pub(crate) use columns::{Column, Field, Object, entries};
pub use columns::{RowFormat, RowsPart};
pub use json::{Cut, write_json, write_json_lines};
pub(crate) use json::{Streamed, StreamedMap};
pub(crate) use page::MAX_ROWS;
pub use page::{Page, TableStyle, escaped_html, escaped_markdown};
pub use report::{DocumentWriter, Frame, Report, csv_of, frame_of_rows, frames_of, text_of};
pub(crate) use report::{Rows, fields};
pub(crate) use rows::{RowsWriter, cells_line, csv_text, write_csv};
