//! `multikernel.so`: kernels one after another in one stream, with copies around them.

use std::sync::Arc;

use super::behaviour::{Behaviour, Benchmark};
use super::reading::{Reading, add_kernel};
use super::spin::shared_memory;
use crate::device::{BlockShape, CopyDirection, Sided};
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

/// For each entry: a stream-synchronize and a sleep if it has a `delay`, a copy in, the kernel, a copy out, none of
/// them waited for. A stream-synchronize at the end.
pub(super) fn read(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    benchmark.check_counts()?;
    let info = benchmark
        .info
        .ok_or_else(|| benchmark.node.problem("multikernel.so needs a list of kernels in additional_info"))?;
    let entries = info.filled_list()?;
    let mut steps = Vec::with_capacity(entries.len() + 1);
    for entry in entries {
        reading.builder.has_read(entry.start());
        read_entry(entry, benchmark, reading, &mut steps)?;
    }
    steps.push(Step::SynchronizeStream(benchmark.stream));
    Ok(Behaviour { steps, benchmark_name: "Multi-kernel submission", sync: KernelSync::None })
}

fn read_entry(
    node: Node<'_>,
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
    steps: &mut Vec<Step>,
) -> Result<(), Problem> {
    let stream = benchmark.stream;
    let ([label, duration, blocks, threads_node], optional) = node.fields(&KEYS)?;
    let [shared_memory_size, delay, copy_in, copy_out, mask_node] = optional;
    let label = reading.name(&label.text()?);
    let duration = duration.nanoseconds()?;
    let blocks = dimensions(blocks, Sided::Grid)?;
    let threads = dimensions(threads_node, Sided::Block)?;
    let shared_memory_bytes = shared_memory(shared_memory_size)?;
    let delay = delay.map(|node| node.seconds()).transpose()?.unwrap_or_default();
    let sm_mask = mask_node.map(fields::sm_mask).transpose()?;

    if delay > Duration::ZERO {
        steps.extend([Step::SynchronizeStream(stream), Step::Sleep(delay)]);
    }
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
    let place = Place { whole: node, threads: Some(threads_node), priority: None, sm_mask: mask_node };
    let kernel = add_kernel(reading, place, kernel)?;
    steps.insert(kernel_position, Step::Launch(kernel, stream));
    Ok(())
}
