//! The program that is proven to follow the rules as a referee: it accepts what the engine makes of random scenarios.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use gpusched::hosts::simulate;
use gpusched::run::{Run, Summary, rule_log};
use gpusched::time::Instant;
use gpusched::workload::{OperationId, OperationKind};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::Checker;
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
        let file = checker.0.join("cases.jsonl");
        fs::write(&file, lines).expect("it can be written");
        let output = Command::new(checker.0.join("gpusched-check")).arg(&file).output().expect("it was made");
        let answers = String::from_utf8(output.stdout).expect("text");
        assert_eq!(answers.lines().count(), some.len(), "{}", String::from_utf8_lossy(&output.stderr));
        for (answer, case) in answers.lines().zip(&some) {
            assert!(answer.starts_with("accepted"), "{answer}\n{case:?}");
        }
        assert_eq!(output.status.code(), Some(0));
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
#[ignore = "the long campaign: `GPUSCHED_CASES` runs, or 100,000"]
fn long_campaign_of_the_proven_rules() {
    let cases = std::env::var("GPUSCHED_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100_000);
    match Checker::new() {
        Some(checker) => campaign(&checker, cases),
        None => println!("skipped: there is no coqc here, or no OCaml with yojson"),
    }
}
