//! Commands that say what an input holds, and write it as a scenario: `gpusched convert`, `import` and `amalthea`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use gpusched::amalthea::AmaltheaModel;
use gpusched::effort::Progress;
use gpusched::experiments::profile_replay::HeldOut;
use gpusched::input::Input;
use gpusched::json;
use gpusched::profile::Import as ImportedProfile;
use gpusched::replay::replay;
use gpusched::scenario::{LogUse, ReadOptions, Scenario};
use gpusched::time::Duration;

use super::needs::{self, Kind, Lacking};
use super::output::{self, Format, note, print_report};
use super::run_options::{ColumnsOption, LogOptions, RunOptions};
use super::written::write_or_print;
use super::{Answer, input};

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
        output::show_abridged(&scenario.notes, note);
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
        write_or_print(&self.out, text.as_bytes())?;
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
    let options = ReadOptions { placement: logs.placement, ..ReadOptions::default() };
    let known = run.scenario.as_ref().map(|(scenario, pairing)| (scenario, pairing));
    let result =
        replay(&run.run, &run.device, known, &options, &logs.tolerances(), Progress::NONE).context("the logs")?;
    run.notes.push("block times are those of the logs".to_owned());
    let mut scenario = result.scenario;
    scenario.notes.append(&mut run.notes);
    Ok(scenario)
}

/// Make a scenario of a profile: of PyTorch (Kineto), Nsight Systems (SQLite export) or nvprof (CSV).
///
/// Every command that takes a scenario takes a profile too, and sees the same scenario; this one says what was read,
/// assumed and left out, and writes it for editing.
#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(flatten)]
    run: RunOptions,
    /// Write the scenario, in gpusched's own format; - is standard output, without the report
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Leave out what starts earlier than this after the GPU's first operation
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    from: Option<Duration>,
    /// Leave out what starts at or after this
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    to: Option<Duration>,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Import {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if self.out.as_deref() == Some(Path::new("-")) {
            needs::lacking(Lacking::Report)?;
        }
        let profile = match self.run.input()? {
            Input::Profile(profile) => profile,
            other => {
                bail!("{} is no profile; gpusched convert writes other inputs as scenarios", other.file())
            }
        };
        let mut imported: ImportedProfile = self.run.import(&profile, (self.from, self.to))?;
        let scenario = self.out.as_ref().map(|_| imported.scenario.to_native_json()).transpose()?;
        let options = self.run.options()?;
        let other = options.with_block_times(&profile)?;
        HeldOut::tell_first::<anyhow::Error>(&other, &mut imported, &options.read)?;
        output::show_abridged(&imported.scenario.notes, note);
        if let Some((path, text)) = self.out.as_deref().zip(scenario) {
            write_or_print(path, text.as_bytes())?;
            if path == Path::new("-") {
                return Ok(Answer::Done);
            }
        }
        print_report(&imported, self.format)
    }
}

/// List what is read of an AMALTHEA model: runnables with their ticks and GPU properties, copies, processing units,
/// stimuli, response-time requirements, and what was skipped.
#[derive(Debug, Args)]
pub(crate) struct Amalthea {
    /// Model file of Eclipse APP4MC; - reads standard input
    #[arg(value_name = "MODEL.amxmi")]
    model: PathBuf,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Amalthea {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let (file, text) = input::read(&self.model)?;
        let model = AmaltheaModel::parse(&file, &text)?;
        output::show_abridged(&model.notes, note);
        print_report(&model, self.format)
    }
}
