//! What all benchmarks have in common, and which kind each one is.

use std::path::Path;
use std::sync::Arc;

use super::behaviour::{Behaviour, Benchmark};
use super::reading::Reading;
use super::{multikernel, spin, stream_action};
use crate::device::SmMask;
use crate::json::{Keys, Node, Object, Problem};
use crate::scenario::deadline::Deadline;
use crate::scenario::examiner_logs::BenchmarkLog;
use crate::scenario::fields;
use crate::scenario::model::{BarrierId, HostThread};
use crate::scenario::native::processes::mps_percentage;
use crate::scenario::options::LogUse;
use crate::spelling::option;
use crate::time::{Duration, MAX_INPUT_NS};
use crate::workload::{MpsPercentage, ProcessId, ProcessSpec, StreamId, StreamSpec};

/// What any benchmark may say.
const KEYS: Keys<4, 10> = Keys::new(
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
    ],
);

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

/// Reads one entry of `benchmarks`; a scenario nested in it is left to be read.
pub(super) fn read<'a>(
    node: Node<'a>,
    context: &Context,
    reading: &mut Reading<'a, '_>,
) -> Result<Option<Nested<'a>>, Problem> {
    let (required, optional) = node.fields(&KEYS)?;
    let [file_node, threads, blocks, data_size] = required;
    let [label, log_node, info, iterations, time_limit, release, cpu_core, priority, mask_node, mps] = optional;
    let file_name = file_node.text()?;
    let kind = kind_of(&file_name);
    if kind.is_empty() {
        return Err(file_node.expected("the path of a benchmark, such as \"./bin/timer_spin.so\""));
    }
    let data_size = data_size.whole_number(0, u64::MAX)?;
    let label = label.map(|node| node.text()).transpose()?;
    let log_name = log_node.map(|node| node.text()).transpose()?;
    if let Some(own) = iterations.filter(|_| context.barrier.is_some()) {
        return Err(own.problem("max_iterations of a single benchmark goes with sync_every_iteration: false only"));
    }
    let iterations = iterations.map(|node| node.whole_number(0, u64::MAX)).transpose()?;
    let time_limit = time_limit.map(|node| node.seconds()).transpose()?;
    let release = release.map(|node| node.seconds()).transpose()?.unwrap_or_default();
    let cpu_core = cpu_core.map(|node| node.whole_u32(0, u32::MAX)).transpose()?;
    let priority = priority.map(|node| node.signed_number(-(1 << 31), 1 << 31)).transpose()?;
    let sm_mask = mask_node.map(fields::sm_mask).transpose()?;

    let mps_percentage = mps.map(|node| percentage(node, context, reading)).transpose()?;
    let start = context.release.saturating_add(release);
    if start.as_ns() > MAX_INPUT_NS {
        return Err(node.problem("the release time, that of the task_host.so around it included, is past 2^63 ns"));
    }
    if kind == "task_host" {
        let info = info.ok_or_else(|| node.problem("task_host.so needs a scenario in additional_info"))?;
        let process = process(node, label.as_deref().unwrap_or(kind), mps_percentage, context, reading)?;
        let mut nested = info.object()?;
        let name = nested.required("name")?.text()?.into();
        return Ok(Some(Nested { file: nested, name, release: start, process }));
    }
    if kind.starts_with("cpu_") {
        let title = label.as_deref().unwrap_or(kind);
        reading.builder.note(format!("benchmark {title:?} does no GPU work and is skipped"));
        return Ok(None);
    }

    let index = reading.nodes.len();
    let file_name = log_name.unwrap_or_else(|| format!("{kind}_{index}.json").into());
    let logs = reading.builder.options().logs;
    let kept = (logs != LogUse::Unused).then(|| Arc::from(&*file_name));
    reading.log_names.add(log_node.unwrap_or(node), file_name, logs == LogUse::KeptInside)?;
    let title: Arc<str> = label.as_deref().unwrap_or(kind).into();
    let without_effect = match kind {
        "stream_action" => Some("the examiner ignores it there"),
        "timer_spin_default_stream" => Some("its kernel is on the NULL stream, which has none"),
        _ => None,
    };
    if let Some(why) = without_effect.filter(|_| sm_mask.is_some()) {
        reading.builder.note(format!("the sm_mask of benchmark {title:?} ({kind}.so) has no effect: {why}"));
    }
    let sm_mask = sm_mask.filter(|_| without_effect.is_none());
    let process = process(node, &title, mps_percentage, context, reading)?;
    let stream = add_stream(reading, mask_node.unwrap_or(node), &title, process, priority, sm_mask)?;
    let null = reading.builder.null_stream_of_added(process);
    let benchmark = Benchmark { node, kind, title: Arc::clone(&title), threads, blocks, info, stream, null };
    let behaviour = behaviour(&benchmark, reading)?;
    if let Some(file_name) = kept {
        reading.logs.push(BenchmarkLog {
            file_name,
            scenario_name: Arc::clone(&context.scenario_name),
            benchmark_name: behaviour.benchmark_name,
            label: label.map(|_| Arc::clone(&title)),
            data_size,
            release_time: release,
            cpu_core: cpu_core.unwrap_or(0),
            sync: behaviour.sync,
        });
    }
    reading.builder.add_thread(HostThread {
        label: title,
        process,
        release: start,
        iterations: own_or(iterations, context.iterations),
        is_cut: false,
        time_limit: match time_limit {
            Some(own) => (own > Duration::ZERO).then_some(own),
            None => context.time_limit,
        },
        period: None,
        jitter: Duration::ZERO,
        unsure: None,
        deadline: Deadline::Period,
        barrier: context.barrier,
        core: None,
        steps: behaviour.steps,
    });
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

fn behaviour(benchmark: &Benchmark<'_>, reading: &mut Reading<'_, '_>) -> Result<Behaviour, Problem> {
    match benchmark.kind {
        "timer_spin" => spin::timer(benchmark, reading),
        "timer_spin_default_stream" => spin::timer_default_stream(benchmark, reading),
        "sharedmem_timer_spin" => spin::shared_memory_timer(benchmark, reading),
        "counter_spin" => spin::counter(benchmark, reading),
        "multikernel" => multikernel::read(benchmark, reading),
        "stream_action" => stream_action::read(benchmark, reading),
        _ => spin::other(benchmark, reading),
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
