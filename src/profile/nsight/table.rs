//! Reading tables whose columns differ between versions.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::limits::count_turn;

#[derive(Debug)]
pub(super) enum TableError {
    Database(rusqlite::Error),
    Column { table: &'static str, column: &'static str },
}

impl From<rusqlite::Error> for TableError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// Whether there is a table, not a view, of this name.
pub(super) fn exists(database: &Connection, table: &str) -> rusqlite::Result<bool> {
    let mut found = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1")?;
    found.exists([table])
}

/// Calls `each` with the columns that are needed, then those that may be missing, of every row.
pub(super) fn for_each(
    database: &Connection,
    table: &'static str,
    needed: &[&'static str],
    optional: &[&'static str],
    mut each: impl FnMut(&Columns<'_, '_>),
) -> Result<(), TableError> {
    if !exists(database, table)? {
        return Ok(());
    }
    let mut names = database.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names: Vec<String> = names.query_map([table], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let known = |column: &str| names.iter().any(|name| name.eq_ignore_ascii_case(column));
    if let Some(column) = needed.iter().find(|column| !known(column)) {
        return Err(TableError::Column { table, column });
    }
    let column = |column: &&str| if known(column) { format!("\"{column}\"") } else { "NULL".to_owned() };
    let columns: Vec<String> = needed.iter().chain(optional).map(column).collect();
    let mut rows = database.prepare(&format!("SELECT {} FROM \"{table}\"", columns.join(", ")))?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        count_turn();
        each(&Columns(row));
    }
    Ok(())
}

/// The columns of one row, in the order in which they were asked for.
pub(super) struct Columns<'r, 's>(&'r Row<'s>);

impl Columns<'_, '_> {
    /// A whole number, if that is what stands there.
    pub(super) fn whole(&self, column: usize) -> Option<i64> {
        match self.0.get_ref(column) {
            Ok(ValueRef::Integer(number)) => Some(number),
            _ => None,
        }
    }

    /// A whole number that is not negative.
    pub(super) fn unsigned(&self, column: usize) -> Option<u64> {
        u64::try_from(self.whole(column)?).ok()
    }

    /// As [`Columns::unsigned`], of 32 bits.
    pub(super) fn small(&self, column: usize) -> Option<u32> {
        u32::try_from(self.whole(column)?).ok()
    }

    pub(super) fn text(&self, column: usize) -> Option<&str> {
        self.0.get_ref(column).ok()?.as_str().ok()
    }
}
