//! `gpusched tasks`

mod curve;
mod curve_file;
mod run;
mod segment_curve;
mod segments;
mod test;

use std::path::Path;

use anyhow::bail;
use clap::{Args, CommandFactory, Subcommand};
use gpusched::device::Device;
use gpusched::tasks::TaskSet;
use gpusched::tasks::segments::SegmentTaskSet;

use super::needs::{self, Kind, Lacking};
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
    Run(run::Run),
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
