//! Large inputs and outputs, of which parts are made on several threads where there are several cores: to the byte what
//! one thread makes.

use std::sync::Arc;

use gpusched::effort::{Effort, Progress};
use gpusched::formats::{Report, csv_of, write_json, write_json_lines};
use gpusched::hosts::{AnyRun, HeldAtMost, SimulateOptions, simulate, simulate_any_length};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::tables::{AnalysisReport, SimulationReport};
use gpusched::time::Duration;

use crate::common::{directory, gpusched, stderr, stdout};

/// More than one thread reads or writes alone.
const MANY: usize = 20_600;

/// Does some work on one thread.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // A pool of one thread has no others.
    Arc::new(Effort::all_or_nothing()).on_own_threads(1, 8 << 20, work).expect("nobody stops it")
}

/// An examiner's file of that many entries, of which some are others than they were.
fn file(entry: impl Fn(usize) -> String, others: &[(usize, &str, &str)], around: [&str; 2]) -> String {
    let mut entries: Vec<String> = (0..MANY).map(entry).collect();
    for &(number, old, new) in others {
        assert!(entries[number].contains(old), "{}", entries[number]);
        entries[number] = entries[number].replacen(old, new, 1);
    }
    let begin = r#"{"name": "many", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": ["#;
    format!("{begin}{}{}{}]}}", around[0], entries.join(",\n"), around[1])
}

/// Benchmarks of one kernel each.
fn benchmarks(others: &[(usize, &str, &str)]) -> String {
    let entry = |number: usize| {
        format!(
            r#"{{"filename": "./bin/timer_spin.so", "log_name": "b{number}.json", "label": "task {number}",
            "thread_count": {}, "block_count": {}, "data_size": 0, "additional_info": {}, "release_time": 0.{:03}}}"#,
            32 << (number % 6),
            1 + number % 9,
            1000 + number * 7 % 900,
            number * 13 % 1000,
        )
    };
    file(entry, others, ["", ""])
}

/// Kernels of one benchmark.
fn kernels(others: &[(usize, &str, &str)]) -> String {
    let entry = |number: usize| {
        let (duration, blocks) = (1000 + number, 1 + number % 4);
        format!(
            r#"{{"kernel_label": "K{number}", "duration": {duration}, "block_count": {blocks}, "thread_count": 64}}"#
        )
    };
    let begin =
        r#"{"filename": "multikernel.so", "thread_count": 0, "block_count": 0, "data_size": 0, "additional_info": ["#;
    file(entry, others, [begin, "]}"])
}

fn read(text: &str) -> Result<Scenario, String> {
    Scenario::from_json("many.json", text, &ReadOptions::default()).map_err(|error| error.to_string())
}

#[test]
fn a_large_file_is_read_on_several_threads_as_on_one_and_its_first_error_is_told() {
    let read_both = |text: &str| {
        let read_at_once = read(text);
        assert_eq!(alone(|| read(text)), read_at_once);
        read_at_once
    };
    read_both(&benchmarks(&[])).expect("it is one");
    read_both(&kernels(&[])).expect("it is one");
    let wrong = [
        ("\"data_size\": 0", "\"data_size\": -1"),
        ("\"label\"", "\"labels\""),
        ("\"thread_count\": ", "\"thread_count\": 99"),
        ("timer_spin.so", "nothing.so"),
        (r#", "label""#, r#", "sm_mask": 1, "label""#),
        ("\"log_name\": \"b", "\"log_name\": \"../../b"),
    ];
    for (number, wrong) in [0, 256, MANY - 1].into_iter().zip(wrong.chunks(2)) {
        for &(old, new) in wrong {
            let of_two = [(number, old, new), ((number + 300).min(MANY - 1), "0.", "-0.")];
            let (one, two) = (read_both(&benchmarks(&of_two[..1])), read_both(&benchmarks(&of_two)));
            if let Err(error) = &one {
                assert!(error.contains(&format!("benchmarks[{number}]")), "{error}");
                assert!(number + 300 >= MANY || one == two, "{two:?}");
            }
        }
        let again = read_both(&benchmarks(&[(number, &format!("b{number}.json"), "b4000.json")]));
        assert!(again.expect_err("it is there twice").contains("two benchmarks write their logs to"));
        for (old, new) in [("\"duration\": ", "\"duration\": -"), ("64}", "4096}"), ("\"block_count\"", "\"blocks\"")] {
            let error = read_both(&kernels(&[(number, old, new)])).expect_err("it is wrong");
            assert!(error.contains(&format!("additional_info[{number}]")), "{error}");
        }
    }
}

/// What a report tells programs.
fn told(report: &impl Report) -> [String; 3] {
    let (mut json, mut lines) = (Vec::new(), Vec::new());
    write_json(report, None, &mut json).expect("memory takes all");
    write_json_lines(report, None, None, &mut lines).expect("memory takes all");
    [String::from_utf8(json).expect("it is text"), String::from_utf8(lines).expect("it is text"), csv_of(report)]
}

#[test]
fn long_lists_are_told_on_several_threads_as_on_one() {
    let told_both = |report: &(dyn Fn() -> [String; 3] + Sync)| {
        let all = report();
        let [json, ..] = &all;
        serde_json::from_str::<serde_json::Value>(json).expect("it is JSON");
        assert!(all == alone(report), "one thread tells something else");
        all
    };
    let scenario = read(&benchmarks(&[])).expect("it is one");
    let run = simulate(&scenario).expect("it runs");
    let recorded = told_both(&|| told(&SimulationReport::of(AnyRun::Recorded(gpusched::run::Summary::of(&run)))));
    for rows in [0, usize::MAX] {
        let held = HeldAtMost { whole: 1 << 16, piece: 1 << 15, rows };
        let long = simulate_any_length(&scenario, SimulateOptions::of(&scenario), held).expect("it runs");
        assert!(told_both(&|| told(&SimulationReport::of(&long))) == recorded, "pieces tell something else");
    }
    let search = Some(Duration::from_ns(1));
    let report = AnalysisReport::of(&run, None, search, Progress::NONE).expect("it is analysed");
    told_both(&|| told(&report));
}

#[test]
fn a_run_beside_its_analysis_leads_to_what_one_after_the_other_does() {
    let path = directory("run_beside_analysis").join("many.json");
    let analysed = |text: &str| {
        std::fs::write(&path, text).expect("the directory can be written");
        let path = path.to_str().expect("it is text");
        let of = |jobs: &str| gpusched(&["analyze", "--format", "json", "--search", "1ns", "--jobs", jobs, path]);
        let (one, two) = (of("1"), of("2"));
        assert_eq!((one.status, stderr(&one)), (two.status, stderr(&two)));
        assert!(stdout(&one) == stdout(&two), "it tells something else");
        one
    };
    assert!(analysed(&benchmarks(&[])).status.success());
    // Past the end of time.
    let late = analysed(&kernels(&[
        (9, "\"duration\": 1009", "\"duration\": 9e18"),
        (99, "\"duration\": 1099", "\"duration\": 9e18"),
        (999, "\"duration\": 1999", "\"duration\": 9e18"),
    ]));
    assert!(!late.status.success() && late.stdout.is_empty(), "{}", stderr(&late));
}
