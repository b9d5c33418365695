//! `processes`, and what else a file says of contexts that share the GPU.

use super::reading::{Reading, unknown};
use crate::json::{Node, Object, Problem};
use crate::scenario::fields;
use crate::time::Duration;
use crate::workload::{
    InterleaveLevel, MpsPercentage, ProcessId, ProcessSharing, ProcessSpec, StreamId, WorkloadError,
};

/// Reads `mps` and `switch_cost`.
pub(super) fn sharing(file: &mut Object<'_>, reading: &mut Reading<'_, '_>) -> Result<(), Problem> {
    let mps = file.optional("mps")?.map(|node| node.boolean()).transpose()?.unwrap_or(false);
    let cost = file.optional("switch_cost")?;
    let switch_cost = cost.map(|node| node.time()).transpose()?;
    let set = reading.builder.set_sharing(ProcessSharing { mps, switch_cost });
    set.map_err(|error| cost.unwrap_or(file.node()).problem(error.to_string()))
}

pub(super) fn read(node: Node<'_>, reading: &mut Reading<'_, '_>) -> Result<(), Problem> {
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
    let expected = || node.expected("\"low\", \"medium\" or \"high\"");
    InterleaveLevel::from_name(&node.string().map_err(|_| expected())?).ok_or_else(expected)
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
    let Some(node) = entry.optional("process")? else {
        reading.without_process = reading.without_process.or(Some(entry.node()));
        return Ok(ProcessId::FIRST);
    };
    let name = fields::name(node)?;
    if let Some(&known) = reading.processes.get(&name) {
        return Ok(known);
    }
    if reading.declares_processes {
        return Err(unknown(node, "process", &name, reading.processes.keys()));
    }
    let added = reading.builder.add_process(ProcessSpec::new(name.as_str()));
    let added = added.map_err(|error| node.problem(format!("process {name:?}: {error}")))?;
    reading.processes.insert(name, added);
    Ok(added)
}

/// Refuses a file of which some streams and hosts have a process and others have none.
pub(super) fn check(reading: &Reading<'_, '_>) -> Result<(), Problem> {
    let Some(node) = reading.without_process.filter(|_| !reading.processes.is_empty()) else { return Ok(()) };
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
        Err(node.problem("this stream is of another process, and a host submits to streams of its own only"))
    }
}
