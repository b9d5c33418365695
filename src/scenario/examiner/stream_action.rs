//! `stream_action.so`: any sequence of CUDA calls.

use std::sync::Arc;

use super::behaviour::{Behaviour, Benchmark};
use super::reading::{Reading, add_kernel};
use super::spin::{iterations, shared_memory, spin_iterations};
use crate::device::{BlockShape, CopyDirection, Sided};
use crate::json::{Keys, Node, Object, Problem};
use crate::scenario::examiner_logs::KernelSync;
use crate::scenario::fields::{Place, dimensions};
use crate::scenario::model::Step;
use crate::time::Duration;
use crate::workload::{BlockClock, BlockTime, Copy, Kernel, StreamId};

/// What an action may say.
const ACTION: Keys<1, 3> = Keys::new(["type"], ["label", "delay", "parameters"]);

/// What the parameters of a kernel may be.
const KERNEL: Keys<1, 5> =
    Keys::new(["duration"], ["type", "block_count", "thread_count", "shared_memory_size", "sm_mask"]);

/// Reads the list of actions. The host waits where an action says so and for synchronous copies, and at the end.
pub(super) fn read(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    benchmark.check_counts()?;
    let info = benchmark
        .info
        .ok_or_else(|| benchmark.node.problem("stream_action.so needs a list of actions in additional_info"))?;
    let mut fields = info.object()?;
    let use_null = match fields.optional("use_null_stream")? {
        Some(node) => node.boolean()?,
        None => false,
    };
    let stream = if use_null { benchmark.null } else { benchmark.stream };
    let actions = fields.required("actions")?.filled_list()?;
    fields.finish()?;
    let mut steps = Vec::new();
    for action in actions {
        read_action(action, stream, benchmark, reading, &mut steps)?;
    }
    steps.push(Step::SynchronizeStream(stream));
    Ok(Behaviour { steps, benchmark_name: "Sequential action execution", sync: KernelSync::None })
}

fn read_action(
    node: Node<'_>,
    stream: StreamId,
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
    steps: &mut Vec<Step>,
) -> Result<(), Problem> {
    let ([kind_node], [label, delay, parameters]) = node.fields(&ACTION)?;
    let kind = kind_node.text()?;
    let label = label.map(|node| node.text()).transpose()?;
    let delay = delay.map(|node| node.seconds()).transpose()?.unwrap_or_default();
    if delay > Duration::ZERO {
        steps.push(Step::Sleep(delay));
    }
    let needed = || parameters.ok_or_else(|| node.problem("the key \"parameters\" is missing"));
    match &*kind {
        "kernel" => steps.push(kernel(needed()?, label.as_deref(), stream, benchmark, reading)?),
        "memset" => {
            let mut fields = needed()?.object()?;
            fields.required("size")?.whole_number(0, u64::MAX)?;
            let is_async = is_async(&mut fields)?;
            fields.finish()?;
            if is_async {
                steps.push(Step::Memset(stream));
            } else {
                steps.extend(Step::synchronous_memset(benchmark.null, reading.builder.device()));
            }
        }
        "memcpy" => copy(needed()?.object()?, stream, benchmark.null, reading, steps)?,
        "malloc" | "free" => {
            if let Some(parameters) = parameters {
                let mut fields = parameters.object()?;
                fields.optional("host")?.map(|node| node.boolean()).transpose()?;
                fields.optional("size")?.map(|node| node.whole_number(0, u64::MAX)).transpose()?;
                fields.finish()?;
            }
            steps.push(if *kind == *"free" { Step::Free } else { Step::Allocate });
        }
        "synchronize" => {
            let mut whole_device = false;
            if let Some(parameters) = parameters {
                let mut fields = parameters.object()?;
                if let Some(node) = fields.optional("device")? {
                    whole_device = node.boolean()?;
                }
                fields.finish()?;
            }
            steps.push(if whole_device { Step::SynchronizeDevice } else { Step::SynchronizeStream(stream) });
        }
        _ => {
            return Err(
                kind_node.expected("\"kernel\", \"malloc\", \"free\", \"memset\", \"memcpy\" or \"synchronize\"")
            );
        }
    }
    Ok(())
}

fn kernel(
    node: Node<'_>,
    label: Option<&str>,
    stream: StreamId,
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
) -> Result<Step, Problem> {
    let ([duration_node], [kind, blocks, threads, shared_memory_size, sm_mask]) = node.fields(&KERNEL)?;
    let (duration, clock, name) = match kind {
        None => (duration_node.nanoseconds()?, reading.timer, "GPUSpin"),
        Some(kind) => match kind.string().as_deref() {
            Ok("timer_spin") => (duration_node.nanoseconds()?, reading.timer, "GPUSpin"),
            Ok("counter_spin") => {
                let number = iterations(duration_node)?;
                (spin_iterations(duration_node, number, reading)?, BlockClock::RunTime, "CounterSpin")
            }
            _ => return Err(kind.expected("\"timer_spin\" or \"counter_spin\"")),
        },
    };
    let blocks = dimensions(blocks.unwrap_or(benchmark.blocks), Sided::Grid)?;
    let threads_node = threads.unwrap_or(benchmark.threads);
    let shared_memory_bytes = shared_memory(shared_memory_size, reading)?;
    if let Some(mask) = sm_mask {
        mask.string()?;
        reading.builder.note("stream_action.so ignores the sm_mask of its kernels, as the examiner does");
    }
    let name = reading.name(label.unwrap_or(name));
    let kernel = Kernel {
        title: if label.is_some() { Arc::clone(&name) } else { Arc::clone(&benchmark.title) },
        name,
        blocks,
        shape: BlockShape {
            threads: dimensions(threads_node, Sided::Block)?,
            registers_per_thread: 0,
            shared_memory_bytes,
        },
        duration: BlockTime::fixed(duration),
        clock,
        sm_mask: None,
    };
    let place = Place { whole: node, threads: Some(threads_node), priority: None, sm_mask: None };
    Ok(Step::Launch(add_kernel(reading, place, kernel)?, stream))
}

fn copy(
    mut fields: Object<'_>,
    stream: StreamId,
    null: StreamId,
    reading: &mut Reading<'_, '_>,
    steps: &mut Vec<Step>,
) -> Result<(), Problem> {
    let size = fields.required("size")?;
    let bytes = size.whole_number(0, u64::MAX)?;
    let direction_node = fields.required("direction")?;
    let direction = match direction_node.string().as_deref() {
        Ok("deviceToHost") => CopyDirection::DeviceToHost,
        Ok("hostToDevice") => CopyDirection::HostToDevice,
        Ok("deviceToDevice") => CopyDirection::DeviceToDevice,
        _ => return Err(direction_node.expected("\"deviceToHost\", \"hostToDevice\" or \"deviceToDevice\"")),
    };
    let asynchronous = is_async(&mut fields)?;
    fields.finish()?;
    let copy = Copy { direction, bytes: Some(bytes), duration: None };
    let id = reading.builder.add_copy(copy).map_err(|error| size.problem(error.to_string()))?;
    if asynchronous {
        steps.push(Step::Copy(id, stream));
    } else {
        steps.extend([Step::Copy(id, null), Step::AwaitLast]);
    }
    Ok(())
}

fn is_async(fields: &mut Object<'_>) -> Result<bool, Problem> {
    fields.optional("async")?.map_or(Ok(true), |node| node.boolean())
}
