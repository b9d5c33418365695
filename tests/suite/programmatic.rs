//! Programmatic dependent launch (rule PDL): the chain measured on a B200, residency, and engine, reference simulator
//! and audit on random scenarios.

use gpusched::hosts::simulate;
use gpusched::run::Run;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::workload::{Catalogue, OperationId, Programmatic, Share};
use proptest::prelude::*;

use crate::agreement::agreed;
use crate::campaign::config;
use crate::generate::{Case, Limits, builtin, scenario};

fn read(device: &str, kernels: &str, operations: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "launches", "kernels": {{{kernels}}},
        "streams": [{{"name": "s", "operations": [{operations}]}}]}}"#
    );
    let options = ReadOptions { device: Some(builtin(device)), ..ReadOptions::default() };
    Scenario::from_json("launches", &text, &options).map_err(|error| error.to_string())
}

fn finishes_ms(run: &Run<'_>) -> Vec<f64> {
    let operations = run.trace.operations().iter();
    operations.map(|operation| operation.finish().expect("it ends").as_ns() as f64 / 1e6).collect()
}

/// Six kernels of one wave; `attribute` stands in all launches but the first.
fn chain(attribute: &str) -> Scenario {
    let kernel = r#""stage": {"blocks": 148, "threads": 1024, "shared_memory_bytes": 100000, "duration": "1.020 ms", "trigger": 0.5, "wait": 0.5}"#;
    let first = r#"{"kernel": "stage"}"#.to_owned();
    let others = std::iter::repeat_n(format!(r#"{{"kernel": "stage"{attribute}}}"#), 5);
    let operations = std::iter::once(first).chain(others).collect::<Vec<_>>().join(", ");
    read("b200", kernel, &operations).expect("it is sound")
}

/// Measured on a B200 (repository memory-of-star/gpu_sheduler_survey, 2026).
#[test]
fn a_chain_of_six_kernels_ends_as_measured_on_a_b200_with_the_attribute_and_without() {
    for (attribute, measured) in [
        ("", [1.020, 2.043, 3.065, 4.088, 5.112, 6.134]),
        (r#", "programmatic": true"#, [1.021, 1.532, 2.042, 2.553, 3.065, 3.576]),
    ] {
        let scenario = chain(attribute);
        let run = simulate(&scenario).expect("it runs");
        for (simulated, measured) in finishes_ms(&run).into_iter().zip(measured) {
            assert!((simulated / measured - 1.0).abs() < 0.001, "{simulated} ms, measured {measured} ms");
        }
    }
}

#[test]
fn the_shipped_chain_is_the_same_and_within_what_was_measured() {
    let file = crate::published::root().join("rules/programmatic-launch.json");
    let text = std::fs::read_to_string(file).expect("it is shipped");
    let scenario = Scenario::from_json("shipped", &text, &ReadOptions::default()).expect("it is sound");
    let ours = chain(r#", "programmatic": true"#);
    let run = simulate(&scenario).expect("it runs");
    assert_eq!(finishes_ms(&run), finishes_ms(&simulate(&ours).expect("it runs")));
    assert!(scenario.notes.is_empty(), "{:?}", scenario.notes);
}

#[test]
fn two_grids_of_the_chain_at_most_run_at_once_as_each_waits_before_it_triggers() {
    let scenario = chain(r#", "programmatic": true"#);
    let run = simulate(&scenario).expect("it runs");
    let operations = run.trace.operations();
    for (one, other) in operations.iter().zip(&operations[2..]) {
        assert!(other.first_start() > one.finish());
    }
}

/// As StuartSul/gpu-experiments, `blackwell/103`, has it of a B200.
#[test]
fn a_dependent_kernel_begins_where_there_is_room_beside_the_one_before_it() {
    let early_blocks = |blocks: u32, bytes: u32| {
        let kernels = format!(
            r#""first": {{"blocks": {blocks}, "threads": 128, "shared_memory_bytes": {bytes}, "duration": "1 ms", "trigger": 0}},
            "second": {{"blocks": 148, "threads": 128, "shared_memory_bytes": {bytes}, "duration": "1 ms", "wait": 0}}"#
        );
        let operations = r#"{"kernel": "first"}, {"kernel": "second", "programmatic": true}"#;
        let scenario = read("b200", &kernels, operations).expect("it is sound");
        let run = simulate(&scenario).expect("it runs");
        let blocks = run.trace.blocks(OperationId(1)).map(|block| block.start.as_ns());
        let (early, late): (Vec<u64>, Vec<u64>) = blocks.partition(|&start| start < 1_000_000);
        assert!(early.iter().all(|&start| start == 690), "the last trigger and 0.61 to 0.77 us");
        assert!(late.iter().all(|&start| start >= 1_000_000));
        early.len()
    };
    let all = 232_448;
    assert_eq!(early_blocks(148, all), 0, "all shared memory is taken");
    assert_eq!(early_blocks(147, all), 1, "one SM is free");
    let half = (all - 1_024) / 2;
    assert_eq!(early_blocks(148, half), 148);
    assert_eq!(early_blocks(148, half + 1_024), 0);
}

#[test]
fn without_a_trigger_or_the_attribute_nothing_overlaps_and_a_launch_for_nothing_is_noted() {
    let kernels = r#""a": {"blocks": 1, "threads": 32, "duration": "1 ms"},
        "t": {"blocks": 1, "threads": 32, "duration": "1 ms", "trigger": 0.25}"#;
    for (operations, starts, note) in [
        (r#"{"kernel": "a"}, {"kernel": "a", "programmatic": true}"#, 1_002_800, Some("which has no trigger")),
        (r#"{"kernel": "t"}, {"kernel": "a"}"#, 1_002_800, None),
        (r#"{"kernel": "t"}, {"kernel": "a", "programmatic": true}"#, 250_690, None),
        (r#"{"kernel": "t"}, {"memset": 1}, {"kernel": "a", "programmatic": true}"#, 1_002_800, Some("no kernel")),
    ] {
        let scenario = read("b200", kernels, operations).expect("it is sound");
        let run = simulate(&scenario).expect("it runs");
        let last = run.trace.operations().last().expect("there are some");
        assert_eq!(last.first_start().map(Instant::as_ns), Some(starts), "{operations}");
        assert_eq!(scenario.notes.iter().any(|known| known.contains(note.unwrap_or("programmatic"))), note.is_some());
    }
}

#[test]
fn a_kernel_without_a_wait_ends_no_earlier_than_the_one_before_it() {
    let kernels = r#""long": {"blocks": 1, "threads": 32, "duration": "1 ms", "trigger": 0},
        "short": {"blocks": 1, "threads": 32, "duration": "1 us"}"#;
    let scenario = read("b200", kernels, r#"{"kernel": "long"}, {"kernel": "short", "programmatic": true}"#);
    let scenario = scenario.expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    assert_eq!(run.trace.operations()[1].finish().map(Instant::as_ns), Some(1_000_850));
    let written = scenario.to_native_json().expect("it can be written");
    let again = Scenario::from_json("again", &written, &ReadOptions::default()).expect("it is sound");
    let times = |run: &Run<'_>| finishes_ms(run);
    assert_eq!(times(&simulate(&again).expect("it runs")), times(&run));
}

#[test]
fn a_gpu_before_compute_capability_9_has_no_programmatic_launches_and_no_analysis_knows_them() {
    let kernels = r#""k": {"blocks": 1, "threads": 32, "duration": "1 ms"}"#;
    let operations = r#"{"kernel": "k"}, {"kernel": "k", "programmatic": true}"#;
    for device in ["tx2", "v100", "a100-40gb", "rtx4090"] {
        let error = read(device, kernels, operations).expect_err("it is older");
        assert!(error.contains("compute capability 9.0"), "{error}");
    }
    let scenario = read("h100", kernels, operations).expect("it has them");
    let error = gpusched::analysis::analyse(&scenario).expect_err("no bound is known").to_string();
    assert!(error.contains("PDL"), "{error}");
    for text in ["1.1", "-0.1", "\"half\""] {
        let kernel = format!(r#""k": {{"blocks": 1, "threads": 32, "duration": "1 ms", "trigger": {text}}}"#);
        assert!(read("h100", &kernel, r#"{"kernel": "k"}"#).is_err(), "{text}");
    }
}

/// One that is launched after the kernel before it has triggered goes on behind what is launched at that instant to
/// other streams: no violation of X1. By hand: `first` has triggered at 0.69 us, and at 5 us there is room for 263
/// blocks of 1024 threads, which `third` takes.
#[test]
fn a_kernel_that_is_launched_behind_a_trigger_goes_on_after_others_of_its_instant() {
    let kernel = |name: &str| format!(r#""{name}": {{"blocks": 264, "threads": 1024, "duration": "9 us"}}"#);
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "late", "device": "h100", "kernels": {{
            "first": {{"blocks": 1, "threads": 32, "duration": "20 us", "trigger": 0}}, {}, {}}},
        "streams": [{{"name": "s"}}, {{"name": "t"}}],
        "hosts": [{{"name": "a", "steps": [{{"launch": "first", "stream": "s"}}]}},
            {{"name": "b", "release": "5 us", "steps": [{{"launch": "second", "stream": "s", "programmatic": true}},
                {{"launch": "third", "stream": "t"}}]}}]}}"#,
        kernel("second"),
        kernel("third")
    );
    let scenario = Scenario::from_json("late", &text, &ReadOptions::default()).expect("it is sound");
    let run = agreed(&scenario).expect("reference and audit say the same");
    let starts =
        |operation| run.trace.blocks(OperationId(operation)).filter(|block| block.start.as_ns() == 5_000).count();
    assert_eq!((starts(1), starts(2)), (0, 263));
}

/// A random scenario on a GPU that has programmatic launches, with some.
pub(crate) fn with_programmatic_launches(mut scenario: Scenario, seed: u64) -> Scenario {
    let device = scenario.device().with(|spec| {
        "9.0".clone_into(&mut spec.compute_capability);
        spec.pdl_trigger_latency = Duration::from_ns(seed % 5);
        spec.pdl_wait_latency = Duration::from_ns(seed / 5 % 4);
    });
    let mut catalogue: Catalogue = scenario.catalogue.on(device.expect("it is a GPU")).expect("it takes the same");
    let kernels: Vec<_> = (0..).map(gpusched::workload::KernelId).take(scenario.kernels().len()).collect();
    for (kernel, bits) in kernels.into_iter().zip((9..).step_by(6).map(|shift| seed.rotate_right(shift))) {
        let share = |bits: u64| Share::of_billion(u32::try_from(bits % 5).expect("few") * 250_000_000);
        let programmatic = Programmatic {
            trigger: share(bits).filter(|_| bits & 0x10 == 0),
            wait: share(bits >> 8).unwrap_or(Share::ALL),
            is_dependent: bits & 0x60 != 0,
        };
        catalogue.set_programmatic(kernel, programmatic).expect("the device has them");
    }
    let events = (0..).map(gpusched::workload::EventId).take(scenario.events().len());
    for event in events.filter(|event| seed.rotate_right(event.0 + 3) & 1 == 0) {
        catalogue.set_programmatic_event(event).expect("the device has them");
    }
    scenario.catalogue = catalogue;
    scenario
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn engine_reference_and_audit_agree_on_programmatic_launches(
        Case(scenario) in scenario(Limits::ALL), seed in any::<u64>(),
    ) {
        let scenario = with_programmatic_launches(scenario, seed);
        agreed(&scenario)?;
    }
}
