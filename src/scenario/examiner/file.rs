//! The top level of a scenario file.

use std::sync::Arc;

use super::benchmark::{self, Context, Nested, Processes};
use super::reading::Reading;
use crate::json::{Object, Problem};
use crate::scenario::build::ScenarioBuilder;
use crate::scenario::examiner_logs::ExaminerLogs;
use crate::scenario::finish::{default_device, finish};
use crate::scenario::model::Scenario;
use crate::scenario::options::{LogUse, ReadOptions};
use crate::time::Duration;
use crate::workload::{BlockClock, ProcessId, ProcessSharing};

/// `task_host.so` benchmarks may be nested this deep.
const MAX_NESTING: u32 = 16;

/// Keys of its top level that other formats do not have.
pub(in crate::scenario) const KEYS: [&str; 9] = [
    "benchmarks",
    "max_iterations",
    "max_time",
    "cuda_device",
    "base_result_directory",
    "pin_cpus",
    "do_warmup",
    "use_processes",
    "sync_every_iteration",
];

/// Reads the examiner scenario that `file` holds.
pub(in crate::scenario) fn read(mut file: Object<'_>, options: &ReadOptions) -> Result<Scenario, Problem> {
    let name: Arc<str> = file.required("name")?.text()?.into();
    let device = default_device(file.node())?;
    let builder = ScenarioBuilder::new(name.to_string(), device, options);
    let mut reading = Reading::new(builder);
    let result_directory = match file.optional("base_result_directory")? {
        Some(directory) => directory.string()?,
        None => "./results".to_owned(),
    };
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
    for ignored in ["pin_cpus", "do_warmup"] {
        file.optional(ignored)?.map(|node| node.boolean()).transpose()?;
    }
    // Known at every level, used at the top only.
    file.optional("base_result_directory")?.map(|node| node.string()).transpose()?;
    let use_processes = match file.optional("use_processes")? {
        Some(node) => node.boolean()?,
        None => false,
    };
    let as_threads = reading.builder.options().as_threads;
    if use_processes && as_threads {
        let what = "use_processes asks for a CUDA context per benchmark";
        reading.builder.note(format!("{what}: replayed as threads of one context, as asked for"));
    }
    if use_processes && !as_threads && !reading.builder.has_mps() {
        // Measured on Volta: blocks of `timer_spin` whose turns alternate end after their stated time on the clock.
        reading.timer = BlockClock::Wall;
    }
    let synced = match file.optional("sync_every_iteration")? {
        Some(node) => node.boolean()?,
        None => false,
    };
    file.required("name")?;
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
    for node in benchmarks {
        reading.builder.has_read(node.start());
        if let Some(Nested { file, name, release, process }) = benchmark::read(node, &context, reading)? {
            level(file, name, release, process, Some((cuda_device, depth)), reading)?;
        }
    }
    Ok(())
}
