//! `gpusched tasks`

mod curve;
mod run;
mod test;

use std::path::Path;

use clap::{Args, CommandFactory, Subcommand};
use gpusched::device::Device;
use gpusched::tasks::TaskSet;

use super::{Answer, Cli, input};

/// Test real-time task sets, run them on the simulated GPU, draw acceptance curves.
///
/// Zahaf and Lipari, "Design and Analysis of Programming Platform for Accelerated GPU-Like Architectures", RTNS 2020,
/// with its formulas corrected; docs/tasks.md says which test may be trusted for what.
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

/// The task set of a file, and the GPU whose limits measure its kernels.
fn read_set(file: &Path, device: &str) -> anyhow::Result<(TaskSet, Device)> {
    let device = input::device(device)?;
    let (name, text) = input::read(file)?;
    Ok((TaskSet::from_json(&name, &text, &device)?, device))
}
