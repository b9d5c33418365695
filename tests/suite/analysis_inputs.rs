//! What the analysis does with inputs that its theorems do not cover: it says so, and analyses them where it can.

use std::sync::Arc;

use gpusched::analysis::{Analysis, Departure, analyse, compare, merged_scenario};
use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::workload::{BlockTime, KernelId};

const MS: u64 = 1_000_000;

/// Kernels A and B of the given properties, and streams given as JSON.
fn scenario(a: &str, b: &str, streams: &str) -> Scenario {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "input",
            "kernels": {{"A": {{"blocks": 3, "duration": "4 ms", {a}}},
                         "B": {{"blocks": 2, "duration": "5 ms", {b}}}}},
            "streams": [{streams}]}}"#
    );
    Scenario::from_json("input.json", &text, &ReadOptions::default()).expect("it is sound")
}

const ALIKE: &str = r#""threads": 512"#;
const TWO_STREAMS: &str =
    r#"{"name": "S", "operations": [{"kernel": "A"}]}, {"name": "T", "operations": [{"kernel": "B"}]}"#;

/// The scenario is analysed all the same, and what it departs in is said, once.
fn departs(scenario: &Scenario, departure: Departure) {
    let analysis: Analysis<'_> = analyse(scenario).expect("it is analysed");
    assert_eq!(analysis.departures, [departure]);
    assert!(!analysis.exact);
    let said = format!("not exact: {departure}");
    assert_eq!(analysis.notes.iter().filter(|note| **note == said).count(), 1, "{:?}", analysis.notes);
    assert!(analysis.kernels.iter().all(|kernel| kernel.finish_ns.is_some()));
    let notes = compare(scenario).expect("it runs").notes;
    assert!(notes.contains(&said), "compare says {notes:?}");
}

#[test]
fn equal_blocks_in_streams_of_their_own_need_no_note() {
    let scenario = scenario(ALIKE, ALIKE, TWO_STREAMS);
    let analysis = analyse(&scenario).expect("it is analysed");
    assert!(analysis.exact && analysis.notes.is_empty(), "{:?}", analysis.notes);
}

#[test]
fn blocks_that_differ_in_threads_shared_memory_or_registers_are_said() {
    departs(&scenario(ALIKE, r#""threads": 256"#, TWO_STREAMS), Departure::UnequalThreads);
    for b in [r#""threads": 512, "shared_memory_bytes": 4096"#, r#""threads": 512, "registers_per_thread": 32"#] {
        departs(&scenario(ALIKE, b, TWO_STREAMS), Departure::UnequalResources);
    }
}

#[test]
fn blocks_that_take_the_same_warps_are_alike_whatever_their_threads() {
    let scenario = scenario(r#""threads": 500"#, ALIKE, TWO_STREAMS);
    assert!(analyse(&scenario).expect("it is analysed").exact);
}

#[test]
fn streams_of_different_priorities_are_said() {
    let streams = TWO_STREAMS.replace(r#""name": "T","#, r#""name": "T", "priority": -1,"#);
    departs(&scenario(ALIKE, ALIKE, &streams), Departure::Priorities);
}

#[test]
fn masks_of_kernels_and_of_streams_are_said() {
    departs(&scenario(ALIKE, r#""threads": 512, "sm_mask": "0x1""#, TWO_STREAMS), Departure::SmMask);
    let streams = TWO_STREAMS.replace(r#""name": "T","#, r#""name": "T", "sm_mask": "0x2","#);
    departs(&scenario(ALIKE, ALIKE, &streams), Departure::SmMask);
}

#[test]
fn the_null_stream_is_said() {
    departs(
        &scenario(ALIKE, ALIKE, &TWO_STREAMS.replace(r#""name": "T""#, r#""name": "NULL""#)),
        Departure::NullStream,
    );
}

#[test]
fn copies_and_memsets_are_said() {
    for first in [r#"{"copy": "host-to-device", "bytes": 10000}, "#, r#"{"memset": 64}, "#] {
        let streams = TWO_STREAMS.replace(r#"{"kernel": "B"}"#, &format!(r#"{first}{{"kernel": "B"}}"#));
        departs(&scenario(ALIKE, ALIKE, &streams), Departure::Copies);
    }
}

#[test]
fn several_kernels_in_one_stream_are_said() {
    let streams = r#"{"name": "S", "operations": [{"kernel": "A"}, {"kernel": "B"}]}"#;
    departs(&scenario(ALIKE, ALIKE, streams), Departure::Chains);
}

#[test]
fn waits_for_events_are_said_and_are_precedence_to_the_bound() {
    let streams = r#"{"name": "S", "operations": [{"kernel": "A"}, {"record": "E"}]},
                     {"name": "T", "operations": [{"wait": "E"}, {"kernel": "B"}]}"#;
    let scenario = scenario(ALIKE, ALIKE, streams);
    departs(&scenario, Departure::Events);
    let analysis = analyse(&scenario).expect("it runs");
    let finishes: Vec<_> = analysis.kernels.iter().map(|kernel| kernel.finish_ns.expect("it finishes")).collect();
    assert!(finishes[0] < finishes[1], "B waits for A: {finishes:?}");
    let safe: Vec<_> = analysis.kernels.iter().map(|kernel| kernel.safe_finish_ns.expect("it is bounded")).collect();
    assert!(safe[1] >= finishes[1], "{safe:?}");
}

#[test]
fn launch_latencies_are_said_and_have_no_safe_finish() {
    let scenario = scenario(ALIKE, ALIKE, TWO_STREAMS);
    let device = scenario.device().with(|spec| spec.launch_latency = gpusched::time::Duration::from_ns(1));
    let scenario = Scenario { catalogue: scenario.catalogue.on(device.expect("a GPU")).expect("it fits"), ..scenario };
    departs(&scenario, Departure::Latencies);
    let analysis = analyse(&scenario).expect("it runs");
    assert!(analysis.kernels.iter().all(|kernel| kernel.safe_finish_ns.is_none()));
    assert!(analysis.notes.iter().any(|note| note.contains("launch latencies")), "{:?}", analysis.notes);
}

#[test]
fn more_streams_than_channels_are_said_and_have_no_safe_finish() {
    let mut scenario = scenario(ALIKE, ALIKE, TWO_STREAMS);
    let device = scenario.device().with(|spec| spec.channels = Some(1)).expect("it is a GPU");
    scenario.catalogue = scenario.catalogue.on(device).expect("the device takes all of it");
    departs(&scenario, Departure::Channels);
    let analysis = analyse(&scenario).expect("it is analysed");
    assert!(analysis.kernels.iter().all(|kernel| kernel.safe_finish_ns.is_none()));
    assert!(analysis.notes.iter().any(|note| note.contains("safe_finish_ns is not given")), "{:?}", analysis.notes);
}

#[test]
fn block_times_that_vary_are_said_and_analysed_with_the_longest() {
    let mut scenario = scenario(ALIKE, ALIKE, TWO_STREAMS);
    let time = BlockTime { best: Duration::from_ns(MS), ..scenario.kernels()[0].duration };
    scenario.catalogue.set_block_time(KernelId(0), time).expect("best is at most worst");
    departs(&scenario, Departure::Variation);
    assert_eq!(finishes(&analyse(&scenario).expect("it is analysed")), [4, 5]);
}

fn finishes(analysis: &Analysis<'_>) -> Vec<u64> {
    analysis.kernels.iter().map(|kernel| kernel.finish_ns.expect("it finishes").as_ns() / MS).collect()
}

fn ms(times: &[u64]) -> Arc<[Duration]> {
    times.iter().map(|ms| Duration::from_ns(ms * MS)).collect()
}

/// Measured logs give every block a time of its own beside the median, which is what the kernel then states.
#[test]
fn times_of_single_blocks_are_analysed_with_the_longest_of_them_and_said() {
    let mut scenario = scenario(ALIKE, ALIKE, TWO_STREAMS);
    scenario.block_times.insert(KernelId(0), ms(&[4, 9, 4]));
    departs(&scenario, Departure::Variation);
    let analysis = analyse(&scenario).expect("it is analysed");
    assert_eq!(finishes(&analysis), [9, 5]);
    // Eight blocks fit at once, so all start at 0; the longest of A's ends at 9.
    let run = simulate(&scenario).expect("it runs");
    let simulated: Vec<_> =
        run.trace.operations().iter().filter_map(gpusched::trace::OperationRecord::finish).collect();
    assert_eq!(simulated, [Instant::from_ns(9 * MS), Instant::from_ns(5 * MS)]);
    assert!(analysis.kernels.iter().zip(&simulated).all(|(kernel, finish)| kernel.safe_finish_ns >= Some(*finish)));
    // So is the picture of the analysis.
    let merged = simulate(&merged_scenario(&scenario, &analysis).expect("it fits")).expect("it runs").into_owned();
    assert_eq!(merged.trace.operations()[0].finish(), Some(Instant::from_ns(9 * MS)));
}

#[test]
fn blocks_past_the_end_of_the_list_of_times_take_what_the_kernel_states() {
    let mut scenario = scenario(ALIKE, ALIKE, TWO_STREAMS);
    scenario.block_times.insert(KernelId(0), ms(&[1]));
    departs(&scenario, Departure::Variation);
    assert_eq!(scenario.longest_block_time(KernelId(0)), Some(Duration::from_ns(4 * MS)));
    // Three for three blocks; a fourth is nobody's.
    scenario.block_times.insert(KernelId(0), ms(&[3, 3, 3, 7]));
    assert_eq!(scenario.longest_block_time(KernelId(0)), Some(Duration::from_ns(3 * MS)));
    assert!(analyse(&scenario).expect("it is analysed").exact);
}
