//! The rows of a curve, and the file that has those of an interrupted run.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use gpusched::experiments::study::{CHECKSUM_COLUMN, with_checksum, without_checksum};

use super::super::output;

/// Where rows go: to the end of a file, which also tells what is done already, or to standard output.
pub(super) struct Rows {
    out: Box<dyn Write>,
    /// Whether each row has its checksum.
    in_file: bool,
    /// Sound lines found in the file, without its head and their checksums.
    known: Vec<String>,
}

impl Rows {
    /// Begins with a line `stated` of all that the rows depend on, and with their `header`. A file that begins
    /// otherwise is refused.
    pub(super) fn open(path: Option<&Path>, stated: &str, header: &str) -> anyhow::Result<Self> {
        let Some(path) = path else {
            let mut out: Box<dyn Write> = Box::new(output::stdout());
            out.write_all(format!("{stated}{header}").as_bytes())?;
            return Ok(Self { out, in_file: false, known: Vec::new() });
        };
        let head = format!("{stated}{},{CHECKSUM_COLUMN}\n", header.trim_end());
        let cannot = || format!("cannot write {}", path.display());
        let before = match std::fs::read_to_string(path) {
            Ok(before) => before,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let Some(rows) = before.strip_prefix(&head) else {
            if !before.is_empty() {
                bail!("{} belongs to a curve with other parameters; remove it or name another file", path.display());
            }
            let mut out = OpenOptions::new().create(true).append(true).open(path).with_context(cannot)?;
            out.write_all(head.as_bytes()).with_context(cannot)?;
            return Ok(Self { out: Box::new(out), in_file: true, known: Vec::new() });
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
        let file = OpenOptions::new().append(true).open(path).with_context(cannot)?;
        file.set_len((head.len() + sound) as u64).with_context(cannot)?;
        Ok(Self { out: Box::new(file), in_file: true, known })
    }

    /// What `read` makes of a line of the file, if it takes one.
    pub(super) fn known<T>(&self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.known.iter().find_map(|line| read(line))
    }

    /// Adds a line, which ends with a line break.
    pub(super) fn add(&mut self, line: &str) -> anyhow::Result<()> {
        let checked = if self.in_file { with_checksum(line.trim_end()) + "\n" } else { line.to_owned() };
        self.out.write_all(checked.as_bytes())?;
        self.out.flush()?;
        Ok(())
    }
}
