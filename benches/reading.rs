//! Reading scenario files of the examiner, beside a plain typed read of the same text by `serde_json`.

use std::fmt::Write;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use gpusched::scenario::{ReadOptions, Scenario};
use serde::Deserialize;

fn main() {
    divan::main();
}

const KERNELS: u32 = 100_000;
const STREAMS: u32 = 64;
const TOP: &str = "{\"name\": \"n\", \"max_iterations\": 1, \"max_time\": 0, \"cuda_device\": 0, \"benchmarks\": [\n";
const COUNTS: [u32; 4] = [128, 256, 512, 1024];

/// One-block kernels in a few streams: long lists of short objects.
fn chains() -> String {
    let mut text = TOP.to_owned();
    for stream in 0..STREAMS {
        let comma = if stream > 0 { "]},\n" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{comma}{{\"filename\": \"./bin/multikernel.so\", \"label\": \"S{stream}\", \"log_name\": \"s{stream}.json\", \
             \"thread_count\": 0, \"block_count\": 0, \"data_size\": 0, \"additional_info\": [",
        );
        for kernel in 0..KERNELS / STREAMS {
            let comma = if kernel > 0 { "," } else { "" };
            let (threads, ns) = (COUNTS[kernel as usize % 4], 1_000 + 7 * kernel);
            let _ = write!(
                text,
                "{comma}\n{{\"kernel_label\": \"K{kernel}\", \"duration\": {ns}, \"block_count\": 1, \
                 \"thread_count\": {threads}}}",
            );
        }
    }
    text.push_str("]}]}\n");
    text
}

/// Benchmarks of one kernel each: a long list of longer objects.
fn benchmarks() -> String {
    let mut text = TOP.to_owned();
    for benchmark in 0..KERNELS / 2 {
        let comma = if benchmark > 0 { ",\n" } else { "" };
        let (threads, ns) = (COUNTS[benchmark as usize % 4], 1_000 + 7 * benchmark);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{comma}{{\"filename\": \"./bin/timer_spin.so\", \"label\": \"B{benchmark}\", \
             \"log_name\": \"b{benchmark}.json\", \"thread_count\": {threads}, \"block_count\": 2, \"data_size\": 0, \
             \"additional_info\": {ns}, \"release_time\": 0.25}}",
        );
    }
    text.push_str("]}\n");
    text
}

#[divan::bench(args = ["chains", "benchmarks"])]
fn scenario(bencher: Bencher<'_, '_>, kind: &str) {
    let text = text(kind);
    let read = || Scenario::from_json("bench", black_box(&text), &ReadOptions::default());
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
    if kind == "chains" { chains() } else { benchmarks() }
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
