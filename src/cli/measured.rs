//! Commands on measured runs: `gpusched audit` checks them against the rules, `gpusched replay-log` simulates them
//! again.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use gpusched::audit::{audit, audit_logs, learn_placement};
use gpusched::device::Device;
use gpusched::effort::Progress;
use gpusched::experiments::profile_replay::{held_out, replay_profile};
use gpusched::experiments::recorded_trace;
use gpusched::input::options::ScenarioOptions;
use gpusched::pictures::timeline::{FinishMark, Lanes, Panels};
use gpusched::pictures::{HtmlRun, HtmlTimeline, PerfettoKnown, PerfettoRun, perfetto_trace};
use gpusched::profile::{GpuProfile, Import, Launches, Rescale, ToldBy};
use gpusched::replay::{Replay, replay};
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario, WhatIf};
use gpusched::tables::{ProfileAuditReport, ProfileReplayDocument, ReplayReport};
use gpusched::time::Instant;
use gpusched::trace::Trace;

use super::Answer;
use super::asked::AskedOptions;
use super::figure_options::{Figure, FigureOptions};
use super::option_arguments::{OfReplays, OptionArguments, Priorities, one_of};
use super::output::{self, Format, note, print_report};
use super::progress::{self, Unit};
use super::run_files::{HtmlFile, HtmlOptions};
use super::run_options::LogOptions;
use super::written::write_whole;

/// Check measured logs, or the order of kernels in a profile, against the published scheduling rules; exit status 1 if
/// something breaks one.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    logs: LogOptions,
    /// Which GPU of a profile [default: the one that runs most kernels]
    #[arg(long, value_name = "N")]
    gpu: Option<u32>,
    /// Say what a GPU answered to the experiments of the probe, of the folder that it wrote
    #[arg(long)]
    probe: bool,
    /// Say which placement policy, or which order of SMs, explains best where the blocks went
    #[arg(long)]
    learn_placement: bool,
    /// Write the GPU with the placement that explains most, or with all that the probe measured, as a device file
    #[arg(long, value_name = "FILE")]
    write_device: Option<PathBuf>,
    #[command(flatten)]
    priorities: OptionArguments<Priorities>,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Audit {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if self.probe {
            return self.of_probe();
        }
        if let Some(profile) = self.logs.profile()? {
            return self.of_profile(profile);
        }
        let input = self.logs.read()?;
        let tolerances = self.logs.tolerances();
        let mut learned = Vec::new();
        let mut report = audit_logs(input, |observation| {
            if self.learn_placement {
                progress::begin("learning", Unit::None, None);
                learned.push(learn_placement(observation, &tolerances));
            }
            progress::counted("auditing", Unit::Of("looks at blocks"), Some(observation.looks()), |looked| {
                audit(observation, &tolerances, looked)
            })
        });
        report.learned = learned;
        self.write_device(|| {
            let [learned] = &*report.learned else {
                bail!("--write-device: these are logs of {} runs; give those of one", report.learned.len());
            };
            learned.best().context("--write-device: nothing that was tried explains a block")
        })?;
        output::show_abridged(&report.notes, note);
        print_report(&report, self.format)?;
        Ok(if report.violations.is_empty() { Answer::Done } else { Answer::No })
    }

    fn write_device<'a>(&self, device: impl FnOnce() -> anyhow::Result<&'a Device>) -> anyhow::Result<()> {
        let Some(path) = &self.write_device else { return Ok(()) };
        let device = device()?;
        write_whole(path, |out| writeln!(out, "{}", device.to_json()))
    }

    fn of_probe(&self) -> anyhow::Result<Answer> {
        let folder = self.logs.probe()?.context("--probe: give one folder, which the probe wrote")?;
        progress::begin("simulating answers", Unit::None, None);
        let report = folder.judge(self.logs.device()?).map_err(anyhow::Error::from_boxed)?;
        self.write_device(|| Ok(&report.device))?;
        output::show_abridged(&report.notes, note);
        print_report(&report, self.format)?;
        Ok(if report.contradicts() { Answer::No } else { Answer::Done })
    }

    fn of_profile(&self, mut profile: GpuProfile) -> anyhow::Result<Answer> {
        profile.set_priorities(&self.priorities.options()?.changes.priorities)?;
        progress::begin("auditing", Unit::None, None);
        let report = ProfileAuditReport::of(&profile, self.gpu, self.logs.device()?)?;
        output::show_abridged(&report.notes, note);
        print_report(&report, self.format)?;
        Ok(if report.is_explained() { Answer::Done } else { Answer::No })
    }
}

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
    asked: AskedOptions,
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
        let options = ReadOptions { placement: self.logs.placement, ..ReadOptions::default() };
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
        output::show_abridged(&run.notes, note);
        let figure = self.figure.figure(&result.scenario)?;
        self.write_sides(figure, html, || Sides::of_logs(&result))?;
        let report = ReplayReport { replay: &result, dropped: &input.dropped, notes: &run.notes };
        print_report(&report, self.format)
    }

    fn of_profile(&self, profile: &GpuProfile) -> anyhow::Result<Answer> {
        let mut options = self.options.options()?;
        (options.read.device, options.read.placement) = (self.logs.device()?, self.logs.placement);
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
        self.asked.refuse_unknown(&import.scenario)?;
        output::show_abridged(&import.scenario.notes, note);
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
        self.write_sides(figure, html, || Sides::of_profile(profile, &import, &replay.trace, changed))?;
        let (kernel_times, held_out) = (options.import.kernel_times, held_out.as_ref());
        let waits = self.asked.answers(&replay.summary(&import.scenario), false)?;
        let report = ProfileReplayDocument {
            waits: waits.asked(),
            scenario: &import.scenario,
            replay: &replay,
            kernel_times,
            held_out,
            recorded_launches: recorded_launches.as_ref(),
            base: base.as_ref(),
        };
        print_report(&report, self.format)
    }
    /// Writes what was measured above what was simulated, in each form that is asked for.
    fn write_sides<'a>(
        &self,
        figure: Option<Figure<'_>>,
        html: Option<HtmlFile<'_>>,
        sides: impl FnOnce() -> anyhow::Result<Sides<'a>>,
    ) -> anyhow::Result<()> {
        if figure.is_none() && html.is_none() && self.perfetto.is_none() {
            return Ok(());
        }
        let sides = sides()?;
        figure.map_or(Ok(()), |figure| sides.draw(&figure))?;
        html.map_or(Ok(()), |html| sides.write_html(&html))?;
        self.perfetto.as_deref().map_or(Ok(()), |path| sides.write_perfetto(path))
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

/// What was measured above what was simulated, on the clock of the simulation.
struct Sides<'a> {
    scenario: &'a Scenario,
    /// What the upper one is called.
    name: &'static str,
    upper: Trace,
    simulated: &'a Trace,
    /// The finish of each kernel on both sides.
    marks: Vec<FinishMark>,
    notes: Vec<String>,
    /// What is to be said of the figure alone.
    not_drawn: Option<String>,
    /// Times of figure and page count from here.
    origin: Instant,
    lanes: Lanes,
    /// What is known of blocks above and below, as a trace for Perfetto has them.
    known: [PerfettoKnown; 2],
}

impl<'a> Sides<'a> {
    /// Of logs, by SM; times count from the first launch, as in the tables.
    fn of_logs(result: &'a Replay) -> anyhow::Result<Self> {
        let elsewhere = result.blocks_on_unknown_sms();
        let device = result.scenario.device();
        let not_drawn = || format!("not drawn: {elsewhere} measured blocks on SMs that {} lacks", device.name);
        Ok(Self {
            scenario: &result.scenario,
            name: "measured",
            upper: result.measured_trace()?,
            simulated: &result.trace,
            marks: result.finishes().map(|(name, [upper, lower])| FinishMark { name, upper, lower }).collect(),
            notes: Vec::new(),
            not_drawn: (elsewhere > 0).then(not_drawn),
            origin: result.first_launch(),
            lanes: Lanes::Sms,
            known: [PerfettoKnown::Blocks, PerfettoKnown::Everything],
        })
    }

    /// Of a profile, by stream: on which SMs blocks ran is not recorded, and those of the simulation would be a hundred
    /// times as many lines.
    fn of_profile(
        profile: &GpuProfile,
        import: &'a Import,
        simulated: &'a Trace,
        notes: Vec<String>,
    ) -> anyhow::Result<Self> {
        let upper = recorded_trace(profile, import, simulated)?;
        let marks = FinishMark::of_traces(&upper, simulated);
        Ok(Self {
            scenario: &import.scenario,
            name: "recorded",
            upper,
            simulated,
            marks,
            notes,
            not_drawn: None,
            origin: Instant::ZERO,
            lanes: Lanes::Streams,
            known: [PerfettoKnown::Streams; 2],
        })
    }

    fn draw(&self, figure: &Figure<'_>) -> anyhow::Result<()> {
        let mut scenarios = [self.scenario.clone(), self.scenario.clone()];
        scenarios[0].name = format!("{}: {}", self.name, self.scenario.name);
        "simulated".clone_into(&mut scenarios[1].name);
        let upper = &Summary::of_trace(&scenarios[0], &self.upper);
        let lower = &Summary::of_trace(&scenarios[1], self.simulated);
        let notes = self.notes.iter().chain(&self.not_drawn).cloned().collect();
        figure.write_panels(&Panels { upper, lower, marks: &self.marks, notes }, self.origin, self.lanes)
    }

    fn write_html(&self, html: &HtmlFile<'_>) -> anyhow::Result<()> {
        let run = |name, trace, blocks_only| {
            let summary = Summary::of_trace(self.scenario, trace);
            HtmlRun { name, summary, blocks_only }
        };
        let (upper, lower) = (run(self.name, &self.upper, true), run("simulated", self.simulated, false));
        let timeline = HtmlTimeline::comparison(upper, lower, &self.marks);
        html.write(timeline.counted_from(self.origin).with_notes(self.notes.clone()), false)
    }

    fn write_perfetto(&self, path: &Path) -> anyhow::Result<()> {
        let run = |label, trace, known| {
            let summary = Summary::of_trace(self.scenario, trace);
            PerfettoRun { summary, label, known }
        };
        let [upper, lower] = self.known;
        let runs = [run(self.name, &self.upper, upper), run("simulated", self.simulated, lower)];
        write_whole(path, |out| perfetto_trace(&runs, out))
    }
}
