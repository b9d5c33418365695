//! Reading scenario files of the examiner, beside a plain typed read of the same text by `serde_json`.

mod workloads;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use gpusched::scenario::{LogUse, ReadOptions, Scenario};
use serde::Deserialize;
use workloads::texts;

fn main() {
    divan::main();
}

const KERNELS: u32 = 100_000;
const STREAMS: u32 = 64;

#[divan::bench(args = ["chains", "benchmarks"])]
fn scenario(bencher: Bencher<'_, '_>, kind: &str) {
    let text = text(kind);
    // As `simulate` and `analyze` do, which write no logs unless asked.
    let options = ReadOptions { logs: LogUse::Unused, ..ReadOptions::default() };
    let read = || Scenario::from_json("bench", black_box(&text), &options);
    let kernels = read().map_or(0, |scenario| scenario.kernels().len());
    bencher.counter(BytesCount::of_str(&text)).counter(ItemsCount::new(kernels)).bench(read);
}

#[divan::bench(args = ["chains", "benchmarks"])]
fn serde_json_typed(bencher: Bencher<'_, '_>, kind: &str) {
    let text = text(kind);
    let bencher = bencher.counter(BytesCount::of_str(&text));
    // What additional_info is, the kind of benchmark says.
    if kind == "chains" {
        bencher.bench(|| serde_json::from_str::<File<Vec<Kernel>>>(black_box(&text)));
    } else {
        bencher.bench(|| serde_json::from_str::<File<u64>>(black_box(&text)));
    }
}

fn text(kind: &str) -> String {
    if kind == "chains" { texts::chains(KERNELS, STREAMS, 1) } else { texts::benchmarks(KERNELS / 2) }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a scenario's reader reads it")]
struct File<I> {
    name: String,
    max_iterations: u64,
    max_time: f64,
    cuda_device: u64,
    benchmarks: Vec<Benchmark<I>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a scenario's reader reads it")]
struct Benchmark<I> {
    filename: String,
    label: String,
    log_name: String,
    thread_count: u32,
    block_count: u32,
    data_size: u64,
    additional_info: I,
    #[serde(default)]
    release_time: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a scenario's reader reads it")]
struct Kernel {
    #[serde(rename = "kernel_label")]
    label: String,
    duration: u64,
    block_count: u32,
    thread_count: u32,
}
