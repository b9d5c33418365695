//! Scenarios that the benchmarks share.

#![allow(dead_code, clippy::expect_used, reason = "each benchmark uses some of them, and they are known to be sound")]

pub(crate) mod texts;

use gpusched::device::{BlockShape, Device};
use gpusched::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use gpusched::time::Duration;
use gpusched::workload::{BlockClock, BlockTime, Kernel, StreamSpec};

/// The Jetson TX2.
pub(crate) fn tx2() -> Device {
    Device::builtin("tx2").expect("sound").expect("built in")
}

fn kernel(index: u64, blocks: u32, threads: u32, ns: u64) -> Kernel {
    Kernel {
        name: "K".into(),
        title: format!("K{index}").into(),
        blocks,
        shape: BlockShape { threads, registers_per_thread: 0, shared_memory_bytes: 0 },
        duration: BlockTime::fixed(Duration::from_ns(ns)),
        clock: BlockClock::RunTime,
        sm_mask: None,
    }
}

fn thread(steps: Vec<Step>, iterations: u64) -> HostThread {
    HostThread { iterations: Some(iterations), ..HostThread::once("thread", Duration::ZERO, steps) }
}

/// `launches` kernels of `blocks` blocks each, mixed in size and block time, dealt to `streams` streams, all launched
/// at t = 0.
pub(crate) fn mixed(launches: u64, blocks: u32, streams: u64) -> Scenario {
    mixed_with(&ReadOptions::default(), launches, blocks, streams)
}

/// As [`mixed`], but each block takes half to all of its kernel's block time.
pub(crate) fn varying(launches: u64, blocks: u32, streams: u64) -> Scenario {
    let options = ReadOptions { vary_percent: Some((50, 100)), ..ReadOptions::default() };
    mixed_with(&options, launches, blocks, streams)
}

fn mixed_with(options: &ReadOptions, launches: u64, blocks: u32, streams: u64) -> Scenario {
    const THREADS: [u32; 8] = [32, 1024, 128, 768, 256, 512, 64, 96];
    let mut builder = ScenarioBuilder::new("mixed".to_owned(), tx2(), options);
    for stream in 0..streams {
        let id = builder.add_stream(StreamSpec::new(format!("S{stream}"))).expect("sound");
        let steps = (0..launches / streams)
            .map(|number| {
                let mix = number * streams + stream;
                let threads = THREADS[usize::try_from(mix * 7 % 8).unwrap_or(0)];
                let time = 100_000 + mix * 7_919 % 900_001;
                let kernel = builder.add_kernel(kernel(mix, blocks, threads, time)).expect("it fits");
                Step::Launch(kernel, id)
            })
            .collect();
        builder.add_thread(thread(steps, 1));
    }
    builder.build()
}

/// `launches` one-block kernels in `streams` streams, each stream launching the next when the previous has completed.
pub(crate) fn one_block_chains(launches: u64, streams: u64) -> Scenario {
    let options = ReadOptions::default();
    let mut builder = ScenarioBuilder::new("chains".to_owned(), tx2(), &options);
    for stream in 0..streams {
        let id = builder.add_stream(StreamSpec::new(format!("S{stream}"))).expect("sound");
        let kernel = builder.add_kernel(kernel(stream, 1, 128, 10_007 + 101 * stream)).expect("it fits");
        let steps = vec![Step::Launch(kernel, id), Step::SynchronizeStream(id)];
        builder.add_thread(thread(steps, launches / streams));
    }
    builder.build()
}

/// One kernel of `blocks` blocks.
pub(crate) fn one_grid(blocks: u32) -> Scenario {
    let options = ReadOptions::default();
    let mut builder = ScenarioBuilder::new("grid".to_owned(), tx2(), &options);
    let id = builder.add_stream(StreamSpec::new("S")).expect("sound");
    let kernel = builder.add_kernel(kernel(0, blocks, 512, 1_000)).expect("it fits");
    builder.add_thread(thread(vec![Step::Launch(kernel, id)], 1));
    builder.build()
}

/// A host thread that wakes up `times` times and does nothing, while one kernel fills the GPU; with `blocked`, a second
/// one waits all that time at the head of its EE queue.
pub(crate) fn idle_wake_ups(times: u64, blocked: bool) -> Scenario {
    const BETWEEN: Duration = Duration::from_ns(1_000);
    let options = ReadOptions::default();
    let mut builder = ScenarioBuilder::new("wake-ups".to_owned(), tx2(), &options);
    let launches = (0..if blocked { 2 } else { 1 })
        .map(|number| {
            let id = builder.add_stream(StreamSpec::new(format!("S{number}"))).expect("sound");
            let kernel = builder.add_kernel(kernel(number, 4, 1024, 2_000 * times)).expect("it fits");
            Step::Launch(kernel, id)
        })
        .collect();
    builder.add_thread(thread(launches, 1));
    builder.add_thread(thread(vec![Step::Sleep(BETWEEN)], times));
    builder.build()
}

/// Processes that each fill the GPU for their share of 10 s, in turns of 1 ms.
pub(crate) fn filling_processes(count: u32) -> Scenario {
    let names = || (0..count).map(|number| format!("P{number}"));
    let list = |entry: &dyn Fn(String) -> String| names().map(entry).collect::<Vec<_>>().join(", ");
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "processes", "device": "tx2", "switch_cost": "0 us",
            "processes": {{{}}}, "kernels": {{"K": {{"blocks": 8, "threads": 512, "duration": "{} us"}}}},
            "streams": [{}]}}"#,
        list(&|name| format!(r#""{name}": {{"time_slice": "1 ms"}}"#)),
        10_000_000 / count,
        list(&|name| format!(r#"{{"name": "{name}", "process": "{name}", "operations": [{{"kernel": "K"}}]}}"#)),
    );
    Scenario::from_json("bench", &text, &ReadOptions::default()).expect("sound")
}

/// Some jobs of a stream that is released every ms and takes 1.2 ms, beside one of a fifth of the rate: on a TX2 each
/// waits for the one before it, so the backlog grows by a sixth of the releases.
pub(crate) fn overload(jobs: u64) -> Scenario {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "overload", "device": "tx2", "horizon": "{jobs} ms",
            "kernels": {{"K": {{"blocks": 8, "threads": 256, "duration": "1200 us"}},
                "L": {{"blocks": 4, "threads": 128, "duration": "300 us"}}}},
            "streams": [{{"name": "camera", "period": "1 ms", "operations": [{{"kernel": "K"}}]}},
                {{"name": "lidar", "period": "5 ms", "operations": [{{"kernel": "L"}}]}}]}}"#
    );
    Scenario::from_json("bench", &text, &ReadOptions::default()).expect("sound")
}
