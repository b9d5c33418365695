//! Hardware channels that streams share (Bakita and Anderson, RTAS 2024).

use std::collections::BTreeSet;

use gpusched::device::{BlockShape, ChannelOrder};
use gpusched::hosts::simulate;
use gpusched::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step, WhatIf};
use gpusched::time::{Duration, Instant};
use gpusched::trace::{OperationRecord, Rule, Trace};
use gpusched::workload::{BlockClock, BlockTime, Kernel, OperationId, StreamId, StreamSpec};

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
    let depends = |connections, channel_order| {
        let changes = WhatIf { connections, channel_order, ..WhatIf::default() };
        scenario.clone().what_if(&changes).expect("it can be changed").depends_on_seed()
    };
    assert!(depends(Some(1), Some(ChannelOrder::Random)));
    assert!(!depends(Some(1), Some(ChannelOrder::Lifo)));
    assert!(!depends(None, Some(ChannelOrder::Random)), "without a limit there is no order");
}
