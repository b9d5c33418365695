//! Scenario files of `cuda_scheduling_examiner`, the public tool of the RTSS 2017 and OSPERT 2017 studies.
//!
//! What its keys mean is in `docs/examiner.md`. Each benchmark becomes one host thread with one stream; unknown keys
//! are errors, as they are for the examiner itself.

mod benchmark;
mod one_kernel;
mod reading;
mod sequences;

use std::sync::Arc;

use benchmark::{Context, Nested, Processes};
use reading::{Reading, UNNAMED, name_of};

use super::ahead::{AT_ONCE, Give, in_order};
use super::build::ScenarioBuilder;
use super::model::Scenario;
use super::options::{LogUse, ReadOptions};
use super::reader::{default_device, finish};
use crate::json::{Node, Object, Problem};
use crate::time::Duration;
use crate::workload::{BlockClock, ProcessId, ProcessSharing};

pub use super::examiner_logs::ExaminerLogs;
pub(crate) use super::examiner_logs::{BenchmarkLog, KernelSync};

/// `task_host.so` benchmarks may be nested this deep.
const MAX_NESTING: u32 = 16;

/// Keys of its top level that other formats do not have.
pub(super) const KEYS: [&str; 11] = [
    "benchmarks",
    "max_iterations",
    "max_time",
    "cuda_device",
    "base_result_directory",
    "pin_cpus",
    "do_warmup",
    "use_processes",
    "sync_every_iteration",
    "cycle_cpus",
    "resync_iterations",
];

/// Keys that `hip_plugin_framework` has in place of the examiner's `benchmarks` and `cuda_device`.
const HIP_KEYS: [&str; 2] = ["plugins", "gpu_device_id"];

/// Reads the examiner scenario that `file` holds.
pub(super) fn read(mut file: Object<'_>, options: &ReadOptions) -> Result<Scenario, Problem> {
    if !file.has("benchmarks") && HIP_KEYS.iter().any(|key| file.has(key)) {
        return Err(file
            .node()
            .problem("this is a configuration of hip_plugin_framework, whose format is not read")
            .with_help("cuda_scheduling_examiner, from which it comes, has \"benchmarks\" and \"cuda_device\""));
    }
    let name = name_of(&mut file)?;
    let device = default_device(file.node())?;
    let builder = ScenarioBuilder::new(name.to_string(), device, options);
    let mut reading = Reading::new(builder);
    let directory = file.optional("base_result_directory")?.map(|node| node.string()).transpose()?;
    let result_directory = directory.unwrap_or_else(|| "./results".to_owned());
    let root = file.node();
    let set = reading.builder.set_sharing(ProcessSharing::default());
    set.map_err(|error| root.problem(error.to_string()))?;
    level(file, name, Duration::ZERO, ProcessId::FIRST, None, &mut reading)?;
    if reading.nodes.is_empty() {
        reading.builder.note("no benchmark of this scenario uses the GPU");
    }
    let Reading { builder, nodes, logs, .. } = reading;
    let mut scenario = finish(builder, root, |thread| nodes.get(thread).copied().unwrap_or(root))?;
    scenario.examiner =
        (options.logs != LogUse::Unused).then(|| Arc::new(ExaminerLogs { result_directory, benchmarks: logs }));
    Ok(scenario)
}

/// A setting that is true or false, under its name or an older one.
fn setting(file: &mut Object<'_>, [key, older]: [&'static str; 2]) -> Result<bool, Problem> {
    let nodes = [file.optional(key)?, file.optional(older)?];
    if let [Some(_), Some(twice)] = nodes {
        return Err(twice.problem(format!("{older:?} is what {key:?} was called, which stands there too")));
    }
    nodes.into_iter().flatten().next().map_or(Ok(false), |node| node.boolean())
}

/// Reads one level of the file: its top, or the `additional_info` of a `task_host.so` in `process`. `outer` is the
/// device of the level around it, and how deep that is.
fn level<'a>(
    mut file: Object<'a>,
    scenario_name: Arc<str>,
    release: Duration,
    process: ProcessId,
    outer: Option<(u64, u32)>,
    reading: &mut Reading<'a, '_>,
) -> Result<(), Problem> {
    let depth = outer.map_or(0, |(_, depth)| depth + 1);
    if depth > MAX_NESTING {
        return Err(file.node().problem(format!("task_host.so benchmarks are nested more than {MAX_NESTING} deep")));
    }
    let iterations = file.required("max_iterations")?.whole_number(0, u64::MAX)?;
    let time = file.required("max_time")?.seconds()?;
    let device_node = file.required("cuda_device")?;
    let cuda_device = device_node.whole_number(0, 1 << 31)?;
    if let Some(outer) = outer.map(|(device, _)| device).filter(|&outer| outer != cuda_device) {
        return Err(device_node
            .problem(format!("expected {outer}, the device of the surrounding scenario, found {cuda_device}")));
    }
    setting(&mut file, ["pin_cpus", "cycle_cpus"])?;
    file.optional("do_warmup")?.map(|node| node.boolean()).transpose()?;
    // Known at every level, used at the top only.
    file.optional("base_result_directory")?.map(|node| node.string()).transpose()?;
    let use_processes = file.optional("use_processes")?.map_or(Ok(false), |node| node.boolean())?;
    let as_threads = reading.builder.options().as_threads;
    if use_processes && as_threads {
        let what = "use_processes asks for a CUDA context per benchmark";
        reading.builder.note(format!("{what}: replayed as threads of one context, as asked for"));
    }
    if use_processes && !as_threads && !reading.builder.has_mps() {
        // Measured on Volta: blocks of `timer_spin` whose turns alternate end after their stated time on the clock.
        reading.timer = BlockClock::Wall;
    }
    let synced = setting(&mut file, ["sync_every_iteration", "resync_iterations"])?;
    if file.optional("name")?.is_none() {
        reading.builder.note(format!("a scenario without a name is called {UNNAMED:?}"));
    }
    let benchmarks = file.required("benchmarks")?.filled_list()?;
    file.finish()?;
    reading.builder.reserve(benchmarks.len());
    reading.log_names.reserve(benchmarks.len());
    let context = Context {
        scenario_name,
        iterations: (iterations > 0).then_some(iterations),
        time_limit: (time > Duration::ZERO).then_some(time),
        release,
        barrier: synced.then(|| reading.builder.new_barrier()),
        processes: if use_processes && !as_threads { Processes::Each } else { Processes::One(process) },
    };
    let (first, outer_terminator) = (reading.nodes.len(), reading.terminator.take());
    let mut host = None;
    let is_synced = context.barrier.is_some();
    let stated = |nodes: &[Node<'a>], give: Give<'_, Vec<_>>| {
        _ = give(nodes.iter().map(|&node| (node, benchmark::stated(node, is_synced))).collect());
    };
    in_order(benchmarks.chunks(AT_ONCE), stated, |stated| {
        for (node, stated) in stated {
            reading.builder.has_read(node.start());
            if let Some(Nested { file, name, release, process }) = benchmark::read(stated?, &context, reading)? {
                let terminator = reading.terminator;
                level(file, name, release, process, Some((cuda_device, depth)), reading)?;
                (host, reading.terminator) = (Some(node), terminator);
            }
        }
        Ok(())
    })?;
    if let Some(terminator) = std::mem::replace(&mut reading.terminator, outer_terminator) {
        if let Some(host) = host {
            return Err(host.problem("a task_host.so beside a terminator is not read: when it ends is not published"));
        }
        reading.builder.end_threads_with(first, terminator);
    }
    Ok(())
}
