//! Green contexts: how a GPU is split, queues of their own, and engine, reference simulator, audit and bounds on random
//! scenarios.

use std::collections::BTreeSet;

use gpusched::analysis::{SearchOptions, Verdict, finish_bounds, sporadic_bounds};
use gpusched::audit::{AuditRule, ObservedRun, Tolerances, audit};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::pictures::timeline::{Timeline, TimelineOptions};
use gpusched::run::{Run, State, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::workload::{Catalogue, GreenContextId, OperationId, SmSplit, StreamId, StreamSpec};
use proptest::prelude::*;

use crate::agreement::agreed;
use crate::bounds::judged;
use crate::campaign::config;
use crate::generate::{Case, Limits, builtin, scenario};

fn read(device: &str, splits: &str, streams: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "green", "green_contexts": {splits},
        "kernels": {{"long": {{"blocks": 1000, "threads": 1024, "duration": "3 ms"}},
            "short": {{"blocks": 2, "threads": 1024, "duration": "1 ms"}},
            "masked": {{"blocks": 1, "threads": 32, "duration": "1 ms", "sm_mask": "~0x1"}}}},
        "streams": {streams}}}"#
    );
    let options = ReadOptions { device: Some(builtin(device)), ..ReadOptions::default() };
    Scenario::from_json("green", &text, &options).map_err(|error| error.to_string())
}

const IN_A: &str = r#"[{"name": "s", "green_context": "a", "operations": [{"kernel": "short"}]}]"#;

fn sms_of(scenario: &Scenario, number: u16) -> Vec<u32> {
    let mask = scenario.catalogue.green_contexts()[usize::from(number)].mask;
    (0..scenario.device().sms).filter(|sm| mask.enables_sm(*sm, scenario.device())).collect()
}

/// CUDA Driver API (NVIDIA), on `cuDevSmResourceSplitByCount`: at least 2 SMs and multiples of 2 for compute capability
/// 7 and 8, at least 8 and multiples of 8 from 9.0 on.
#[test]
fn numbers_of_sms_are_rounded_as_nvidia_says() {
    for (device, asked, gets) in [
        ("v100", 1, 2),
        ("v100", 2, 2),
        ("v100", 3, 4),
        ("a100-40gb", 20, 20),
        ("a100-40gb", 21, 22),
        ("rtx4090", 5, 6),
        ("h100", 1, 8),
        ("h100", 8, 8),
        ("h100", 9, 16),
        ("b200", 20, 24),
        ("rtx5090", 17, 24),
    ] {
        let scenario = read(device, &format!(r#"[{{"sms": {asked}, "names": ["a"]}}]"#), IN_A).expect("it is sound");
        assert_eq!(scenario.catalogue.green_contexts()[0].sms, gets, "{asked} SMs of {device}");
        let is_told = scenario.notes.iter().any(|note| note.contains(&format!("has {gets} SMs, not {asked}")));
        assert_eq!(is_told, asked != gets, "{:?}", scenario.notes);
    }
    let error = read("k5000", r#"[{"sms": 2, "names": ["a"]}]"#, IN_A).expect_err("it is older");
    assert!(error.contains("compute capability 6.0"), "{error}");
}

#[test]
fn parts_of_a_split_are_disjoint_and_two_splits_begin_anew() {
    let splits = r#"[{"sms": 20, "names": ["a", "b"], "remaining": "rest"}, {"sms": 30, "names": ["c"]},
        {"sms": 10, "of": "rest", "names": ["d"]}]"#;
    let scenario = read("a100-40gb", splits, IN_A).expect("it is sound");
    let all: Vec<Vec<u32>> = (0..5).map(|number| sms_of(&scenario, number)).collect();
    assert_eq!(all[0], (0..20).collect::<Vec<_>>());
    assert_eq!(all[1], (20..40).collect::<Vec<_>>());
    assert_eq!(all[2], (40..108).collect::<Vec<_>>());
    assert_eq!(all[3], (0..30).collect::<Vec<_>>(), "from the first SM on again");
    assert_eq!(all[4], (40..50).collect::<Vec<_>>(), "of what remained");
    let in_common: Vec<&String> = scenario.notes.iter().filter(|note| note.contains("in common")).collect();
    let expected = ["\"a\" and \"c\" have 20 SMs", "\"b\" and \"c\" have 10 SMs"];
    assert_eq!(in_common.len(), expected.len(), "{in_common:?}");
    assert!(in_common.iter().zip(expected).all(|(note, expected)| note.contains(expected)), "{in_common:?}");
}

/// From compute capability 9.0 on, the SMs of a unit are of one GPC: of the B200's GPCs of 10, 18 and 20 SMs, 1 or 2
/// units of 8 each, 15 in all, as many as clusters of 8 blocks find room (`docs/hardware.md`).
#[test]
fn a_b200_has_15_units_of_8_sms_on_one_gpc() {
    let split = |sms: u32, names: &str| read("b200", &format!(r#"[{{"sms": {sms}, "names": [{names}]}}]"#), IN_A);
    let scenario = split(8, r#""a", "b", "c""#).expect("there are 15");
    assert_eq!(sms_of(&scenario, 0), [0, 1, 16, 17, 32, 33, 48, 49], "8 of the first GPC's 10");
    assert_eq!(sms_of(&scenario, 1), [2, 3, 18, 19, 34, 35, 50, 51]);
    assert_eq!(sms_of(&scenario, 2), [66, 67, 80, 81, 94, 95, 108, 109]);
    assert!(split(120, r#""a""#).is_ok());
    let error = split(121, r#""a""#).expect_err("128 are too many");
    assert!(error.contains("each group gets 128 SMs after rounding, and there are 15 units of 8 SMs"), "{error}");
    assert!(split(8 * 8, r#""a", "b""#).is_err());
}

#[test]
fn what_a_green_context_cannot_have_is_refused_in_its_place() {
    let split = r#"[{"sms": 8, "names": ["a"]}]"#;
    for (splits, streams, expected) in [
        (split, r#"[{"name": "s", "green_context": "A", "operations": [{"kernel": "short"}]}]"#, "no green context"),
        (
            split,
            r#"[{"name": "s", "green_context": "a", "sm_mask": "0x1", "operations": [{"kernel": "short"}]}]"#,
            "mask",
        ),
        (split, r#"[{"name": "s", "green_context": "a", "operations": [{"kernel": "masked"}]}]"#, "mask"),
        (
            split,
            r#"[{"name": "s", "green_context": "a", "blocking": true, "operations": [{"kernel": "short"}]}]"#,
            "non-blocking",
        ),
        (split, r#"[{"name": "NULL", "green_context": "a", "operations": [{"kernel": "short"}]}]"#, "NULL stream"),
        (r#"[{"sms": 8, "names": ["a", "a"]}]"#, IN_A, "two green contexts"),
        (r#"[{"sms": 200, "names": ["a"]}]"#, IN_A, "units of 8"),
        (r#"[{"sms": 8, "of": "b", "names": ["a"]}]"#, IN_A, "no green context"),
    ] {
        let error = read("h100", splits, streams).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
}

/// By hand: 16 SMs hold 32 blocks of 1024 threads, so the 72 of `waves` begin at 0, 3 and 6 ms, and until they have
/// ended, at 9 ms, the kernel behind them keeps the only work queue. The kernel of the other stream, though of higher
/// priority, is behind that; with two queues it takes room at 3 ms. The other green context has queues of its own, or
/// its share of all.
#[test]
fn a_green_context_with_one_work_queue_runs_one_stream_at_a_time() {
    let scenario = |split: &str| {
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "queues", "device": "h100",
            "green_contexts": [{{"sms": 16, "names": ["a", "b"]{split}}}],
            "kernels": {{"waves": {{"blocks": 72, "threads": 1024, "duration": "3 ms"}},
                "short": {{"blocks": 1, "threads": 32, "duration": "1 ms"}}}},
            "streams": [
                {{"name": "s", "green_context": "a", "operations": [{{"kernel": "waves"}}, {{"kernel": "short"}}]}},
                {{"name": "t", "green_context": "a", "priority": -1, "release": "1 ms", "operations": [{{"kernel": "short"}}]}},
                {{"name": "u", "green_context": "b", "release": "1 ms", "operations": [{{"kernel": "short"}}]}}]}}"#
        );
        Scenario::from_json("queues", &text, &ReadOptions::default()).expect("it is sound")
    };
    let one = scenario(r#", "work_queues": 1"#);
    let run = simulate(&one).expect("it runs");
    assert_eq!(first_starts_ms(&run), [0.0, 9.0, 9.0, 1.0]);
    let waits_for_a_queue = |run: &Run<'_>| {
        let state = State::at(&Summary::of(run), Instant::from_ns(2_000_000));
        state.waiting.iter().any(|waiting| waiting.why.contains("channel"))
    };
    assert!(waits_for_a_queue(&run));
    for two in [r#", "work_queues": 2"#, ""] {
        let scenario = scenario(two);
        let run = simulate(&scenario).expect("it runs");
        assert_eq!(first_starts_ms(&run), [0.0, 9.0, 3.0, 1.0], "{two}");
        assert!(!waits_for_a_queue(&run));
        agreed(&scenario).expect("reference and audit say the same");
    }
    agreed(&one).expect("reference and audit say the same");
    let written = one.to_native_json().expect("it can be written");
    let again = Scenario::from_json("again", &written, &ReadOptions::default()).expect("it is sound");
    assert_eq!(again.catalogue, one.catalogue);
}

fn shipped() -> Scenario {
    let file = crate::published::root().join("rules/green-contexts.json");
    let text = std::fs::read_to_string(file).expect("it is shipped");
    Scenario::from_json("shipped", &text, &ReadOptions::default()).expect("it is sound")
}

fn first_starts_ms(run: &Run<'_>) -> Vec<f64> {
    let operations = run.trace.operations().iter();
    operations.map(|operation| operation.first_start().expect("it begins").as_ns() as f64 / 1e6).collect()
}

/// By hand: prefill has 116 of 132 SMs, each of which holds 2 of its blocks: 232 at once, so 1,000 blocks take 5 waves
/// of 3 ms. Decoding has 16 SMs and needs 32 blocks: one wave of 1 ms, at once.
#[test]
fn a_decode_begins_at_once_beside_a_prefill_that_has_more_blocks_than_fit() {
    let scenario = shipped();
    let run = simulate(&scenario).expect("it runs");
    assert_eq!(first_starts_ms(&run), [0.0, 1.0, 5.0, 9.0]);
    let finishes: Vec<_> = run.trace.operations().iter().map(|one| one.finish().map(Instant::as_ns)).collect();
    assert_eq!(finishes, [Some(15_000_000), Some(2_000_000), Some(6_000_000), Some(10_000_000)]);
    let decoding = sms_of(&scenario, 0);
    assert_eq!(decoding.len(), 16);
    assert!(run.trace.blocks(OperationId(1)).all(|block| decoding.contains(&u32::from(block.sm))));
    assert!(run.trace.blocks(OperationId(0)).all(|block| !decoding.contains(&u32::from(block.sm))));
    let state = State::at(&Summary::of(&run), Instant::from_ns(1_500_000));
    let queues: Vec<_> = state.ee_queues.iter().filter(|queue| !queue.operations.is_empty()).collect();
    assert_eq!(queues.len(), 1);
    assert_eq!((queues[0].context.as_deref(), queues[0].priority), (Some("prefilling"), 0));
    let why = &state.waiting[0].why;
    assert!(why.contains("no SM of green context prefilling has room for its next block"), "{why}");
}

#[test]
fn a_decode_that_overtakes_a_prefill_breaks_x1_where_both_wait_in_one_queue() {
    let scenario = shipped();
    let run = simulate(&scenario).expect("it runs");
    let mut observation = ObservedRun::of_run(&run).expect("it is short");
    let rules = |observation: &ObservedRun| {
        let findings = audit(observation, &Tolerances::EXACT, Progress::NONE).findings;
        findings.into_iter().map(|finding| finding.rule).collect::<BTreeSet<AuditRule>>()
    };
    assert_eq!(rules(&observation), BTreeSet::new());
    for stream in &mut observation.streams {
        stream.green_context = None;
    }
    assert!(rules(&observation).contains(&AuditRule::X1));
}

#[test]
fn a_timeline_names_the_green_contexts_of_its_sms() {
    let scenario = shipped();
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let options = TimelineOptions { queues: true, ..TimelineOptions::default() };
    let timeline = Timeline::new(&summary, &options).expect("it can be drawn");
    let svg = timeline.draw(&summary, &options).to_svg();
    assert!(svg.contains("(decoding)") && svg.contains("(prefilling)"), "{svg}");
}

#[test]
fn each_green_context_is_bounded_by_itself_and_those_that_share_sms_are_not() {
    let scenario = shipped();
    let search = SearchOptions { runs: 50, ..SearchOptions::default() };
    let verdicts = judged(&scenario, &search);
    let decodes: Vec<_> = verdicts.jobs.iter().filter(|job| &*job.stream == "decode").collect();
    assert_eq!(decodes.len(), 3);
    for job in decodes {
        assert_eq!(job.bound_ns, Some(Duration::from_ns(1_000_000)), "one wave, whatever prefill does");
        assert_eq!(job.verdict, Some(Verdict::Proven));
    }
    let splits = r#"[{"sms": 16, "names": ["a"]}, {"sms": 24, "names": ["b"]}]"#;
    let streams = r#"[{"name": "s", "green_context": "a", "period": "9 ms", "operations": [{"kernel": "short"}]},
        {"name": "t", "green_context": "b", "period": "9 ms", "operations": [{"kernel": "short"}]}]"#;
    let shared = read("h100", splits, streams).expect("it is sound");
    let shared = Scenario { horizon: Some(Duration::from_ns(20_000_000)), ..shared };
    let bounds = finish_bounds(&shared, search.bound).expect("it is analysed");
    let refusal = bounds.refusal.expect("nothing is bounded").to_string();
    assert!(refusal.contains("uses SMs that several green contexts have in common"), "{refusal}");
    let sporadic = sporadic_bounds(&shared, &[]).expect("it is analysed").expect_err("nothing is bounded").to_string();
    assert!(sporadic.contains("uses SMs that several green contexts have in common"), "{sporadic}");
    let apart = read("h100", r#"[{"sms": 16, "names": ["a", "b"]}]"#, streams).expect("it is sound");
    let bounds = sporadic_bounds(&apart, &[]).expect("it is analysed").expect("both are bounded");
    assert_eq!(bounds, [Duration::from_ns(1_000_000); 2]);
}

#[test]
fn what_is_written_reads_the_same_and_another_device_splits_anew() {
    let scenario = shipped();
    let written = scenario.to_native_json().expect("it can be written");
    let again = Scenario::from_json("again", &written, &ReadOptions::default()).expect("it is sound");
    assert_eq!(again.catalogue, scenario.catalogue);
    let options = ReadOptions { device: Some(builtin("b200")), ..ReadOptions::default() };
    let other = Scenario::from_json("again", &written, &options).expect("it is sound");
    let on_other = scenario.catalogue.on(builtin("b200")).expect("it has green contexts");
    assert_eq!(on_other.green_contexts(), other.catalogue.green_contexts());
    assert_eq!(on_other.green_contexts()[1].sms, 148 - 16);
    assert_eq!(on_other.streams()[1].sm_mask, Some(on_other.green_contexts()[1].mask));
}

/// A random scenario with some of its streams in green contexts, if its device has any SMs to split.
pub(crate) fn with_green_contexts(scenario: Scenario, seed: u64) -> Scenario {
    let device = scenario.device().with(|spec| {
        ["6.0", "7.0"][(seed & 1) as usize].clone_into(&mut spec.compute_capability);
    });
    let catalogue: Catalogue = scenario.catalogue.on(device.expect("it is a GPU")).expect("it takes the same");
    with_splits(Scenario { catalogue, ..scenario }, seed)
}

/// The same on the device that it has.
pub(crate) fn with_splits(mut scenario: Scenario, seed: u64) -> Scenario {
    let mut catalogue = scenario.catalogue.clone();
    for (number, bits) in (0..3).map(|number| (number, seed >> (8 * number + 2))) {
        let split = SmSplit {
            sms: u32::try_from(bits % 3).expect("few") + 1,
            of: (bits & 0x20 != 0 && number > 0).then_some(GreenContextId(0)),
            names: (0..=(bits >> 3 & 1)).map(|group| format!("G{number}{group}").into()).collect(),
            remaining: (bits & 0x10 != 0).then(|| format!("R{number}").into()),
            work_queues: (bits & 0x40 != 0).then_some(1 + (bits >> 7 & 1) as u32),
        };
        // Most are too large for so few SMs.
        let _ = catalogue.add_split(split);
    }
    let contexts = catalogue.green_contexts().len() as u64;
    for id in (1..).map(StreamId).take(scenario.streams().len() - 1) {
        let bits = seed.rotate_right(id.0 * 7);
        if contexts > 0 && bits & 3 != 0 {
            let green_context = Some(GreenContextId(u16::try_from(bits / 4 % contexts).expect("few")));
            let stream = StreamSpec::clone(&catalogue.streams()[id.index()]);
            let spec = StreamSpec { green_context, sm_mask: None, blocking: false, ..stream };
            catalogue.set_stream(id, spec).expect("it exists");
        }
    }
    let streams_of = |kernel| (0..).map(StreamId).take(catalogue.streams().len()).map(move |stream| (kernel, stream));
    let kernels = (0..).map(gpusched::workload::KernelId).take(catalogue.kernels().len());
    let all_fit = kernels.flat_map(streams_of).all(|(kernel, stream)| catalogue.check_launch(kernel, stream).is_ok());
    if all_fit {
        scenario.catalogue = catalogue;
    }
    scenario
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn engine_reference_and_audit_agree_on_green_contexts(Case(scenario) in scenario(Limits::ALL), seed in any::<u64>()) {
        let scenario = with_green_contexts(scenario, seed);
        agreed(&scenario)?;
    }
}

proptest! {
    #![proptest_config(config(30))]

    #[test]
    fn no_run_with_green_contexts_is_above_a_bound(Case(scenario) in scenario(Limits::ALL), seed in any::<u64>()) {
        let scenario = with_green_contexts(scenario, seed);
        // A run that was found above a bound is an error.
        judged(&scenario, &SearchOptions { runs: 20, ..SearchOptions::default() });
    }
}
