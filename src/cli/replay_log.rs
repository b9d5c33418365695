//! `gpusched replay-log`

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use gpusched::effort::Progress;
use gpusched::experiments::profile_replay::{held_out, replay_profile};
use gpusched::experiments::replay::{Replay, replay};
use gpusched::input::options::ScenarioOptions;
use gpusched::pictures::timeline::{FinishMark, Lanes, Panels};
use gpusched::pictures::{HtmlRun, HtmlTimeline, PerfettoKnown, PerfettoRun, perfetto_trace};
use gpusched::profile::{GpuProfile, Launches, Rescale, ToldBy};
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, WhatIf};
use gpusched::tables::{ProfileReplayDocument, ReplayReport};

use super::choices::one_of;
use super::figure_options::{Figure, FigureOptions};
use super::html_options::{HtmlFile, HtmlOptions};
use super::log_input::LogOptions;
use super::option_arguments::{OfReplays, OptionArguments};
use super::output::{Format, note, print_report, write_whole};
use super::progress::{self, Unit};
use super::recorded_above::RecordedAbove;
use super::{Answer, notes};

/// Simulate a measured run again, and set measured against simulated: logs of the examiner, block by block, or a
/// profile of an application, kernel by kernel.
#[derive(Debug, Args)]
pub(crate) struct ReplayLog {
    #[command(flatten)]
    logs: LogOptions,
    #[command(flatten)]
    options: OptionArguments<OfReplays>,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
    /// Write both runs as one trace for the Perfetto UI (ui.perfetto.dev) and the tracing page of Chrome
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// For how long kernels of a profile run that overlap others: as sharing of SMs makes it, or as a median of the
    /// same kernel says [default: what tells the first half of the profile best]
    #[arg(long, value_name = "HOW", value_parser = one_of(ToldBy::ALL, ToldBy::name))]
    kernel_times: Option<ToldBy>,
    #[command(flatten)]
    html: HtmlOptions,
    #[command(flatten)]
    figure: FigureOptions,
}

impl ReplayLog {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if let Some(profile) = self.logs.profile()? {
            return self.of_profile(&profile);
        }
        let html = self.html.file()?;
        let mut input = self.logs.read()?;
        if input.runs.len() > 1 {
            let names: Vec<String> = input.runs.iter().map(|run| format!("{:?}", run.run.scenario_name)).collect();
            bail!("these are logs of {} runs: {}; replay one at a time", names.len(), names.join(", "));
        }
        let Some(mut run) = input.runs.pop() else { bail!("no log holds a kernel") };
        if run.processes() > 1 {
            run.notes.push("benchmarks ran in several processes; they are replayed as threads of one".to_owned());
        }
        if run.scenario.is_none() {
            run.notes.push("no scenario: launches, block times and streams are those of the logs alone".to_owned());
        }
        let options = ReadOptions { placement: self.logs.placement(), ..ReadOptions::default() };
        let known = run.scenario.as_ref().map(|(scenario, pairing)| (scenario, pairing));
        let tolerances = self.logs.tolerances();
        // With a scenario also its copies and memsets are simulated.
        let total =
            known.map_or_else(|| Some(run.run.kernels() as u64), |(scenario, _)| progress::operations(scenario));
        let result = progress::counted("simulating", Unit::Of("operations"), total, |done| {
            replay(&run.run, &run.device, known, &options, &tolerances, done)
        })?;
        if run.scenario.is_none() {
            run.notes.extend(result.scenario.notes.iter().cloned());
        }
        notes::show_abridged(&run.notes, note);
        if let Some(figure) = self.figure.figure(&result.scenario)? {
            draw(&result, &figure)?;
        }
        if let Some(html) = html {
            write_html(&result, &html)?;
        }
        if let Some(path) = &self.perfetto {
            write_perfetto(&result, path)?;
        }
        let report = ReplayReport { replay: &result, dropped: &input.dropped, notes: &run.notes };
        print_report(&report, self.format)?;
        Ok(Answer::Done)
    }
}

impl ReplayLog {
    fn of_profile(&self, profile: &GpuProfile) -> anyhow::Result<Answer> {
        let mut options = self.options.options()?;
        (options.read.device, options.read.placement) = (self.logs.device()?, self.logs.placement());
        let profile = &*options.with_block_times(profile)?;
        progress::begin("learning", Unit::None, None);
        let held_out = held_out::<anyhow::Error>(profile, &options.import, &options.read)?;
        let chosen = held_out.as_ref().map(|held_out| held_out.chosen);
        options.import.kernel_times = self.kernel_times.or(chosen).unwrap_or_default();
        let import = options.import(profile)?;
        let unchanged = without_what_if(profile, &options)?;
        let is_changed = options.changes != unchanged.changes || options.read.device != unchanged.read.device;
        let base = if is_changed { Some(unchanged.import(profile)?) } else { None };
        let base = base.filter(|base| base.scenario != import.scenario);
        let mut changed = Vec::new();
        if base.is_some() {
            changed.push("only the simulation has the changes that were asked for".to_owned());
        }
        let figure = self.figure.figure(&import.scenario)?;
        let html = self.html.file()?;
        notes::show_abridged(&import.scenario.notes, note);
        let operations = progress::operations(&import.scenario);
        let replay = progress::counted("simulating", Unit::Of("operations"), operations, |completed| {
            replay_profile(profile, &import, completed)
        })?;
        let base = base.map(|base| replay_profile(profile, &base, Progress::NONE)).transpose()?;
        let is_far_off = base.as_ref().unwrap_or(&replay).is_far_off();
        let recorded_launches = if is_far_off && options.import.launches == Launches::Host {
            let mut recorded = unchanged;
            recorded.import.launches = Launches::Recorded;
            let import = recorded.import(profile)?;
            progress::begin("simulating recorded launches", Unit::None, None);
            Some(replay_profile(profile, &import, Progress::NONE)?)
        } else {
            None
        };
        if figure.is_some() || html.is_some() || self.perfetto.is_some() {
            let sides = RecordedAbove::new(profile, &import, &replay.trace, changed)?;
            figure.map_or(Ok(()), |figure| sides.draw(&figure))?;
            html.map_or(Ok(()), |html| sides.write_html(&html))?;
            self.perfetto.as_deref().map_or(Ok(()), |path| sides.write_perfetto(path))?;
        }
        let (kernel_times, held_out) = (options.import.kernel_times, held_out.as_ref());
        let report = ProfileReplayDocument {
            scenario: &import.scenario,
            replay: &replay,
            kernel_times,
            held_out,
            recorded_launches: recorded_launches.as_ref(),
            base: base.as_ref(),
        };
        print_report(&report, self.format)?;
        Ok(Answer::Done)
    }
}

/// The same without a what-if: no changes, on the device of the recording if that says which it was.
fn without_what_if(profile: &GpuProfile, options: &ScenarioOptions) -> anyhow::Result<ScenarioOptions> {
    let mut base = options.clone();
    (base.changes, base.import.rescale) = (WhatIf::default(), Rescale::None);
    let (gpu, _) = profile.choose_gpu(options.import.gpu)?;
    if profile.device(gpu).is_ok() {
        base.read.device = None;
    }
    Ok(base)
}

/// Draws what was measured above what was simulated.
fn draw(result: &Replay, figure: &Figure<'_>) -> anyhow::Result<()> {
    let measured = result.measured_trace()?;
    let origin = result.first_launch();
    let marks = marks(result);
    let mut notes = Vec::new();
    let elsewhere = result.blocks_on_unknown_sms();
    if elsewhere > 0 {
        let device = result.scenario.device();
        notes.push(format!("not drawn: {elsewhere} measured blocks on SMs that {} lacks", device.name));
    }
    let mut upper = result.scenario.clone();
    upper.name = format!("measured: {}", result.scenario.name);
    let mut lower = result.scenario.clone();
    "simulated".clone_into(&mut lower.name);
    let summary = |scenario, trace| Summary::of_trace(scenario, trace);
    let panels = [summary(&upper, &measured), summary(&lower, &result.trace)];
    let panels = Panels { upper: &panels[0], lower: &panels[1], marks: &marks, notes };
    figure.write_panels(&panels, origin, Lanes::Sms)
}

/// Writes what was measured above what was simulated; times count from the first launch, as in the tables.
fn write_html(result: &Replay, html: &HtmlFile<'_>) -> anyhow::Result<()> {
    let measured = result.measured_trace()?;
    let launch = result.first_launch();
    let marks = marks(result);
    let run = |name, trace, blocks_only| {
        let summary = Summary::of_trace(&result.scenario, trace);
        HtmlRun { name, summary, blocks_only }
    };
    let (upper, lower) = (run("measured", &measured, true), run("simulated", &result.trace, false));
    html.write(HtmlTimeline::comparison(upper, lower, &marks).counted_from(launch), false)
}

/// The finish of each kernel on both sides.
fn marks(result: &Replay) -> Vec<FinishMark> {
    result.finishes().map(|(name, [upper, lower])| FinishMark { name, upper, lower }).collect()
}

/// Writes what was measured and what was simulated into one trace, on the clock of the simulation.
fn write_perfetto(result: &Replay, path: &Path) -> anyhow::Result<()> {
    let measured = result.measured_trace()?;
    let run = |label, trace, known| {
        let summary = Summary::of_trace(&result.scenario, trace);
        PerfettoRun { summary, label, known }
    };
    let runs =
        [run("measured", &measured, PerfettoKnown::Blocks), run("simulated", &result.trace, PerfettoKnown::Everything)];
    write_whole(path, |out| perfetto_trace(&runs, out))
}
