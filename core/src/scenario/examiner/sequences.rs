//! Benchmarks that do several things one after another: the kernels of `multikernel.so`, with copies around them, and
//! the CUDA calls of `stream_action.so`.

use std::borrow::Cow;
use std::sync::Arc;

use super::one_kernel::{self, TextKernel, iterations, shared_memory, spin_iterations};
use super::reading::{Behaviour, Benchmark, Launched, Reading, add_kernel};
use crate::device::{CopyDirection, Sided, SmMask};
use crate::json::{Keys, Node, Object, Problem};
use crate::scenario::ahead::{AT_ONCE, Give, in_order};
use crate::scenario::examiner_logs::KernelSync;
use crate::scenario::host_thread::Step;
use crate::scenario::reader::{self, Place, dimensions};
use crate::time::Duration;
use crate::workload::{BlockClock, Copy, StreamId};

/// Bytes of one unit of `copy_in_count` and `copy_out_count`.
const WORD_BYTES: u64 = 4;

/// What an entry may say.
const ENTRY: Keys<4, 5> = Keys::new(
    ["kernel_label", "duration", "block_count", "thread_count"],
    ["shared_memory_size", "delay", "copy_in_count", "copy_out_count", "sm_mask"],
);

/// A kernel as its entry states it, and what is copied before and behind it.
struct Entry<'a> {
    label: Arc<str>,
    launched: Launched,
    sm_mask: Option<SmMask>,
    copies: [Option<Node<'a>>; 2],
    place: Place<'a>,
}

/// For each entry: a stream-synchronize and a sleep if it has a `delay`, a copy in, the kernel, a copy out, none of
/// them waited for. A stream-synchronize at the end.
pub(super) fn multikernel(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    benchmark.check_counts()?;
    let info = benchmark
        .info
        .ok_or_else(|| benchmark.node.problem("multikernel.so needs a list of kernels in additional_info"))?;
    let mut steps = Vec::new();
    if info.is_string() {
        for TextKernel { name, duration, blocks, threads } in one_kernel::text_kernels(info)? {
            let place = Place { whole: info, threads: None, priority: None, sm_mask: None };
            let label = reading.name(&name);
            let launched = Launched { blocks, threads, duration, clock: reading.timer, shared_memory_bytes: 0 };
            let entry = Entry { label, launched, sm_mask: None, copies: [None; 2], place };
            add(entry, benchmark, reading, &mut steps)?;
        }
    } else {
        let entries = info.filled_list()?;
        in_order(entries.chunks(AT_ONCE), StatedEntry::read_all, |stated: Vec<_>| {
            for stated in stated {
                let entry = read_entry(stated?, benchmark, reading, &mut steps)?;
                reading.builder.has_read(entry.place.whole.start());
                add(entry, benchmark, reading, &mut steps)?;
            }
            Ok(())
        })?;
    }
    steps.push(Step::SynchronizeStream(benchmark.stream));
    Ok(Behaviour { steps, benchmark_name: "Multi-kernel submission", sync: KernelSync::None })
}

/// What an entry says by itself, whatever the others say: it can be read on another thread.
struct StatedEntry<'a> {
    node: Node<'a>,
    label: Cow<'a, str>,
    duration: Duration,
    blocks: u32,
    threads: u32,
    threads_node: Node<'a>,
    optional: [Option<Node<'a>>; 5],
}

impl<'a> StatedEntry<'a> {
    fn read_all(nodes: &[Node<'a>], give: Give<'_, Vec<Result<Self, Problem>>>) {
        _ = give(nodes.iter().map(|&node| Self::read(node)).collect());
    }

    fn read(node: Node<'a>) -> Result<Self, Problem> {
        let ([label, duration, blocks, threads_node], optional) = node.fields(&ENTRY)?;
        Ok(Self {
            node,
            label: label.text()?,
            duration: duration.nanoseconds()?,
            blocks: dimensions(blocks, Sided::Grid)?,
            threads: dimensions(threads_node, Sided::Block)?,
            threads_node,
            optional,
        })
    }
}

fn read_entry<'a>(
    stated: StatedEntry<'a>,
    benchmark: &Benchmark<'_>,
    reading: &mut Reading<'_, '_>,
    steps: &mut Vec<Step>,
) -> Result<Entry<'a>, Problem> {
    let StatedEntry { node, label, duration, blocks, threads, threads_node, optional } = stated;
    let [shared_memory_size, delay, copy_in, copy_out, mask_node] = optional;
    let label = reading.name(&label);
    let shared_memory_bytes = shared_memory(shared_memory_size, reading)?;
    let delay = delay.map(|node| node.seconds()).transpose()?.unwrap_or_default();
    let sm_mask = mask_node.map(|node| reading.sm_mask(node)).transpose()?;
    // A mask of 0 is none for the examiner, so that of the stream stays.
    let is_none = mask_node.is_some_and(|node| reader::sm_mask(node).is_ok_and(|mask| mask.takes_nothing()));
    if delay > Duration::ZERO {
        steps.extend([Step::SynchronizeStream(benchmark.stream), Step::Sleep(delay)]);
    }
    Ok(Entry {
        label,
        launched: Launched { blocks, threads, duration, clock: reading.timer, shared_memory_bytes },
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
    let Entry { label, launched, sm_mask, copies, place } = entry;
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
    let kernel = add_kernel(reading, place, (Arc::clone(&label), label), launched, sm_mask)?;
    steps.insert(kernel_position, Step::Launch(kernel, stream));
    Ok(())
}

/// What an action may say.
const ACTION: Keys<1, 3> = Keys::new(["type"], ["label", "delay", "parameters"]);

/// What the parameters of a kernel may be.
const KERNEL: Keys<1, 5> =
    Keys::new(["duration"], ["type", "block_count", "thread_count", "shared_memory_size", "sm_mask"]);

/// Reads the list of actions. The host waits where an action says so and for synchronous copies, and at the end.
pub(super) fn stream_action(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    benchmark.check_counts()?;
    let info = benchmark
        .info
        .ok_or_else(|| benchmark.node.problem("stream_action.so needs a list of actions in additional_info"))?;
    let mut fields = info.object()?;
    let use_null = fields.optional("use_null_stream")?.map_or(Ok(false), |node| node.boolean())?;
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
                whole_device = fields.optional("device")?.map_or(Ok(false), |node| node.boolean())?;
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
    let threads = dimensions(threads_node, Sided::Block)?;
    let launched = Launched { blocks, threads, duration, clock, shared_memory_bytes };
    let name = reading.name(label.unwrap_or(name));
    let title = Arc::clone(if label.is_some() { &name } else { &benchmark.title });
    let place = Place { whole: node, threads: Some(threads_node), priority: None, sm_mask: None };
    Ok(Step::Launch(add_kernel(reading, place, (name, title), launched, None)?, stream))
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
