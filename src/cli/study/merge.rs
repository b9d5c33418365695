//! `gpusched study merge`

use std::fs;
use std::io;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use gpusched::experiments::study::{ResultFile, Shard, merge};

use super::super::Answer;
use super::super::output::{note, write_whole};
use super::super::progress::{self, Unit};
use super::Files;

/// Put the shards of a study together, once they are complete, to the bytes that one machine would have written.
#[derive(Debug, Args)]
pub(super) struct Merge {
    #[command(flatten)]
    files: Files,
    /// The shards' files [default: all in the directory of the rows]
    shards: Vec<PathBuf>,
    /// Where to write [default: rows.csv in the directory of the rows]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite rows.csv
    #[arg(long)]
    force: bool,
}

impl Merge {
    pub(super) fn run(&self) -> anyhow::Result<Answer> {
        let (study, results) = (self.files.study()?, self.files.results()?);
        let mut shards = self.shards.clone();
        if shards.is_empty() {
            shards = Shard::files(&results)?.into_iter().map(|(_, path)| path).collect();
        }
        let whole = results.join(Shard::WHOLE.file_name());
        if ResultFile::is_claimed(&whole) {
            bail!("{} is being written by a run", whole.display());
        }
        if self.out.is_none() && whole.exists() && !self.force {
            bail!("{} exists already: --force overwrites it, --out writes elsewhere", whole.display());
        }
        if self.out.is_none() {
            fs::create_dir_all(&results).with_context(|| format!("cannot make {}", results.display()))?;
        }
        let out = self.out.as_ref().unwrap_or(&whole);
        // What merging says is more than what writing a file can say.
        let mut merged = None;
        progress::hold("merging", Unit::Of("rows"), Some(study.layout.rows()));
        let written = write_whole(out, |out| match merged.insert(merge(&study, &shards, out, progress::own())) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::Error::other("the shards cannot be merged")),
        });
        progress::end();
        match merged {
            Some(Err(error)) => return Err(error.into()),
            Some(Ok(rows)) => {
                written?;
                note(&format!("{}: {rows} rows of {} shards", out.display(), shards.len()));
            }
            None => written?,
        }
        Ok(Answer::Done)
    }
}
