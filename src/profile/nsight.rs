//! The SQLite export of Nsight Systems (`nsys export --type sqlite`).
//!
//! The file is read into memory and opened there, read-only, so that nothing of it is ever written and no lock is
//! waited for. Tables are made as they are needed by the exporter, and their columns differ between versions: a missing
//! table is an empty one, a missing column is null unless nothing can be said without it.

mod operations;
mod table;
mod targets;

use rusqlite::Connection;

use super::builder::ProfileBuilder;
use super::error::GpuProfileError;
use super::model::{GpuProfile, ProfileFormat};
use table::exists;

pub(super) fn read(file: &str, content: &[u8]) -> Result<GpuProfile, GpuProfileError> {
    let refuse = |error: rusqlite::Error| {
        GpuProfileError::new(file, format!("the SQLite database is damaged: {error}")).with_help("is it cut off?")
    };
    let mut builder = ProfileBuilder::new(file, ProfileFormat::NsightSystems);
    let database = open(content, &mut builder).map_err(refuse)?;
    let kernels = exists(&database, operations::KERNELS).map_err(refuse)?;
    if !kernels && !exists(&database, "META_DATA_EXPORT").map_err(refuse)? {
        return Err(GpuProfileError::new(file, "this SQLite database is no export of Nsight Systems")
            .with_help("nsys export --type sqlite writes one"));
    }
    let refusal = |error: table::TableError| match error {
        table::TableError::Database(error) => refuse(error),
        table::TableError::Column { table, column } => {
            GpuProfileError::new(file, format!("the table {table} lacks the column {column}"))
        }
    };
    operations::read(&database, &mut builder).map_err(refusal)?;
    targets::read(&database, &mut builder).map_err(refusal)?;
    builder.finish()
}

/// Opens the content of a file, in memory.
fn open(content: &[u8], builder: &mut ProfileBuilder<'_>) -> rusqlite::Result<Connection> {
    /// Where the header says whether a write-ahead log belongs to the file: 1 no, 2 yes.
    const JOURNAL: std::ops::Range<usize> = 18..20;
    let mut content = content.to_vec();
    if let Some(journal) = content.get_mut(JOURNAL)
        && *journal != [1, 1]
    {
        // A database in memory has no such log.
        journal.fill(1);
        builder.leave_out("write-ahead log (-wal) of the database, should there be one");
    }
    let mut database = Connection::open_in_memory()?;
    database.deserialize_read_exact("main", &*content, content.len(), true)?;
    // Nothing that the file defines is run, and damaged pages are found.
    database.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON;")?;
    Ok(database)
}
