//! Benchmarks that launch one kernel and wait for it.

use std::sync::Arc;

use super::behaviour::{Behaviour, Benchmark};
use super::legacy;
use super::reading::{Reading, add_kernel};
use crate::device::{BlockShape, Sided};
use crate::json::{Node, Problem};
use crate::scenario::examiner_logs::KernelSync;
use crate::scenario::fields::{Place, dimensions};
use crate::scenario::model::Step;
use crate::time::{Duration, MAX_INPUT_NS};
use crate::workload::{BlockClock, BlockTime, Kernel, KernelId, StreamId};

/// What `timer_spin` runs for when `additional_info` is absent.
const DEFAULT_SPIN: Duration = Duration::from_ns(10_000_000);

/// Loop iterations of `counter_spin` when `additional_info` is absent.
const DEFAULT_ITERATIONS: u64 = 1_000_000;

/// Bytes of one unit of `shared_memory_size`.
const WORD_BYTES: u32 = 4;

/// What `shared_memory_size` may be in the examiner, which has a kernel for each.
const SIZES: [u32; 4] = [0, 4096, 8192, 10_240];

/// A kernel that a benchmark launches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launched {
    pub(super) blocks: u32,
    pub(super) threads: u32,
    pub(super) duration: Duration,
    pub(super) clock: BlockClock,
    pub(super) shared_memory_bytes: u32,
}

/// `timer_spin.so`.
pub(super) fn timer(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    let duration = spin_time(benchmark.info)?;
    let kernel = as_stated(benchmark, reading, "GPUSpin", (duration, reading.timer), 0)?;
    Ok(launch_and_synchronize(kernel, benchmark.stream, "Timer Spin"))
}

/// `timer_spin_default_stream.so`: on the NULL stream; the host waits for its own kernel.
pub(super) fn timer_default_stream(
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
) -> Result<Behaviour, Problem> {
    let duration = spin_time(benchmark.info)?;
    let kernel = as_stated(benchmark, reading, "GPUSpin", (duration, reading.timer), 0)?;
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
    let info = benchmark.info.ok_or_else(|| benchmark.needs_info())?;
    let (duration, shared) = if info.is_string() {
        let (duration, words) = legacy::spin_and_words(info)?;
        (duration, in_bytes(info, words, reading)?)
    } else {
        let mut fields = info.object()?;
        let duration = fields.required("duration")?.nanoseconds()?;
        let shared = shared_memory(fields.optional("shared_memory_size")?, reading)?;
        fields.finish()?;
        (duration, shared)
    };
    let kernel = as_stated(benchmark, reading, "SharedMem_GPUSpin", (duration, reading.timer), shared)?;
    Ok(launch_and_synchronize(kernel, benchmark.stream, "Timer Spin (shared memory)"))
}

/// `counter_spin.so`: loop iterations, of a length that the device file assumes.
pub(super) fn counter(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    let number = benchmark.info.map_or(Ok(DEFAULT_ITERATIONS), iterations)?;
    let duration = spin_iterations(benchmark.info.unwrap_or(benchmark.node), number, reading)?;
    let kernel = as_stated(benchmark, reading, "CounterSpin", (duration, BlockClock::RunTime), 0)?;
    Ok(launch_and_synchronize(kernel, benchmark.stream, "Counter Spin"))
}

fn launch_and_synchronize(kernel: KernelId, stream: StreamId, benchmark_name: &'static str) -> Behaviour {
    Behaviour {
        steps: vec![Step::Launch(kernel, stream), Step::SynchronizeStream(stream)],
        benchmark_name,
        sync: KernelSync::AfterKernel,
    }
}

/// A kernel of the blocks and threads that the file states.
fn as_stated(
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
    name: &str,
    (duration, clock): (Duration, BlockClock),
    shared_memory_bytes: u32,
) -> Result<KernelId, Problem> {
    let (threads, blocks) = (dimensions(benchmark.threads, Sided::Block)?, benchmark.stated_grid()?);
    one_kernel(benchmark, reading, name, Launched { blocks, threads, duration, clock, shared_memory_bytes })
}

pub(super) fn one_kernel(
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
    name: &str,
    launched: Launched,
) -> Result<KernelId, Problem> {
    let Launched { blocks, threads, duration, clock, shared_memory_bytes } = launched;
    let kernel = Kernel {
        name: reading.name(name),
        title: Arc::clone(&benchmark.title),
        blocks,
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

/// A number of iterations or steps, as a number or a string of one.
pub(super) fn iterations(node: Node<'_>) -> Result<u64, Problem> {
    if !node.is_string() {
        return node.whole_number(0, u64::MAX);
    }
    node.string()?.trim().parse().map_err(|_| node.expected("a whole number, or a string of one"))
}

/// The time that a number of `counter_spin` iterations takes on this device; warns that it is an assumption.
pub(super) fn spin_iterations(
    node: Node<'_>,
    iterations: u64,
    reading: &mut Reading<'_, '_>,
) -> Result<Duration, Problem> {
    let device = reading.builder.device();
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
pub(super) fn shared_memory(node: Option<Node<'_>>, reading: &mut Reading<'_, '_>) -> Result<u32, Problem> {
    let Some(node) = node else { return Ok(0) };
    in_bytes(node, node.whole_u32(0, u32::MAX / WORD_BYTES)?, reading)
}

fn in_bytes(node: Node<'_>, words: u32, reading: &mut Reading<'_, '_>) -> Result<u32, Problem> {
    if !SIZES.contains(&words) {
        let [none, small, middle, large] = SIZES;
        reading.builder.note(format!(
            "the examiner refuses a shared_memory_size of {words}: it has kernels for {none}, {small}, {middle} and {large}"
        ));
    }
    words.checked_mul(WORD_BYTES).ok_or_else(|| node.problem("so many 32-bit words are more than 2^32 bytes"))
}
