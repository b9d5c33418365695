//! Runs to draw, for tests of the suite and for those beside the library's pictures.

use std::collections::BTreeMap;
use std::path::Path;

use gpusched::device::{BlockShape, Device};
use gpusched::hosts::simulate;
use gpusched::run::Run;
use gpusched::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use gpusched::time::Duration;
use gpusched::trace::{Observed, ObservedBlock, Trace};
use gpusched::workload::{BlockClock, BlockTime, Kernel, OperationId, StreamSpec};
use serde_json::{Value, json};

/// RTSS 2017, fig. 3 and Table 1, as shipped, with a name that formats of pictures have to escape.
pub(crate) fn rtss_2017_fig_3() -> String {
    // Below the crate that this is compiled for, or the project that it is of.
    let mut roots = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|root| root.join("scenarios"));
    let scenarios = roots.find(|scenarios| scenarios.exists()).expect("they are shipped");
    let text = std::fs::read_to_string(scenarios.join("rtss2017/figure-3.json")).expect("it is shipped");
    text.replacen("RTSS 2017, figure 3", "RTSS 2017 <fig. 3> & co.", 1)
}

pub(crate) fn fig_3() -> Scenario {
    Scenario::from_json("fig3.json", &rtss_2017_fig_3(), &ReadOptions::default()).expect("it is sound")
}

/// Kernels in order: stream, title, blocks, threads, block time \[us\].
pub(crate) fn launches(device: &str, launches: &[(String, String, u32, u32, u64)]) -> Scenario {
    let device = Device::builtin(device).expect("the file is sound").expect("it is built in");
    let options = ReadOptions::default();
    let mut builder = ScenarioBuilder::new("a scenario".to_owned(), device, &options);
    let mut streams = BTreeMap::new();
    let mut steps: BTreeMap<String, Vec<Step>> = BTreeMap::new();
    for (stream, title, blocks, threads, us) in launches {
        let id = *streams
            .entry(stream.clone())
            .or_insert_with(|| builder.add_stream(StreamSpec::new(stream.as_str())).expect("sound"));
        let kernel = Kernel {
            name: title.as_str().into(),
            title: title.as_str().into(),
            blocks: *blocks,
            shape: BlockShape { threads: *threads, ..BlockShape::default() },
            duration: BlockTime::fixed(Duration::from_ns(us * 1_000)),
            clock: BlockClock::RunTime,
            sm_mask: None,
        };
        let kernel = builder.add_kernel(kernel).expect("it fits");
        steps.entry(stream.clone()).or_default().push(Step::Launch(kernel, id));
    }
    for (number, (stream, steps)) in (0..).zip(steps) {
        builder.add_thread(HostThread::once(stream.as_str(), Duration::from_ns(number * 700_000), steps));
    }
    builder.build()
}

fn launch(stream: &str, title: &str, shape: (u32, u32, u64)) -> (String, String, u32, u32, u64) {
    (stream.to_owned(), title.to_owned(), shape.0, shape.1, shape.2)
}

pub(crate) fn sizes() -> Vec<(&'static str, Scenario)> {
    let eighty: Vec<_> = (1..9_u32)
        .map(|n| launch(&format!("Stream {}", n % 3), &format!("K{n}"), (n * 17, 128 * n, 1_000 * u64::from(n))))
        .collect();
    let long: Vec<_> = (0..1_000_u32)
        .map(|n| {
            let stream = format!("perception_stage_{}_of_the_left_camera", n % 23);
            let title = format!("vectorized_elementwise_kernel_number_{}_of_all_templates", n % 31);
            let shape = (1 + n % 57 * 3, 32 + 32 * (n % 13), u64::from(90 + n % 11));
            launch(&stream, &title, shape)
        })
        .collect();
    vec![
        ("one block", launches("tx2", &[launch("S", "K", (1, 256, 1_000))])),
        ("Fig. 3", fig_3()),
        ("80 SMs", launches("titan-v", &eighty)),
        (
            "a million blocks",
            launches("titan-v", &[launch("S1", "A", (900_000, 32, 40)), launch("S2", "B", (100_000, 64, 30))]),
        ),
        ("a thousand launches", launches("titan-v", &long)),
    ]
}

/// The same run as if somebody had measured its blocks.
pub(crate) fn measured(trace: &Trace) -> Trace {
    let ids = (0..).map(OperationId).take(trace.operations().len());
    let blocks = ids.clone().flat_map(|operation| {
        trace.blocks(operation).map(move |block| ObservedBlock {
            operation,
            index: block.index,
            sm: block.sm,
            start: block.start,
            end: block.end,
        })
    });
    let launches = ids.filter_map(|id| Some((id, trace.operations().get(id.index())?.launched())));
    let observed = Observed { launches: launches.collect(), spans: Vec::new(), blocks: blocks.collect() };
    trace.with_observed(&observed).expect("they are few")
}

/// Two processes, one stream and kernel each: half of a TX2 for `run_ms`, in slices of 1 ms with switches of 500 us.
/// The second kernel comes at 500 us.
pub(crate) fn two_halves(run_ms: u64) -> Value {
    json!({
        "format": "gpusched-scenario/1", "name": "two", "device": "tx2", "switch_cost": "500 us",
        "processes": {"P": {"time_slice": "1 ms"}, "Q": {"time_slice": "1 ms"}},
        "kernels": {
            "A": {"blocks": 2, "threads": 1024, "duration": format!("{run_ms} ms")},
            "B": {"blocks": 2, "threads": 1024, "duration": format!("{run_ms} ms")},
        },
        "streams": [
            {"name": "P1", "process": "P", "operations": [{"kernel": "A"}]},
            {"name": "Q1", "process": "Q", "release": "500 us", "operations": [{"kernel": "B"}]},
        ],
    })
}

/// One kernel of blocks of 1024 threads, each from 1 s to 2 s, on these SMs.
pub(crate) fn log(sms: &[u32]) -> String {
    log_of(&sms.iter().map(|&sm| (sm, 1, 2)).collect::<Vec<_>>())
}

/// One kernel of blocks of 1024 threads: the SM of each, and from when to when it runs \[s\].
pub(crate) fn log_of(blocks: &[(u32, u32, u32)]) -> String {
    let times = |&(_, start, end): &(u32, u32, u32)| format!("{start}.0,{end}.0", start = start + 10, end = end + 10);
    let (times, sms): (Vec<_>, Vec<_>) = blocks.iter().map(|block| (times(block), block.0.to_string())).unzip();
    let end = blocks.iter().map(|(.., end)| end + 10).max().unwrap_or(10);
    format!(
        r#"{{"scenario_name": "measured", "benchmark_name": "Timer Spin", "label": "A", "max_resident_threads": 4096,
            "data_size": 0, "release_time": 0, "PID": 1, "TID": 2, "times": [{{}},
            {{"copy_in_times": [9.9,9.91], "execute_times": [9.92,{end}.1], "copy_out_times": [{end}.1,{end}.2],
              "cpu_times": [9.9,{end}.2]}},
            {{"kernel_name": "K", "block_count": {}, "thread_count": 1024, "shared_memory": 0,
              "cuda_launch_times": [9.95, 10.0, {end}.05], "block_times": [{}], "block_smids": [{}], "cpu_core": 0}}]}}"#,
        blocks.len(),
        times.join(","),
        sms.join(","),
    )
}

/// The first job finishes at 4 ms, due at 6 ms. The second is released at 10 ms, when another kernel fills the GPU
/// until 13 ms: it finishes at 17 ms, due at 16 ms.
pub(crate) const ONE_OF_TWO: &str = r#"{"format": "gpusched-scenario/1", "name": "one of two",
    "kernels": {"k": {"blocks": 2, "threads": 1024, "duration": "4 ms"},
                "hog": {"blocks": 4, "threads": 1024, "duration": "4 ms"}},
    "streams": [{"name": "S", "period": "10 ms", "jobs": 2, "deadline": "6 ms", "operations": [{"kernel": "k"}]},
                {"name": "T", "release": "9 ms", "operations": [{"kernel": "hog"}]}]}"#;

/// One job that never ends, so that all others stay in the backlog.
pub(crate) const BACKLOG: &str = r#"{"format": "gpusched-scenario/1", "name": "backlog", "horizon": "100 ms",
    "kernels": {"k": {"blocks": 4, "threads": 1024, "duration": "1 s"}},
    "streams": [{"name": "S"}],
    "hosts": [{"name": "H", "period": "1 us", "deadline": "1 ms",
               "steps": [{"launch": "k", "stream": "S"}, {"synchronize": "S"}]}]}"#;

pub(crate) fn run_of(text: &str) -> Run<'static> {
    let scenario = Scenario::from_json("test.json", text, &ReadOptions::default()).expect("it is sound");
    simulate(&scenario).expect("it runs").into_owned()
}
