//! How far a study is.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::StudyError;
use super::file::Study;
use super::layout::Shard;
use super::result_file::{CHUNK, ResultFile};
use super::rows::Rows;

/// How far one shard is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardStatus {
    /// Where its rows are, or would be.
    pub path: PathBuf,
    /// Which.
    pub shard: Shard,
    /// Sound rows.
    pub rows: u64,
    /// Rows that it will have.
    pub expected: u64,
    /// What stands behind the last sound row: a torn one, or something that is none \[bytes\].
    pub behind_bytes: u64,
    /// Whether it was started.
    pub started: bool,
    /// Whether a process is at it now.
    pub running: bool,
}

impl ShardStatus {
    /// How far the rows in a directory are: the whole study's file, if there is one, and every shard of each division
    /// that was begun.
    ///
    /// # Errors
    /// [`StudyError`] if files cannot be read or belong to something else.
    pub fn of_all(study: &Study, directory: &Path) -> Result<Vec<Self>, StudyError> {
        let files = Shard::files(directory)?;
        let mut counts: Vec<u64> = files.iter().map(|(shard, _)| shard.count()).collect();
        counts.dedup();
        let shards = counts.into_iter().flat_map(|count| (0..count).filter_map(move |index| Shard::new(index, count)));
        let whole = (files.is_empty() || directory.join(Shard::WHOLE.file_name()).exists()).then_some(Shard::WHOLE);
        whole.into_iter().chain(shards).map(|shard| one(study, directory, shard)).collect()
    }

    /// Whether all rows are there, and nothing else.
    pub fn is_complete(&self) -> bool {
        self.started && self.rows == self.expected && self.behind_bytes == 0
    }

    /// In one word.
    pub fn state(&self) -> &'static str {
        match (self.is_complete(), self.running, self.started) {
            (true, ..) => "complete",
            (_, true, _) => "running",
            // Going on with it cuts off what is behind the rows.
            (_, _, true) if self.rows == self.expected => "damaged",
            (_, _, true) => "stopped",
            _ => "missing",
        }
    }
}

fn one(study: &Study, directory: &Path, shard: Shard) -> Result<ShardStatus, StudyError> {
    let path = directory.join(shard.file_name());
    let (started, running) = (path.exists(), ResultFile::is_claimed(&path));
    let (mut rows, mut behind_bytes) = (0, 0);
    if started && let Some(mut found) = Rows::open(study, &path, CHUNK)? {
        let sound = found.skip_all()?;
        rows = found.given();
        let length = fs::metadata(&path).map_err(|source| StudyError::Read { path: path.clone(), source })?.len();
        behind_bytes = length.saturating_sub(sound);
    }
    Ok(ShardStatus { path, shard, rows, expected: shard.rows(study.layout.rows()), behind_bytes, started, running })
}

impl Shard {
    /// The files of shards in a directory, without the whole study's, with the shard that their names state, in order.
    ///
    /// # Errors
    /// [`StudyError::Read`]
    pub fn files(directory: &Path) -> Result<Vec<(Self, PathBuf)>, StudyError> {
        let cannot = |source| StudyError::Read { path: directory.to_owned(), source };
        if !directory.exists() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for entry in fs::read_dir(directory).map_err(cannot)? {
            let path = entry.map_err(cannot)?.path();
            let shard = path.file_name().and_then(|name| name.to_str()).and_then(|name| {
                let (index, count) = name.strip_prefix("rows-")?.strip_suffix(".csv")?.split_once("-of-")?;
                Shard::new(index.parse().ok()?, count.parse().ok()?)
            });
            found.extend(shard.filter(|shard| *shard != Shard::WHOLE).map(|shard| (shard, path)));
        }
        found.sort();
        Ok(found)
    }
}
