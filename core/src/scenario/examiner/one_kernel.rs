//! Benchmarks that launch one kernel and wait for it: those that spin for a time, and those that compute something. The
//! sources of the latter say how many blocks they launch and what they copy; how long a block runs, the user says.

use std::sync::Arc;

use super::reading::{Behaviour, Benchmark, Launched, Reading, add_kernel, sides};
use crate::device::{CopyDirection, Sided};
use crate::json::{Node, Problem};
use crate::proven::OrMost;
use crate::scenario::examiner_logs::KernelSync;
use crate::scenario::host_thread::Step;
use crate::scenario::reader::{Place, dimensions};
use crate::spelling::option;
use crate::time::{Duration, MAX_INPUT_NS};
use crate::workload::{BlockClock, Copy, KernelId, StreamId};

/// What `timer_spin` runs for when `additional_info` is absent.
const DEFAULT_SPIN: Duration = Duration::from_ns(10_000_000);

/// Loop iterations of `counter_spin` when `additional_info` is absent.
const DEFAULT_ITERATIONS: u64 = 1_000_000;

/// Bytes of one unit of `shared_memory_size`.
const WORD_BYTES: u32 = 4;

/// What `shared_memory_size` may be in the examiner, which has a kernel for each.
const SIZES: [u32; 4] = [0, 4096, 8192, 10_240];

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
        let (duration, words) = spin_and_words(info)?;
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
    let names = (reading.name(name), Arc::clone(&benchmark.title));
    let place = Place { whole: benchmark.node, threads: Some(benchmark.threads), priority: None, sm_mask: None };
    add_kernel(reading, place, names, launched, None)
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

/// The plugins count points and numbers in 32 bits with a sign: an image or matrix has at most so many a side.
const MOST_SIDE: u64 = 46_340;
/// Bytes of a number of a matrix.
const FLOAT_BYTES: u64 = 4;
/// Bytes of a place of a walk.
const PLACE_BYTES: u64 = 8;

/// `mandelbrot.so`: a thread for each point of the largest square image of `data_size` points, which is then copied
/// out, a byte a point.
pub(super) fn mandelbrot(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    benchmark.info.map(iterations).transpose()?;
    let node = benchmark.data_size;
    let side = node.whole_number(1, u64::MAX)?.isqrt();
    if side > MOST_SIDE {
        return Err(node.problem(format!("mandelbrot.so counts points in 32 bits: {MOST_SIDE} a side at most")));
    }
    let (points, threads) = (side * side, dimensions(benchmark.threads, Sided::Block)?);
    let blocks = own_grid(benchmark, reading, points.div_ceil(u64::from(threads)))?;
    let kernel = given(benchmark, reading, "BasicMandelbrot", (blocks, threads))?;
    let image = [copy(benchmark, reading, CopyDirection::DeviceToHost, points)?];
    Ok(in_phases(benchmark, "Mandelbrot Set", &[], kernel, &image))
}

/// `matrix_multiply.so`: a thread for each number of the product of two square matrices, in blocks of two dimensions.
/// Both are copied in and their product is copied out, unless that is skipped.
pub(super) fn matrix_multiply(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    let mut fields = benchmark.info.ok_or_else(|| benchmark.needs_info())?.object()?;
    let width = fields.required("matrix_width")?.whole_number(1, MOST_SIDE)?;
    let skips_copies = fields.optional("skip_copy")?.map(|node| node.boolean()).transpose()?.unwrap_or(false);
    fields.finish()?;
    dimensions(benchmark.threads, Sided::Block)?;
    let [x, y] = match sides(benchmark.threads)?[..] {
        [x, y, ..] if y > 1 => [x, y],
        // For a block of one dimension it sets 32 x 32, and then takes the 1 for the second all the same.
        _ => {
            reading.builder.note(format!(
                "benchmark {:?}: matrix_multiply.so launches blocks of 32 x 1 threads where thread_count has one dimension",
                benchmark.title
            ));
            [32, 1]
        }
    };
    let [wide, tall] = [x, y].map(|side| width.div_ceil(side.into()));
    let blocks = own_grid(benchmark, reading, wide * tall)?;
    // A block has so few threads, or its kernel is refused.
    let kernel = given(benchmark, reading, "matrix_multiply", (blocks, x.saturating_mul(y)))?;
    let (mut inputs, mut product) = (Vec::new(), Vec::new());
    if !skips_copies {
        let bytes = width * width * FLOAT_BYTES;
        let input = copy(benchmark, reading, CopyDirection::HostToDevice, bytes)?;
        inputs.extend([input, input]);
        product.push(copy(benchmark, reading, CopyDirection::DeviceToHost, bytes)?);
    }
    Ok(in_phases(benchmark, "Matrix Multiply", &inputs, kernel, &product))
}

/// `random_walk.so` and `inorder_walk.so`: blocks as stated, each of whose threads walks through a buffer of
/// `data_size` bytes for as many steps as `additional_info` says.
pub(super) fn walk(
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
    name: &'static str,
) -> Result<Behaviour, Problem> {
    benchmark.info.map(iterations).transpose()?;
    benchmark.data_size.whole_number(PLACE_BYTES, u64::MAX)?;
    let grid = (benchmark.stated_grid()?, dimensions(benchmark.threads, Sided::Block)?);
    let kernel = given(benchmark, reading, "WalkKernel", grid)?;
    Ok(in_phases(benchmark, name, &[], kernel, &[]))
}

/// A benchmark of somebody else: one kernel of the stated blocks, then it waits for its stream.
pub(super) fn other(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    let grid = (benchmark.stated_grid()?, dimensions(benchmark.threads, Sided::Block)?);
    let kernel = given(benchmark, reading, benchmark.kind, grid)?;
    Ok(in_phases(benchmark, "Unknown", &[], kernel, &[]))
}

/// How many blocks a benchmark launches that does not ask the file; says so where that states another number.
fn own_grid(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>, blocks: u64) -> Result<u32, Problem> {
    let stated = sides(benchmark.blocks)?.iter().map(|side| u128::from(*side)).product::<u128>();
    if stated != u128::from(blocks) {
        let (title, kind) = (&benchmark.title, benchmark.kind);
        reading
            .builder
            .note(format!("benchmark {title:?}: {kind}.so ignores block_count and launches {blocks} blocks"));
    }
    // No side has more than 46,340 points.
    Ok(u32::try_from(blocks).or_most())
}

/// A kernel of which the user says how long its blocks run.
fn given(
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
    name: &str,
    (blocks, threads): (u32, u32),
) -> Result<KernelId, Problem> {
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
    let launched = Launched { blocks, threads, duration, clock: BlockClock::RunTime, shared_memory_bytes: 0 };
    one_kernel(benchmark, reading, name, launched)
}

fn copy(
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
    direction: CopyDirection,
    bytes: u64,
) -> Result<Step, Problem> {
    let added = reading.builder.add_copy(Copy { direction, bytes: Some(bytes), duration: None });
    let id = added.map_err(|error| benchmark.node.problem(error.to_string()))?;
    Ok(Step::Copy(id, benchmark.stream))
}

/// The examiner's three phases: copies in, the kernel, copies out, each of them waited for.
fn in_phases(
    benchmark: &Benchmark<'_>,
    benchmark_name: &'static str,
    inputs: &[Step],
    kernel: KernelId,
    outputs: &[Step],
) -> Behaviour {
    let stream = benchmark.stream;
    let phases = [inputs, &[Step::Launch(kernel, stream)], outputs];
    let waited_for = |phase: &[Step]| [phase, &[Step::SynchronizeStream(stream)]].concat();
    let steps = phases.into_iter().filter(|phase| !phase.is_empty()).flat_map(waited_for).collect();
    Behaviour { steps, benchmark_name, sync: KernelSync::AfterKernel }
}

/// A kernel of a `multikernel.so`: `"K1,500000000,7,512"` is its name, nanoseconds, blocks and threads.
pub(super) struct TextKernel {
    pub(super) name: String,
    pub(super) duration: Duration,
    pub(super) blocks: u32,
    /// As that version rounded them up, to whole warps.
    pub(super) threads: u32,
}

/// Threads of a warp, to which that version rounded up.
const WARP: u32 = 32;

/// Reads kernels one after another, of four parts each.
pub(super) fn text_kernels(node: Node<'_>) -> Result<Vec<TextKernel>, Problem> {
    let text = node.text()?;
    let parts: Vec<&str> = text.split(',').collect();
    let (kernels, rest) = parts.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(node.expected(
            "a list of kernels, or a text with name, nanoseconds, blocks and threads of each, as in \"K1,1000000,1,512\"",
        ));
    }
    let kernel = |[name, duration, blocks, threads]: &[&str; 4]| {
        Ok(TextKernel {
            name: (*name).to_owned(),
            duration: nanoseconds(node, duration)?,
            blocks: count(node, blocks)?,
            threads: count(node, threads)?.next_multiple_of(WARP),
        })
    };
    kernels.iter().map(kernel).collect()
}

/// `"500000000,4096"` of a `sharedmem_timer_spin.so`: nanoseconds, and 32-bit words of shared memory.
pub(super) fn spin_and_words(node: Node<'_>) -> Result<(Duration, u32), Problem> {
    let text = node.text()?;
    let Some((duration, words)) = text.split_once(',') else {
        return Err(node.expected("an object, or nanoseconds and 32-bit words as in \"500000000,4096\""));
    };
    Ok((nanoseconds(node, duration)?, number(node, words, 0)?))
}

fn nanoseconds(node: Node<'_>, part: &str) -> Result<Duration, Problem> {
    let ns = part.trim().parse().ok().filter(|&ns| ns <= MAX_INPUT_NS);
    ns.map(Duration::from_ns)
        .ok_or_else(|| node.problem(format!("expected nanoseconds, from 0 to 2^63, found {part:?}")))
}

fn count(node: Node<'_>, part: &str) -> Result<u32, Problem> {
    number(node, part, 1)
}

/// A number from `least` on.
fn number(node: Node<'_>, part: &str, least: i32) -> Result<u32, Problem> {
    let number = part.trim().parse::<i32>().ok().filter(|number| *number >= least);
    let wrong = || node.problem(format!("expected a whole number from {least} to {}, found {part:?}", i32::MAX));
    number.map(i32::unsigned_abs).ok_or_else(wrong)
}
