//! Logs of single blocks as one table: a row a block, of any GPU, by whoever wrote it.
//!
//! Everybody who logs blocks gives the columns names of their own. `columns` knows those that are in use, and others
//! by what the user says; `rows` reads the table row by row; `launches` makes logs of it.

mod columns;
mod launches;
mod row;
mod rows;

pub use columns::{BlockColumns, BlockColumnsError};
pub(super) use launches::number_iterations;
pub(crate) use rows::begins_a_table;
pub(super) use rows::{begins_with_names, read_table};

#[cfg(test)]
mod tests;
