//! Benchmarks whose kernels compute something. Their sources say how many blocks they launch and what they copy; how
//! long a block runs, the user says.

use super::behaviour::{Behaviour, Benchmark, sides};
use super::reading::Reading;
use super::spin::{Launched, iterations, one_kernel};
use crate::device::{CopyDirection, Sided};
use crate::json::Problem;
use crate::proven::OrMost;
use crate::scenario::examiner_logs::KernelSync;
use crate::scenario::fields::dimensions;
use crate::scenario::model::Step;
use crate::spelling::option;
use crate::workload::{BlockClock, Copy, KernelId};

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
