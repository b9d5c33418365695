//! Reading result files, line by line, many at once.

use crate::limits::count_turn;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::error::StudyError;
use super::file::Study;
use super::header;
use super::layout::{RowSamples, Shard};
use super::row;

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
    shard: Shard,
    lines: Lines,
    given: u64,
}

impl<'a> Rows<'a> {
    /// The rows of a file, read in chunks of so many bytes; `None` if the file ends within its header.
    pub(super) fn open(study: &'a Study, path: &Path, chunk: usize) -> Result<Option<Self>, StudyError> {
        let mut lines = Lines::new(path, chunk);
        let Some(first) = lines.next()? else {
            return if header::is_torn(lines.torn()) {
                Ok(None)
            } else {
                Err(StudyError::NotRows { path: path.to_owned() })
            };
        };
        let shard = header::shard_of(study, path, first)?;
        match lines.next()? {
            None => Ok(None),
            Some(columns) if header::text(study, shard).lines().nth(1).map(str::as_bytes) == Some(columns) => {
                Ok(Some(Self { study, shard, lines, given: 0 }))
            }
            Some(_) => Err(StudyError::NotRows { path: path.to_owned() }),
        }
    }

    pub(super) fn shard(&self) -> Shard {
        self.shard
    }

    /// Rows given so far.
    pub(super) fn given(&self) -> u64 {
        self.given
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
        let Some(values) = row::values(line, place) else { return Ok(None) };
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
