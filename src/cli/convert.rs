//! `gpusched convert`

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use gpusched::effort::Progress;
use gpusched::experiments::replay::replay;
use gpusched::input::Input;
use gpusched::json;
use gpusched::scenario::{LogUse, ReadOptions, Scenario};

use super::log_input::{ColumnsOption, LogOptions};
use super::needs::{self, Kind};
use super::output::{note, write_whole};
use super::run_options::RunOptions;
use super::{Answer, notes, output};

/// Write any input as a scenario in gpusched's own format, in which everything can be edited: an AMALTHEA model, a
/// scenario of `cuda_scheduling_examiner`, its logs, or a table of blocks.
///
/// The written scenario runs the same. Options that change the input are worked into it.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    #[command(flatten)]
    run: RunOptions,
    #[command(flatten)]
    columns: ColumnsOption,
    /// Where to write the scenario; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Replace FILE if it exists, also if it is the input
    #[arg(long)]
    force: bool,
}

impl Convert {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if !self.force && self.out.is_file() {
            bail!("--out: {} exists; --force replaces it", self.out.display());
        }
        let (scenario, has_comments) = if let Some(logs) = self.run.logs(&self.columns)? {
            needs::input(Kind::Logs, &self.run.path().display().to_string())?;
            (of_logs(&logs)?, false)
        } else {
            let input = self.run.input()?;
            (self.run.scenario(&input, LogUse::Unused)?, has_comments(&input))
        };
        let text = scenario.to_native_json()?;
        notes::show_abridged(&scenario.notes, note);
        if scenario.expected.is_some() {
            note("the expected result is left out: it would not hold once the scenario is edited");
        }
        if let Some(why) = scenario.unsure_releases() {
            note(&format!(
                "the file says that releases are those of a run, which the input does not: {why}; what is proven of the \
                 file need not hold of the input"
            ));
        }
        if has_comments {
            note("the comments of the file are left out");
        }
        if self.out == Path::new("-") {
            output::print(text.as_bytes())?;
        } else {
            write_whole(&self.out, |out| out.write_all(text.as_bytes()))?;
        }
        Ok(Answer::Done)
    }
}

/// Whether this is a scenario in JSON with comments.
fn has_comments(input: &Input) -> bool {
    let Input::Scenario { text, .. } = input else { return false };
    json::has_comments(text)
}

/// What a replay of logs simulates, measured block times included.
fn of_logs(logs: &LogOptions) -> anyhow::Result<Scenario> {
    let mut input = logs.read()?;
    let Some(mut run) = input.runs.pop() else { bail!("no log holds a kernel") };
    if !input.runs.is_empty() {
        bail!("these are logs of {} runs; convert one at a time", input.runs.len() + 1);
    }
    let options = ReadOptions { placement: logs.placement(), ..ReadOptions::default() };
    let known = run.scenario.as_ref().map(|(scenario, pairing)| (scenario, pairing));
    let result =
        replay(&run.run, &run.device, known, &options, &logs.tolerances(), Progress::NONE).context("the logs")?;
    run.notes.push("block times are those of the logs".to_owned());
    let mut scenario = result.scenario;
    scenario.notes.append(&mut run.notes);
    Ok(scenario)
}
