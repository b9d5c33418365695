//! What all benchmarks have in common, and which kind each one is.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::reading::{Behaviour, Benchmark, Reading, name_of, sides};
use super::{one_kernel, sequences};
use crate::device::SmMask;
use crate::json::{Keys, Node, Object, Problem};
use crate::proven::OrMost;
use crate::scenario::examiner_logs::BenchmarkLog;
use crate::scenario::host_thread::{BarrierId, HostThread};
use crate::scenario::native::mps_percentage;
use crate::scenario::options::LogUse;
use crate::spelling::option;
use crate::time::{Duration, MAX_INPUT_NS};
use crate::workload::{MpsPercentage, ProcessId, ProcessSpec, StreamId, StreamSpec};

/// What any benchmark may say.
const KEYS: Keys<4, 11> = Keys::new(
    ["filename", "thread_count", "block_count", "data_size"],
    [
        "label",
        "log_name",
        "additional_info",
        "max_iterations",
        "max_time",
        "release_time",
        "cpu_core",
        "stream_priority",
        "sm_mask",
        "mps_thread_percentage",
        "terminator",
    ],
);

/// Benchmarks of the examiner that launch a kernel of the stated blocks or threads.
const KINDS: [&str; 9] = [
    "timer_spin",
    "timer_spin_default_stream",
    "sharedmem_timer_spin",
    "counter_spin",
    "stream_action",
    "mandelbrot",
    "matrix_multiply",
    "random_walk",
    "inorder_walk",
];

/// What a benchmark inherits from the level of the file in which it stands.
pub(super) struct Context {
    pub(super) scenario_name: Arc<str>,
    pub(super) iterations: Option<u64>,
    pub(super) time_limit: Option<Duration>,
    /// Release of the `task_host.so` around it.
    pub(super) release: Duration,
    pub(super) barrier: Option<BarrierId>,
    pub(super) processes: Processes,
}

/// Of which processes the benchmarks of a level are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Processes {
    One(ProcessId),
    /// Each of one of its own (`use_processes`).
    Each,
}

/// The scenario in the `additional_info` of a `task_host.so`.
pub(super) struct Nested<'a> {
    pub(super) file: Object<'a>,
    pub(super) name: Arc<str>,
    /// Release of the `task_host.so`, that of those around it included.
    pub(super) release: Duration,
    pub(super) process: ProcessId,
}

/// What one entry of `benchmarks` says by itself, whatever the others say: it can be read on another thread.
pub(super) struct Stated<'a> {
    node: Node<'a>,
    required: [Node<'a>; 4],
    optional: [Option<Node<'a>>; 11],
    file_name: Cow<'a, str>,
    data_size: u64,
    /// The label, or else the kind.
    title: Arc<str>,
    log_name: Option<Cow<'a, str>>,
    iterations: Option<u64>,
    time_limit: Option<Duration>,
    release: Duration,
    cpu_core: Option<u32>,
    priority: Option<i64>,
}

/// Reads what one entry of `benchmarks` says by itself; `is_synced`: the benchmarks of its level meet at a barrier.
pub(super) fn stated(node: Node<'_>, is_synced: bool) -> Result<Stated<'_>, Problem> {
    let (required, optional) = node.fields(&KEYS)?;
    let [file_node, _, _, data_size_node] = required;
    let [label, log_node, _, iterations, time_limit, release, cpu_core, priority, ..] = optional;
    let file_name = file_node.text()?;
    let kind = kind_of(&file_name);
    if kind.is_empty() {
        return Err(file_node.expected("the path of a benchmark, such as \"./bin/timer_spin.so\""));
    }
    let data_size = data_size_node.whole_number(0, u64::MAX)?;
    let title = label.map_or(Ok(kind.into()), |label| label.text().map(|label| (*label).into()))?;
    let log_name = log_node.map(|node| node.text()).transpose()?;
    if let Some(own) = iterations.filter(|_| is_synced) {
        return Err(own.problem("max_iterations of a single benchmark goes with sync_every_iteration: false only"));
    }
    Ok(Stated {
        data_size,
        title,
        log_name,
        iterations: iterations.map(|node| node.whole_number(0, u64::MAX)).transpose()?,
        time_limit: time_limit.map(|node| node.seconds()).transpose()?,
        release: release.map(|node| node.seconds()).transpose()?.unwrap_or_default(),
        cpu_core: cpu_core.map(|node| node.whole_u32(0, u32::MAX)).transpose()?,
        priority: priority.map(|node| node.signed_number(-(1 << 31), 1 << 31)).transpose()?,
        file_name,
        node,
        required,
        optional,
    })
}

/// Reads one entry of `benchmarks`, of which it is known what it says; a scenario nested in it is left to be read.
pub(super) fn read<'a>(
    stated: Stated<'a>,
    context: &Context,
    reading: &mut Reading<'a, '_>,
) -> Result<Option<Nested<'a>>, Problem> {
    let Stated { node, required, optional, file_name, data_size, title, log_name, iterations, time_limit, .. } = stated;
    let Stated { release, cpu_core, priority, .. } = stated;
    let [_, threads, blocks, data_size_node] = required;
    let [label, log_node, info, .., mask_node, mps, terminator] = optional;
    let kind = kind_of(&file_name);
    let sm_mask = mask_node.map(|node| reading.sm_mask(node)).transpose()?;
    terminator.map_or(Ok(()), |node| read_terminator(node, kind, reading))?;
    let mps_percentage = mps.map(|node| percentage(node, context, reading)).transpose()?;
    let start = context.release.saturating_add(release);
    if start.as_ns() > MAX_INPUT_NS {
        return Err(node.problem("the release time, that of the task_host.so around it included, is past 2^63 ns"));
    }
    if kind == "task_host" {
        let info = info.ok_or_else(|| node.problem("task_host.so needs a scenario in additional_info"))?;
        let process = process(node, &title, mps_percentage, context, reading)?;
        let mut nested = info.object()?;
        let name = name_of(&mut nested)?;
        if own_or(iterations, context.iterations) != Some(1) {
            reading.builder.note(format!("benchmark {title:?}: a task_host.so runs its scenario once here"));
        }
        note_without_effect(reading, &title, kind, [sm_mask.is_some(), priority.is_some()]);
        return Ok(Some(Nested { file: nested, name, release: start, process }));
    }
    if kind.starts_with("cpu_") {
        reading.builder.note(format!("benchmark {title:?} does no GPU work and is skipped"));
        return Ok(None);
    }

    let index = reading.nodes.len();
    let file_name = log_name.unwrap_or_else(|| format!("{kind}_{index}.json").into());
    let logs = reading.builder.options().logs;
    let kept = (logs != LogUse::Unused).then(|| Arc::from(&*file_name));
    reading.log_names.add(log_node.unwrap_or(node), file_name, logs == LogUse::KeptInside)?;
    let is_set = [sm_mask.is_some(), priority.is_some()];
    let has_mask = note_without_effect(reading, &title, kind, is_set);
    let sm_mask = sm_mask.filter(|_| has_mask);
    let process = process(node, &title, mps_percentage, context, reading)?;
    let null = reading.builder.null_stream_of_added(process);
    // By its source, this one makes no stream, which would be dealt to a channel.
    let stream = match kind {
        "timer_spin_default_stream" => null,
        _ => add_stream(reading, mask_node.unwrap_or(node), &title, process, priority, sm_mask)?,
    };
    let title = Arc::clone(&title);
    let benchmark = Benchmark { node, kind, title, threads, blocks, data_size: data_size_node, info, stream, null };
    let behaviour = behaviour(&benchmark, reading)?;
    if let Some(file_name) = kept {
        reading.logs.push(BenchmarkLog {
            file_name,
            scenario_name: Arc::clone(&context.scenario_name),
            benchmark_name: behaviour.benchmark_name,
            label: label.map(|_| Arc::clone(&benchmark.title)),
            data_size,
            release_time: release,
            cpu_core: cpu_core.unwrap_or(0),
            sync: behaviour.sync,
        });
    }
    let iterations = own_or(iterations, context.iterations);
    let time_limit = match time_limit {
        Some(own) => (own > Duration::ZERO).then_some(own),
        None => context.time_limit,
    };
    let barrier = context.barrier;
    let plain = HostThread::once(benchmark.title, start, behaviour.steps);
    reading.builder.add_thread(HostThread { process, iterations, time_limit, barrier, ..plain });
    reading.nodes.push(node);
    Ok(None)
}

/// The name of the file, without directory and `.so`.
fn kind_of(path: &str) -> &str {
    let behind_slash = path.bytes().rposition(|byte| byte == b'/').map_or(0, |at| at + 1);
    // A name that ends so is not "..", and nothing is behind it that paths leave out.
    if let Some(kind) = path.get(behind_slash..).and_then(|base| base.strip_suffix(".so")) {
        return kind;
    }
    let base = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    base.strip_suffix(".so").unwrap_or(base)
}

/// The process of a benchmark: that of its level, or a new one.
fn process(
    node: Node<'_>,
    title: &str,
    mps_percentage: Option<MpsPercentage>,
    context: &Context,
    reading: &mut Reading<'_, '_>,
) -> Result<ProcessId, Problem> {
    if let Processes::One(process) = context.processes {
        return Ok(process);
    }
    let mps_percentage = mps_percentage.unwrap_or(MpsPercentage::ALL);
    let added = reading.builder.add_process(ProcessSpec { mps_percentage, ..ProcessSpec::new(title) });
    added.map_err(|error| node.problem(error.to_string()))
}

/// What a benchmark says of its share of the GPU as a client of MPS, which only a process can be.
fn percentage(node: Node<'_>, context: &Context, reading: &mut Reading<'_, '_>) -> Result<MpsPercentage, Problem> {
    let percentage = mps_percentage(node)?;
    let is_process = matches!(context.processes, Processes::Each);
    if percentage == MpsPercentage::ALL || is_process && reading.builder.has_mps() {
        return Ok(percentage);
    }
    if reading.builder.options().as_threads {
        reading.builder.note("mps_thread_percentage has no effect on threads of one process, as asked for");
    } else if is_process {
        let mps = option("mps");
        reading.builder.note(format!("mps_thread_percentage has no effect without MPS, which {mps} simulates"));
    } else {
        return Err(node
            .problem("mps_thread_percentage other than 100 asks for an MPS client, and use_processes is false")
            .with_help(format!("{} replays the benchmarks as threads of one context instead", option("as_threads"))));
    }
    Ok(percentage)
}

/// A benchmark's own number of iterations, 0 meaning no limit, replaces that of the level.
fn own_or(own: Option<u64>, inherited: Option<u64>) -> Option<u64> {
    match own {
        Some(own) => (own > 0).then_some(own),
        None => inherited,
    }
}

/// Says that a mask or a priority does nothing, where they are set; gives whether a mask does something.
fn note_without_effect(reading: &mut Reading<'_, '_>, title: &str, kind: &str, is_set: [bool; 2]) -> bool {
    let (keys, why): (&[&str], _) = match kind {
        "stream_action" => (&["sm_mask"], "the examiner ignores it there"),
        "timer_spin_default_stream" => {
            (&["sm_mask", "stream_priority"], "its kernel is on the NULL stream, which has none")
        }
        "task_host" => (&["sm_mask", "stream_priority"], "it has no stream"),
        _ => return true,
    };
    for (key, _) in keys.iter().zip(is_set).filter(|(_, is_set)| *is_set) {
        reading.builder.note(format!("the {key} of benchmark {title:?} ({kind}.so) has no effect: {why}"));
    }
    false
}

/// Reads whether the other benchmarks of the level end with this one.
fn read_terminator(node: Node<'_>, kind: &str, reading: &mut Reading<'_, '_>) -> Result<(), Problem> {
    if !node.boolean()? {
        return Ok(());
    }
    if kind == "task_host" || kind.starts_with("cpu_") {
        return Err(node.problem("when this terminator is done is not known, as it is no kernel that is simulated"));
    }
    let number = u32::try_from(reading.nodes.len()).or_most();
    if reading.terminator.replace(number).is_some() {
        return Err(node.problem("a second terminator: which of them ends the others is not published"));
    }
    Ok(())
}

/// Says where the examiner takes the numbers of a list for others, or refuses them: its parser (since March 2023) gives
/// each place the first number, and only one of its benchmarks has blocks of more than one dimension.
fn note_lists(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) {
    let (title, kind) = (&benchmark.title, benchmark.kind);
    for (key, count) in [("thread_count", benchmark.threads), ("block_count", benchmark.blocks)] {
        // What is wrong with it is told where it counts.
        let Ok(sides) = sides(count) else { continue };
        let Some(&first) = sides.first().filter(|_| sides.len() > 1) else { continue };
        if kind != "matrix_multiply" {
            reading.builder.note(format!(
                "benchmark {title:?}: {kind}.so takes one dimension and refuses the list of {key} in the examiner; the \
                 product of its numbers counts here"
            ));
        } else if sides.iter().any(|side| *side != first) {
            reading.builder.note(format!(
                "benchmark {title:?}: the examiner reads each number of the list of {key} as its first, {first}; here \
                 they count as they stand"
            ));
        }
    }
}

fn behaviour(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    if KINDS.contains(&benchmark.kind) {
        note_lists(benchmark, reading);
    }
    match benchmark.kind {
        "timer_spin" => one_kernel::timer(benchmark, reading),
        "timer_spin_default_stream" => one_kernel::timer_default_stream(benchmark, reading),
        "sharedmem_timer_spin" => one_kernel::shared_memory_timer(benchmark, reading),
        "counter_spin" => one_kernel::counter(benchmark, reading),
        "multikernel" => sequences::multikernel(benchmark, reading),
        "stream_action" => sequences::stream_action(benchmark, reading),
        "mandelbrot" => one_kernel::mandelbrot(benchmark, reading),
        "matrix_multiply" => one_kernel::matrix_multiply(benchmark, reading),
        "random_walk" => one_kernel::walk(benchmark, reading, "Random Walk"),
        "inorder_walk" => one_kernel::walk(benchmark, reading, "In-order Walk"),
        _ => one_kernel::other(benchmark, reading),
    }
}

/// A stream with a priority that the device has is non-blocking; any other is a blocking one of the lowest priority.
/// So all that the GPU can refuse about it is its mask, at `node`.
fn add_stream(
    reading: &mut Reading<'_, '_>,
    node: Node<'_>,
    title: &Arc<str>,
    process: ProcessId,
    priority: Option<i64>,
    sm_mask: Option<SmMask>,
) -> Result<StreamId, Problem> {
    let stated = priority.and_then(|priority| i32::try_from(priority).ok());
    let valid = stated.filter(|priority| reading.builder.device().priorities().any(|known| known == *priority));
    let (name, blocking) = (Arc::clone(title), valid.is_none());
    let priority = valid.unwrap_or(StreamSpec::DEFAULT_PRIORITY);
    let spec = StreamSpec { process, priority, blocking, sm_mask, ..StreamSpec::new(name) };
    reading.builder.add_stream(spec).map_err(|error| node.problem(error.to_string()))
}
