//! The command line: arguments in, one domain call, one report out.
//!
//! Exit status: 0 done; 1 the answer to a check is "no"; 2 bad usage, bad input, or an output that cannot be written.

mod completions;
mod devices;
mod evr;
mod input;
mod output;
mod run_options;
mod schema;
mod simulate;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Simulate and analyse how an NVIDIA GPU's hardware schedules thread blocks.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate a scenario block by block
    Simulate(Box<simulate::Simulate>),
    /// Run applications with timing requirements under GPU-EvR, TimeGraph, Global EDF and plain streams
    Evr(Box<evr::Evr>),
    /// List the built-in devices, or show one with the source of every number
    Devices(devices::Devices),
    /// Print the JSON Schema of an input file
    Schema(schema::Schema),
    /// Print shell completions
    Completions(completions::Completions),
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
    let result = match Cli::parse().command {
        Command::Simulate(command) => command.run(),
        Command::Evr(command) => command.run(),
        Command::Devices(command) => command.run(),
        Command::Schema(command) => command.run(),
        Command::Completions(command) => command.run(),
    };
    match result {
        Ok(Answer::Done) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // If even stderr is closed there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whoever read our output has seen enough.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|io| io.kind() == ErrorKind::BrokenPipe)
}
