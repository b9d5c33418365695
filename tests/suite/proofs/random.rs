//! The program that is proven to follow the rules as a referee: it accepts what the engine makes of random scenarios,
//! and of such runs with one thing changed only those that are runs.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use gpusched::audit::{ObservedRun, ObservedWork};
use gpusched::hosts::simulate;
use gpusched::run::{Run, Summary, rule_log};
use gpusched::time::Instant;
use gpusched::workload::{OperationId, OperationKind};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::Checker;
use crate::audit_oracle::{mutate, plain, sample};
use crate::generate::{Case, Limits, scenario};

/// A run as `gpusched simulate --format json --blocks --rules` prints it, as far as the checker reads it.
fn printed(run: &Run) -> Value {
    let (mut kernels, mut copies) = (Vec::new(), Vec::new());
    for (id, record) in (0_u32..).zip(run.trace.operations()) {
        let stream = i64::from(record.stream.0) - 1;
        let mut row = json!({"id": id, "stream": stream, "launched_ns": record.launched().as_ns()});
        match record.kind {
            OperationKind::Kernel(_) => {
                row["name"] = json!(&*run.trace.kernel_of(OperationId(id)).expect("it is one").name);
                let block = |block: gpusched::trace::Block| {
                    let times = [block.start.as_ns(), block.end.as_ns()];
                    json!({"block": block.index, "sm": block.sm, "start_ns": times[0], "end_ns": times[1]})
                };
                row["placements"] = run.trace.blocks(OperationId(id)).map(block).collect();
                kernels.push(row);
            }
            OperationKind::Copy(_) => {
                let copy = run.trace.copy_of(OperationId(id)).expect("it is one");
                row["direction"] = json!(copy.direction.name());
                row["bytes"] = json!(copy.bytes);
                row["start_ns"] = json!(record.first_start().map(Instant::as_ns));
                row["end_ns"] = json!(record.finish().map(Instant::as_ns));
                copies.push(row);
            }
            _ => {}
        }
    }
    let mut rules = rule_log(&Summary::of(run));
    rules.retain(|firing| matches!(firing.rule, "G1" | "G2" | "C1"));
    json!({"end_ns": run.trace.end().as_ns(), "kernels": kernels, "copies": copies, "rules": rules})
}

/// What the checker says of runs, one a line with its device and scenario.
pub(super) fn judged(checker: &Checker, lines: &str) -> String {
    let file = checker.0.join("cases.jsonl");
    fs::write(&file, lines).expect("it can be written");
    let output = Command::new(checker.0.join("gpusched-check")).arg(&file).output().expect("it was made");
    String::from_utf8(output.stdout).expect("text")
}

/// The run with the times and SMs of what was observed; blocks are numbered in the order in which they begin.
fn with_times_of(run: &Value, observed: &ObservedRun) -> Value {
    let mut run = run.clone();
    for key in ["kernels", "copies"] {
        for row in run[key].as_array_mut().expect("a list") {
            let id = usize::try_from(row["id"].as_u64().expect("a number")).expect("small");
            match &observed.operations[id].work {
                ObservedWork::Kernel(kernel) => {
                    let blocks = kernel.blocks.times.iter().zip(&kernel.blocks.sms);
                    let mut blocks: Vec<_> =
                        blocks.map(|(times, sm)| (times.map(gpusched::logs::LogTime::as_ns), *sm)).collect();
                    blocks.sort_by_key(|([start, _], _)| *start);
                    let rows = blocks.into_iter().enumerate().map(|(block, ([start, end], sm))| {
                        json!({"block": block, "sm": sm, "start_ns": start, "end_ns": end})
                    });
                    row["placements"] = rows.collect();
                }
                ObservedWork::Copy(copy) => {
                    let [start, end] = copy.times_ns.expect("it ran").map(gpusched::logs::LogTime::as_ns);
                    row["start_ns"] = json!(start);
                    row["end_ns"] = json!(end);
                }
                _ => {}
            }
        }
    }
    run
}

/// Lets it look at the mutants of the audit's campaign, of these samples; how many it accepted, and how many not. What
/// it accepts breaks no rule by the plain reading.
fn mutants(checker: &Checker, samples: std::ops::Range<u64>) -> [usize; 2] {
    let mut tally = [0, 0];
    for first in samples.clone().step_by(200) {
        let (mut lines, mut some) = (String::new(), Vec::new());
        for sample in first..samples.end.min(first + 200) {
            let scenario = sample::scenario(sample);
            let (Ok(run), Ok(text)) = (simulate(&scenario), scenario.to_native_json()) else { continue };
            let Some(observed) =
                ObservedRun::of_run(&run).ok().filter(|it| it.operations.len() == run.trace.operations().len())
            else {
                continue;
            };
            let device: Value = serde_json::from_str(&scenario.device().to_json()).expect("JSON");
            let of: Value = serde_json::from_str(&text).expect("JSON");
            let run = printed(&run);
            let mut take = |observed: ObservedRun, what| {
                let run = with_times_of(&run, &observed);
                writeln!(lines, "{}", json!({"device": device, "scenario": of, "run": run})).expect("text takes it");
                some.push((sample, what, observed));
            };
            take(observed.clone(), None);
            // The others change what a block needs, which is not in the run.
            for kind in (0..mutate::KINDS).filter(|kind| ![5, 6].contains(kind)) {
                if let Some((mutant, what)) = mutate::mutant(&observed, sample, kind) {
                    take(mutant, Some(what));
                }
            }
        }
        let answers = judged(checker, &lines);
        assert_eq!(answers.lines().count(), some.len(), "{answers}");
        let mut is_known = false;
        for (answer, (sample, what, observed)) in answers.lines().zip(&some) {
            let is_accepted = answer.starts_with("accepted");
            match what {
                None => {
                    is_known = is_accepted;
                    assert!(is_accepted || answer.starts_with("not known"), "sample {sample}: {answer}");
                }
                Some(what) if is_accepted => {
                    assert_eq!(plain::broken_rule(observed), None, "sample {sample}: {what}");
                    tally[0] += 1;
                }
                Some(_) => tally[1] += usize::from(is_known),
            }
        }
    }
    tally
}

/// Lets the checker look at runs of so many random scenarios of what its rules know.
fn campaign(checker: &Checker, cases: usize) {
    const AT_ONCE: usize = 2_000;
    let limits = Limits { varying: true, proven_rules: true, blocks: 12, ..Limits::ALL };
    let (mut runner, strategy) = (TestRunner::deterministic(), scenario(limits));
    let mut left = cases;
    while left > 0 {
        let (mut lines, mut some): (String, Vec<Case>) = (String::new(), Vec::new());
        while some.len() < AT_ONCE.min(left) {
            let case = strategy.new_tree(&mut runner).expect("no case is refused").current();
            // Some launch nothing, which a file cannot say of a host.
            let (Ok(run), Ok(text)) = (simulate(&case.0), case.0.to_native_json()) else { continue };
            let of: Value = serde_json::from_str(&text).expect("JSON");
            let device: Value = serde_json::from_str(&case.0.device().to_json()).expect("JSON");
            let line = json!({"device": device, "scenario": of, "run": printed(&run)});
            writeln!(lines, "{line}").expect("text takes it");
            some.push(case);
        }
        left -= some.len();
        let answers = judged(checker, &lines);
        assert_eq!(answers.lines().count(), some.len(), "{answers}");
        for (answer, case) in answers.lines().zip(&some) {
            assert!(answer.starts_with("accepted"), "{answer}\n{case:?}");
        }
    }
}

#[test]
fn the_proven_rules_accept_runs_of_random_scenarios() {
    match Checker::new() {
        Some(checker) => campaign(&checker, 250),
        None => println!("skipped: there is no coqc here, or no OCaml with yojson"),
    }
}

#[test]
fn the_proven_rules_accept_no_mutant_that_breaks_a_rule() {
    match Checker::new() {
        Some(checker) => {
            let [accepted, refused] = mutants(&checker, 0..200);
            println!("{accepted} accepted, {refused} refused");
            assert!(accepted > 0 && refused > 5 * accepted, "{accepted} accepted, {refused} refused");
        }
        None => println!("skipped: there is no coqc here, or no OCaml with yojson"),
    }
}

#[test]
#[ignore = "the long campaign: mutants of `GPUSCHED_CASES` runs, or of 100,000"]
fn long_campaign_of_mutants_by_the_proven_rules() {
    let cases = std::env::var("GPUSCHED_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100_000);
    match Checker::new() {
        Some(checker) => println!("{:?} accepted and refused", mutants(&checker, 0..cases)),
        None => println!("skipped: there is no coqc here, or no OCaml with yojson"),
    }
}

#[test]
#[ignore = "the long campaign: `GPUSCHED_CASES` runs, or 100,000"]
fn long_campaign_of_the_proven_rules() {
    let cases = std::env::var("GPUSCHED_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100_000);
    match Checker::new() {
        Some(checker) => campaign(&checker, cases),
        None => println!("skipped: there is no coqc here, or no OCaml with yojson"),
    }
}
