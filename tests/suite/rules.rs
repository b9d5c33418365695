//! The published rules, one by one, on scenarios small enough to check by hand.

use gpusched::device::BlockShape;
use gpusched::hosts::simulate;
use gpusched::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Rule, Trace};
use gpusched::workload::{BlockClock, BlockTime, Kernel, OperationId, StreamId, StreamSpec};

use crate::common::tx2;

/// One kernel in a stream of its own: (priority or none, release in ms, blocks, threads, block time in ms).
type Launch = (Option<i32>, u64, u32, u32, u64);

fn run(launches: &[Launch]) -> Trace {
    let options = ReadOptions::default();
    let mut builder = ScenarioBuilder::new("rules".to_owned(), tx2(), &options);
    for (index, &(priority, release, blocks, threads, time)) in launches.iter().enumerate() {
        let name = format!("K{index}");
        let spec = StreamSpec {
            priority: priority.unwrap_or(0),
            blocking: priority.is_none(),
            ..StreamSpec::new(name.as_str())
        };
        let stream = builder.add_stream(spec).expect("the TX2 has such a stream");
        let kernel = kernel(&name, blocks, threads, time);
        let kernel = builder.add_kernel(kernel).expect("it fits");
        builder.add_thread(thread(release, vec![Step::Launch(kernel, stream)]));
    }
    simulate_built(builder)
}

fn simulate_built(builder: ScenarioBuilder<'_>) -> Trace {
    let scenario: Scenario = builder.build();
    simulate(&scenario).expect("it runs").trace
}

fn kernel(name: &str, blocks: u32, threads: u32, ms: u64) -> Kernel {
    Kernel {
        name: name.into(),
        title: name.into(),
        blocks,
        shape: BlockShape { threads, registers_per_thread: 0, shared_memory_bytes: 0 },
        duration: BlockTime::fixed(Duration::from_ns(ms * 1_000_000)),
        clock: BlockClock::RunTime,
        sm_mask: None,
    }
}

fn thread(release_ms: u64, steps: Vec<Step>) -> HostThread {
    HostThread::once("thread", Duration::from_ns(release_ms * 1_000_000), steps)
}

fn ms(instant: Option<Instant>) -> u64 {
    instant.expect("it was reached").as_ns() / 1_000_000
}

fn start(trace: &Trace, kernel: u32) -> u64 {
    ms(trace.operations()[kernel as usize].first_start())
}

fn finish(trace: &Trace, kernel: u32) -> u64 {
    ms(trace.operations()[kernel as usize].finish())
}

fn rules(trace: &Trace, kernel: u32) -> Vec<Rule> {
    trace.waits(OperationId(kernel)).iter().map(|wait| wait.rule).collect()
}

#[test]
fn high_priority_head_that_does_not_fit_blocks_low_priority() {
    // 512 threads are free on each SM; the high-priority block needs 1024, the low-priority one would fit.
    let trace = run(&[(Some(0), 0, 6, 512, 10), (Some(-1), 1, 1, 1024, 10), (Some(0), 2, 1, 512, 10)]);
    assert_eq!((start(&trace, 1), start(&trace, 2)), (10, 10));
    assert_eq!(rules(&trace, 1), [Rule::R2]);
    assert_eq!(rules(&trace, 2), [Rule::A2]);
}

#[test]
fn a_fully_dispatched_high_priority_kernel_no_longer_holds_back_lower_ones() {
    let trace = run(&[(Some(-1), 0, 1, 1024, 10), (Some(0), 1, 1, 1024, 10)]);
    assert_eq!(start(&trace, 1), 1);
}

#[test]
fn a_blocked_head_blocks_what_is_behind_it() {
    let trace = run(&[(None, 0, 3, 1024, 10), (None, 1, 2, 1024, 10), (None, 2, 1, 32, 10)]);
    // One block of K1 starts at once, the other waits for K0; K2 would fit nowhere before that either way.
    assert_eq!((start(&trace, 1), finish(&trace, 1), start(&trace, 2)), (1, 20, 10));
    assert_eq!(rules(&trace, 2), [Rule::X1]);
}

#[test]
fn the_null_stream_waits_for_blocking_streams_and_they_for_it_but_not_for_non_blocking_ones() {
    let options = ReadOptions::default();
    let mut builder = ScenarioBuilder::new("null stream".to_owned(), tx2(), &options);
    let blocking = builder.add_stream(StreamSpec::new("blocking")).expect("sound");
    let free = builder.add_stream(StreamSpec { blocking: false, ..StreamSpec::new("non-blocking") }).expect("sound");
    let kernels: Vec<_> =
        (0..4).map(|k| builder.add_kernel(kernel(&format!("K{k}"), 1, 32, 10)).expect("it fits")).collect();
    builder.add_thread(thread(0, vec![Step::Launch(kernels[0], blocking)]));
    builder.add_thread(thread(1, vec![Step::Launch(kernels[1], StreamId::NULL)]));
    builder.add_thread(thread(2, vec![Step::Launch(kernels[2], blocking)]));
    builder.add_thread(thread(3, vec![Step::Launch(kernels[3], free)]));
    let trace = simulate_built(builder);
    assert_eq!([0, 1, 2, 3].map(|kernel| start(&trace, kernel)), [0, 10, 20, 3]);
    assert_eq!(rules(&trace, 1), [Rule::N1]);
    assert_eq!(rules(&trace, 2), [Rule::G2, Rule::N2]);
    assert_eq!(rules(&trace, 3), []);
}
