//! Traces for Perfetto and `chrome://tracing`: what they show, and that they keep to the rules of the format.

mod turns;
pub(crate) mod validator;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gpusched::hosts::simulate;
use gpusched::pictures::{PerfettoKnown, PerfettoRun, perfetto_trace};
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Instant;
use gpusched::trace::{Observed, ObservedSpan, OperationRecord, Trace};
use gpusched::workload::{OperationId, OperationKind};
use proptest::prelude::*;

use self::validator::{Shown, Slice, validate};
use crate::campaign::config;
use crate::common::gpusched;
use crate::figure_command::directory;
use crate::figure_samples::fig_3;
use crate::generate::{Case, Limits, scenario};

fn written(scenario: &Scenario) -> Option<String> {
    let run = simulate(scenario).ok()?;
    let summary = Summary::of(&run);
    let mut out = Vec::new();
    perfetto_trace(&[PerfettoRun { summary, label: "", known: PerfettoKnown::Everything }], &mut out)
        .expect("memory takes it");
    Some(String::from_utf8(out).expect("JSON is UTF-8"))
}

fn figure_3() -> Shown {
    validate(&written(&fig_3()).expect("it runs")).expect("it keeps to the format")
}

/// Whole milliseconds, of times that are up to a microsecond later.
fn ms(ns: u64) -> u64 {
    assert!(ns % 1_000_000 <= 1_000, "{ns}");
    ns / 1_000_000
}

#[test]
fn an_arrow_leads_from_an_events_record_to_each_wait_that_it_releases() {
    let file = "scenarios/events/double-buffering.json";
    let text = fs::read_to_string(file).expect("it is shipped");
    let scenario = Scenario::from_json(file, &text, &ReadOptions::default()).expect("it is sound");
    let written = written(&scenario).expect("it runs");
    validate(&written).expect("it keeps to the format");
    let events: Vec<serde_json::Value> =
        serde_json::from_str::<serde_json::Value>(&written).expect("JSON")["traceEvents"]
            .as_array()
            .expect("a list")
            .clone();
    let ends = |phase: &str| -> Vec<u64> {
        let ends = events.iter().filter(|event| event["ph"] == phase && event["name"] == "record to wait");
        let mut ends: Vec<u64> = ends.map(|event| event["ts"].as_u64().expect("whole microseconds")).collect();
        ends.sort_unstable();
        ends
    };
    // By hand, as in the figure: the second frame is there at 4 ms and waited for at 6 ms, when the filter is free.
    assert_eq!((ends("s"), ends("f")), (vec![2_000, 4_000, 6_000, 10_000], vec![2_000, 6_000, 6_000, 10_000]));
}

#[test]
fn figure_3_of_rtss_2017_has_a_process_for_each_sm_and_a_lane_for_each_concurrent_block() {
    let shown = figure_3();
    assert_eq!(shown.processes, ["host", "streams", "queues", "copy engines", "SM 0", "SM 1"]);
    let blocks = |process: &str, name: &str| -> Vec<(String, u64, u64)> {
        let of = shown.slices.iter().filter(|slice| slice.process == process && slice.name == name);
        of.map(|slice| (slice.lane.clone(), ms(slice.start), ms(slice.end))).collect()
    };
    // By the paper: two blocks of K1 on each SM at once, then two on SM 0 beside two of K4.
    let lane = |number: u32, from, to| (format!("lane {number}"), from, to);
    let first = [lane(0, 0, 1_000), lane(1, 0, 1_000)];
    assert_eq!(blocks("SM 0", "K1"), [&first[..], &[lane(0, 1_000, 2_000), lane(1, 1_000, 2_000)]].concat());
    assert_eq!(blocks("SM 1", "K1"), first);
    assert_eq!(blocks("SM 0", "K4"), [lane(2, 1_000, 2_000), lane(3, 1_000, 2_000)]);
    assert_eq!(blocks("SM 1", "K5"), [lane(0, 2_000, 3_000), lane(1, 2_000, 3_000)]);
}

#[test]
fn arrows_lead_from_the_launch_to_the_first_block() {
    let shown = figure_3();
    let mut arrows: Vec<(&str, u64, &str, u64)> = shown
        .arrows
        .iter()
        .map(|(from, to)| (from.lane.as_str(), ms(from.start), to.name.as_str(), to.start / 1_000_000))
        .collect();
    arrows.sort_by_key(|arrow| arrow.2);
    let expected = [
        ("S1", 0, "K1", 0),
        ("S1", 0, "K2", 2_000),
        ("S1", 0, "K3", 3_030),
        ("CPU 1", 200, "K4", 1_000),
        ("CPU 1", 400, "K5", 2_000),
        ("CPU 1", 2_800, "K6", 2_800),
    ];
    assert_eq!(arrows, expected);
    assert!(shown.arrows.iter().all(|(_, to)| to.args["block"] == 0));
}

#[test]
fn queues_and_counters_show_what_waits_and_what_is_taken() {
    let shown = figure_3();
    let queued = |name: &str| {
        let slice = shown.asynchronous.iter().find(|slice| slice.name == name).expect("it was queued");
        (slice.category.clone(), ms(slice.start), ms(slice.end))
    };
    // K4 enters at its launch and is fully dispatched when K1's first blocks end; K5 waits for shared memory behind it.
    assert_eq!(queued("K4"), ("EE queue, priority 0".to_owned(), 200, 1_000));
    assert_eq!(queued("K5"), ("EE queue, priority 0".to_owned(), 400, 2_000));
    let taken = &shown.counters[&("SM 0".to_owned(), "thread slots taken".to_owned())];
    let until_3_s: Vec<(u64, u64)> = taken.iter().map(|&(at, value)| (at / 1_000_000, value)).take(5).collect();
    // 2 x 768; 2 x 768 + 2 x 256; without K4's; two of K2 (512); K6's block of 512 beside them.
    assert_eq!(until_3_s, [(0, 1_536), (1_000, 2_048), (2_000, 1_536), (2_000, 1_024), (2_800, 1_536)]);
}

#[test]
fn the_validator_refuses_what_breaks_the_format() {
    let scenario = fig_3();
    let sound = written(&scenario).expect("it runs");
    let broken = [
        ("\"dur\":2000001,", "", "no dur"),
        ("\"ts\":0,\"dur\":1000000", "\"ts\":0,\"dur\":1000001", "overlaps"),
        ("\"ts\":200000,\"id\":\"0x100000006\"}", "\"ts\":200001,\"id\":\"0x100000006\"}", "an arrow without a slice"),
        ("\"ts\":2000000,\"dur\":1000000", "\"ts\":1000000,\"dur\":1000000", "overlaps"),
        ("\"bp\":\"e\"", "\"bp\":\"x\"", "bp is not what it should be"),
        ("\"id\":\"0x100000006\"", "\"id\":\"0x100000000\"", "taken"),
        ("\"ph\":\"e\"", "\"ph\":\"b\"", "an identifier that is taken"),
        ("\"ph\":\"b\"", "\"ph\":\"n\"", "unknown phase"),
        ("\"ph\":\"f\"", "\"ph\":\"s\"", "bp does not belong there"),
        ("\"name\":\"SM 1\"", "\"name\":\"\"", "no name"),
        ("\"ts\":2800000.5,", "\"ts\":2800000.5001,", "ts is not what it should be"),
        ("\"displayTimeUnit\":\"ns\"", "\"displayTimeUnit\":\"us\"", "displayTimeUnit"),
    ];
    for (from, to, words) in broken {
        assert!(sound.contains(from), "{from}");
        let error = validate(&sound.replace(from, to)).expect_err(to);
        assert!(error.contains(words), "{to}: {error}");
    }
}

/// The most that is there at once; what has no length counts nowhere.
fn most_at_once(spans: &[(u64, u64)]) -> usize {
    let at = |instant: u64| spans.iter().filter(|&&(from, to)| from <= instant && instant < to).count();
    spans.iter().map(|&(from, _)| at(from)).max().unwrap_or(0)
}

/// The queue that a kernel or a copy goes through.
fn queue_of(scenario: &Scenario, trace: &Trace, record: &OperationRecord) -> String {
    match record.kind {
        OperationKind::Copy(copy) => {
            let direction = trace.copies()[copy.index()].direction;
            format!("CE queue {}", scenario.device().copy.engine_for(direction))
        }
        _ => format!("EE queue, priority {}", trace.streams()[record.stream.index()].priority),
    }
}

/// Holds for every run: the blocks are those of the trace, lanes are as many as blocks run at once, arrows lead to
/// every kernel that started, and counters are the sums of what is shown.
fn shows_the_run(scenario: &Scenario, shown: &Shown) -> Result<(), TestCaseError> {
    let run = simulate(scenario)?;
    let (trace, end) = (&run.trace, run.trace.end().as_ns());
    let mut sms: BTreeMap<u16, Vec<(u64, u64, u32, u32)>> = BTreeMap::new();
    let mut started = 0;
    for (id, record) in (0..).map(OperationId).zip(trace.operations()) {
        started += usize::from(trace.blocks(id).next().is_some());
        for block in trace.blocks(id) {
            let span = (block.start.as_ns(), block.end.as_ns().min(end));
            sms.entry(block.sm).or_default().push((span.0, span.1, id.0, block.index));
        }
        let is_shown = |category: &str| {
            let of = |slice: &&Slice| slice.category == category && slice.args["id"] == id.0;
            shown.slices.iter().filter(of).map(|slice| (slice.start, slice.end)).collect::<Vec<_>>()
        };
        let until = |instant: Option<Instant>| instant.map_or(end, Instant::as_ns);
        let head = record.reached_head().map(|from| (from.as_ns(), until(record.finish())));
        prop_assert_eq!(is_shown("stream"), head.into_iter().collect::<Vec<_>>());
        let copy = record.first_start().filter(|_| matches!(record.kind, OperationKind::Copy(_)));
        let copy = copy.map(|from| (from.as_ns(), until(record.finish())));
        prop_assert_eq!(is_shown("copy"), copy.into_iter().collect::<Vec<_>>());
    }
    let (launches, events): (Vec<_>, Vec<_>) = shown.arrows.iter().partition(|(from, _)| from.category == "host");
    prop_assert_eq!(launches.len(), started);
    let completed = |id: OperationId| trace.operations()[id.index()].finish().is_some();
    let awaited: BTreeMap<u64, u64> = (0..)
        .map(OperationId)
        .take(trace.operations().len())
        .filter_map(|wait| Some((wait, trace.awaited_by(wait)?)))
        .filter(|(wait, record)| completed(*wait) && completed(*record))
        .map(|(wait, record)| (u64::from(wait.0), u64::from(record.0)))
        .collect();
    prop_assert_eq!(events.len(), awaited.len());
    for (from, to) in events {
        let ids = [from, to].map(|slice| slice.args["id"].as_u64().expect("a number"));
        prop_assert_eq!(awaited.get(&ids[1]), Some(&ids[0]));
    }
    for (from, to) in launches {
        let ids = from.args["ids"].as_array().expect("a list");
        prop_assert!(from.category == "host" && ids.contains(&to.args["id"]), "{:?} to {:?}", from, to);
        prop_assert_eq!(&to.args["block"], 0);
    }
    for sm in 0..scenario.device().sms {
        let process = format!("SM {sm}");
        let on_sm: Vec<&Slice> = shown.slices.iter().filter(|slice| slice.process == process).collect();
        let number =
            |slice: &Slice, key: &str| u32::try_from(slice.args[key].as_u64().expect("a number")).expect("small");
        let mut blocks: Vec<_> =
            on_sm.iter().map(|slice| (slice.start, slice.end, number(slice, "id"), number(slice, "block"))).collect();
        let mut expected = sms.remove(&u16::try_from(sm).expect("few")).unwrap_or_default();
        blocks.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(&blocks, &expected);
        let spans: Vec<(u64, u64)> = blocks.iter().map(|&(from, to, ..)| (from, to)).collect();
        let lanes: BTreeSet<&str> = on_sm.iter().map(|slice| slice.lane.as_str()).collect();
        let most = most_at_once(&spans);
        // A block without length takes a lane when the others are taken.
        let without_length = usize::from(spans.iter().any(|(from, to)| from == to));
        prop_assert!((most..=most + without_length).contains(&lanes.len()), "{} lanes for {}", lanes.len(), most);
        let counter = shown.counters.get(&(process, "thread slots taken".to_owned()));
        for &(at, taken) in counter.into_iter().flatten() {
            let there = on_sm.iter().filter(|slice| slice.start <= at && at < slice.end);
            let sum: u64 = there.map(|slice| slice.args["thread_slots"].as_u64().expect("a number")).sum();
            prop_assert_eq!(sum, taken, "at {}", at);
        }
        let changes = spans.iter().filter(|(from, to)| from < to).flat_map(|&(from, to)| [from, to]);
        let changes: BTreeSet<u64> = changes.collect();
        let told: BTreeSet<u64> = counter.into_iter().flatten().map(|&(at, _)| at).collect();
        prop_assert_eq!(told, changes);
    }
    let mut queues: BTreeMap<(String, u64), i64> = BTreeMap::new();
    let ids = (0..).zip(trace.operations()).filter(|(_, record)| !record.kind.is_instant());
    for (id, record) in ids {
        let Some(queued) = record.queued() else { continue };
        let (category, span) = (queue_of(scenario, trace, record), (queued.as_ns(), record.last_start()));
        *queues.entry((category.clone(), span.0)).or_default() += 1;
        if let Some(left) = span.1 {
            *queues.entry((category.clone(), left.as_ns())).or_default() -= 1;
        }
        let end = span.1.map_or(end, Instant::as_ns);
        let is_it =
            |slice: &&validator::Asynchronous| (&slice.category, slice.start, slice.end) == (&category, span.0, end);
        prop_assert!(shown.asynchronous.iter().any(|slice| is_it(&slice)), "operation {} in {}", id, category);
    }
    let mut length = 0;
    let mut queue_before = String::new();
    for ((queue, at), change) in queues {
        length = if queue == queue_before { length + change } else { change };
        let told = &shown.counters[&("queues".to_owned(), format!("{queue} operations"))];
        prop_assert!(
            told.contains(&(at, u64::try_from(length).expect("enters before it leaves"))),
            "{} at {}",
            queue,
            at
        );
        queue_before = queue;
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn every_run_keeps_to_the_format_and_shows_what_happened(
        Case(scenario) in scenario(Limits { varying: true, ..Limits::ALL })
    ) {
        let Some(text) = written(&scenario) else { return Ok(()) };
        let shown = validate(&text).map_err(TestCaseError::fail)?;
        shows_the_run(&scenario, &shown)?;
        prop_assert_eq!(written(&scenario), Some(text), "the same bytes again");
    }
}

#[test]
fn the_commands_write_a_trace_or_end_with_exit_status_2_and_leave_nothing() {
    let directory = directory("perfetto-command");
    let path = |name: &str| directory.join(name).display().to_string();
    let ok = gpusched(&["simulate", &path("fig3.json"), "--perfetto", &path("trace.json")]);
    assert_eq!(ok.status.code(), Some(0));
    let text = fs::read_to_string(path("trace.json")).expect("it was written");
    assert_eq!(validate(&text).expect("it keeps to the format").slices, figure_3().slices);
    for bad in [path("missing/trace.json"), directory.display().to_string()] {
        let output = gpusched(&["simulate", &path("fig3.json"), "--perfetto", &bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
    let mut left: Vec<_> =
        fs::read_dir(&directory).expect("it is there").map(|entry| entry.expect("readable")).collect();
    left.sort_by_key(fs::DirEntry::file_name);
    let names: Vec<_> = left.iter().map(fs::DirEntry::file_name).collect();
    assert_eq!(names, ["fig3.json", "trace.json"]);
}

/// What a replay of a file or folder of the project shows.
fn replayed(test: &str, recorded: &str) -> Shown {
    let trace = directory(test).join("trace.json").display().to_string();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join(recorded).display().to_string();
    let output = gpusched(&["replay-log", &recorded, "--perfetto", &trace]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    validate(&fs::read_to_string(&trace).expect("it was written")).expect("it keeps to the format")
}

#[test]
fn a_replayed_log_shows_measured_and_simulated_blocks_as_processes_of_their_own() {
    let shown = replayed("perfetto-replay", "tests/data/logs/two-streams");
    let measured = ["host", "SM 0", "SM 1"].map(|name| format!("measured: {name}"));
    let simulated =
        ["host", "streams", "queues", "copy engines", "SM 0", "SM 1"].map(|name| format!("simulated: {name}"));
    let processes = [&measured[..], &simulated[..]].concat();
    assert_eq!(shown.processes, processes);
    let blocks = |run: &str, sm: u32, name: &str| -> Vec<(u64, u64)> {
        let process = format!("{run}: SM {sm}");
        let of = shown.slices.iter().filter(|slice| slice.process == process && slice.name == name);
        of.map(|slice| (slice.start, slice.end)).collect()
    };
    // By hand from the logs, whose first launch call returned at 5.000050 s.
    assert_eq!(blocks("measured", 1, "K2"), [(1_000_014_000, 1_500_020_000)]);
    assert_eq!(blocks("simulated", 1, "K2"), [(1_000_010_000, 1_500_016_000)]);
    assert_eq!(shown.arrows.len(), 6);
}

#[test]
fn a_replayed_profile_shows_what_was_recorded_and_what_was_simulated_by_stream() {
    let shown = replayed("perfetto-profile", "scenarios/profiles/synthetic.json");
    let processes = ["recorded", "simulated"].map(|run| ["host", "streams"].map(|name| format!("{run}: {name}")));
    assert_eq!(shown.processes, processes.concat());
    let ran = |run: &str, name: &str| -> Vec<(String, u64, u64)> {
        let process = format!("{run}: streams");
        let of = shown.slices.iter().filter(|slice| slice.process == process && slice.name == name);
        of.map(|slice| (slice.lane.clone(), slice.start, slice.end)).collect()
    };
    // As the profile has it, counted from its first call.
    assert_eq!(ran("recorded", "gemm")[0], ("stream 7".to_owned(), 54_250, 144_250));
    assert_eq!(ran("simulated", "gemm").len(), ran("recorded", "gemm").len());
    let into = |run: &str| shown.arrows.iter().filter(|(_, to)| to.process.starts_with(run)).count();
    assert!(into("recorded: streams") > 0 && into("recorded: streams") == into("simulated: streams"));
}

/// Two operations of one stream that overlap in the record, as those of a graph may.
#[test]
fn operations_that_overlap_within_a_stream_have_lanes_of_their_own() {
    let scenario = fig_3();
    let run = simulate(&scenario).expect("it runs");
    let at = Instant::from_ns;
    let observed = Observed {
        launches: vec![(OperationId(0), at(0)), (OperationId(1), at(0))],
        spans: vec![
            ObservedSpan { operation: OperationId(0), start: at(10), end: at(50) },
            ObservedSpan { operation: OperationId(1), start: at(30), end: at(60) },
        ],
        blocks: Vec::new(),
    };
    let trace = run.trace.with_observed(&observed).expect("they are few");
    let summary = Summary::of_trace(&scenario, &trace);
    let mut out = Vec::new();
    let recorded = PerfettoRun { summary, label: "recorded", known: PerfettoKnown::Streams };
    perfetto_trace(&[recorded], &mut out).expect("memory takes it");
    let shown = validate(&String::from_utf8(out).expect("JSON is UTF-8")).expect("it keeps to the format");
    let lanes: Vec<&str> = shown
        .slices
        .iter()
        .filter(|slice| slice.process == "recorded: streams")
        .map(|slice| slice.lane.as_str())
        .collect();
    assert_eq!(lanes, ["S1", "S1 (2)"]);
}

#[test]
fn a_profile_is_written_by_stream_in_no_more_than_three_times_its_size() {
    let trace = directory("perfetto_profiles").join("trace.json").display().to_string();
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/profiles/synthetic.json");
    for arguments in [&["simulate", scenarios][..], &["replay-log", scenarios]] {
        let output = gpusched(&[arguments, &["--perfetto", &trace]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let [profile, written] = [scenarios, &trace].map(|file| fs::metadata(file).expect("it is there").len());
        assert!(written <= 3 * profile, "{arguments:?}: {written} of {profile}");
    }
    let output = gpusched(&["simulate", scenarios, "--perfetto", &trace, "--force"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(fs::read_to_string(&trace).expect("it is written").contains("\"cat\":\"block\""), "as asked for");
}

#[test]
fn more_blocks_than_can_be_looked_at_are_told_by_stream_with_a_word() {
    let folder = directory("perfetto_many");
    let (file, trace) = (folder.join("many.json"), folder.join("trace.json"));
    let text = r#"{"format": "gpusched-scenario/1", "name": "many",
        "kernels": {"K": {"blocks": 100001, "threads": 1024, "duration": "1 us"}},
        "streams": [{"name": "S", "operations": [{"kernel": "K"}]}]}"#;
    fs::write(&file, text).expect("it can be written");
    let (file, trace) = (file.display().to_string(), trace.display().to_string());
    let output = gpusched(&["simulate", &file, "--perfetto", &trace]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("more than 100000 blocks are written as kernels by stream; --force writes each of 100001 blocks"),
        "{said}"
    );
    let written = fs::read_to_string(&trace).expect("it is written");
    // One kernel as a whole, which is one slice of a stream, and no block.
    assert_eq!(written.matches("\"cat\":\"stream\"").count(), 1, "{written}");
    assert!(!written.contains("\"cat\":\"block\"") && written.len() < 5_000, "{}", written.len());
}
