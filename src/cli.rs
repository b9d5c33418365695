//! The command line: arguments in, one domain call, one report out.

mod analyze;
mod asked;
mod conversion;
mod ending;
mod evr;
mod figure_options;
mod figures;
mod help;
mod input;
mod kernels;
mod measured;
mod merged_sm;
mod needs;
mod option_arguments;
mod output;
mod progress;
mod reference;
mod resources;
mod run_files;
mod run_options;
mod several;
mod simulate;
mod study;
mod tasks;
mod warps;
mod written;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use gpusched::analysis::{AnalysisError, OrdersError};
use gpusched::broken_bound::BrokenBound;
use gpusched::effort::{EarlyEnd, PartialBounds};
use gpusched::hosts::ProgramError;
use gpusched::spelling;

use ending::ExitStatus;

/// Simulate and analyse how an NVIDIA GPU's hardware schedules thread blocks.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    limits: resources::Limits,
}

/// Declares the commands: what help says of each, and its options, which know how it runs.
macro_rules! commands {
    ($($(#[$about:meta])* $command:ident($options:ty)),+ $(,)?) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$about])* $command($options)),+
        }

        fn run(command: Command) -> anyhow::Result<Answer> {
            match command {
                $(Command::$command(command) => command.run()),+
            }
        }
    };
}

commands! {
    /// Simulate a scenario block by block
    Simulate(Box<simulate::Simulate>),
    /// Say whether deadlines are met in every run: bounds, verdicts, and an analysis on one merged SM
    Analyze(Box<analyze::Analyze>),
    /// Set simulated beside analysed finish times
    Compare(Box<merged_sm::Compare>),
    /// Find each kernel's best and worst finish over all orders of simultaneous launches
    Orders(Box<kernels::Orders>),
    /// How many blocks of each kernel are on SMs at once, never start, and fit beside the others
    Residents(Box<kernels::Residents>),
    /// Test the merged-SM assumption on random scenarios
    MergedSm(merged_sm::MergedSm),
    /// Check measured logs against the published scheduling rules
    Audit(Box<measured::Audit>),
    /// Simulate a measured run again, and set measured against simulated
    ReplayLog(Box<measured::ReplayLog>),
    /// Write any input as a scenario in gpusched's own format
    Convert(Box<conversion::Convert>),
    /// Make a scenario of a profile of PyTorch, Nsight Systems or nvprof
    Import(Box<conversion::Import>),
    /// How each kernel fills the GPU, and what limits it
    Occupancy(Box<kernels::Occupancy>),
    /// List what is read of an AMALTHEA model
    Amalthea(conversion::Amalthea),
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
    Tour(figures::Tour),
    /// List the built-in devices, or show one with the source of every number
    Devices(reference::Devices),
    /// What a rule, a verdict, a finding or a note means
    Explain(reference::Explain),
    /// Print the JSON Schema of an input file
    Schema(reference::Schema),
    /// Print shell completions
    Completions(reference::Completions),
    /// Write the man pages
    #[command(hide = true)]
    Man(reference::Man),
}

/// What a command that ran to its end has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    /// A check was asked for, and it failed.
    No,
}

/// Parses the arguments, runs the command and tells how it went.
pub(crate) fn main() -> ExitCode {
    resources::keep_what_is_freed();
    spelling::use_flags();
    let mut known = help::shortened(command());
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match help::asked(&known, &arguments) {
        Ok(None) => {}
        Ok(Some(text)) => return ended(output::print(text.as_bytes()).map(|()| Answer::Done).map_err(Into::into)),
        Err(what) => return ended(Err(anyhow::anyhow!(what))),
    }
    if let Err(error) = refuse_names_without_equals(&known, &arguments) {
        return ended(Err(error));
    }
    let parsed = known.try_get_matches_from_mut(arguments);
    let parsed = parsed.and_then(|matches| {
        let checked = written::refuse_same_files(&known, &matches).and_then(|()| needs::remember(&known, &matches));
        Ok((Cli::from_arg_matches(&matches)?, checked))
    });
    let result = match parsed {
        Ok((Cli { command, limits }, checked)) => {
            progress::show();
            let result = checked.and_then(|()| limits.watch()).and_then(|()| ending::per_input(|| run(command)));
            progress::end();
            written::tell();
            result
        }
        // Help and version, which may not find room either, and what is wrong with the arguments.
        Err(told) => match told.print() {
            Ok(()) => {
                return told.exit_code().try_into().map_or(ExitStatus::Refused.into(), |code: u8| ExitCode::from(code));
            }
            Err(error) => Err(error.into()),
        },
    };
    if let Some(reason) = ending::reason()
        && result.as_ref().map_or_else(is_stop, |_| true)
    {
        ending::end(reason, result.is_ok());
    }
    ended(result)
}

/// A name behind an option that takes one only with an equals sign would be taken for a file, which is not there.
fn refuse_names_without_equals(command: &clap::Command, arguments: &[OsString]) -> anyhow::Result<()> {
    let takes_equals = |word: &OsString| {
        let named = |arg: &clap::Arg| {
            arg.is_require_equals_set()
                && arg
                    .get_long()
                    .is_some_and(|long| word.as_encoded_bytes().strip_prefix(b"--") == Some(long.as_bytes()))
        };
        command.get_subcommands().any(|command| command.get_arguments().any(named))
    };
    let behind = arguments.windows(2).find_map(|pair| match pair {
        [option, name] if takes_equals(option) && !name.as_encoded_bytes().starts_with(b"-") => Some((option, name)),
        _ => None,
    });
    let Some((option, name)) = behind.filter(|(_, name)| !Path::new(name).exists()) else { return Ok(()) };
    let (option, name) = (option.display(), name.display());
    bail!("{option}: no file is called {name:?}; a name stands behind an equals sign: {option}={name}")
}

/// The exit status of a command, and its error told.
fn ended(result: anyhow::Result<Answer>) -> ExitCode {
    match result {
        Ok(Answer::Done) => ExitStatus::Done.into(),
        Ok(Answer::No) => ExitStatus::No.into(),
        Err(error) if is_closed_pipe(&error) => ExitStatus::Done.into(),
        Err(error) => {
            // If even stderr is closed there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            status_of(&error).into()
        }
    }
}

/// What is parsed, with the examples and exit statuses in its help, and our options of help.
fn command() -> clap::Command {
    let command = help::added_to(Cli::command());
    let example = command.get_after_help().cloned().unwrap_or_default();
    help::with_options(command.after_help(format!("{example}\n\n{}", ExitStatus::help())))
}

/// Whether an error says nothing but that somebody stopped the command.
fn is_stop(error: &anyhow::Error) -> bool {
    let is_stopped_run = |error: &ProgramError| error.is_stop();
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is_stopped_run))
        || format!("{error:#}").ends_with(&EarlyEnd::Stopped.to_string())
}

/// The exit status of a command that failed.
fn status_of(error: &anyhow::Error) -> ExitStatus {
    let is_fault = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<BrokenBound>()
            || matches!(cause.downcast_ref(), Some(AnalysisError::Broken(_)))
            || matches!(cause.downcast_ref(), Some(OrdersError::Broken(_)))
    };
    let is_limit = error.chain().any(|cause| cause.is::<EarlyEnd>() || cause.is::<PartialBounds>());
    match (error.chain().any(is_fault), is_limit) {
        (true, _) => ExitStatus::Fault,
        (false, true) => ExitStatus::Limited,
        (false, false) => ExitStatus::Refused,
    }
}

/// Whoever read our output has seen enough.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|io| io.kind() == ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use gpusched::analysis::{BoundOptions, analyse, finish_bounds};
    use gpusched::effort::Progress;
    use gpusched::hosts::simulate;
    use gpusched::hosts::{SegmentRunOptions, run_segment_tasks};
    use gpusched::scenario::{ReadOptions, Scenario};
    use gpusched::tables::{AnalysisReport, SegmentRunReport};
    use gpusched::tasks::segments::{SegmentTaskSet, SegmentTest};
    use gpusched::time::{Duration, Instant};
    use gpusched::warps::{KernelString, Question, SearchLimits, Unit, answer};

    use super::*;

    const WATCH: Progress<'static> = Progress::NONE;

    /// A kernel that takes 2 ms.
    fn scenario() -> Scenario {
        let text = r#"{"format": "gpusched-scenario/1", "name": "one", "kernels": {"K": {"blocks": 4, "threads": 1024,
            "duration": "2 ms"}}, "streams": [{"name": "s", "operations": [{"kernel": "K"}]}]}"#;
        Scenario::from_json("one.json", text, &ReadOptions::default()).expect("it can be read")
    }

    #[test]
    fn a_run_above_a_bound_ends_a_command_as_a_fault_of_its_own_with_both_values() {
        let scenario = scenario();
        let run = simulate(&scenario).expect("it runs");
        let mut bounds = finish_bounds(&scenario, BoundOptions::default()).expect("it is bounded");
        bounds.operations[0].finish = Some(Instant::from_ns(1_999_999));
        let analysed = (analyse(&scenario).expect("it is analysed"), bounds);
        let error = AnalysisReport::judged(analysed, &run, None, None, WATCH).expect_err("broken");
        let error = anyhow::Error::from(error).context("of one of several files");
        assert_eq!(status_of(&error), ExitStatus::Fault);
        let text = format!("{error:#}");
        for part in ["a fault of gpusched", "please report", "job 0 of s takes 2 ms", "1.999999 ms is the bound"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_run_beyond_its_safe_or_exact_finish_ends_analyses_comparisons_and_orders() {
        let scenario = scenario();
        let run = simulate(&scenario).expect("it runs");
        let bounds = finish_bounds(&scenario, BoundOptions::default()).expect("it is bounded");
        let mut unsafe_one = analyse(&scenario).expect("it is analysed");
        unsafe_one.kernels[0].safe_finish_ns = Some(Instant::from_ns(1_000_000));
        let mut inexact = analyse(&scenario).expect("it is analysed");
        inexact.kernels[0].finish_ns = Some(Instant::from_ns(2_000_001));
        for analysis in [unsafe_one, inexact] {
            let broken = analysis.check_run(&run.trace).expect_err("broken");
            let all = [
                gpusched::analysis::Comparison::new(&analysis, &run).expect_err("broken").into(),
                anyhow::Error::from(OrdersError::from(broken)),
                AnalysisReport::judged((analysis, bounds.clone()), &run, None, Some(Duration::ZERO), WATCH)
                    .expect_err("broken")
                    .into(),
            ];
            for error in all {
                assert_eq!(status_of(&error), ExitStatus::Fault, "{error:#}");
            }
        }
        assert_eq!(status_of(&anyhow::anyhow!("bad input")), ExitStatus::Refused);
    }

    #[test]
    fn responses_above_the_bounds_of_another_way_of_sharing_the_gpu_are_a_fault() {
        let text = r#"{"format": "gpusched-segments/1", "cpus": 2,
            "gpu": {"time_slice": "1 ms", "switch_cost": "200 us", "update_cost": "1 ms"},
            "tasks": [{"name": "camera", "cpu": 0, "T": "60 ms", "D": "50 ms", "priority": 1,
                "segments": [{"cpu": "6 ms"}, {"gpu": "8 ms"}]},
               {"name": "map", "cpu": 1, "T": "100 ms", "best_effort": true,
                "segments": [{"cpu": "5 ms"}, {"gpu": "40 ms"}]}]}"#;
        let set = SegmentTaskSet::from_json("set.json", text).expect("it can be read");
        let [by_turns, gcaps] =
            ["round-robin-suspend", "gcaps-suspend"].map(|name| SegmentTest::from_name(name).expect("known"));
        let device = input::device("tx2").expect("it is built in");
        let options = SegmentRunOptions { horizon: None, seed: 0, device: &device, records_cores: false };
        let run = run_segment_tasks(&set, by_turns, options, Progress::NONE).expect("it runs");
        assert!(SegmentRunReport::new(&set, by_turns, &run).is_ok());
        let broken = SegmentRunReport::new(&set, gcaps, &run).expect_err("broken");
        assert_eq!(status_of(&broken.into()), ExitStatus::Fault);
    }

    #[test]
    fn a_schedule_of_warps_above_its_bound_is_a_fault() {
        let string = KernelString::parse("LLC", &[Unit::new('L'), Unit::new('C')]).expect("it is one");
        let limits = SearchLimits { memory_bytes: 1 << 20, time: None };
        let mut answer = answer(&string, &Question { warps: 3, estimate_from: None, limits }, Progress::NONE);
        assert_eq!(answer.check(), Ok(()));
        answer.bound.cycles = answer.exact.expect("it is searched") - 1;
        assert_eq!(status_of(&answer.check().expect_err("broken").into()), ExitStatus::Fault);
    }
}
