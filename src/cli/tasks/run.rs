//! `gpusched tasks run`

use std::io::Write;
use std::path::PathBuf;

use anyhow::{anyhow, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use gpusched::hosts::real_time::Policy;
use gpusched::hosts::{RunOptions, Strategy, run_tasks};
use gpusched::report::task_gantt::gantt;
use gpusched::report::task_run::TaskRunReport;
use gpusched::tasks::TaskTime;

use super::super::output::{Format, Layout, write_document};
use super::super::picture::Look;
use super::super::{Answer, output, picture};
use super::TaskFile;

/// Run a task set on the simulated GPU and report response times, misses and preemptions.
///
/// A task with C but no kernel launches blocks that fill its SMs for C; each runs for the largest divisor of C that is
/// at most PC. One time unit is one nanosecond of the GPU.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Tasks file (see `gpusched schema tasks`); - reads standard input
    file: PathBuf,
    /// GPU whose limits measure kernels: a built-in name or a device file; its numbers of SMs and of stream priorities
    /// are replaced by the file's
    #[arg(long, value_name = "NAME|FILE", default_value = "tx2")]
    device: String,
    /// How jobs get to the GPU
    #[arg(long, value_parser = PossibleValuesParser::new(Strategy::ALL.map(Strategy::name)))]
    strategy: String,
    /// Which job goes first
    #[arg(long, default_value = "edf", value_parser = PossibleValuesParser::new(Policy::ALL.map(Policy::name)))]
    policy: String,
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
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Write what ran on each SM, with releases, deadlines and misses [.svg, .png, .tex or .pdf]
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
        picture::check(self.figure.as_deref())?;
        let (set, device) = match super::read_file(&self.file, &self.device)? {
            TaskFile::Sms(set, device) => (set, *device),
            TaskFile::Segments(_) => bail!("tasks with CPU and GPU segments have bounds; they cannot be run yet"),
        };
        let strategy = Strategy::from_name(&self.strategy).unwrap_or(Strategy::SingleStream);
        let policy = Policy::from_name(&self.policy).unwrap_or(Policy::Edf);
        let threads_per_sm = device.per_sm.threads;
        let (horizon, seed) = (self.horizon.map(TaskTime::from_units), self.seed);
        let synchronization = TaskTime::from_units(self.synchronization);
        let options = RunOptions { strategy, policy, horizon, seed, synchronization, device };
        let run = run_tasks(&set, &options)?;
        if let Some(path) = &self.figure {
            let shaded = set.reservations.filter(|_| strategy == Strategy::Gang);
            let end = run.horizon.min(TaskTime::from(run.trace.end()).max(TaskTime::UNIT));
            let figure = gantt(&set, &run, shaded, end, threads_per_sm, self.look.options())
                .map_err(|drawn| anyhow!("--figure: {drawn} jobs and launches are too many to draw; use --horizon"))?;
            picture::write(path, &figure)?;
        }
        let report = TaskRunReport { set: &set, run: &run, strategy: strategy.name(), policy: policy.name() };
        let mut out = output::stdout();
        match self.format {
            Format::Json => write_document(&report.json(), self.format, Layout::Indented, &mut out)?,
            Format::Jsonl => write_document(&report.lines_document(), self.format, Layout::OneLine, &mut out)?,
            Format::Csv => write!(out, "{}", report.csv())?,
            Format::Table | Format::Markdown => write!(out, "{}", report.table(self.format.style()))?,
        }
        out.flush()?;
        let missed = run.jobs.iter().any(gpusched::hosts::real_time::TaskJob::is_late);
        Ok(if self.check && missed { Answer::No } else { Answer::Done })
    }
}
