//! The rows of a curve, and the file that has those of an interrupted run.

use std::fs::{OpenOptions, TryLockError};
use std::io::{Read, Write, sink};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use gpusched::experiments::study::{CHECKSUM_COLUMN, with_checksum, without_checksum};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::{output, written};

/// Everything that the rows depend on, so that a file of another curve is not taken for this one's.
pub(super) fn stated(seed: u64, samples: u64, generators: &impl Serialize) -> anyhow::Result<Value> {
    Ok(json!({"seed": seed, "sets_a_point": samples, "generator": serde_json::to_value(generators)?}))
}

/// Where rows go: to the end of a file, which also tells what is done already; to standard output; or, where that has a
/// report of all of them at the end, nowhere.
pub(super) struct Rows {
    out: Box<dyn Write>,
    /// The file, in which each row has its checksum.
    file: Option<PathBuf>,
    /// Sound lines found in the file, without its head and their checksums.
    known: Vec<String>,
}

impl Rows {
    /// Begins with a line `stated` of all that the rows depend on, and with their `header`. A file that begins
    /// otherwise is refused.
    pub(super) fn open(path: Option<&Path>, has_report: bool, stated: &Value, header: &str) -> anyhow::Result<Self> {
        let stated = format!("# {stated}\n");
        let Some(path) = path else {
            let mut out: Box<dyn Write> = if has_report { Box::new(sink()) } else { Box::new(output::stdout()) };
            out.write_all(format!("{stated}{header}").as_bytes())?;
            return Ok(Self { out, file: None, known: Vec::new() });
        };
        let head = format!("{stated}{},{CHECKSUM_COLUMN}\n", header.trim_end());
        let cannot = || format!("cannot write {}", path.display());
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).with_context(cannot)?;
        // Two runs would each write the rows that the other lacks.
        // Where there are no locks, nobody is told.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            bail!("{} is being written by another run; name another file", path.display());
        }
        let mut before = String::new();
        file.read_to_string(&mut before).with_context(|| format!("cannot read {}", path.display()))?;
        let Some(rows) = before.strip_prefix(&head) else {
            // A disk that was full can have torn the head.
            if !head.starts_with(&before) {
                bail!("{} belongs to a curve with other parameters; remove it or name another file", path.display());
            }
            file.set_len(0).with_context(cannot)?;
            let mut rows = Self { out: Box::new(file), file: Some(path.to_owned()), known: Vec::new() };
            rows.write(&head)?;
            return Ok(rows);
        };
        // A run that was interrupted left a torn line; what follows a line that is not sound is not trusted either.
        let mut sound = 0;
        let mut known = Vec::new();
        for line in rows.split_inclusive('\n') {
            let Some(row) = line.strip_suffix('\n').and_then(|line| without_checksum(line.as_bytes())) else { break };
            known.push(row.to_owned());
            sound += line.len();
        }
        if sound < rows.len() {
            let (cut, at) = (rows.len() - sound, path.display());
            output::note(&format!("{at}: {cut} bytes behind the last sound row are cut off, and computed again"));
        }
        file.set_len((head.len() + sound) as u64).with_context(cannot)?;
        Ok(Self { out: Box::new(file), file: Some(path.to_owned()), known })
    }

    /// What `read` makes of a line of the file, if it takes one.
    pub(super) fn known<T>(&self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.known.iter().find_map(|line| read(line))
    }

    /// Adds a line, which ends with a line break.
    pub(super) fn add(&mut self, line: &str) -> anyhow::Result<()> {
        if self.file.is_some() {
            return self.write(&(with_checksum(line.trim_end()) + "\n"));
        }
        self.write(line)
    }

    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        match &self.file {
            Some(path) => written.with_context(|| {
                format!("cannot write {}; the same command goes on there once the cause is mended", path.display())
            }),
            None => Ok(written?),
        }
    }

    /// The rows are complete.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self.file {
            Some(path) if !path.exists() => bail!("{} was removed while rows were written to it", path.display()),
            Some(path) => {
                written::remember(&path);
                Ok(())
            }
            None => Ok(()),
        }
    }
}
