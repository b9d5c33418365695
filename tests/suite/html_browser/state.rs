//! The state at the cursor is that of `--state-at`.

use std::fs;
use std::path::Path;

use gpusched::analysis::{analyse, merged_scenario};
use gpusched::hosts::simulate;
use gpusched::run::{Run, State, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::workload::OperationId;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::driver::Browser;
use super::{SIZES, is_quiet, lines, page_of, place, written};
use crate::generate::{self, Limits};
use crate::generate_processes::with_processes;
use crate::published;

/// At most `most` of all instants at which something happens, and the nanoseconds before and after each.
fn instants(run: &Run, most: usize) -> Vec<u64> {
    let trace = &run.trace;
    let mut instants = vec![0, trace.end().as_ns()];
    for (id, record) in (0..).map(OperationId).zip(trace.operations()) {
        let known =
            [Some(record.launched()), record.queued(), record.first_start(), record.last_start(), record.finish()];
        instants.extend(known.into_iter().flatten().map(Instant::as_ns));
        instants.extend(trace.waits(id).iter().flat_map(|wait| [wait.from.as_ns(), wait.to.as_ns()]));
        instants.extend(trace.blocks(id).flat_map(|block| [block.start.as_ns(), block.end.as_ns()]));
    }
    instants.extend(trace.turns().iter().flat_map(|turn| [turn.switch_from, turn.start, turn.end].map(Instant::as_ns)));
    instants.sort_unstable();
    instants.dedup();
    let each = instants.len().div_ceil(most);
    let around = |at: u64| [at.saturating_sub(1), at, at.saturating_add(1)];
    let mut instants: Vec<u64> = instants.into_iter().step_by(each).flat_map(around).collect();
    instants.retain(|at| *at <= trace.end().as_ns());
    instants.dedup();
    instants
}

/// Compares the page of a run with the library at some instants; says at how many.
fn agrees(browser: &Browser, name: &str, scenario: &Scenario, most: usize) -> usize {
    let run = simulate(scenario).expect("it runs");
    browser.open(&page_of(name, &run));
    run_agrees(browser, name, &run, 0, most)
}

/// Compares run number `index` of an open page.
fn run_agrees(browser: &Browser, name: &str, run: &Run, index: usize, most: usize) -> usize {
    let summary = Summary::of(run);
    let instants = instants(run, most);
    let asked: Vec<String> = instants.iter().map(u64::to_string).collect();
    let script = format!(
        "const told = {}.map((ns) => ({{...gpusched.state(ns, {index}), at_ns: ns, text: gpusched.stateText(ns, {index})}}));
         return JSON.parse(JSON.stringify(told, (_, value) => (typeof value === 'bigint' ? String(value) : value)));",
        json!(asked)
    );
    let answers = browser.run(&script);
    let answers = answers.as_array().expect("a list");
    assert_eq!(answers.len(), instants.len());
    for (at, answer) in instants.iter().zip(answers) {
        let state = State::at(&summary, Instant::from_ns(*at));
        let mut expected = serde_json::to_value(&state).expect("it can be written");
        expected["at_ns"] = at.to_string().into();
        for key in ["from_ns", "to_ns"] {
            if let Some(ns) = expected.get("turn").and_then(|turn| turn[key].as_u64()) {
                expected["turn"][key] = ns.to_string().into();
            }
        }
        expected["text"] = state.text().lines().skip(1).map(|line| Value::from(line.trim_start())).collect();
        assert_eq!(*answer, expected, "{name} at {at} ns");
    }
    is_quiet(browser);
    instants.len()
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_state_of_every_published_scenario_is_that_of_state_at() {
    let browser = Browser::start();
    for file in published::files() {
        agrees(&browser, "state", &published::figure(file.trim_end_matches(".json")), 60);
    }
}

/// `PROPTEST_CASES` random scenarios of several processes, or else 60: contexts that take turns, and every fourth time
/// clients of MPS.
#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_state_of_random_scenarios_of_several_processes_is_that_of_state_at() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let browser = Browser::start();
    let mut runner = TestRunner::deterministic();
    let mut compared = 0;
    for case in 0..cases {
        let strategy = with_processes(Limits { varying: case % 2 == 0, ..Limits::ALL }, case % 4 == 3);
        let scenario = strategy.new_tree(&mut runner).expect("there is one").current().0;
        compared += agrees(&browser, &format!("processes-{}", case % 4), &scenario, 40);
    }
    assert!(compared > cases * 10, "{compared} instants");
}

/// A scenario of this repository, as it is or under MPS.
fn shipped(name: &str, mps: bool) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/processes").join(name);
    let mut document: Value = serde_json::from_str(&fs::read_to_string(&path).expect("it is shipped")).expect("JSON");
    document["mps"] = mps.into();
    Scenario::from_json(name, &document.to_string(), &ReadOptions::default()).expect("it is sound")
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_state_of_shipped_scenarios_of_several_processes_is_that_of_state_at() {
    let browser = Browser::start();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/processes");
    for entry in fs::read_dir(directory).expect("it is there") {
        let name = entry.expect("it is there").file_name().into_string().expect("plain");
        for mps in [false, true] {
            assert!(agrees(&browser, "shipped-processes", &shipped(&name, mps), 60) > 10, "{name}");
        }
    }
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn each_run_of_a_comparison_has_its_own_state() {
    let browser = Browser::start();
    for name in ["rtss2017/figure-8", "thesis2019/section-4-3-figure-4-7"] {
        let scenario = published::figure(name);
        let simulated = simulate(&scenario).expect("it runs");
        let merged = merged_scenario(&scenario, &analyse(&scenario).expect("it runs")).expect("it fits");
        let analysed = simulate(&merged).expect("it runs");
        let path = published::root().join(format!("{name}.json"));
        browser.open(&written("compared-states", &["compare", path.to_str().expect("a plain path")]));
        assert!(run_agrees(&browser, name, &simulated, 0, 60) > 10);
        assert!(run_agrees(&browser, name, &analysed, 1, 60) > 10);
    }
}

/// `PROPTEST_CASES` random scenarios, or else 60.
#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_state_of_random_scenarios_is_that_of_state_at() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let browser = Browser::start();
    let mut runner = TestRunner::deterministic();
    let mut compared = 0;
    for case in 0..cases {
        let limits = if case % 2 == 0 { Limits::ALL } else { Limits { varying: true, ..Limits::ALL } };
        let tree = generate::scenario(limits).new_tree(&mut runner).expect("there is one");
        compared += agrees(&browser, &format!("random-{}", case % 4), &tree.current().0, 40);
    }
    assert!(compared > cases * 10, "{compared} instants");
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn times_that_javascript_numbers_cannot_hold_are_exact() {
    let mut scenario = published::figure("rtss2017/figure-3");
    let late = (1 << 62) + 1;
    for thread in &mut scenario.threads {
        thread.release += Duration::from_ns(late);
    }
    let browser = Browser::start();
    browser.look(SIZES[1], false);
    agrees(&browser, "late", &scenario, 60);
    // Typed, shown, and zoomed in on: K5 begins 2 s after the others were released.
    let at = late + 2_000_000_000;
    browser.run(&format!(
        "const field = document.getElementById('time'); field.value = '{at} ns'; field.dispatchEvent(new Event('input'));
         gpusched.app.view.show({}n, {}n); gpusched.app.invalidate();",
        at - 500_000_000,
        at + 500_000_000
    ));
    browser.wait_until_idle();
    assert_eq!(lines(&browser, "#state .run p")[0], format!("state at {}", Duration::from_ns(at)));
    let (x, y) = place(&browser, 0, 1, 4.0, at + 300_000_000);
    browser.point(x, y, false);
    let tip = lines(&browser, "#tip p");
    assert_eq!(tip[0], "K5, block 0 of 2, SM 1");
    let span = (Duration::from_ns(at), Duration::from_ns(at + 1_000_000_000));
    assert_eq!(tip[1], format!("from {} to {} (1 s)", span.0, span.1));
    browser.screenshot(&super::directory().join("late.png"));
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_click_or_a_typed_time_shows_what_state_at_prints() {
    let scenario = published::figure("rtss2017/figure-3");
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let expected = |ns: u64| -> Vec<String> {
        let text = State::at(&summary, Instant::from_ns(ns)).text();
        text.lines().map(|line| line.trim_start().to_owned()).collect()
    };
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&page_of("state", &run));
    browser.run("const field = document.getElementById('time'); field.focus(); field.select()");
    browser.keys("1.7s");
    assert_eq!(lines(&browser, "#state .run p"), expected(1_700_000_000));
    // A click near an event means the event, here the end of K1's first blocks, of which those on SM 1 are the last.
    let (x, y) = place(&browser, 0, 0, 60.0, 1_000_000_000);
    browser.point(x + 2.0, y, true);
    assert_eq!(lines(&browser, "#state .run p"), expected(1_000_001_000));
    browser.run("document.activeElement.blur()");
    browser.keys(".");
    assert_eq!(lines(&browser, "#state .run p"), expected(2_000_000_000));
    browser.keys(",,,,");
    assert_eq!(lines(&browser, "#state .run p"), expected(200_000_000));
    is_quiet(&browser);
}
