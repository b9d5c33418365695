//! Who shares the GPU: `processes`, with what else a file says of their contexts, and `green_contexts`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::operations::one_of;
use super::reading::{Reading, unknown};
use crate::json::{Node, Object, Problem};
use crate::scenario::build::ScenarioBuilder;
use crate::scenario::reader;
use crate::time::Duration;
use crate::workload::{
    GreenContextId, InterleaveLevel, MpsPercentage, ProcessId, ProcessSharing, ProcessSpec, SmSplit, StreamId,
    WorkloadError,
};

/// Reads `mps` and `switch_cost`.
pub(super) fn read_sharing(file: &mut Object<'_>, reading: &mut Reading<'_, '_>) -> Result<(), Problem> {
    let mps = file.optional("mps")?.map(|node| node.boolean()).transpose()?.unwrap_or(false);
    let cost = file.optional("switch_cost")?;
    let switch_cost = cost.map(|node| node.time()).transpose()?;
    let set = reading.builder.set_sharing(ProcessSharing { mps, switch_cost });
    set.map_err(|error| cost.unwrap_or(file.node()).problem(error.to_string()))
}

/// Reads `devices`: names of GPUs, each like the device of the file. Without any it runs on one.
pub(super) fn read_gpus(
    file: &mut Object<'_>,
    builder: &mut ScenarioBuilder<'_>,
) -> Result<BTreeMap<String, ProcessId>, Problem> {
    let Some(node) = file.optional(DEVICES)? else { return Ok(BTreeMap::new()) };
    for key in ["processes", "mps", "switch_cost", "green_contexts", "graphs"] {
        if file.has(key) {
            let problem = node.problem(format!("{key:?} is not simulated on several GPUs ({DEVICES:?})"));
            return Err(problem.with_help("simulate each GPU by itself, or leave the key out"));
        }
    }
    let mut names: Vec<Arc<str>> = Vec::new();
    for name_node in node.filled_list()? {
        let name: Arc<str> = reader::filled_name(name_node)?.into();
        if names.contains(&name) {
            return Err(name_node.problem(format!("two GPUs are called {name:?}")));
        }
        names.push(name);
    }
    if names.len() < 2 {
        return Err(node.problem(format!("{DEVICES:?} names two GPUs or more; one is what \"device\" says")));
    }
    let known = names.iter().map(ToString::to_string).zip((0..).map(ProcessId)).collect();
    builder.on_gpus(names).map_err(|error| node.problem(error.to_string()))?;
    Ok(known)
}

/// The key of the GPUs of a scenario, and that of the one of a stream or host.
pub(super) const DEVICES: &str = "devices";
pub(super) const DEVICE: &str = "device";

pub(super) fn read_processes(node: Node<'_>, reading: &mut Reading<'_, '_>) -> Result<(), Problem> {
    reading.declares_processes = true;
    for (name, node) in node.object()?.into_distinct_entries()? {
        if name.is_empty() {
            return Err(node.problem("a process needs a name that is not empty"));
        }
        let mut entry = node.object()?;
        let slice = entry.optional("time_slice")?;
        let level = entry.optional("level")?.map(level).transpose()?;
        let sms = entry.optional("sms")?;
        let spec = ProcessSpec {
            time_slice: slice.map(|node| time_slice(node, level)).transpose()?,
            level: level.unwrap_or_default(),
            mps_percentage: match entry.optional("mps_percentage")? {
                Some(node) => mps_percentage(node)?,
                None => MpsPercentage::ALL,
            },
            sms: sms.map(|node| node.whole_u32(1, u32::MAX)).transpose()?,
            ..ProcessSpec::new(name.as_ref())
        };
        entry.finish()?;
        let stated = [("mps_percentage", spec.mps_percentage != MpsPercentage::ALL), ("sms", sms.is_some())];
        let added = reading.builder.add_process(spec).map_err(|error| {
            let at_slice = matches!(error, WorkloadError::NoTimeSlice | WorkloadError::SwitchCost { .. });
            slice.filter(|_| at_slice).or(sms).unwrap_or(node).problem(format!("process {name:?}: {error}"))
        })?;
        let has_mps = reading.builder.has_mps();
        for (key, _) in stated.into_iter().filter(|(_, is_stated)| *is_stated && !has_mps) {
            reading.builder.note(format!("the {key} of process {name:?} has no effect without MPS"));
        }
        if has_mps && stated.iter().all(|(_, is_stated)| *is_stated) {
            reading.builder.note(format!("the mps_percentage of process {name:?} has no effect beside its sms"));
        }
        reading.processes.insert(name.into_owned(), added);
    }
    Ok(())
}

/// A time, or `"by level"` for what `nvgpu` gives contexts of that level.
fn time_slice(node: Node<'_>, level: Option<InterleaveLevel>) -> Result<Duration, Problem> {
    if node.is_string() && node.string()? == BY_LEVEL {
        return Ok(level.unwrap_or_default().nvgpu_time_slice());
    }
    let time = node.time()?;
    if time == Duration::ZERO { Err(node.expected("a time of at least 1 ns, or \"by level\"")) } else { Ok(time) }
}

/// Stands for `nvgpu`'s slices.
const BY_LEVEL: &str = "by level";

fn level(node: Node<'_>) -> Result<InterleaveLevel, Problem> {
    one_of(node, &InterleaveLevel::ALL.map(InterleaveLevel::name), InterleaveLevel::from_name)
}

/// A percentage above 0 and up to 100, which may have decimals.
pub(in crate::scenario) fn mps_percentage(node: Node<'_>) -> Result<MpsPercentage, Problem> {
    let stated = node.decimal()?;
    let is_zero = stated.scaled_exactly(0) == Some(0);
    let parts = stated.scaled(12, u64::MAX).ok().filter(|_| !is_zero);
    let percentage = parts.and_then(|parts| MpsPercentage::from_parts(parts.max(1)));
    percentage.ok_or_else(|| node.expected("a percentage above 0 and up to 100"))
}

/// Takes the process of a stream or host.
pub(super) fn process_of<'a>(entry: &mut Object<'a>, reading: &mut Reading<'a, '_>) -> Result<ProcessId, Problem> {
    let key = if reading.are_gpus { DEVICE } else { "process" };
    let Some(node) = entry.optional(key)? else {
        reading.without_process = reading.without_process.or(Some(entry.node()));
        return Ok(ProcessId::FIRST);
    };
    let name = reader::filled_name(node)?;
    if let Some(&known) = reading.processes.get(&name) {
        return Ok(known);
    }
    if reading.declares_processes {
        return Err(unknown(node, if reading.are_gpus { "GPU" } else { "process" }, &name, reading.processes.keys()));
    }
    let added = reading.builder.add_process(ProcessSpec::new(name.as_str()));
    let added = added.map_err(|error| node.problem(format!("process {name:?}: {error}")))?;
    reading.processes.insert(name, added);
    Ok(added)
}

/// Refuses a file of which some streams and hosts have a process and others have none.
pub(super) fn check_processes(reading: &Reading<'_, '_>) -> Result<(), Problem> {
    let Some(node) = reading.without_process.filter(|_| !reading.processes.is_empty()) else { return Ok(()) };
    if reading.are_gpus {
        return Err(node
            .problem(format!("the key {DEVICE:?} is missing"))
            .with_help("in a file with several GPUs, each stream and each host says on which it is"));
    }
    Err(node
        .problem("the key \"process\" is missing")
        .with_help("in a file with processes, each stream and each host says of which process it is"))
}

impl Reading<'_, '_> {
    /// The stream of that name that a thread of `process` can use: its own NULL stream, or another of its process.
    pub(super) fn stream_of(&self, node: Node<'_>, process: ProcessId) -> Result<StreamId, Problem> {
        let stream = self.stream(node)?;
        if stream == StreamId::NULL {
            return Ok(self.builder.null_stream_of_added(process));
        }
        if self.builder.process_of(stream) == Some(process) {
            return Ok(stream);
        }
        if self.are_gpus {
            return Ok(stream);
        }
        Err(node.problem("this stream is of another process, and a host submits to streams of its own only"))
    }
}

/// Reads the list of splits, each with the green contexts that it makes.
pub(super) fn read_splits(node: Node<'_>, reading: &mut Reading<'_, '_>) -> Result<(), Problem> {
    for node in node.filled_list()? {
        let mut entry = node.object()?;
        let sms = entry.required("sms")?.whole_u32(1, u32::MAX)?;
        let of = entry.optional("of")?.map(|of| known(of, reading)).transpose()?;
        let (mut all, mut names, mut taken) = (Vec::new(), Vec::new(), BTreeSet::new());
        for name_node in entry.required("names")?.filled_list()? {
            names.push(new_name(name_node, reading, &mut taken)?);
        }
        all.extend(names.iter().cloned());
        let remaining = entry.optional("remaining")?.map(|node| new_name(node, reading, &mut taken)).transpose()?;
        all.extend(remaining.clone());
        let work_queues = entry.optional("work_queues")?.map(|node| node.whole_u32(1, u32::MAX)).transpose()?;
        entry.finish()?;
        let added = reading.builder.add_split(SmSplit { sms, of, names, remaining, work_queues });
        let first = added.map_err(|error| node.problem(error.to_string()))?;
        for (name, number) in all.into_iter().zip(first.0..) {
            reading.green_contexts.insert(name.to_string(), GreenContextId(number));
        }
    }
    Ok(())
}

/// A name that nothing is called so far.
fn new_name(node: Node<'_>, reading: &Reading<'_, '_>, taken: &mut BTreeSet<String>) -> Result<Arc<str>, Problem> {
    let name = reader::filled_name(node)?;
    if reading.green_contexts.contains_key(&name) || !taken.insert(name.clone()) {
        return Err(node.problem(format!("two green contexts are called {name:?}")));
    }
    Ok(name.into())
}

/// Takes the green context of a stream.
pub(super) fn of_stream(entry: &mut Object<'_>, reading: &Reading<'_, '_>) -> Result<Option<GreenContextId>, Problem> {
    entry.optional("green_context")?.map(|node| known(node, reading)).transpose()
}

fn known(node: Node<'_>, reading: &Reading<'_, '_>) -> Result<GreenContextId, Problem> {
    let name = reader::filled_name(node)?;
    let found = reading.green_contexts.get(&name).copied();
    found.ok_or_else(|| unknown(node, "green context", &name, reading.green_contexts.keys()))
}
