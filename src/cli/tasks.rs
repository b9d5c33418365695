//! `gpusched tasks` and `gpusched tasks run`.

mod curve;
mod test;

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, Subcommand};
use gpusched::device::Device;
use gpusched::hosts::{Policy, RunOptions, SegmentRunOptions, Strategy, run_segment_tasks, run_tasks};
use gpusched::pictures::segment_gantt;
use gpusched::pictures::task_gantt::gantt;
use gpusched::tables::{SegmentRunReport, TaskRunReport};
use gpusched::tasks::segments::{SegmentTaskSet, SegmentTest};
use gpusched::tasks::{TaskSet, TaskTime};
use gpusched::time::{Duration, Instant};

use super::figure_options::{self, Look};
use super::needs::{self, Kind, Lacking};
use super::option_arguments::one_of;
use super::output::{Format, print_report};
use super::progress::{self, Unit};
use super::{Answer, Cli, input};

/// Test real-time task sets, run them on the simulated GPU, draw acceptance curves.
///
/// Zahaf and Lipari, "Design and Analysis of Programming Platform for Accelerated GPU-Like Architectures", RTNS 2020,
/// with its formulas corrected, and tasks with CPU and GPU segments on several cores; docs/tasks.md says which test may
/// be trusted for what.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Tasks {
    #[command(subcommand)]
    command: Option<TasksCommand>,
    #[command(flatten)]
    test: Option<test::Test>,
}

#[derive(Debug, Subcommand)]
enum TasksCommand {
    /// Run a task set on the simulated GPU: response times, misses, preemptions
    Run(Run),
    /// Acceptance ratio of the tests against utilization, over random task sets
    Curve(curve::CurveCommand),
}

impl Tasks {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        match (&self.command, &self.test) {
            (Some(TasksCommand::Run(run)), _) => run.run(),
            (Some(TasksCommand::Curve(curve)), _) => curve.run(),
            (None, Some(test)) => test.run(),
            (None, None) => {
                let missing = clap::error::ErrorKind::MissingRequiredArgument;
                Cli::command().error(missing, "tasks needs FILE, or one of its commands: run, curve").exit()
            }
        }
    }
}

/// What a tasks file has.
enum TaskFile {
    /// Tasks of SMs, and the GPU whose limits measure their kernels.
    Sms(TaskSet, Box<Device>),
    /// Tasks with CPU and GPU segments.
    Segments(SegmentTaskSet),
}

/// The tasks of a file; kernels are measured by `device`.
fn read_file(file: &Path, device: &str) -> anyhow::Result<TaskFile> {
    let (name, text) = input::read(file)?;
    if text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('<') {
        bail!("{name} is XML, such as an AMALTHEA model, and no task set: gpusched analyze and simulate read models");
    }
    let is_of_segments = SegmentTaskSet::is_claimed_by(&text);
    needs::input(if is_of_segments { Kind::Segments } else { Kind::Tasks }, &name)?;
    if is_of_segments {
        return Ok(TaskFile::Segments(SegmentTaskSet::from_json(&name, &text)?));
    }
    let device = input::device(device)?;
    let set = TaskSet::from_json(&name, &text, &device)?;
    if set.tasks.iter().all(|task| task.kernel.is_none()) {
        needs::note_lacking(Lacking::Kernels)?;
    }
    Ok(TaskFile::Sms(set, Box::new(device)))
}

/// Run a task set on the simulated GPU and report response times, misses and preemptions.
///
/// A task with C but no kernel launches blocks that fill its SMs for C; each runs for the largest divisor of C that is
/// at most PC. One time unit is one nanosecond of the GPU.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Tasks file (see `gpusched schema tasks` and `gpusched schema segments`); - reads standard input
    file: PathBuf,
    /// GPU whose limits measure kernels: a built-in name or a device file; its numbers of SMs and of stream priorities
    /// are replaced by the file's
    #[arg(long, value_name = "NAME|FILE", default_value = "tx2")]
    device: String,
    /// How jobs get to the GPU, or how tasks with segments share it
    #[arg(long, value_parser = PossibleValuesParser::new(strategies()))]
    strategy: String,
    /// Which job goes first
    #[arg(long, default_value = "edf", value_parser = one_of(Policy::ALL, Policy::name))]
    policy: Policy,
    /// Release jobs before this time, in the file's unit [default: one hyperperiod after the largest offset]
    #[arg(long, value_name = "TIME")]
    horizon: Option<u64>,
    /// Seed for sporadic releases
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The scheduler learns of a completion up to this much later, uniformly drawn: what cudaStreamSynchronize may take
    #[arg(long, value_name = "TIME", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1 << 48))]
    synchronization: u64,
    /// What to print; CSV lists every job
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
    /// Write what ran on each SM, or on each core and the GPU, with releases, deadlines and misses [.svg, .png, .tex or
    /// .pdf]
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    look: Look,
    /// Exit status 1 if a job misses its deadline
    #[arg(long)]
    check: bool,
}

impl Run {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        figure_options::refuse_other_figure(self.figure.as_deref())?;
        let (set, device) = match read_file(&self.file, &self.device)? {
            TaskFile::Sms(set, device) => (set, *device),
            TaskFile::Segments(set) => return self.run_segments(&set),
        };
        let Some(strategy) = Strategy::from_name(&self.strategy) else {
            bail!("--strategy: {:?} is for tasks with CPU and GPU segments", self.strategy);
        };
        let threads_per_sm = device.per_sm.threads;
        let (horizon, seed) = (self.horizon.map(TaskTime::from_units), self.seed);
        let synchronization = TaskTime::from_units(self.synchronization);
        if self.synchronization == 0 && !set.tasks.iter().any(|task| task.sporadic) {
            needs::note_lacking(Lacking::Draws)?;
        }
        let options = RunOptions { strategy, policy: self.policy, horizon, seed, synchronization, device };
        let horizon = options.horizon_of(&set)?.units();
        let run = progress::counted("simulating", Unit::Of("time units"), Some(horizon), |reached| {
            run_tasks(&set, &options, reached)
        })?;
        if let Some(path) = &self.figure {
            let shaded = set.reservations.filter(|_| strategy == Strategy::Gang);
            let end = run.horizon.min(TaskTime::from(run.trace.end()).max(TaskTime::UNIT));
            let figure = gantt(&set, &run, shaded, end, threads_per_sm, self.look.options())
                .map_err(|drawn| anyhow!("--figure: {drawn} jobs and launches are too many to draw; use --horizon"))?;
            figure_options::write_figure(path, &figure)?;
        }
        let report = TaskRunReport { set: &set, run: &run, strategy: strategy.name(), policy: self.policy.name() };
        print_report(&report, self.format)?;
        let missed = run.jobs.iter().any(gpusched::hosts::TaskJob::is_late);
        Ok(if self.check && missed { Answer::No } else { Answer::Done })
    }

    fn run_segments(&self, set: &SegmentTaskSet) -> anyhow::Result<Answer> {
        let Some(test) = SegmentTest::from_name(&self.strategy).filter(|test| test.is_sound()) else {
            bail!("--strategy: {:?} is not for tasks with CPU and GPU segments", self.strategy);
        };
        needs::note_lacking(Lacking::Kernels)?;
        if !set.tasks.iter().any(|task| task.sporadic) {
            needs::note_lacking(Lacking::Draws)?;
        }
        let device = super::input::device(&self.device)?;
        let options = SegmentRunOptions {
            horizon: self.horizon.map(Duration::from_ns),
            seed: self.seed,
            device: &device,
            records_cores: self.figure.is_some(),
        };
        let horizon = options.horizon_of(set)?.as_ns();
        let run = progress::counted("simulating", Unit::Of("ns"), Some(horizon), |reached| {
            run_segment_tasks(set, test, options, reached)
        })?;
        if let Some(path) = &self.figure {
            let last = run.jobs.iter().filter_map(|job| job.finished).max().unwrap_or_default();
            let end = run.horizon.min(last.max(Instant::from_ns(1)));
            let figure = segment_gantt(set, &run, end, self.look.options())
                .map_err(|drawn| anyhow!("--figure: {drawn} jobs and parts are too many to draw; use --horizon"))?;
            figure_options::write_figure(path, &figure)?;
        }
        let report = SegmentRunReport::new(set, test, &run)?;
        print_report(&report, self.format)?;
        Ok(if self.check && report.misses() > 0 { Answer::No } else { Answer::Done })
    }
}

/// Of tasks of SMs, and of tasks with segments.
fn strategies() -> impl Iterator<Item = &'static str> {
    Strategy::ALL.map(Strategy::name).into_iter().chain(SegmentTest::sound().map(SegmentTest::name))
}
