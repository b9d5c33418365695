//! Reading a long log piece by piece, so that its text need not be held as a whole.

use std::io::{self, Read, Seek};

use rayon::prelude::*;
use serde::de::DeserializeSeed;

use super::assemble::{LogReading, assemble};
use super::blocks::{BlockColumns, begins_with_names, read_table};
use super::plain::plain_log;
use super::read::read_log;
use super::reading::LogsReading;
use super::visit::{Draft, FileSeed, any_log};
use crate::json::without_byte_order_mark;
use crate::limits::count_turn;
use crate::spelling::option;

/// So much is read at a time \[bytes\].
const PIECE: usize = 1 << 20;
/// What a piece that begins with an entry of `times` lacks before it, and one that ends with an entry behind it.
const BEFORE: &[u8] = b"{\"times\":[";
const BEHIND: &[u8] = b"]}";

/// Reads a log from a file, of whose text it holds little at a time; `file` is its name in reports.
///
/// The result is that of [`read_log`] of the whole text, which is read again if anything is wrong with it.
fn read_log_from(file: &str, source: &mut (impl Read + Seek)) -> io::Result<LogReading> {
    in_pieces(file, source, PIECE)
}

/// Bytes at the beginning of a file by which a table of blocks is known.
const HEAD_BYTES: u64 = 1 << 16;

/// Reads a log of the examiner from a file, or a table of blocks, of which it keeps 32 bytes a row and takes as many
/// again while it sorts them; `columns` says which columns a table has, where their names do not.
///
/// # Errors
/// Those of reading the file.
pub fn read_logs_from(file: &str, source: &mut (impl Read + Seek), columns: &BlockColumns) -> io::Result<LogsReading> {
    let mut head = Vec::new();
    source.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    source.rewind()?;
    let is_json = || without_byte_order_mark(&head).trim_ascii_start().starts_with(b"{");
    if !is_json() && (!columns.is_empty() || begins_with_names(&head)) {
        return read_table(file, &head, source, columns);
    }
    let mut reading = LogsReading::from(read_log_from(file, source)?);
    if !columns.is_empty() {
        reading.notes.push(format!("{file} is no table of blocks: {} has no effect on it", option("columns")));
    }
    Ok(reading)
}

pub(super) fn in_pieces(file: &str, source: &mut (impl Read + Seek), piece: usize) -> io::Result<LogReading> {
    let mut draft = Draft::default();
    if sound_draft(source, piece, &mut draft)? {
        return Ok(assemble(file, draft));
    }
    drop(draft);
    source.rewind()?;
    let mut text = Vec::new();
    source.read_to_end(&mut text)?;
    Ok(read_log(file, text))
}

/// Whether a text, or the beginning of one, is a log rather than anything else: as far as it goes, it is JSON with
/// `benchmark_name` and `times` at the top.
pub(crate) fn begins_a_log(head: &[u8]) -> bool {
    let mut draft = Draft::default();
    // A beginning is not a whole, so that this fails.
    let _ = FileSeed { draft: &mut draft }
        .deserialize(&mut serde_json::Deserializer::from_slice(without_byte_order_mark(head)));
    draft.entries.is_some() && draft.benchmark_name.is_some()
}

/// Reads a log that nothing is wrong with. Says whether it is one; if not, the draft means nothing.
///
/// Pieces are cut between two entries of `times`, where `},{` stands, white space aside. That may be elsewhere too, in
/// a name or further inside; but such a piece is no JSON once it is completed, or does not end in `times`. As many as
/// there are threads are read at once.
fn sound_draft(source: &mut impl Read, most: usize, draft: &mut Draft) -> io::Result<bool> {
    let (mut piece, mut together, mut spare) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        count_turn();
        let fresh = piece.len();
        if fill(source, most, &mut piece)? < most {
            // What stands behind the last entry belongs to the log as a whole.
            return Ok(add_entries(&mut together, &mut spare, draft) && add_last(&piece, draft));
        }
        let Some(comma) = last_cut(&piece, fresh) else { continue };
        let mut rest: Vec<u8> = spare.pop().unwrap_or_default();
        rest.clear();
        rest.extend_from_slice(BEFORE);
        rest.extend_from_slice(&piece[comma + 1..]);
        piece.truncate(comma);
        piece.extend_from_slice(BEHIND);
        if draft.keys == 0 {
            let Some(own) = sound(&piece).filter(|own| own.ends_in_times) else { return Ok(false) };
            *draft = own;
        } else {
            together.push(piece);
            if together.len() >= rayon::current_num_threads() && !add_entries(&mut together, &mut spare, draft) {
                return Ok(false);
            }
        }
        piece = rest;
    }
}

/// Reads `most` bytes more, or all that are left; gives their number.
fn fill(source: &mut impl Read, most: usize, piece: &mut Vec<u8>) -> io::Result<usize> {
    let fresh = piece.len();
    let mut end = fresh;
    piece.resize(fresh + most, 0);
    while end < piece.len() {
        count_turn();
        match source.read(&mut piece[end..]) {
            Ok(0) => break,
            Ok(read) => end += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    piece.truncate(end);
    Ok(end - fresh)
}

/// What stands in a text that nothing is wrong with.
fn sound(text: &[u8]) -> Option<Draft> {
    plain_log(text).or_else(|| any_log(text))
}

/// Adds the entries of pieces that have nothing else, which are then spare; says whether that is so.
fn add_entries(pieces: &mut Vec<Vec<u8>>, spare: &mut Vec<Vec<u8>>, draft: &mut Draft) -> bool {
    let read = |piece: &Vec<u8>| sound(piece).filter(|own| own.keys == 1)?.entries;
    let read: Vec<_> = pieces.par_iter().map(read).collect();
    spare.append(pieces);
    read.into_iter().all(|own| {
        own.is_some_and(|own| {
            draft.entries.get_or_insert_default().extend(own);
            true
        })
    })
}

/// Adds what is left of the log; says whether nothing is wrong with it.
fn add_last(piece: &[u8], draft: &mut Draft) -> bool {
    if let Some(own) = plain_log(piece) {
        draft.extend(own);
        return true;
    }
    // What it does not name has been read before.
    let mut json = serde_json::Deserializer::from_slice(piece);
    FileSeed { draft }.deserialize(&mut json).and_then(|()| json.end()).is_ok()
}

/// The last comma between a closing brace and an opening one at or behind `from`.
fn last_cut(piece: &[u8], from: usize) -> Option<usize> {
    let last = |before: usize| piece[..before].iter().rposition(|byte| !byte.is_ascii_whitespace());
    let mut end = piece.len();
    loop {
        count_turn();
        let brace = from + piece[from..end].iter().rposition(|&byte| byte == b'{')?;
        if let Some(comma) = last(brace).filter(|&at| piece[at] == b',')
            && last(comma).is_some_and(|at| piece[at] == b'}')
        {
            return Some(comma);
        }
        end = brace;
    }
}
