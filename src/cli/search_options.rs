//! Options of the search for runs that miss deadlines.

use std::path::{Path, PathBuf};

use clap::Args;
use gpusched::effort::Progress;
use gpusched::scenario::Scenario;
use gpusched::time::Duration;

use super::ending;
use super::jobs::Jobs;
use super::output::write_whole;
use super::progress::{self, Unit};

/// For how long to look for bad runs, and where to put the worst.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Look for runs with long responses for this long [default: some hundred runs; of more than 100,000 operations
    /// without a deadline only the scenario's own]
    #[arg(long = "search", value_name = "TIME", value_parser = Duration::parse)]
    time: Option<Duration>,
    /// Write a witness: of the runs found that miss a deadline the one that is latest, as a scenario of which `gpusched
    /// simulate FILE` shows how it comes to that; nothing is written if no run misses one
    #[arg(long, value_name = "FILE")]
    witness: Option<PathBuf>,
    #[command(flatten)]
    jobs: Jobs,
}

impl Search {
    /// For how long to search, if that is said.
    pub(crate) fn time(&self) -> Option<Duration> {
        self.time
    }

    /// Runs `work` on the threads asked for, with progress on a terminal; Ctrl-C ends the search, and what was found
    /// by then counts.
    pub(crate) fn watched<T>(&self, work: impl FnOnce(Progress<'_>) -> T) -> anyhow::Result<T> {
        ending::keep_complete_results();
        self.jobs.share()?;
        let answer = progress::counted("searching bad runs", Unit::Of("runs"), None, work);
        ending::stop_working()?;
        Ok(answer)
    }

    /// Where a witness is wanted.
    pub(crate) fn witness_file(&self) -> Option<&Path> {
        self.witness.as_deref()
    }
}

/// Writes a witness as a scenario file.
pub(crate) fn write_witness(path: &Path, witness: &Scenario) -> anyhow::Result<()> {
    let text = witness.to_native_json()?;
    write_whole(path, |out| std::io::Write::write_all(out, text.as_bytes()))
}
