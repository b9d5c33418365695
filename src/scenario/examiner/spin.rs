//! Benchmarks that launch one kernel and wait for it.

use std::sync::Arc;

use super::behaviour::{Behaviour, Benchmark};
use super::reading::{Reading, add_kernel};
use crate::device::{BlockShape, Sided};
use crate::json::{Node, Problem};
use crate::scenario::examiner_logs::KernelSync;
use crate::scenario::fields::{Place, dimensions};
use crate::scenario::model::Step;
use crate::spelling::option;
use crate::time::{Duration, MAX_INPUT_NS};
use crate::workload::{BlockClock, BlockTime, Kernel, KernelId, StreamId};

/// What `timer_spin` runs for when `additional_info` is absent.
const DEFAULT_SPIN: Duration = Duration::from_ns(10_000_000);

/// Bytes of one unit of `shared_memory_size`.
const WORD_BYTES: u32 = 4;

/// `timer_spin.so`.
pub(super) fn timer(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    let duration = spin_time(benchmark.info)?;
    let kernel = one_kernel(benchmark, reading, "GPUSpin", (duration, reading.timer), 0)?;
    Ok(launch_and_synchronize(kernel, benchmark.stream, "Timer Spin"))
}

/// `timer_spin_default_stream.so`: on the NULL stream; the host waits for its own kernel.
pub(super) fn timer_default_stream(
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
) -> Result<Behaviour, Problem> {
    let duration = spin_time(benchmark.info)?;
    let kernel = one_kernel(benchmark, reading, "GPUSpin", (duration, reading.timer), 0)?;
    Ok(Behaviour {
        steps: vec![Step::Launch(kernel, benchmark.null), Step::AwaitLast],
        benchmark_name: "Timer Spin (default stream)",
        sync: KernelSync::None,
    })
}

/// `sharedmem_timer_spin.so`.
pub(super) fn shared_memory_timer(
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
) -> Result<Behaviour, Problem> {
    let info = benchmark.info.ok_or_else(|| missing_info(benchmark))?;
    let mut fields = info.object()?;
    let duration = fields.required("duration")?.nanoseconds()?;
    let shared = shared_memory(fields.optional("shared_memory_size")?)?;
    fields.finish()?;
    let kernel = one_kernel(benchmark, reading, "SharedMem_GPUSpin", (duration, reading.timer), shared)?;
    Ok(launch_and_synchronize(kernel, benchmark.stream, "Timer Spin (shared memory)"))
}

/// `counter_spin.so`: loop iterations, of a length that the device file assumes.
pub(super) fn counter(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    let info = benchmark.info.ok_or_else(|| missing_info(benchmark))?;
    let duration = spin_iterations(info, reading)?;
    let kernel = one_kernel(benchmark, reading, "CounterSpin", (duration, BlockClock::RunTime), 0)?;
    Ok(launch_and_synchronize(kernel, benchmark.stream, "Counter Spin"))
}

/// Any other benchmark, if the user says how long its blocks run.
pub(super) fn other(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    let kind = benchmark.kind;
    let Some(duration) = reading.builder.given_block_duration(&[&benchmark.title, kind]) else {
        return Err(benchmark
            .node
            .problem(format!("the block duration of {:?} ({kind}.so) is not in the file", &*benchmark.title))
            .with_help(format!(
                "state it with {}, for example {}",
                option("block_duration").of(kind, "TIME"),
                option("block_duration").of(kind, "2ms")
            )));
    };
    let kernel = one_kernel(benchmark, reading, kind, (duration, BlockClock::RunTime), 0)?;
    Ok(launch_and_synchronize(kernel, benchmark.stream, "Unknown"))
}

fn missing_info(benchmark: &Benchmark<'_>) -> Problem {
    benchmark.node.problem(format!("{}.so needs additional_info", benchmark.kind))
}

fn launch_and_synchronize(kernel: KernelId, stream: StreamId, benchmark_name: &'static str) -> Behaviour {
    Behaviour {
        steps: vec![Step::Launch(kernel, stream), Step::SynchronizeStream(stream)],
        benchmark_name,
        sync: KernelSync::AfterKernel,
    }
}

fn one_kernel(
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
    name: &str,
    (duration, clock): (Duration, BlockClock),
    shared_memory_bytes: u32,
) -> Result<KernelId, Problem> {
    let threads = dimensions(benchmark.threads, Sided::Block)?;
    let kernel = Kernel {
        name: reading.name(name),
        title: Arc::clone(&benchmark.title),
        blocks: dimensions(benchmark.blocks, Sided::Grid)?,
        shape: BlockShape { threads, registers_per_thread: 0, shared_memory_bytes },
        duration: BlockTime::fixed(duration),
        clock,
        sm_mask: None,
    };
    let place = Place { whole: benchmark.node, threads: Some(benchmark.threads), priority: None, sm_mask: None };
    add_kernel(reading, place, kernel)
}

/// Nanoseconds as a number or a string of one; absent: the benchmark's default.
fn spin_time(info: Option<Node<'_>>) -> Result<Duration, Problem> {
    let Some(node) = info else { return Ok(DEFAULT_SPIN) };
    if node.is_string() {
        let text = node.string()?;
        return Duration::from_decimal_ns(text.trim())
            .map_err(|_| node.expected("nanoseconds, as a number or a string of one"));
    }
    node.nanoseconds()
}

/// The time that a number of `counter_spin` iterations takes on this device; warns that it is an assumption.
pub(super) fn spin_iterations(node: Node<'_>, reading: &mut Reading<'_, '_>) -> Result<Duration, Problem> {
    let device = reading.builder.device();
    let iterations = if node.is_string() {
        node.string()?.trim().parse().map_err(|_| node.expected("a number of loop iterations"))?
    } else {
        node.whole_number(0, u64::MAX)?
    };
    let atto = u128::from(iterations) * u128::from(device.spin_iteration_atto);
    let ns = u64::try_from((atto + 500_000_000) / 1_000_000_000).ok().filter(|&ns| ns <= MAX_INPUT_NS);
    let too_long = || node.problem("so many loop iterations take longer than 2^63 ns");
    let duration = Duration::from_ns(ns.ok_or_else(too_long)?);
    let note = format!(
        "counter_spin: one loop iteration is taken to last {} ns, an assumption of the device file of {}",
        device.spin_iteration_atto as f64 / 1e9,
        device.name
    );
    reading.builder.note(note);
    Ok(duration)
}

/// `shared_memory_size`, in 32-bit words, as bytes.
pub(super) fn shared_memory(node: Option<Node<'_>>) -> Result<u32, Problem> {
    let Some(node) = node else { return Ok(0) };
    Ok(node.whole_u32(0, u32::MAX / WORD_BYTES)? * WORD_BYTES)
}
