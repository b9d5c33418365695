//! Shards put together to what one machine would have written.

use crate::effort::Progress;
use crate::limits::count_turn;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::StudyError;
use super::file::Study;
use super::header;
use super::layout::Shard;
use super::rows::{Found, Rows};

/// Bytes of all shards together that are in memory at once, and of one of them.
const MEMORY: usize = 1 << 26;
const PER_SHARD: (usize, usize) = (1 << 10, 1 << 20);

/// Writes the rows of all shards in the order of the study: the bytes of a run on one machine. Returns how many.
///
/// Only a part of each file is in memory, 64 MB of all together. Every row's checksum and place are checked again.
/// How many rows are written is in `progress`.
///
/// # Errors
/// [`StudyError::Incomplete`] if a shard is missing or has not all rows, [`StudyError::Foreign`] if files belong to
/// different studies, versions or numbers of shards, or two to one shard.
pub fn merge(study: &Study, paths: &[PathBuf], out: &mut dyn Write, progress: Progress<'_>) -> Result<u64, StudyError> {
    let mut shards = in_order(study, paths)?;
    out.write_all(header::text(study, Shard::WHOLE).as_bytes()).map_err(StudyError::Merged)?;
    let (rows, count) = (study.layout.rows(), shards.len());
    let mut number = 0;
    while number < rows {
        count_turn();
        let before = number;
        for shard in shards.iter_mut().take(usize::try_from(rows - number).unwrap_or(count)) {
            let Some(Found { line, .. }) = shard.next()? else { return Err(incomplete(shards)) };
            out.write_all(line).and_then(|()| out.write_all(b"\n")).map_err(StudyError::Merged)?;
            number += 1;
        }
        progress.advance(number - before);
    }
    Ok(rows)
}

/// One file for each shard, by number.
fn in_order<'a>(study: &'a Study, paths: &[PathBuf]) -> Result<Vec<Rows<'a>>, StudyError> {
    let chunk = (MEMORY / paths.len().max(1)).clamp(PER_SHARD.0, PER_SHARD.1);
    let mut what = Vec::new();
    let mut found: Vec<Rows<'_>> = Vec::new();
    for path in paths {
        match Rows::open(study, path, chunk)? {
            Some(rows) => found.push(rows),
            None => what.push(format!("{} has no rows yet", path.display())),
        }
    }
    crate::sorted::sort_by_key(&mut found, Rows::shard);
    let foreign = |path: &Path, what: String| Err(StudyError::Foreign { path: path.to_owned(), what });
    for pair in found.windows(2) {
        let (one, other) = (pair[0].shard(), pair[1].shard());
        if one.count() != other.count() {
            let first = pair[0].path().display();
            return foreign(
                pair[1].path(),
                format!("it is shard {other}, and {first} is shard {one}: name those to merge"),
            );
        }
        if one == other {
            return foreign(pair[1].path(), format!("{} is shard {one} too", pair[0].path().display()));
        }
    }
    let count = found.first().map_or(0, |rows| rows.shard().count());
    let missing: Vec<String> = (0..count)
        .filter(|index| found.binary_search_by_key(index, |rows| rows.shard().index()).is_err())
        .map(|index| format!("{index}/{count}"))
        .collect();
    if !missing.is_empty() {
        what.push(format!("no file has shard {}", missing.join(", ")));
    }
    if found.is_empty() && what.is_empty() {
        what.push("there are no shards".to_owned());
    }
    if what.is_empty() { Ok(found) } else { Err(StudyError::Incomplete { what }) }
}

fn incomplete(shards: Vec<Rows<'_>>) -> StudyError {
    let mut what = Vec::new();
    for mut rows in shards {
        match rows.skip_all() {
            Ok(_) if rows.given() < rows.expected() => what.push(format!(
                "{} has {} of {} rows: run shard {} again",
                rows.path().display(),
                rows.given(),
                rows.expected(),
                rows.shard()
            )),
            Ok(_) => {}
            Err(error) => return error,
        }
    }
    StudyError::Incomplete { what }
}
