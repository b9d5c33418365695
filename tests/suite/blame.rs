//! Who made whom wait, as tables and as a picture: both show the same time.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use gpusched::effort::Effort;
use gpusched::hosts::simulate;
use gpusched::pictures::blame_figure;
use gpusched::run::{CriticalPath, OnPath, PathEnd, Run, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::tables::{BlameRow, BlameRules, BlameTables};
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Rule, blame, phases, reasons};
use gpusched::workload::OperationId;
use proptest::prelude::*;

use super::common::{directory, gpusched, gpusched_with, json, stderr, stdout};
use super::generate::{self, Case, Limits};
use super::published;
use crate::campaign::config;

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn tables_and_maps_add_up_to_what_kernels_and_copies_waited(Case(scenario) in generate::scenario(Limits::ALL)) {
        let run = simulate(&scenario)?;
        let summary = Summary::of(&run);
        let mut waited = Duration::ZERO;
        for (id, record) in (0..).map(OperationId).zip(run.trace.operations()) {
            if record.kind.is_instant() {
                continue;
            }
            let start = record.first_start().unwrap_or(run.trace.end()).max(record.launched());
            prop_assert!(run.trace.waits(id).iter().all(|wait| wait.from < wait.to));
            waited += start.since(record.launched());
        }
        let tables = BlameTables::new(&summary);
        prop_assert_eq!(tables.total(), waited);
        let of_kernels: Duration = tables.kernels.iter().fold(Duration::ZERO, |sum, row| sum + row.wait_ns);
        prop_assert_eq!(of_kernels, waited);
        prop_assert_eq!(by_stream(&run), told_by_stream(&tables));
        let drawing = blame_figure(&summary, &tables);
        let svg = drawing.to_svg();
        prop_assert!(svg == blame_figure(&summary, &tables).to_svg(), "the same bytes");
        prop_assert!(waited == Duration::ZERO || svg.contains(&format!("(columns), {waited} in all")), "the sum is told");
    }
}

/// Which streams made which wait, under which rules, and how long.
type ByStream = BTreeMap<(Arc<str>, Arc<str>, Rule, Option<Rule>), Duration>;

/// From all parts of all waits of kernels and copies.
fn by_stream(run: &Run<'_>) -> ByStream {
    let record = |id: OperationId| &run.trace.operations()[id.index()];
    let name = |id: OperationId| Arc::<str>::from(run.trace.stream_name(record(id).stream));
    let mut sums = ByStream::new();
    for part in blame(&run.trace, run.scenario.device()) {
        let Some(blocking) = part.blocking.filter(|_| !record(part.operation).kind.is_instant()) else { continue };
        *sums.entry((name(part.operation), name(blocking), part.rule, part.through)).or_default() +=
            part.to.since(part.from);
    }
    sums
}

/// From the table of streams, in which heads that many waited for are summed up at once.
fn told_by_stream(tables: &BlameTables) -> ByStream {
    let named = |row: &BlameRow| {
        let BlameRules { rule, through } = row.rules;
        Some(((row.waiting.clone(), row.blocking.clone()?, rule, through), row.wait_ns))
    };
    tables.streams.iter().filter_map(named).collect()
}

#[test]
fn what_waits_in_a_long_queue_is_summed_up_and_followed_head_by_head() {
    // 20,000 kernels of 1 us in one stream, A and B in turn, all launched at once: number j waits j us, 1 us for each
    // before it. Parts of all of these waits would be 200 million.
    const HALF: u64 = 10_000;
    let operations = (0..HALF).map(|_| r#"{"kernel": "A"}, {"kernel": "B"}"#).collect::<Vec<_>>().join(", ");
    let kernel = r#"{"blocks": 1, "threads": 32, "duration": "1 us"}"#;
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "queue", "device": "tx2", "kernels": {{"A": {kernel}, "B": {kernel}}},
            "streams": [{{"name": "S", "operations": [{operations}]}}]}}"#
    );
    let scenario = Scenario::from_json("queue", &text, &ReadOptions::default()).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let tables = BlameTables::new(&summary);
    let us = |us: u64| Duration::from_ns(us * 1_000);
    let mut rows: Vec<_> =
        tables.kernels.iter().map(|row| (&*row.waiting, row.blocking.as_deref(), row.wait_ns)).collect();
    rows.sort_unstable();
    // Among half of them there are as many pairs; each B waits for the A just before it as well.
    let pairs = HALF * (HALF - 1) / 2;
    let expected = [("A", "A", pairs), ("A", "B", pairs), ("B", "A", pairs + HALF), ("B", "B", pairs)];
    assert_eq!(rows, expected.map(|(waiting, blocking, time)| (waiting, Some(blocking), us(time))));

    let path = CriticalPath::of_run(&summary).expect("all have ended");
    let kernels: Vec<OnPath> = (0..20_000).map(|number| OnPath::Operation(OperationId(number))).collect();
    assert_eq!(path.parts.iter().map(|part| part.what).collect::<Vec<_>>(), kernels);
    assert_eq!((path.from, path.to, path.end), (Instant::ZERO, Instant::ZERO + us(20_000), PathEnd::Begin));

    // Whoever does not want it any more does not wait for it.
    let stopped = Arc::new(Effort::all_or_nothing());
    stopped.stop();
    assert!(stopped.within(|| BlameTables::new(&summary)).is_err());
    assert!(stopped.within(|| CriticalPath::of_run(&summary)).is_err());
}

/// Joined where the same operation is held by the same rule without a pause.
fn joined(
    parts: impl Iterator<Item = (OperationId, Rule, Instant, Instant)>,
) -> Vec<(OperationId, Rule, Instant, Instant)> {
    let mut all: Vec<(OperationId, Rule, Instant, Instant)> = Vec::new();
    for part in parts {
        match all.last_mut() {
            Some(last) if (last.0, last.1, last.3) == (part.0, part.1, part.2) => last.3 = part.3,
            _ => all.push(part),
        }
    }
    all
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn phases_are_the_waits_that_blame_divides_and_name_who_it_blames(Case(scenario) in generate::scenario(Limits::ALL)) {
        let trace = simulate(&scenario)?.trace;
        let device = scenario.device();
        let (parts, phases) = (blame(&trace, device), phases(&trace, device, &reasons(&trace, device)));
        let of_parts = joined(parts.iter().map(|part| (part.operation, part.rule, part.from, part.to)));
        let of_phases = joined(phases.iter().map(|phase| (phase.operation, phase.rule, phase.from, phase.to)));
        prop_assert_eq!(of_phases, of_parts);
        for phase in &phases {
            let within = parts.iter().filter(|part| {
                part.operation == phase.operation && part.from < phase.to && part.to > phase.from
            });
            let blamed: Vec<OperationId> = within.filter_map(|part| part.blocking).collect();
            prop_assert!(phase.blocking.iter().all(|id| blamed.contains(id)), "{:?} of {:?}", phase, blamed);
            prop_assert_eq!(phase.blocking.is_empty(), blamed.is_empty(), "{:?}", phase);
            let passes_on = |id: &OperationId| !trace.operations()[id.index()].kind.is_instant();
            prop_assert!(phase.blocking.iter().all(passes_on), "{:?}", phase);
        }
    }
}

#[test]
fn what_lacks_shared_memory_waits_for_a_kernel_that_holds_some() {
    // RTSS 2017, figure 3: K1, which began first, takes no shared memory; K4 takes all of it.
    let scenario = published::figure("rtss2017/figure-3");
    let run = simulate(&scenario).expect("it runs");
    let parts = blame(&run.trace, scenario.device());
    let title = |id: OperationId| run.trace.kernel_of(id).map(|kernel| &*kernel.title);
    let told: Vec<_> = parts.iter().filter(|part| title(part.operation) == Some("K5")).collect();
    let told: Vec<_> = told.iter().map(|part| (part.rule, part.blocking.and_then(title))).collect();
    // Of K1's first blocks those on SM 1 end a microsecond after those on SM 0, and keep its threads until then.
    assert_eq!(told, [(Rule::X1, Some("K1")), (Rule::R2, Some("K1")), (Rule::R3, Some("K4"))]);
}

#[test]
fn the_map_of_a_profile_has_short_names_and_tells_whole_ones_under_the_pointer() {
    let path = directory("blame-figure").join("map.svg");
    let file = path.display().to_string();
    let output = gpusched(&["simulate", "scenarios/profiles/synthetic.json", "--blame-figure", &file]);
    assert!(output.status.success(), "{}", stderr(&output));
    let svg = fs::read_to_string(&path).expect("it is written");
    let texts: Vec<&str> = svg.split("<text").skip(1).filter_map(|rest| rest.split(['<', '>']).nth(1)).collect();
    assert!(texts.contains(&"1 elementwise"), "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains("demo::")), "{texts:?}");
    assert!(svg.contains("demo::elementwise&lt;4&gt;(int, float*)"), "the whole name");

    let refused = gpusched(&["simulate", "scenarios/rtss2017/figure-3.json", "--blame-figure", "map.txt"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--blame-figure") && refused.stdout.is_empty());
}

/// By hand, of figure 3: K5 is launched at 400 ms and waits for shared memory of K4 from 1 to 2 s.
#[test]
fn the_first_line_is_who_waits_most_for_whom() {
    let first = |file: &str| {
        let text = stdout(&gpusched(&["simulate", file, "--blame"]));
        text.lines().next().unwrap_or_default().to_owned()
    };
    let of_figure_3 = "S3 waits most for others: 999.999 ms for S2 (R3)";
    assert_eq!(first("scenarios/rtss2017/figure-3.json"), of_figure_3);
    let nobody = "no stream waited for work of another; --overlap says why streams do not run side by side";
    assert_eq!(first("scenarios/tour/one-kernel.json"), nobody);
}

#[test]
fn what_waited_for_others_stands_before_what_waited_in_its_stream() {
    // RTSS 2017, figure 3: the longest wait of all is K5's copy behind K5, which shares its stream.
    let figure = ["simulate", "scenarios/rtss2017/figure-3.json", "--blame"];
    let short = stdout(&gpusched(&figure));
    assert!(
        short.contains("waits within a stream") && short.contains("side by side; --own-waits lists them"),
        "{short}"
    );
    assert!(!short.contains(" 4 copies (device-to-host)  K5 "), "{short}");
    let text = stdout(&gpusched(&[&figure[..], &["--own-waits"]].concat()));
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words:?} is not in {text}"));
    let headings = (at("waits for work of other streams or processes"), at("waits within a stream"));
    let (k4, copy) =
        (at(" K5                         K4                         R3"), at(" 4 copies (device-to-host)  K5 "));
    assert!(headings.0 < k4 && k4 < headings.1 && headings.1 < copy, "{text}");
    let rows = json(&[&figure[..], &["--format", "json"]].concat());
    let behind: Vec<&str> =
        rows["blame"].as_array().expect("a list").iter().filter_map(|row| row["behind"].as_str()).collect();
    let others = behind.iter().take_while(|behind| **behind == "others").count();
    assert!(others > 0 && behind[others..].iter().all(|behind| *behind == "own_stream"), "{behind:?}");
}

#[test]
fn a_wait_for_an_event_is_named_with_what_waits_behind_it() {
    // B stands behind the wait for A's event from 0 to 2 ms.
    let scenario = r#"{"format": "gpusched-scenario/1", "name": "event", "device": "tx2",
        "kernels": {"A": {"blocks": 1, "threads": 32, "duration": "2 ms"},
                    "B": {"blocks": 1, "threads": 32, "duration": "1 ms"}},
        "streams": [{"name": "first", "operations": [{"kernel": "A"}, {"record": "done"}]},
                    {"name": "second", "operations": [{"wait": "done"}, {"kernel": "B"}]}]}"#;
    let text = stdout(&gpusched_with(scenario, &["simulate", "-", "--blame"]));
    for row in [" second          first            G2 (E2)    2 ms", " B        A         G2 (E2)    2 ms"] {
        assert!(text.lines().any(|line| line == row), "{row:?} is not in {text}");
    }
    assert!(text.contains(&format!("E2: {}", Rule::E2.meaning())), "{text}");
    let lines = stdout(&gpusched_with(scenario, &["simulate", "-", "--blame", "--format", "json"]));
    let rows: serde_json::Value = serde_json::from_str(&lines).expect("JSON");
    let file = directory("blame-figure-of-events").join("map.svg").display().to_string();
    assert!(gpusched_with(scenario, &["simulate", "-", "--blame-figure", &file]).status.success());
    let svg = fs::read_to_string(&file).expect("it is written");
    let words = format!("G2 (E2): {}; E2: {}", Rule::G2.meaning(), Rule::E2.meaning());
    assert!(svg.contains(">G2 (E2)</text>") && svg.contains(&words), "the map says as the table: {svg}");
    let row = serde_json::json!({"waiting": "B", "blocking": "A", "behind": "others", "rule": "G2", "through": "E2",
        "wait_ns": 2_000_000});
    assert_eq!(rows["blame"], serde_json::json!([row]));
}

#[test]
fn long_names_are_shortened_for_people_to_what_tells_them_apart() {
    let long = "attention_".repeat(14);
    let names = [format!("fused_{long}forward"), format!("fused_{long}backward")];
    let operation = |index: usize| {
        let (name, start) = (&names[index], [1006, 1410][index]);
        format!(
            r#"{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": {index}, "ts": 1000,
            "dur": 4, "args": {{"correlation": {index}}}}},
            {{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": {start}, "dur": 400, "args": {{
            "device": 0, "context": 1, "stream": {index}, "correlation": {index}, "registers per thread": 32,
            "shared memory": 0, "grid": [3456, 1, 1], "block": [256, 1, 1]}}}}"#
        )
    };
    let profile = format!(
        r#"{{"deviceProperties": [{{"id": 0, "name": "A100", "computeMajor": 8, "computeMinor": 0, "numSms": 108}}],
        "traceEvents": [{}, {}]}}"#,
        operation(0),
        operation(1)
    );
    let file = directory("blame-figure-of-long-names").join("map.svg").display().to_string();
    assert!(gpusched_with(&profile, &["simulate", "-", "--blame-figure", &file]).status.success());
    let svg = fs::read_to_string(&file).expect("it is written");
    let texts: Vec<&str> = svg.split("<text").skip(1).filter_map(|rest| rest.split(['<', '>']).nth(1)).collect();
    let rows = |end: &str| texts.iter().filter(|text| text.contains("fused") && text.ends_with(end)).count();
    assert_eq!((rows("forward"), rows("backward")), (1, 1), "{texts:?}");
    for command in [&["simulate", "-", "--blame"][..], &["replay-log", "-"], &["occupancy", "-"]] {
        let text = stdout(&gpusched_with(&profile, command));
        let rows = || text.lines().filter(|line| line.contains("fused_"));
        assert!(rows().any(|row| row.contains("forward")) && rows().any(|row| row.contains("backward")), "{text}");
        assert!(rows().all(|row| row.chars().count() < 200 && row.contains('…')), "{text}");
        let whole = stdout(&gpusched_with(&profile, &[command, &["--format", "json"]].concat()));
        assert!(names.iter().all(|name| whole.contains(name.as_str())), "{whole}");
    }
}

#[test]
fn that_nothing_waited_is_said_in_words() {
    let alone = r#"{"format": "gpusched-scenario/1", "name": "alone", "device": "tx2",
        "kernels": {"A": {"blocks": 1, "threads": 32, "duration": "2 ms"}},
        "streams": [{"name": "first", "operations": [{"kernel": "A"}]}]}"#;
    let text = stdout(&gpusched_with(alone, &["simulate", "-", "--blame"]));
    assert!(text.ends_with("who made whom wait: nothing waited for anything\n"), "{text}");
    let two = alone.replace(r#"[{"kernel": "A"}]"#, r#"[{"kernel": "A"}, {"kernel": "A"}]"#);
    let text = stdout(&gpusched_with(&two, &["simulate", "-", "--blame", "--own-waits"]));
    assert!(text.contains("nothing waited for work of other streams or processes\n"), "{text}");
    assert!(text.contains("waits within a stream") && text.contains(" A        A         G2      2 ms"), "{text}");
}
