//! The command line: arguments in, one domain call, one report out.
//!
//! Exit status: 0 done; 1 the answer to a check is "no"; 2 bad usage, bad input, or an output that cannot be written;
//! 3 stopped by a limit; 130 stopped by Ctrl-C or a signal to end.

mod allocation;
mod amalthea;
mod amalthea_options;
mod analyze;
mod audit;
mod compare;
mod completions;
mod convert;
mod devices;
mod ending;
mod evr;
mod examples;
mod figure_options;
mod figures;
mod free_memory;
mod html_options;
mod import;
mod input;
mod jobs;
mod limits;
mod log_input;
mod man;
mod merged_sm;
mod occupancy;
mod orders;
mod output;
mod outputs;
mod picture;
mod profile_options;
mod progress;
mod recorded_above;
mod replay_log;
mod responses_file;
mod run_options;
mod runnable_times_option;
mod schema;
mod screen;
mod search_options;
mod several;
mod simulate;
mod study;
mod tasks;
mod temporary;
mod tour;
mod warps;
mod what_if_options;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use gpusched::effort::Over;
use gpusched::hosts::ProgramError;

/// Simulate and analyse how an NVIDIA GPU's hardware schedules thread blocks.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    limits: limits::Limits,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate a scenario block by block
    Simulate(Box<simulate::Simulate>),
    /// Compute response times without running, and say whether they are exact
    Analyze(Box<analyze::Analyze>),
    /// Set simulated beside analysed finish times
    Compare(Box<compare::Compare>),
    /// Find each kernel's best and worst finish over all orders of simultaneous launches
    Orders(Box<orders::Orders>),
    /// Test the merged-SM assumption on random scenarios
    MergedSm(merged_sm::MergedSm),
    /// Check measured logs against the published scheduling rules
    Audit(Box<audit::Audit>),
    /// Simulate a measured run again, and set measured against simulated
    ReplayLog(Box<replay_log::ReplayLog>),
    /// Write any input as a scenario in gpusched's own format
    Convert(Box<convert::Convert>),
    /// Make a scenario of a profile of PyTorch, Nsight Systems or nvprof
    Import(Box<import::Import>),
    /// How each kernel fills the GPU, and what limits it
    Occupancy(Box<occupancy::Occupancy>),
    /// List what is read of an AMALTHEA model
    Amalthea(amalthea::Amalthea),
    /// Test real-time task sets, run them on the GPU, draw acceptance curves
    Tasks(Box<tasks::Tasks>),
    /// How long W warps of one kernel can take on one SM
    Warps(Box<warps::Warps>),
    /// Run applications with timing requirements under GPU-EvR, TimeGraph, Global EDF and plain streams
    Evr(Box<evr::Evr>),
    /// Make every figure and table of the papers that can be computed, with its data
    Figures(figures::Figures),
    /// Repeat a command over millions of random samples, on one machine or many
    Study(Box<study::StudyArguments>),
    /// Write a tour of five scenes as a page for the browser, from one kernel to why a kernel waits
    Tour(tour::Tour),
    /// List the built-in devices, or show one with the source of every number
    Devices(devices::Devices),
    /// Print the JSON Schema of an input file
    Schema(schema::Schema),
    /// Print shell completions
    Completions(completions::Completions),
    /// Write the man pages
    #[command(hide = true)]
    Man(man::Man),
}

/// What a command that ran to its end has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Done.
    Done,
    /// A check was asked for, and it failed.
    No,
}

/// Parses the arguments, runs the command and tells how it went.
pub(crate) fn main() -> ExitCode {
    allocation::keep_what_is_freed();
    let mut known = command();
    let parsed = known.try_get_matches_from_mut(std::env::args_os());
    let parsed = parsed.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, outputs::check(&known, &matches))));
    let result = match parsed {
        Ok((Cli { command, limits }, checked)) => {
            progress::show();
            let result = checked.and_then(|()| limits.watch()).and_then(|()| ending::per_input(|| run(command)));
            progress::end();
            result
        }
        // Help and version, which may not find room either, and what is wrong with the arguments.
        Err(told) => match told.print() {
            Ok(()) => return told.exit_code().try_into().map_or(ExitCode::from(2), |code: u8| ExitCode::from(code)),
            Err(error) => Err(error.into()),
        },
    };
    if let Some(reason) = ending::reason()
        && result.as_ref().map_or_else(is_stop, |_| true)
    {
        let text = if result.is_ok() { ending::told(reason) } else { reason.to_string() };
        ending::end(&text, reason.status());
    }
    match result {
        Ok(Answer::Done) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // If even stderr is closed there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            let is_limit = error.chain().any(<dyn std::error::Error>::is::<Over>);
            ExitCode::from(if is_limit { ending::LIMITED } else { 2 })
        }
    }
}

/// What is parsed, with the examples in its help.
fn command() -> clap::Command {
    examples::added_to(Cli::command())
}

fn run(command: Command) -> anyhow::Result<Answer> {
    match command {
        Command::Simulate(command) => command.run(),
        Command::Analyze(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::Orders(command) => command.run(),
        Command::MergedSm(command) => command.run(),
        Command::Audit(command) => command.run(),
        Command::ReplayLog(command) => command.run(),
        Command::Convert(command) => command.run(),
        Command::Import(command) => command.run(),
        Command::Occupancy(command) => command.run(),
        Command::Amalthea(command) => command.run(),
        Command::Tasks(command) => command.run(),
        Command::Warps(command) => command.run(),
        Command::Evr(command) => command.run(),
        Command::Figures(command) => command.run(),
        Command::Study(command) => command.run(),
        Command::Tour(command) => command.run(),
        Command::Devices(command) => command.run(),
        Command::Schema(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    }
}

/// Whether an error says nothing but that somebody stopped the command.
fn is_stop(error: &anyhow::Error) -> bool {
    let is_stopped_run = |error: &ProgramError| error.is_stop();
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is_stopped_run))
        || format!("{error:#}").ends_with(&Over::Stopped.to_string())
}

/// Whoever read our output has seen enough.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|io| io.kind() == ErrorKind::BrokenPipe)
}
