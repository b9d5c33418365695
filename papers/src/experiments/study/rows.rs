//! What stands in a result file: two lines that say to what its rows belong, then a line for each row, `point,first
//! sample,samples,values…,checksum`. Files are read line by line, many at once.

use std::fmt::Write;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::compute::{RowSamples, Shard, StudyRow};
use super::{Study, StudyError};
use crate::limits::count_turn;
use crate::spelling::option;

/// The whole lines of a file. The file is open only while its buffer is filled, so that thousands can be read in turn.
struct Lines {
    path: PathBuf,
    /// Where in the file the buffer ends \[bytes\].
    offset: u64,
    buffer: Vec<u8>,
    /// What of the buffer is still to be given.
    start: usize,
    chunk: usize,
}

impl Lines {
    fn new(path: &Path, chunk: usize) -> Self {
        Self { path: path.to_owned(), offset: 0, buffer: Vec::new(), start: 0, chunk }
    }

    /// The next line without its end; `None` if there is no other, or it has no end.
    fn next(&mut self) -> Result<Option<&[u8]>, StudyError> {
        let mut searched = self.start;
        loop {
            count_turn();
            if let Some(length) = self.buffer[searched..].iter().position(|byte| *byte == b'\n') {
                let (from, end) = (self.start, searched + length);
                self.start = end + 1;
                return Ok(Some(&self.buffer[from..end]));
            }
            searched = self.buffer.len() - self.start;
            if !self.fill().map_err(|source| StudyError::Read { path: self.path.clone(), source })? {
                return Ok(None);
            }
        }
    }

    /// Moves what is left to the front and reads on; whether there was more.
    fn fill(&mut self) -> std::io::Result<bool> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let read = file.take(self.chunk as u64).read_to_end(&mut self.buffer)?;
        self.offset += read as u64;
        Ok(read > 0)
    }

    /// Where in the file the next line begins \[bytes\].
    fn position(&self) -> u64 {
        self.offset - (self.buffer.len() - self.start) as u64
    }

    /// What is left at the end, without a line end.
    fn torn(&self) -> &[u8] {
        &self.buffer[self.start..]
    }
}

/// A row as it stands in a file.
pub(super) struct Found<'a> {
    /// All of it, without its end.
    pub(super) line: &'a [u8],
    pub(super) place: RowSamples,
    pub(super) values: &'a str,
}

/// The rows of a result file, each of them checked.
pub(super) struct Rows<'a> {
    study: &'a Study,
    pub(super) shard: Shard,
    lines: Lines,
    /// Rows given so far.
    pub(super) given: u64,
}

impl<'a> Rows<'a> {
    /// The rows of a file, read in chunks of so many bytes; `None` if the file ends within its header.
    pub(super) fn open(study: &'a Study, path: &Path, chunk: usize) -> Result<Option<Self>, StudyError> {
        let mut lines = Lines::new(path, chunk);
        let Some(first) = lines.next()? else {
            return if is_torn_header(lines.torn()) {
                Ok(None)
            } else {
                Err(StudyError::NotRows { path: path.to_owned() })
            };
        };
        let shard = shard_of(study, path, first)?;
        match lines.next()? {
            None => Ok(None),
            Some(columns) if header_text(study, shard).lines().nth(1).map(str::as_bytes) == Some(columns) => {
                Ok(Some(Self { study, shard, lines, given: 0 }))
            }
            Some(_) => Err(StudyError::NotRows { path: path.to_owned() }),
        }
    }

    /// Rows that the file should have.
    pub(super) fn expected(&self) -> u64 {
        self.shard.rows(self.study.layout.rows())
    }

    /// Where the next row begins \[bytes\].
    pub(super) fn position(&self) -> u64 {
        self.lines.position()
    }

    pub(super) fn path(&self) -> &Path {
        &self.lines.path
    }

    /// The next row; `None` if there is none that is sound.
    pub(super) fn next(&mut self) -> Result<Option<Found<'_>>, StudyError> {
        if self.given >= self.expected() {
            return Ok(None);
        }
        let place = self.study.layout.place(self.shard.row(self.given));
        let Some(line) = self.lines.next()? else { return Ok(None) };
        let Some(values) = values(line, place) else { return Ok(None) };
        self.given += 1;
        Ok(Some(Found { line, place, values }))
    }

    /// Reads on to the last sound row; where it ends \[bytes\].
    pub(super) fn skip_all(&mut self) -> Result<u64, StudyError> {
        let mut end = self.position();
        while self.next()?.is_some() {
            count_turn();
            end = self.position();
        }
        Ok(end)
    }
}

/// How a result file begins.
const MAGIC: &str = "# gpusched-rows/1 ";
/// The version that computes the rows; another one may compute others.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The header of the rows of a shard, two lines: it depends on the study, the version and the shard only.
pub(super) fn header_text(study: &Study, shard: Shard) -> String {
    let about = json!({
        "study": study.name,
        "command": study.command.name(),
        "digest": study.digest,
        "gpusched": VERSION,
        "shard": shard.to_string(),
        "rows": shard.rows(study.layout.rows()),
    });
    format!("{MAGIC}{about}\n{FIRST_COLUMNS},{},{CHECKSUM_COLUMN}\n", study.experiment.columns())
}

/// Checks that `first_line`, without its end, is the header of rows of this study by this version; returns whose.
fn shard_of(study: &Study, path: &Path, first_line: &[u8]) -> Result<Shard, StudyError> {
    let not_rows = || StudyError::NotRows { path: path.to_owned() };
    let line = std::str::from_utf8(first_line).map_err(|_| not_rows())?;
    let about: Value =
        line.strip_prefix(MAGIC).and_then(|json| serde_json::from_str(json).ok()).ok_or_else(not_rows)?;
    let field = |key: &str| about.get(key).and_then(Value::as_str).ok_or_else(not_rows);
    let foreign = |what: String| Err(StudyError::Foreign { path: path.to_owned(), what });
    let (name, digest, version) = (field("study")?, field("digest")?, field("gpusched")?);
    if name != study.name {
        return foreign(format!("its rows are of study {name:?}, not {:?}", study.name));
    }
    let results = option("results");
    if version != VERSION {
        return foreign(format!(
            "its rows were computed by gpusched {version}, and this is {VERSION}: rows of two versions are not mixed. \
             Finish with {version}, or choose another {results}"
        ));
    }
    if digest != study.digest {
        return foreign(format!(
            "the study {name:?}, or a file that it names, was changed since its rows were computed. Undo the change, or \
             choose another {results} (rows: {digest}, file: {})",
            study.digest
        ));
    }
    let shard: Shard = field("shard")?.parse().map_err(|_| not_rows())?;
    // Name, version and digest leave nothing that could differ but an edited header.
    if header_text(study, shard).lines().next() == Some(line) { Ok(shard) } else { Err(not_rows()) }
}

/// Whether a text without line end is what a header may look like that was not written to its end.
fn is_torn_header(text: &[u8]) -> bool {
    let magic = MAGIC.as_bytes();
    text.starts_with(magic) || magic.starts_with(text)
}

/// The columns before the values of a command.
const FIRST_COLUMNS: &str = "point,sample,samples";
/// The column after them.
pub const CHECKSUM_COLUMN: &str = "crc32";

/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// Appends the line of a row, with its end.
pub(super) fn push_line(text: &mut String, row: &StudyRow) {
    let from = text.len();
    let RowSamples { point, first, samples } = row.place;
    // Writing to a string cannot fail.
    let _ = write!(text, "{point},{first},{samples},{}", row.values);
    let sum = checksum(&text.as_bytes()[from..]);
    let _ = writeln!(text, ",{sum}");
}

/// The checksum of a line, as the last column has it.
fn checksum(line: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(line))
}

/// A line, without its end, with its checksum behind it.
pub fn with_checksum(line: &str) -> String {
    format!("{line},{}", checksum(line.as_bytes()))
}

/// What [`with_checksum`] was given; `None` if it is no such line, to the letter.
pub fn without_checksum(line: &[u8]) -> Option<&str> {
    let (text, sum) = line.split_at_checked(line.len().checked_sub(DIGITS + 1)?)?;
    let is_sound = sum.strip_prefix(b",")? == checksum(text).as_bytes();
    std::str::from_utf8(text).ok().filter(|_| is_sound)
}

/// The values of a line without its end, if its checksum is right and it stands where it should.
pub(super) fn values(line: &[u8], expected: RowSamples) -> Option<&str> {
    let mut text = without_checksum(line)?;
    for number in [expected.point, expected.first, expected.samples] {
        let (field, rest) = text.split_once(',')?;
        if field.parse() != Ok(number) {
            return None;
        }
        text = rest;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::study::Layout;

    #[test]
    fn a_line_is_read_back_and_no_shorter_or_changed_one_is_taken_for_it() {
        let layout = Layout { points: 3, samples: 25, per_row: 10 };
        let row = StudyRow { number: 5, place: layout.place(5), values: "1,2;3,x".to_owned() };
        assert_eq!(row.place, RowSamples { point: 1, first: 20, samples: 5 });
        let mut text = String::new();
        push_line(&mut text, &row);
        let line = text.trim_end().as_bytes();
        assert_eq!(values(line, row.place), Some("1,2;3,x"));
        assert_eq!(values(line, layout.place(4)), None);
        for end in 0..line.len() {
            assert_eq!(values(&line[..end], row.place), None, "{end}");
            let mut changed = line.to_vec();
            changed[end] ^= 1;
            assert_eq!(values(&changed, row.place), None, "{end}");
        }
        let upper = String::from_utf8_lossy(line).to_uppercase().replace('X', "x");
        assert_ne!(upper.as_bytes(), line);
        assert_eq!(values(upper.as_bytes(), row.place), None);
    }
}
