//! Hardware channels that streams share: they are dealt to them (CUDA C++ Programming Guide, Megatron-LM), or take them
//! (Bakita and Anderson, RTAS 2024).

use std::collections::BTreeSet;

use gpusched::analysis::{SearchOptions, Verdict, judge};
use gpusched::audit::{AuditRule, ObservedRun, Tolerances, audit};
use gpusched::device::{BUILTIN_NAMES, BlockShape, ChannelOrder};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step, WhatIf};
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Cause, OperationRecord, Rule, Snapshot, Trace, blame};
use gpusched::workload::{BlockClock, BlockTime, Kernel, OperationId, StreamId, StreamSpec};
use serde_json::{Value, json};

use crate::agreement::agreed;
use crate::generate::builtin;

/// What is launched at an instant, in ns.
#[derive(Clone, Copy)]
enum Launch {
    /// A kernel of one block that fills the only SM for 10 ns.
    Kernel(u64, StreamId),
    Memset(u64, StreamId),
}

const NULL: StreamId = StreamId::NULL;
const A: StreamId = StreamId(1);
const FREE: StreamId = StreamId(2);

/// One SM, a blocking stream A and a non-blocking one.
fn run(channels: u32, launches: &[Launch]) -> Trace {
    run_in_order(ChannelOrder::Fifo, 0, channels, launches)
}

fn run_in_order(order: ChannelOrder, seed: u64, channels: u32, launches: &[Launch]) -> Trace {
    simulate(&launched(order, seed, channels, Duration::ZERO, launches)).expect("it runs").trace
}

fn launched(order: ChannelOrder, seed: u64, channels: u32, gap: Duration, launches: &[Launch]) -> Scenario {
    let options = ReadOptions { seed: Some(seed), ..ReadOptions::default() };
    let changed = builtin("tx2").with(|spec| {
        (spec.sms, spec.sms_per_tpc, spec.channels, spec.channel_order) = (1, 1, Some(channels), order);
        spec.kernel_gap = gap;
    });
    let device = changed.expect("it is a GPU");
    let mut builder = ScenarioBuilder::new("channels".to_owned(), device, &options);
    builder.add_stream(StreamSpec::new("A")).expect("it exists");
    for name in ["free", "other", "third"] {
        builder.add_stream(StreamSpec { blocking: false, ..StreamSpec::new(name) }).expect("it exists");
    }
    let kernel = Kernel {
        name: "kernel".into(),
        title: "kernel".into(),
        blocks: 2,
        shape: BlockShape { threads: 1024, registers_per_thread: 0, shared_memory_bytes: 0 },
        duration: BlockTime::fixed(Duration::from_ns(10)),
        clock: BlockClock::RunTime,
        sm_mask: None,
    };
    let kernel = builder.add_kernel(kernel).expect("it fits");
    for &launch in launches {
        let (release, step) = match launch {
            Launch::Kernel(at, stream) => (at, Step::Launch(kernel, stream)),
            Launch::Memset(at, stream) => (at, Step::Memset(stream)),
        };
        builder.add_thread(HostThread::once("thread", Duration::from_ns(release), vec![step]));
    }
    builder.build()
}

fn starts(trace: &Trace) -> Vec<u64> {
    trace.operations().iter().filter_map(OperationRecord::first_start).map(Instant::as_ns).collect()
}

#[test]
fn a_stream_without_a_channel_waits_until_the_last_kernel_of_another_is_dispatched() {
    let launches = [Launch::Kernel(0, A), Launch::Kernel(0, A), Launch::Kernel(2, FREE)];
    let trace = run(1, &launches);
    assert_eq!(starts(&trace), [0, 10, 20]);
    let wait = trace.waits(OperationId(2))[0];
    assert_eq!((wait.rule, wait.from.as_ns(), wait.to.as_ns()), (Rule::Channel, 2, 10));
    // With two channels it would only wait for the SM.
    let rules: Vec<Rule> = run(2, &launches).waits(OperationId(2)).iter().map(|wait| wait.rule).collect();
    assert!(!rules.contains(&Rule::Channel));
}

/// When the kernels of three streams start, which come one after another while a fourth has the only channel.
fn turns(order: ChannelOrder, seed: u64) -> [u64; 3] {
    let launches = [
        Launch::Kernel(0, A),
        Launch::Kernel(0, A),
        Launch::Kernel(2, FREE),
        Launch::Kernel(3, StreamId(3)),
        Launch::Kernel(4, StreamId(4)),
    ];
    let all = starts(&run_in_order(order, seed, 1, &launches));
    [all[2], all[3], all[4]]
}

#[test]
fn a_free_channel_goes_to_the_first_the_last_or_any_stream_that_waits() {
    assert_eq!(turns(ChannelOrder::Fifo, 0), [20, 30, 40]);
    // When the second kernel of A is dispatched at 10, the last takes its channel, and so on.
    assert_eq!(turns(ChannelOrder::Lifo, 0), [40, 30, 20]);
    let by_chance: BTreeSet<[u64; 3]> = (0..64).map(|seed| turns(ChannelOrder::Random, seed)).collect();
    assert_eq!(by_chance.len(), 6, "every order of three comes up");
    assert_eq!(turns(ChannelOrder::Random, 7), turns(ChannelOrder::Random, 7));
}

#[test]
fn a_stream_that_n2_holds_gives_its_channel_to_the_null_stream_it_waits_for() {
    let trace = run(1, &[Launch::Kernel(0, A), Launch::Kernel(0, NULL), Launch::Kernel(0, A)]);
    assert_eq!(starts(&trace), [0, 10, 20]);
}

#[test]
fn a_stream_that_n2_holds_gives_its_channel_back_also_while_a_kernel_gap_holds_it() {
    let launches = [Launch::Kernel(0, A), Launch::Kernel(0, NULL), Launch::Kernel(0, A), Launch::Kernel(0, FREE)];
    let scenario = launched(ChannelOrder::Fifo, 0, 1, Duration::from_ns(4), &launches);
    let run = agreed(&scenario).expect("engine, reference and audit agree");
    // The free stream waits for a channel before the NULL stream does, and has it from 10 ns on, not from 14.
    assert_eq!(starts(&run.trace), [0, 20, 30, 10]);
    // Whom only the gap holds keeps it.
    let launches = [Launch::Kernel(0, A), Launch::Kernel(0, A), Launch::Kernel(0, FREE)];
    let scenario = launched(ChannelOrder::Fifo, 0, 1, Duration::from_ns(4), &launches);
    assert_eq!(starts(&agreed(&scenario).expect("all agree").trace), [0, 14, 24]);
}

#[test]
fn a_stream_keeps_its_channel_when_memsets_of_the_null_stream_end_the_hold_at_the_same_instant() {
    let launches = [
        Launch::Kernel(0, A),
        Launch::Kernel(0, FREE),
        Launch::Memset(0, NULL),
        Launch::Memset(0, NULL),
        Launch::Kernel(0, A),
    ];
    // When the first kernel completes both memsets do, and the next kernel of A is never really held.
    let trace = run(1, &launches);
    let start = |operation: usize| trace.operations()[operation].first_start().expect("it ran").as_ns();
    assert_eq!((start(4), start(1)), (10, 20));
}

#[test]
fn a_random_order_of_channels_makes_runs_depend_on_the_seed() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/rtss2017/figure-3.json");
    let text = std::fs::read_to_string(file).expect("it is shipped");
    let scenario = Scenario::from_json(file, &text, &ReadOptions::default()).expect("sound");
    let unlimited = scenario.catalogue.on(scenario.device().without_channels()).expect("it takes all of it");
    let scenario = Scenario { catalogue: unlimited, ..scenario };
    let depends = |connections, channel_order| {
        let changes = WhatIf { connections, channel_order, ..WhatIf::default() };
        scenario.clone().what_if(&changes).expect("it can be changed").depends_on_seed()
    };
    assert!(depends(Some(1), Some(ChannelOrder::Random)));
    assert!(!depends(Some(1), Some(ChannelOrder::Lifo)));
    assert!(!depends(None, Some(ChannelOrder::Random)), "without a limit there is no order");
}

/// A scenario with so many channels, in the order of submission.
fn dealt(scenario: &Scenario, connections: u32) -> Scenario {
    let changes = WhatIf { connections: Some(connections), ..WhatIf::default() };
    scenario.clone().what_if(&changes).expect("it can be changed")
}

fn read(text: &str) -> Scenario {
    Scenario::from_json("own", text, &ReadOptions::default()).expect("it is sound")
}

fn shipped(name: &str) -> Scenario {
    let file = format!("{}/scenarios/validation/{name}.json", env!("CARGO_MANIFEST_DIR"));
    read(&std::fs::read_to_string(file).expect("it is shipped"))
}

/// When each kernel began and ended, in us, by title and order of launch; engine, reference and audit say the same.
fn times(scenario: &Scenario, connections: u32) -> Vec<(String, u64, u64)> {
    let run = agreed(&dealt(scenario, connections)).expect("engine, reference and audit agree");
    let us = |at: Option<Instant>| at.expect("it ran").as_ns() / 1_000;
    let kernel = |(id, record): (OperationId, &OperationRecord)| {
        Some((run.trace.kernel_of(id)?.name.to_string(), us(record.first_start()), us(record.finish())))
    };
    (0..).map(OperationId).zip(run.trace.operations()).filter_map(kernel).collect()
}

fn named(all: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    all.iter().map(|&(name, start, end)| (name.to_owned(), start, end)).collect()
}

/// Megatron-LM 533 and `TransformerEngine` 1308: with one connection kernels go on in the order of the host's calls, so
/// that a collective has room before the GEMM launched after it takes all. By hand: a GEMM has one block on each of 132
/// SMs, of which 8 have no room beside a collective; so it takes two rounds of 1 ms, or three behind one.
#[test]
fn with_one_connection_each_collective_runs_beside_the_gemm_launched_after_it() {
    let expected = [
        ("gemm", 0, 2_000),
        ("all_gather", 2_000, 3_000),
        ("gemm", 2_000, 5_000),
        ("all_gather", 5_000, 6_000),
        ("gemm", 5_000, 8_000),
    ];
    assert_eq!(times(&shipped("tensor-parallel"), 1), named(&expected));
}

/// Megatron-LM 1468: with one connection no collective runs beside a kernel that was launched before it but the last.
#[test]
fn with_one_connection_collectives_wait_for_all_that_was_launched_before() {
    let collectives = |connections| {
        let mut all = times(&shipped("connections"), connections);
        all.retain(|(name, ..)| name == "reduce_scatter");
        all
    };
    assert_eq!(collectives(1), named(&[("reduce_scatter", 5_000, 6_500), ("reduce_scatter", 6_500, 8_000)]));
    assert_eq!(collectives(8), named(&[("reduce_scatter", 1_000, 2_500), ("reduce_scatter", 2_500, 4_000)]));
}

/// verl-omni 421, FSDP2 with one connection: gathering ahead runs beside computation, though an event is recorded
/// behind it; reducing does not run beside what is launched after it, as a kernel stands behind it in its stream. With
/// CUDA's default of 8 it does.
#[test]
fn with_one_connection_what_stands_behind_a_collective_in_its_stream_holds_later_kernels_and_a_record_does_not() {
    let expected = |last: u64| {
        named(&[
            ("all_gather", 0, 1_500),
            ("forward", 0, 1_000),
            ("backward", 1_500, 2_500),
            ("reduce_scatter", 2_500, 4_000),
            ("cast", 4_000, 4_100),
            ("backward", last, last + 1_000),
        ])
    };
    assert_eq!(times(&shipped("one-connection"), 1), expected(4_000));
    assert_eq!(times(&shipped("one-connection"), 8), expected(2_500));
}

const FALSE_DEPENDENCY: &str = r#"{"format": "gpusched-scenario/1", "name": "false dependency", "device": "h100",
    "kernels": {"long": {"blocks": 1, "threads": 256, "duration": "10 ms"},
        "short": {"blocks": 1, "threads": 256, "duration": "1 ms"}},
    "streams": [
        {"name": "A", "operations": [{"kernel": "long"}, {"record": "done"}]},
        {"name": "B", "operations": [{"wait": "done"}, {"kernel": "short"}]},
        {"name": "C", "operations": [{"kernel": "short"}]}]}"#;

/// A wait for an event holds the kernel of a third stream behind it (CUDA C Programming Guide, "Implicit
/// Synchronization", of compute capability 3.0).
#[test]
fn a_wait_for_an_event_holds_what_is_behind_it_in_its_channel() {
    let scenario = read(FALSE_DEPENDENCY);
    let with = |last| named(&[("long", 0, 10_000), ("short", 10_000, 11_000), ("short", last, last + 1_000)]);
    assert_eq!(times(&scenario, 1), with(10_000));
    // NULL has the first, A the second, B the first, C the second again, with nothing in it that waits.
    assert_eq!(times(&scenario, 2), with(0));
    assert_eq!(times(&scenario, 8), with(0));
    let one = dealt(&scenario, 1);
    let run = simulate(&one).expect("it runs");
    let waits = run.trace.waits(OperationId(4));
    assert_eq!(
        waits.iter().map(|wait| (wait.rule, wait.to.as_ns())).collect::<Vec<_>>(),
        [(Rule::Channel, 10_000_000)]
    );
    let state = Snapshot::new(&run.trace, one.device(), Instant::from_ns(1));
    let held = state.waiting.iter().find(|held| held.operation == OperationId(4)).expect("it waits");
    assert_eq!((held.behind, held.cause.clone()), (Some(OperationId(3)), Some(Cause::Channel(Some(OperationId(3))))));
    let blamed = blame(&run.trace, one.device()).into_iter().find(|part| part.operation == OperationId(4));
    assert_eq!(blamed.and_then(|part| part.blocking), Some(OperationId(3)), "the kernel right ahead of it");
}

/// A run in which each stream has a channel for itself is none of a GPU with one.
#[test]
fn an_audit_finds_what_began_before_what_is_ahead_of_it_in_its_channel() {
    let scenario = read(FALSE_DEPENDENCY);
    let run = simulate(&scenario).expect("it runs");
    let mut observation = ObservedRun::of_run(&run).expect("it is short");
    let found = |observation: &ObservedRun| {
        let findings = audit(observation, &Tolerances::EXACT, Progress::NONE).findings;
        findings.iter().map(|finding| (finding.rule, finding.at_ns.as_ns())).collect::<Vec<_>>()
    };
    assert_eq!(found(&observation), []);
    observation.device = observation.device.with(|spec| spec.channels = Some(1)).expect("it is a GPU");
    assert!(found(&observation).contains(&(AuditRule::Channel, 0)));
}

/// Five streams on an Orin, which gives a process 4 channels: the fifth shares one, and what has no deadline there is
/// known of keeps it longer than the kernel alone takes.
#[test]
fn a_deadline_that_depends_on_who_shares_a_channel_is_open() {
    let bulk: Vec<String> = (0..4)
        .map(|number| {
            format!(
                r#"{{"name": "bulk {number}", "period": "40 ms", "jobs": 1, "operations": [{{"kernel": "bulk"}}]}}"#
            )
        })
        .collect();
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "five streams", "device": "orin",
        "kernels": {{"bulk": {{"blocks": 384, "threads": 512, "duration": "1 ms"}},
            "urgent": {{"blocks": 16, "threads": 256, "duration": "500 us"}}}},
        "streams": [{}, {{"name": "urgent", "release": "1 ms", "priority": -1, "period": "40 ms", "jobs": 1,
            "deadline": "1.5 ms", "operations": [{{"kernel": "urgent"}}]}}]}}"#,
        bulk.join(", ")
    );
    let scenario = read(&text);
    let verdict = |scenario: &Scenario| {
        let verdicts = judge(scenario, &SearchOptions::default(), Progress::NONE).expect("it is judged");
        let says = verdicts.notes.iter().any(|note| note.contains("the 4 hardware channels of a process"));
        assert_eq!(says, scenario.device().channels == Some(4), "{:?}", verdicts.notes);
        verdicts
            .jobs
            .iter()
            .find(|job| &*job.stream == "urgent")
            .and_then(|job| job.verdict)
            .expect("it has a deadline")
    };
    assert_eq!(verdict(&scenario), Verdict::Open);
    assert_eq!(verdict(&dealt(&scenario, 8)), Verdict::Proven);
    // As streams take channels, it waits until a kernel of another stream has begun its last block.
    let lifo = WhatIf { channel_order: Some(ChannelOrder::Lifo), ..WhatIf::default() };
    assert_eq!(verdict(&scenario.clone().what_if(&lifo).expect("it can be changed")), Verdict::Missed);
}

/// With as many channels as streams nothing ever waits for one, whichever way they are shared.
#[test]
fn as_many_channels_as_streams_hold_nobody() {
    for order in ChannelOrder::ALL {
        let launches = [Launch::Kernel(0, A), Launch::Kernel(0, A), Launch::Kernel(0, FREE), Launch::Kernel(2, FREE)];
        let few = launched(order, 0, 2, Duration::ZERO, &launches);
        let trace = agreed(&few).expect("all agree").trace;
        let rules = (0..4).flat_map(|id| trace.waits(OperationId(id))).map(|wait| wait.rule);
        assert!(rules.into_iter().all(|rule| rule != Rule::Channel), "{order:?}");
    }
}

/// NVIDIA's sample simpleHyperQ: 32 streams, each with two kernels of one block and 10 ms. Without Hyper-Q (a K5000 has
/// compute capability 3.0) at most two run at a time, one first and one second, so that there are 33 steps; with 32
/// connections all first ones run at once, then all second ones.
#[test]
fn one_queue_runs_two_kernels_of_streams_with_two_each_and_as_many_queues_as_streams_run_all() {
    let streams = (0..32).map(|number| format!(r#"{{"name": "{number}"}}"#)).collect::<Vec<_>>().join(", ");
    let launches = (0..32)
        .map(|number| format!(r#"{{"launch": "A", "stream": "{number}"}}, {{"launch": "B", "stream": "{number}"}}"#));
    let kernel = r#"{"blocks": 1, "threads": 1, "duration": "10 ms"}"#;
    let scenario = read(&format!(
        r#"{{"format": "gpusched-scenario/1", "name": "hyperQ", "device": "k5000", "kernels": {{"A": {kernel}, "B": {kernel}}},
        "streams": [{streams}], "hosts": [{{"name": "host", "steps": [{}]}}]}}"#,
        launches.collect::<Vec<_>>().join(", ")
    ));
    let end = |scenario: &Scenario| agreed(scenario).expect("all agree").trace.end().as_ns() / 1_000_000;
    assert_eq!(end(&scenario), 330);
    assert_eq!(end(&dealt(&scenario, 32)), 20);
}

/// CUDA C++ Programming Guide, `CUDA_DEVICE_MAX_CONNECTIONS`; Bakita and Anderson, RTAS 2024; one queue up to compute
/// capability 3.0. Every built-in device states how many it has, and where from or that it is assumed.
#[test]
fn built_in_devices_have_the_channels_that_are_documented() {
    for name in BUILTIN_NAMES {
        let device = builtin(name);
        let channels = device.channels.expect("it is stated");
        let is_told = device.sources.contains_key("channels") != device.assumptions.contains_key("channels");
        assert!(is_told, "{name}");
        match name {
            "k5000" => assert_eq!(channels, 1),
            "xavier" => assert_eq!(channels, 2),
            "orin" => assert_eq!(channels, 4),
            "tx1" | "tx2" => assert!(device.assumptions.contains_key("channels") && channels == 8),
            _ if device.title.contains("Jetson") || device.title.contains("DGX Spark") => {}
            _ => assert!(channels == 8 && device.sources.contains_key("channels"), "{name}"),
        }
    }
}

/// That of a TX2 is assumed, and verdicts say so if streams are more than the fewest channels that any board has.
#[test]
fn a_verdict_that_depends_on_an_assumed_number_of_channels_says_so() {
    let notes = |streams: usize, connections| {
        let streams: Vec<String> = (0..streams)
            .map(|number| format!(r#"{{"name": "{number}", "period": "40 ms", "jobs": 1, "deadline": "40 ms", "operations": [{{"kernel": "K"}}]}}"#))
            .collect();
        let scenario = read(&format!(
            r#"{{"format": "gpusched-scenario/1", "name": "streams", "device": "tx2",
            "kernels": {{"K": {{"blocks": 1, "threads": 256, "duration": "1 ms"}}}}, "streams": [{}]}}"#,
            streams.join(", ")
        ));
        let changes = WhatIf { connections, ..WhatIf::default() };
        let scenario = scenario.what_if(&changes).expect("it can be changed");
        let verdicts = judge(&scenario, &SearchOptions::default(), Progress::NONE).expect("it is judged");
        assert!(verdicts.jobs.iter().all(|job| job.verdict == Some(Verdict::Proven)));
        verdicts.notes.iter().filter(|note| note.contains("hardware channels of a process that are assumed")).count()
    };
    assert_eq!([notes(2, None), notes(3, None), notes(3, Some(8))], [0, 1, 0]);
}

/// On an Orin with green contexts of 8 SMs each, whose streams are dealt to 4 channels after the NULL stream: "a" and
/// the branch of the graph in it share one, and nobody else does. The two nodes of the graph run one after another as
/// the block of the first takes its SMs, in 2 ms; the branch is ready whenever what is ahead of it is.
#[test]
fn a_graph_whose_branches_share_a_channel_keeps_the_bounds_of_its_host() {
    let block =
        |ms: u32| json!({"blocks": 8, "threads": 1024, "registers_per_thread": 64, "duration": format!("{ms} ms")});
    let host = |name: &str, step: &Value| json!({"name": name, "period": "10 ms", "deadline": "10 ms", "steps": [step, {"synchronize": name}]});
    let launch = |name: &str| host(name, &json!({"launch": "long", "stream": name}));
    let scenario = |connections: u32| {
        let text = json!({
            "format": "gpusched-scenario/1", "name": "branches", "device": "orin",
            "kernels": {"K": block(1), "long": block(2)},
            "graphs": {"G": {"nodes": {"one": {"kernel": "K"}, "two": {"kernel": "K"}}}},
            "green_contexts": [{"sms": 8, "names": ["own"], "remaining": "rest"}],
            "streams": [
                {"name": "a", "green_context": "own"},
                {"name": "b", "green_context": "rest"},
                {"name": "c", "green_context": "rest"},
                {"name": "d", "green_context": "rest"}
            ],
            "hosts": [host("a", &json!({"graph": "G", "stream": "a"})), launch("b"), launch("c"), launch("d")]
        });
        dealt(&read(&text.to_string()), connections)
    };
    let of = |connections: u32| {
        let scenario = scenario(connections);
        let verdicts = judge(&scenario, &SearchOptions::default(), Progress::NONE).expect("it is judged");
        let job = verdicts.jobs.iter().find(|job| &*job.stream == "a").expect("it has a deadline");
        (job.worst_found_ns, job.bound_ns, verdicts.notes.clone())
    };
    let two_ms = Some(Duration::from_ns(2_000_000));
    let (found, bound, notes) = of(4);
    assert_eq!((found, bound), (two_ms, two_ms));
    let note = notes.iter().find(|note| note.contains("are dealt to the 4 hardware channels")).expect("it says so");
    assert!(note.contains(r#""a" and "a: G, branch 2" share one"#), "{note}");
    // With one channel it waits for others too.
    let (_, bound, _) = of(1);
    assert!(bound.is_none_or(|bound| Some(bound) > two_ms), "{bound:?}");
}
