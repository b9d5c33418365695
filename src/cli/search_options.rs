//! Options of the search for runs that miss deadlines.

use std::path::{Path, PathBuf};

use clap::Args;
use gpusched::analysis::{SearchOptions, Watch};
use gpusched::scenario::Scenario;
use gpusched::time::Duration;

use super::ending;
use super::jobs::Jobs;
use super::output::{note, write_whole};
use super::progress::{self, Unit};

/// Operations that the default search simulates at most, all runs together, so that a large scenario is not held up.
const MOST_OPERATIONS: usize = 2_000_000;

/// For how long to look for bad runs, and where to put the worst.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Look for runs with long responses for this long [default: some hundred runs]
    #[arg(long = "search", value_name = "TIME", value_parser = Duration::parse)]
    time: Option<Duration>,
    /// Write the run that misses a deadline by most, as a scenario that `gpusched simulate` replays
    #[arg(long, value_name = "FILE")]
    witness: Option<PathBuf>,
    #[command(flatten)]
    jobs: Jobs,
}

impl Search {
    /// What to search in a scenario whose simulation submits `operations` operations.
    pub(crate) fn options(&self, scenario: &Scenario, operations: usize) -> SearchOptions {
        let options = SearchOptions { seed: scenario.seed, ..SearchOptions::default() };
        let affordable = u64::try_from(MOST_OPERATIONS / operations.max(1)).unwrap_or(u64::MAX);
        let time_limit = self.time.map(|time| std::time::Duration::from_nanos(time.as_ns()));
        let runs = if time_limit.is_some() { options.runs } else { options.runs.min(affordable).max(1) };
        SearchOptions { runs, time_limit, ..options }
    }

    /// Runs `work` on the threads asked for, with progress on a terminal; Ctrl-C ends the search, and what was found
    /// by then counts.
    pub(crate) fn watched<T: Send>(&self, work: impl FnOnce(Watch<'_>) -> T + Send) -> anyhow::Result<T> {
        let stop = ending::stop_flag();
        progress::begin("searching bad runs", Unit::Of("runs"), None);
        let answer = self.jobs.pool()?.install(|| work(Watch { stop: &stop, progress: &progress::reach }));
        if ending::finishing() {
            note("the search was stopped: what it had found by then counts");
        }
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
