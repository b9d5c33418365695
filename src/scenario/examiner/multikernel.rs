//! `multikernel.so`: kernels one after another in one stream, with copies around them.

use std::sync::Arc;

use super::behaviour::{Behaviour, Benchmark};
use super::legacy::{self, TextKernel};
use super::reading::{Reading, add_kernel};
use super::spin::shared_memory;
use crate::device::{BlockShape, CopyDirection, Sided, SmMask};
use crate::json::{Keys, Node, Problem};
use crate::scenario::examiner_logs::KernelSync;
use crate::scenario::fields::{self, Place, dimensions};
use crate::scenario::model::Step;
use crate::time::Duration;
use crate::workload::{BlockTime, Copy, Kernel};

/// Bytes of one unit of `copy_in_count` and `copy_out_count`.
const WORD_BYTES: u64 = 4;

/// What an entry may say.
const KEYS: Keys<4, 5> = Keys::new(
    ["kernel_label", "duration", "block_count", "thread_count"],
    ["shared_memory_size", "delay", "copy_in_count", "copy_out_count", "sm_mask"],
);

/// A kernel as its entry states it, and what is copied before and behind it.
struct Entry<'a> {
    label: Arc<str>,
    duration: Duration,
    blocks: u32,
    threads: u32,
    shared_memory_bytes: u32,
    sm_mask: Option<SmMask>,
    copies: [Option<Node<'a>>; 2],
    place: Place<'a>,
}

/// For each entry: a stream-synchronize and a sleep if it has a `delay`, a copy in, the kernel, a copy out, none of
/// them waited for. A stream-synchronize at the end.
pub(super) fn read(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    benchmark.check_counts()?;
    let info = benchmark
        .info
        .ok_or_else(|| benchmark.node.problem("multikernel.so needs a list of kernels in additional_info"))?;
    let mut steps = Vec::new();
    if info.is_string() {
        for TextKernel { name, duration, blocks, threads } in legacy::kernels(info)? {
            let place = Place { whole: info, threads: None, priority: None, sm_mask: None };
            let label = reading.name(&name);
            let (shared_memory_bytes, sm_mask, copies) = (0, None, [None; 2]);
            let entry = Entry { label, duration, blocks, threads, shared_memory_bytes, sm_mask, copies, place };
            add(entry, benchmark, reading, &mut steps)?;
        }
    } else {
        for entry in info.filled_list()? {
            reading.builder.has_read(entry.start());
            let entry = read_entry(entry, benchmark, reading, &mut steps)?;
            add(entry, benchmark, reading, &mut steps)?;
        }
    }
    steps.push(Step::SynchronizeStream(benchmark.stream));
    Ok(Behaviour { steps, benchmark_name: "Multi-kernel submission", sync: KernelSync::None })
}

fn read_entry<'a>(
    node: Node<'a>,
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
    steps: &mut Vec<Step>,
) -> Result<Entry<'a>, Problem> {
    let ([label, duration, blocks, threads_node], optional) = node.fields(&KEYS)?;
    let [shared_memory_size, delay, copy_in, copy_out, mask_node] = optional;
    let label = reading.name(&label.text()?);
    let duration = duration.nanoseconds()?;
    let blocks = dimensions(blocks, Sided::Grid)?;
    let threads = dimensions(threads_node, Sided::Block)?;
    let shared_memory_bytes = shared_memory(shared_memory_size, reading)?;
    let delay = delay.map(|node| node.seconds()).transpose()?.unwrap_or_default();
    let sm_mask = mask_node.map(|node| reading.sm_mask(node)).transpose()?;
    // A mask of 0 is none for the examiner, so that of the stream stays.
    let is_none = mask_node.is_some_and(|node| fields::sm_mask(node).is_ok_and(|mask| mask.takes_nothing()));
    if delay > Duration::ZERO {
        steps.extend([Step::SynchronizeStream(benchmark.stream), Step::Sleep(delay)]);
    }
    Ok(Entry {
        label,
        duration,
        blocks,
        threads,
        shared_memory_bytes,
        sm_mask: sm_mask.filter(|_| !is_none),
        copies: [copy_in, copy_out],
        place: Place { whole: node, threads: Some(threads_node), priority: None, sm_mask: mask_node },
    })
}

fn add(
    entry: Entry<'_>,
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
    steps: &mut Vec<Step>,
) -> Result<(), Problem> {
    let stream = benchmark.stream;
    let Entry { label, duration, blocks, threads, shared_memory_bytes, sm_mask, copies, place } = entry;
    let mut add_copy = |node: Option<Node<'_>>, direction, steps: &mut Vec<Step>| {
        let Some(node) = node else { return Ok(()) };
        let bytes = node.whole_number(0, u64::MAX / WORD_BYTES)? * WORD_BYTES;
        if bytes > 0 {
            let copy = Copy { direction, bytes: Some(bytes), duration: None };
            let id = reading.builder.add_copy(copy).map_err(|error| node.problem(error.to_string()))?;
            steps.push(Step::Copy(id, stream));
        }
        Ok(())
    };
    let [copy_in, copy_out] = copies;
    add_copy(copy_in, CopyDirection::HostToDevice, steps)?;
    let kernel_position = steps.len();
    add_copy(copy_out, CopyDirection::DeviceToHost, steps)?;
    let kernel = Kernel {
        name: Arc::clone(&label),
        title: label,
        blocks,
        shape: BlockShape { threads, registers_per_thread: 0, shared_memory_bytes },
        duration: BlockTime::fixed(duration),
        clock: reading.timer,
        sm_mask,
    };
    let kernel = add_kernel(reading, place, kernel)?;
    steps.insert(kernel_position, Step::Launch(kernel, stream));
    Ok(())
}
