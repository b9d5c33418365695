//! `gpusched study`

mod export;
mod merge;
mod plot;
mod run;
mod status;
mod submit;

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, Subcommand};
use gpusched::experiments::study::Study;

use super::{Answer, input};

/// Repeat a command with millions of random samples over a grid, on one machine or many: docs/studies.md.
#[derive(Debug, Args)]
pub(crate) struct StudyArguments {
    #[command(subcommand)]
    command: StudyAction,
}

#[derive(Debug, Subcommand)]
enum StudyAction {
    /// Compute the rows of a study, or of one shard of it; goes on where an earlier run stopped
    Run(run::Run),
    /// Say how far the shards of a study are
    Status(status::Status),
    /// Put shards together to the bytes that one machine would have written
    Merge(merge::Merge),
    /// Sum the rows up, with confidence intervals, and draw them
    Plot(plot::Plot),
    /// Write what is drawn as files: scenarios or task sets that other commands read
    Export(export::Export),
    /// Write and submit a batch script for Slurm
    Submit(submit::Submit),
}

impl StudyArguments {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        match &self.command {
            StudyAction::Run(command) => command.run(),
            StudyAction::Status(command) => command.run(),
            StudyAction::Merge(command) => command.run(),
            StudyAction::Plot(command) => command.run(),
            StudyAction::Export(command) => command.run(),
            StudyAction::Submit(command) => command.run(),
        }
    }
}

/// Which study, and where its rows are.
#[derive(Debug, Args)]
struct Files {
    /// Study file (see `gpusched schema study`)
    file: PathBuf,
    /// Directory of the rows [default: the study file's name, ending in .results]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

/// The study of a file; files that it names are looked for beside it.
fn study_of(file: &Path) -> anyhow::Result<Study> {
    let (name, text) = input::read(file)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let read = |file: &str| Study::read_beside(folder, file);
    Ok(Study::from_json(&name, &text, &read)?)
}

impl Files {
    fn study(&self) -> anyhow::Result<Study> {
        study_of(&self.file)
    }

    /// Where its rows are.
    fn results(&self) -> anyhow::Result<PathBuf> {
        match &self.results {
            Some(results) => Ok(results.clone()),
            None if self.file.as_os_str() == "-" => bail!("a study on standard input needs --results"),
            None => Ok(self.file.with_extension("results")),
        }
    }
}
