//! Reading a file of logs: piece by piece, so that the text of a long log need not be held as a whole, or whole if
//! anything is wrong with it. Defects are kept out, and told.

use std::io::{self, Read, Seek};
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::error::Category;

use super::blocks::{BlockColumns, begins_with_names, read_table};
use super::defect::{Defect, Dropped, LogReading, LogsReading};
use super::log::{BlockList, Iteration, Log, LogTime, LoggedKernel};
use super::plain::plain_log;
use super::visit::{Draft, Entry, NO_SM, NO_TIME, any_log};
use crate::json::without_byte_order_mark;
use crate::limits::count_turn;
use crate::proven::OrMost;
use crate::spelling::option;

/// Reads a log; `file` is its name in reports. Takes the text, so that it need not be held twice.
///
/// Never fails: what is sound is kept, and what is not is told. A text that is no JSON at all gives no log and a
/// [`Defect::Broken`] with the position.
pub fn read_log(file: &str, mut text: Vec<u8>) -> LogReading {
    let mut draft = Draft::default();
    let mut result = draft.read(without_byte_order_mark(&text));
    if result.as_ref().is_err_and(|error| error.classify() == Category::Syntax) && replace_non_numbers(&mut text) {
        draft = Draft::default();
        result = draft.read(without_byte_order_mark(&text));
    }
    drop(text);
    let mut reading = assemble(file, draft);
    if let Err(error) = result {
        let kept_kernels = reading.log.as_ref().map_or(0, |log| log.kernels.len());
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or(&message).to_owned();
        let defect = if error.classify() == Category::Eof {
            Defect::Truncated { line, column, kept_kernels }
        } else {
            Defect::Broken { line, column, what, kept_kernels }
        };
        reading.dropped.insert(0, Dropped::of_file(file, defect));
        if let Some(log) = &mut reading.log {
            log.incomplete = true;
        }
    }
    reading
}

/// Makes a log of a draft.
pub(super) fn assemble(file: &str, draft: Draft) -> LogReading {
    let Some(entries) = draft.entries else { return LogReading { log: None, dropped: Vec::new() } };
    let text = |text: Option<String>| text.map_or_else(|| Arc::from(""), Arc::from);
    let mut log = Log {
        file: file.into(),
        scenario_name: text(draft.scenario_name),
        benchmark_name: text(draft.benchmark_name),
        label: draft.label.map(Arc::from),
        max_resident_threads: draft.max_resident_threads.and_then(|threads| u32::try_from(threads).ok()),
        pid: draft.pid,
        tid: draft.tid,
        mps_sms: draft.mps_sms.and_then(|sms| u32::try_from(sms).ok()),
        ..Log::default()
    };
    let mut dropped = Vec::new();
    if entries.first().is_some_and(|first| first.filled) {
        dropped.push(Dropped::of_file(file, Defect::NoEmptyFirstObject));
    }
    if let Some(operations) = draft.left_out_at_horizon.filter(|&operations| operations > 0) {
        log.incomplete = true;
        dropped.push(Dropped::of_file(file, Defect::LeftOutAtHorizon { operations }));
    }
    let mut position = 0;
    for entry in entries {
        if let Some([start_ns, end_ns]) = entry.execute_ns.filter(|_| !entry.is_kernel) {
            log.iterations.push(Iteration { start_ns, end_ns });
        }
        if !entry.is_kernel {
            continue;
        }
        let title = format!("kernel {position} ({})", entry.name.as_deref().unwrap_or("without a name"));
        position += 1;
        let mut drop = |defect| dropped.push(Dropped { file: file.to_owned(), kernel: Some(title.clone()), defect });
        let iteration = u32::try_from(log.iterations.len().saturating_sub(1)).or_most();
        let (kernel, sound) = kernel(entry, iteration, &mut drop);
        log.incomplete |= !sound;
        log.kernels.extend(kernel);
    }
    if position == 0 && log.iterations.is_empty() {
        log.incomplete = true;
        dropped.push(Dropped::of_file(file, Defect::NothingLogged));
    }
    LogReading { log: Some(log), dropped }
}

/// A kernel, if it can be used, and whether nothing of it is missing.
fn kernel(mut entry: Entry, iteration: u32, drop: &mut impl FnMut(Defect)) -> (Option<LoggedKernel>, bool) {
    let blocks = entry.times.len();
    let launch = (entry.launch_ns.first().copied(), entry.launch_ns.get(1).copied());
    let usable = |time: Option<LogTime>| time.filter(|&time| time != NO_TIME);
    let (Some(threads), Some(launch_start_ns), Some(launch_return_ns)) =
        (entry.threads.and_then(|threads| u32::try_from(threads).ok()), usable(launch.0), usable(launch.1))
    else {
        let key = if entry.threads.is_none() { "thread_count" } else { "cuda_launch_times" };
        drop(Defect::MissingKey { key, blocks });
        return (None, false);
    };
    if entry.times.is_empty() || entry.sms.is_empty() {
        let key = if entry.times.is_empty() { "block_times" } else { "block_smids" };
        drop(Defect::MissingKey { key, blocks: entry.times.len().max(entry.sms.len()) });
        return (None, false);
    }
    let mut sound = true;
    if entry.time_count != 2 * entry.sms.len() {
        sound = false;
        drop(Defect::UnequalLists { times: entry.time_count, sms: entry.sms.len() });
        let both = (entry.time_count / 2).min(entry.sms.len());
        entry.times.truncate(both);
        entry.sms.truncate(both);
    }
    let listed = entry.times.len();
    let stated = entry.block_count.unwrap_or(listed as u64);
    if entry.block_count.is_none() {
        drop(Defect::MissingKey { key: "block_count", blocks: 0 });
    } else if stated != listed as u64 && sound {
        drop(Defect::BlockCount { stated, listed });
    }
    sound &= stated == listed as u64;
    let blocks = without_defects(entry.times, entry.sms);
    if blocks.len() < listed {
        sound = false;
        drop(Defect::NotANumber { blocks: listed - blocks.len() });
    }
    if blocks.is_empty() {
        return (None, false);
    }
    let kernel = LoggedKernel {
        name: entry.name.map_or_else(|| Arc::from("kernel"), Arc::from),
        iteration,
        // Blocks are counted with 32 bits; that more are stated than listed has been said.
        block_count: u32::try_from(stated).or_most(),
        threads,
        shared_memory_bytes: entry.shared_memory_bytes.and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(0),
        registers_per_thread: 0,
        launch_start_ns,
        launch_return_ns,
        synchronized_ns: usable(entry.launch_ns.get(2).copied()).filter(|&time| time != LogTime::from_ns(0)),
        blocks: Arc::new(blocks),
    };
    (Some(kernel), sound)
}

fn without_defects(mut times: Vec<[LogTime; 2]>, mut sms: Vec<u32>) -> BlockList {
    let usable = |time: &[LogTime; 2], sm: u32| !time.contains(&NO_TIME) && sm != NO_SM;
    if !times.iter().zip(&sms).all(|(time, &sm)| usable(time, sm)) {
        (times, sms) = times.into_iter().zip(sms).filter(|(time, sm)| usable(time, *sm)).unzip();
    }
    times.shrink_to_fit();
    sms.shrink_to_fit();
    BlockList { times, sms }
}

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
pub fn begins_a_log(head: &[u8]) -> bool {
    let mut draft = Draft::default();
    // A beginning is not a whole, so that this fails.
    let _ = draft.read(without_byte_order_mark(head));
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
    draft.read(piece).is_ok()
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

/// Words for numbers that are none, in lower case, the longer before the shorter.
const WORDS: [&[u8]; 3] = [b"infinity", b"nan", b"inf"];

/// Turns every `nan`, `-nan`, `inf`, … outside strings into an empty string of the same length, spaces included, so
/// that positions stay what they are. Says whether there was one.
pub(super) fn replace_non_numbers(text: &mut [u8]) -> bool {
    let (mut found, mut in_string, mut at) = (false, false, 0);
    while at < text.len() {
        match text[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'n' | b'N' | b'i' | b'I' if !in_string => {
                let rest = &text[at..];
                let word =
                    WORDS.iter().find(|word| rest.get(..word.len()).is_some_and(|r| r.eq_ignore_ascii_case(word)));
                if let Some(word) = word {
                    let sign = usize::from(at > 0 && matches!(text[at - 1], b'-' | b'+'));
                    let range = at - sign..at + word.len();
                    at = range.end - 1;
                    text[range.clone()].fill(b' ');
                    text[range.start] = b'"';
                    text[range.start + 1] = b'"';
                    found = true;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}
