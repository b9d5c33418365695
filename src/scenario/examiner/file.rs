//! The top level of a scenario file.

use std::sync::Arc;

use super::benchmark::{self, Context, Nested};
use super::reading::{Reading, refuse_contexts};
use crate::json::{Object, Problem};
use crate::scenario::build::ScenarioBuilder;
use crate::scenario::examiner_logs::ExaminerLogs;
use crate::scenario::finish::{default_device, finish};
use crate::scenario::model::Scenario;
use crate::scenario::options::ReadOptions;
use crate::time::Duration;

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
    level(file, name, Duration::ZERO, None, 0, &mut reading)?;
    if reading.nodes.is_empty() {
        reading.builder.note("no benchmark of this scenario uses the GPU");
    }
    let Reading { builder, nodes, logs, .. } = reading;
    let mut scenario = finish(builder, root, |thread| nodes.get(thread).copied().unwrap_or(root))?;
    scenario.examiner = Some(ExaminerLogs { result_directory, benchmarks: logs });
    Ok(scenario)
}

/// Reads one level of the file: its top, or the `additional_info` of a `task_host.so`.
fn level<'a>(
    mut file: Object<'a>,
    scenario_name: Arc<str>,
    release: Duration,
    outer_device: Option<u64>,
    depth: u32,
    reading: &mut Reading<'a, '_>,
) -> Result<(), Problem> {
    if depth > MAX_NESTING {
        return Err(file.node().problem(format!("task_host.so benchmarks are nested more than {MAX_NESTING} deep")));
    }
    let iterations = file.required("max_iterations")?.whole_number(0, u64::MAX)?;
    let time = file.required("max_time")?.seconds()?;
    let device_node = file.required("cuda_device")?;
    let cuda_device = device_node.whole_number(0, 1 << 31)?;
    if let Some(outer) = outer_device.filter(|&outer| outer != cuda_device) {
        return Err(device_node
            .problem(format!("expected {outer}, the device of the surrounding scenario, found {cuda_device}")));
    }
    for ignored in ["pin_cpus", "do_warmup"] {
        file.optional(ignored)?.map(|node| node.boolean()).transpose()?;
    }
    // Known at every level, used at the top only.
    file.optional("base_result_directory")?.map(|node| node.string()).transpose()?;
    if let Some(node) = file.optional("use_processes")?
        && node.boolean()?
    {
        refuse_contexts(reading, node, "use_processes asks for a CUDA context per benchmark")?;
    }
    let synced = match file.optional("sync_every_iteration")? {
        Some(node) => node.boolean()?,
        None => false,
    };
    file.required("name")?;
    let benchmarks = file.required("benchmarks")?.filled_list()?;
    file.finish()?;
    let context = Context {
        scenario_name,
        iterations: (iterations > 0).then_some(iterations),
        time_limit: (time > Duration::ZERO).then_some(time),
        release,
        barrier: synced.then(|| reading.builder.new_barrier()),
    };
    for node in benchmarks {
        if let Some(Nested { file, name, release }) = benchmark::read(node, &context, reading)? {
            level(file, name, release, Some(cuda_device), depth + 1, reading)?;
        }
    }
    Ok(())
}
