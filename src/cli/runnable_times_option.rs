//! `--runnable-times` of every command that has times of runnables.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use gpusched::analysis::Analysis;
use gpusched::run::Summary;
use gpusched::tables::RunnableTimes;

use super::output::write_whole;

/// Where the table of times goes.
#[derive(Debug, Args)]
pub(crate) struct RunnableTimesOption {
    /// Write the times of each runnable (host thread), copies included, for a tool chain: .csv or .json
    #[arg(long, value_name = "FILE")]
    runnable_times: Option<PathBuf>,
}

/// A table that is going to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunnableTimesTable<'a> {
    path: &'a Path,
    json: bool,
}

impl RunnableTimesOption {
    /// Whether a table is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.runnable_times.is_some()
    }

    /// The table asked for, if its format is known.
    pub(crate) fn table(&self) -> anyhow::Result<Option<RunnableTimesTable<'_>>> {
        let Some(path) = self.runnable_times.as_deref() else { return Ok(None) };
        let json = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => false,
            Some("json") => true,
            _ => bail!("--runnable-times: expected a file that ends in .csv or .json, found {}", path.display()),
        };
        Ok(Some(RunnableTimesTable { path, json }))
    }
}

impl RunnableTimesTable<'_> {
    pub(crate) fn write(&self, simulated: &Summary<'_>, analysed: Option<&Analysis<'_>>) -> anyhow::Result<()> {
        let times = RunnableTimes::of_run(simulated, analysed);
        write_whole(self.path, |out| {
            if self.json { RunnableTimes::write_json(&times, out) } else { RunnableTimes::write_csv(&times, out) }
        })
    }
}
