//! What all formats need: a table is declared once, by its columns, and follows as text, Markdown, CSV, JSON or Arrow.

#[cfg(feature = "arrow")]
mod arrow_rows;
mod cell;
pub(crate) mod columns;
mod json;
mod page;
mod report;
mod rows;

#[cfg(feature = "arrow")]
#[doc(hidden)]
pub use arrow_rows::ArrowRows;
#[doc(hidden)]
pub use cell::{Cell, CellKind, CellOf, Flag, Kind, Real, Signed, Source, Text, Time, Unsigned};
pub use columns::{Column, Field, RowFormat, RowObject, RowsPart, entries};
#[doc(hidden)]
pub use json::{Streamed, StreamedMap};
pub(crate) use json::{write_document, write_lines};
pub use json::{write_json, write_json_lines};
#[doc(hidden)]
pub use page::MAX_ROWS;
pub use page::{Page, TableStyle, escaped_html, escaped_markdown};
pub use report::{Cut, DocumentWriter, Frame, Report, csv_of, frame_of_rows, frames_of, text_of};
#[doc(hidden)]
pub use report::{Rows, fields};
#[doc(hidden)]
pub use rows::{RowsWriter, cells_line, csv_text, write_csv};
