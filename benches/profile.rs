//! Profiles of applications: reading them beside a plain typed read of the same text, and from a profile to a simulated
//! run.

use std::borrow::Cow;
use std::fmt::Write;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use gpusched::hosts::simulate;
use gpusched::profile::{GpuProfile, ImportOptions, Launches};
use gpusched::scenario::ReadOptions;
use serde::Deserialize;

fn main() {
    divan::main();
}

/// A profile in Kineto's format with so many kernels in four streams; each comes with its launch, two operators of the
/// host and an annotation, as PyTorch writes them.
fn kineto(kernels: u64) -> String {
    let mut text = String::from(
        "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA A100-SXM4-40GB\", \
         \"computeMajor\": 8, \"computeMinor\": 0, \"maxThreadsPerBlock\": 1024, \
         \"maxThreadsPerMultiprocessor\": 2048, \"regsPerMultiprocessor\": 65536, \"warpSize\": 32, \
         \"sharedMemPerBlockOptin\": 166912, \"sharedMemPerMultiprocessor\": 167936, \"numSms\": 108}],\n\
         \"traceEvents\": [\n",
    );
    for kernel in 0..kernels {
        let at = 1_600_000_000_000_000 + 10 * kernel;
        let stream = 7 + kernel % 4;
        for (category, name) in [("cpu_op", "aten::linear"), ("cpu_op", "aten::addmm"), ("user_annotation", "step")] {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{{\"ph\": \"X\", \"cat\": \"{category}\", \"name\": \"{name}\", \"pid\": 10, \"tid\": 10, \
                 \"ts\": {at}.125, \"dur\": 9.5, \"args\": {{\"External id\": {kernel}, \"Record function id\": 0, \
                 \"Sequence number\": {kernel}, \"Fwd thread id\": 0, \"Ev Idx\": {kernel}}}}},",
            );
        }
        let _ = writeln!(
            text,
            "{{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 10, \"tid\": 10, \
             \"ts\": {at}.250, \"dur\": 4.125, \"args\": {{\"External id\": {kernel}, \"cbid\": 211, \
             \"correlation\": {kernel}}}}},\n\
             {{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void at::native::vectorized_elementwise_kernel<{}, \
             at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, float)\", \"pid\": 0, \
             \"tid\": {stream}, \"ts\": {}.500, \"dur\": 8.250, \"args\": {{\"External id\": {kernel}, \
             \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": {stream}, \"correlation\": {kernel}, \
             \"registers per thread\": 32, \"shared memory\": 0, \"blocks per SM\": 8.0, \"warps per SM\": 32.0, \
             \"grid\": [{}, 1, 1], \"block\": [128, 1, 1], \"est. achieved occupancy %\": 50}}}}{}",
            kernel % 16,
            at + 6,
            100 + kernel % 800,
            if kernel + 1 < kernels { "," } else { "\n]}" },
        );
    }
    text
}

/// What a plain program would read of it: types for all that is used, by serde's derived code.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypedTrace<'a> {
    #[serde(borrow)]
    trace_events: Vec<TypedEvent<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read counts, not what is done with it")]
struct TypedEvent<'a> {
    #[serde(borrow)]
    ph: Cow<'a, str>,
    #[serde(borrow)]
    cat: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    pid: i64,
    tid: i64,
    ts: f64,
    dur: f64,
    args: TypedArguments,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read counts, not what is done with it")]
struct TypedArguments {
    device: Option<u32>,
    context: Option<u32>,
    stream: Option<i64>,
    correlation: Option<u64>,
    #[serde(rename = "registers per thread")]
    registers: Option<u32>,
    #[serde(rename = "shared memory")]
    shared_memory: Option<u32>,
    grid: Option<[u32; 3]>,
    block: Option<[u32; 3]>,
    #[serde(rename = "est. achieved occupancy %")]
    occupancy: Option<f64>,
}

/// 100 MB, read into a profile. Goal: at most twice the time of the typed read below.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn read_kineto_of_100_megabytes(bencher: Bencher<'_, '_>) {
    let text = kineto(80_000);
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| GpuProfile::read("bench.json", black_box(text.as_bytes())).map(|profile| profile.channels));
}

/// The same text, read into types by `serde_json`.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn typed_read_of_100_megabytes(bencher: Bencher<'_, '_>) {
    let text = kineto(80_000);
    bencher.counter(BytesCount::new(text.len())).bench(|| {
        serde_json::from_slice::<TypedTrace<'_>>(black_box(text.as_bytes())).map(|trace| trace.trace_events.len())
    });
}

/// 20,000 kernels from the text of their profile to a simulated run. Goal: under 1 s.
#[divan::bench(args = [Launches::Host, Launches::Recorded], sample_count = 5, sample_size = 1)]
fn import_and_simulate_20_000_kernels(bencher: Bencher<'_, '_>, launches: Launches) {
    let text = kineto(20_000);
    bencher.counter(ItemsCount::new(20_000_u32)).bench(|| {
        let profile = GpuProfile::read("bench.json", black_box(text.as_bytes())).ok()?;
        let options = ImportOptions { launches, ..ImportOptions::default() };
        let import = profile.import(&options, &ReadOptions::default()).ok()?;
        simulate(&import.scenario).ok().map(|run| run.trace.waves())
    });
}
