//! Deadlines and response times of jobs: all that one release or iteration submits.

use std::fs;
use std::path::Path;

use gpusched::hosts::simulate;
use gpusched::run::{DeadlineOutcome, Job, Jobs, Summary};
use gpusched::scenario::{HostThread, NotNative, ReadOptions, Scenario};
use gpusched::time::Duration;
use gpusched::trace::OperationRecord;
use proptest::prelude::*;

use crate::campaign::config;
use crate::common::{directory, gpusched};
use crate::generate::{Case, Limits, scenario};

/// A kernel of 4 ms, then a copy back of 20 ms, with a deadline of 9 ms.
const COPY_BACK: &str = r#"{"format": "gpusched-scenario/1", "name": "copy back",
    "kernels": {"k": {"blocks": 4, "threads": 512, "duration": "4 ms"}},
    "streams": [{"name": "S", "period": "100 ms", "jobs": 2, "deadline": "9 ms",
                 "operations": [{"kernel": "k"}, {"copy": "device-to-host", "duration": "20 ms"}]}]}"#;

/// A job of 4 ms every 3 ms, so that each is 1 ms later than the one before.
const TOO_MUCH: &str = r#"{"format": "gpusched-scenario/1", "name": "too much", "horizon": "10 ms",
    "kernels": {"k": {"blocks": 4, "threads": 1024, "duration": "4 ms"}},
    "streams": [{"name": "S"}],
    "hosts": [{"name": "H", "period": "3 ms", "deadline": "5 ms",
               "steps": [{"launch": "k", "stream": "S"}, {"synchronize": "S"}]}]}"#;

fn read(text: &str, options: &ReadOptions) -> Scenario {
    Scenario::from_json("test.json", text, options).expect("it is sound")
}

fn jobs(scenario: &Scenario) -> Jobs {
    let run = simulate(scenario).expect("it runs");
    Summary::of(&run).jobs()
}

fn ms(ms: u64) -> Duration {
    Duration::from_ns(ms * 1_000_000)
}

#[test]
fn a_deadline_covers_the_copy_back() {
    let scenario = read(COPY_BACK, &ReadOptions::default());
    let jobs = jobs(&scenario);
    assert_eq!(jobs.begun.iter().map(Job::response).collect::<Vec<_>>(), [Some(ms(24)); 2]);
    assert_eq!(jobs.misses(), 2);
    let run = simulate(&scenario).expect("it runs");
    let kernel = Summary::of(&run).kernels().next().expect("one");
    assert_eq!(
        (kernel.schedulable, kernel.job_met),
        (Some(true), Some(false)),
        "the kernel is in time, its job is not"
    );
}

#[test]
fn releases_that_a_late_host_has_not_begun_are_late_not_absent() {
    // Launched at 0, 4, 8: releases 0, 3, 6; done at 4, 8, 12. At 10 ms the third runs and the fourth, released at 9,
    // has not begun; of both, no deadline (11 and 14 ms) has passed.
    let scenario = read(TOO_MUCH, &ReadOptions::default());
    let first = jobs(&scenario);
    assert_eq!(first.begun.iter().map(Job::response).collect::<Vec<_>>(), [Some(ms(4)), Some(ms(5)), None]);
    let outcomes: Vec<_> = first.begun.iter().filter_map(|job| job.outcome(first.end)).collect();
    assert_eq!(outcomes, [DeadlineOutcome::Met, DeadlineOutcome::Met, DeadlineOutcome::Undecided]);
    assert_eq!((first.backlog[0].releases, first.backlog[0].missed, first.misses()), (1, 0, 0));

    // At 100 ms: released at 0, 3, …, 99 (34 jobs); the job released at 3 i is done at 4 (i + 1), so jobs 0 and 1 are
    // in time. Begun are those at 0, 4, …, 100 (26 jobs). Due by 100 ms are releases up to 95 ms: 32 jobs.
    let longer = read(TOO_MUCH, &ReadOptions { horizon: Some(ms(100)), ..ReadOptions::default() });
    let jobs = jobs(&longer);
    assert_eq!((jobs.begun.len(), jobs.backlog[0].releases, jobs.misses()), (26, 8, 30));
    let run = simulate(&longer).expect("it runs");
    let rows = Summary::of(&run).responses();
    assert_eq!((rows[0].jobs, rows[0].unfinished, rows[0].misses), (34, 9, Some(30)));
}

#[test]
fn percentiles_are_nearest_ranks() {
    // Twenty jobs with responses of 4, 5, …, 23 ms: the 19th and the 20th.
    let endless = read(TOO_MUCH, &ReadOptions { horizon: Some(ms(82)), ..ReadOptions::default() });
    let run = simulate(&endless).expect("it runs");
    let rows = Summary::of(&run).responses();
    let [row] = rows.as_slice() else { panic!("one host") };
    assert_eq!((row.min_ns, row.max_ns), (Some(ms(4)), Some(ms(23))));
    assert_eq!(
        (row.p95_ns, row.p99_ns, row.mean_ns),
        (Some(ms(22)), Some(ms(23)), Some(Duration::from_ns(13_500_000)))
    );
}

#[test]
fn a_period_without_a_limit_counts_a_backlog_of_any_length() {
    let options = ReadOptions {
        horizon: Some(Duration::from_ns(9_000_000_000_000_000_000)),
        periods: [("H".to_owned(), Duration::from_ns(1))].into(),
        ..ReadOptions::default()
    };
    // The block runs longer than the run, so the host never comes to its second release.
    let text = TOO_MUCH.replace("4 ms", "9223372036854775807 ns");
    let jobs = jobs(&read(&text, &options));
    assert_eq!((jobs.begun.len(), jobs.backlog[0].releases), (1, 9_000_000_000_000_000_000));
    assert_eq!(jobs.misses(), 1 + 9_000_000_000_000_000_000 - 5_000_000);
}

fn file(directory: &Path, text: &str) -> String {
    let path = directory.join("scenario.json");
    fs::write(&path, text).expect("it can be written");
    path.display().to_string()
}

#[test]
fn simulate_says_missed_in_table_notes_and_status() {
    let directory = directory("simulate_says_missed");
    let file = file(&directory, COPY_BACK);
    let output = gpusched(&["simulate", &file, "--check"]);
    assert_eq!(output.status.code(), Some(1));
    let (table, notes) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(table.contains("max response") && table.contains("24 ms"), "{table}");
    assert!(
        notes.contains("\"S\" misses its deadline of 9 ms in 2 of 2 jobs; the longest response is 24 ms"),
        "{notes}"
    );
    assert_eq!(gpusched(&["simulate", &file, "--check", "--deadline", "S=24ms"]).status.code(), Some(0));
    assert_eq!(gpusched(&["simulate", &file]).status.code(), Some(0), "without --check it is no failure");
}

#[test]
fn periods_and_deadlines_of_nobody_are_refused_with_the_names_that_there_are() {
    let directory = directory("periods_of_nobody");
    let file = file(&directory, COPY_BACK);
    for (option, value) in [("--deadline", "T=1ms"), ("--period", "T=1ms")] {
        let output = gpusched(&["simulate", &file, option, value]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(option) && error.contains("\"T\"; there are S"), "{error}");
    }
    for value in ["S", "S=0ms", "S=4"] {
        assert_eq!(gpusched(&["simulate", &file, "--deadline", value]).status.code(), Some(2), "{value}");
    }
    let twice = gpusched(&["simulate", &file, "--period", "S=1ms", "--period", "S=2ms"]);
    assert!(String::from_utf8_lossy(&twice.stderr).contains("--period is given twice for \"S\""));
}

#[test]
fn response_times_are_written_as_picture_and_as_table() {
    let directory = directory("response_times_are_written");
    let file = file(&directory, COPY_BACK);
    let (picture, table) = (directory.join("r.svg"), directory.join("r.csv"));
    for path in [&picture, &table] {
        let output = gpusched(&["simulate", &file, "--responses", &path.display().to_string()]);
        assert_eq!(output.status.code(), Some(0));
    }
    let picture = fs::read_to_string(picture).expect("written");
    assert!(picture.contains("deadline of S") && picture.contains("share of jobs"));
    let table = fs::read_to_string(table).expect("written");
    assert_eq!(table.lines().nth(1), Some("S,0,2,0,24000000,24000000,24000000,24000000,24000000,9000000,2"));
}

/// A model, a configuration of the examiner and logs become native scenarios that run as their originals do.
#[test]
fn all_kinds_of_input_are_converted_to_scenarios_with_the_same_times() {
    let directory = directory("all_kinds_of_input");
    let root = env!("CARGO_MANIFEST_DIR");
    let times = |arguments: &[&str]| -> Vec<(String, serde_json::Value, serde_json::Value)> {
        let output = gpusched(&[arguments, &["--format", "json"]].concat());
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an answer");
        let kernels = document["kernels"].as_array().expect("a list").clone();
        let finish = |kernel: &serde_json::Value| match &kernel["simulated_finish_ns"] {
            serde_json::Value::Null => kernel["finish_ns"].clone(),
            simulated => simulated.clone(),
        };
        kernels.iter().map(|one| (one["name"].to_string(), finish(one), one["deadline_ns"].clone())).collect()
    };
    let model = format!("{root}/scenarios/amalthea/periodic-with-requirements.amxmi");
    let logs = format!("{root}/tests/data/logs/two-streams");
    let config = format!("{logs}/scenario.json");
    for (input, original) in
        [(&model, ["simulate", &model]), (&config, ["simulate", &config]), (&logs, ["replay-log", &logs])]
    {
        let out = directory.join("native.json").display().to_string();
        let output = gpusched(&["convert", input, "-o", &out, "--force"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let finishes = |all: Vec<(String, serde_json::Value, serde_json::Value)>| -> Vec<_> {
            all.into_iter().map(|(_, finish, deadline)| (finish, deadline)).collect()
        };
        let (before, after) = (finishes(times(&original)), finishes(times(&["simulate", &out])));
        assert!(!before.is_empty() && before.iter().all(|(finish, _)| finish.is_u64()), "{input}");
        assert_eq!(before, after, "{input}");
        // Whatever is in it can be edited: twice the blocks take longer.
        let edited = fs::read_to_string(&out).expect("written").replace("\"threads\": 512", "\"threads\": 1024");
        fs::write(&out, edited).expect("it can be written");
        assert_eq!(gpusched(&["simulate", &out]).status.code(), Some(0));
    }
}

proptest! {
    #![proptest_config(config(256))]

    /// Jobs against the plain definition: the latest finish of all operations with the same origin.
    #[test]
    fn every_operation_is_in_one_job(Case(scenario) in scenario(Limits::ALL)) {
        let Ok(run) = simulate(&scenario) else { return Ok(()) };
        let jobs = Summary::of(&run).jobs();
        for record in run.trace.operations() {
            let job = jobs.get(record.origin.thread, record.origin.iteration);
            let job = job.expect("an operation is of a job");
            prop_assert!(job.released <= record.launched());
            prop_assert!(record.finish().is_none_or(|finish| job.finished.is_none_or(|finished| finish <= finished)));
            prop_assert!(record.finish().is_some() || job.finished.is_none());
        }
        for job in &jobs.begun {
            let own = run.trace.operations().iter().filter(|record| {
                (record.origin.thread, record.origin.iteration) == (job.thread, job.iteration)
            });
            let latest = own.map(OperationRecord::finish).try_fold(job.released, |latest, finish| Some(latest.max(finish?)));
            if let Some(finished) = job.finished {
                prop_assert!(latest.is_some_and(|latest| finished >= latest));
            }
        }
    }

    /// What is written in the native format runs the same.
    #[test]
    fn a_converted_scenario_runs_the_same(Case(scenario) in scenario(Limits::ALL)) {
        let text = match scenario.to_native_json() {
            Ok(text) => text,
            Err(NotNative::NeverRuns { .. } | NotNative::CrossingLoops { .. } | NotNative::NoTime) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let again = Scenario::from_json("converted.json", &text, &ReadOptions::default());
        let again = match again {
            Ok(again) => again,
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
        };
        match (simulate(&scenario), simulate(&again)) {
            (Ok(run), Ok(other)) => {
                // A thread that never runs is not written, nor its release, the only thing it may have after the
                // horizon.
                if !scenario.threads.iter().any(HostThread::never_runs) {
                    prop_assert_eq!(run.ended, other.ended);
                }
                let key = |run: &gpusched::run::Run| -> Vec<_> {
                    let ids = (0..).map(gpusched::workload::OperationId).zip(run.trace.operations());
                    ids.map(|(id, record)| {
                        let blocks: Vec<_> = run.trace.blocks(id).collect();
                        (record.launched(), record.first_start(), record.finish(), run.trace.waits(id), blocks)
                    }).collect()
                };
                prop_assert_eq!(key(&run), key(&other));
            }
            (Err(_), Err(_)) => {}
            (run, other) => prop_assert!(false, "{:?} and {:?}", run.is_ok(), other.is_ok()),
        }
    }
}
