//! Single operations, as streams and hosts both state them.

use super::counters::{self, WAIT_VALUE, WRITE_VALUE};
use super::reading::Reading;
use crate::device::CopyDirection;
use crate::json::{Node, Object, Problem};
use crate::scenario::host_thread::Step;
use crate::workload::{Copy, EventId, StreamId};

/// Which one of `keys` an entry has: the key says what kind of entry it is.
pub(super) fn kind(entry: &Object<'_>, keys: &[&'static str]) -> Result<&'static str, Problem> {
    let present: Vec<&'static str> = keys.iter().copied().filter(|key| entry.has(key)).collect();
    match present.as_slice() {
        [only] => Ok(only),
        [] => Err(entry.node().problem(format!("expected one of the keys {}, found none", quoted(keys, "or")))),
        several => Err(entry.node().problem(format!(
            "expected one of the keys {}, found {}",
            quoted(keys, "or"),
            quoted(several, "and")
        ))),
    }
}

fn quoted(names: &[&str], last: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    match quoted.split_last() {
        Some((end, start)) if !start.is_empty() => format!("{} {last} {end}", start.join(", ")),
        _ => quoted.concat(),
    }
}

/// What is stated by one of a few names.
pub(super) fn one_of<T>(node: Node<'_>, names: &[&str], find: impl Fn(&str) -> Option<T>) -> Result<T, Problem> {
    node.text().ok().and_then(|name| find(&name)).ok_or_else(|| node.expected(&quoted(names, "or")))
}

/// What an entry submits whose kind is told by its key `kind`: of a kernel launch, that holds the kernel's name.
pub(super) fn submission(
    kind: &'static str,
    entry: &mut Object<'_>,
    stream: StreamId,
    reading: &mut Reading<'_, '_>,
) -> Result<Step, Problem> {
    match kind {
        "copy" => copy(entry, stream, reading),
        "memset" => memset(entry, stream, reading),
        "record" => record(entry, stream, reading),
        "wait" => wait(entry, stream, reading),
        key @ (WAIT_VALUE | WRITE_VALUE) => {
            reading.last.insert(stream, None);
            let value = counters::value(entry, key, reading)?;
            Ok(if key == WAIT_VALUE { Step::WaitValue(value, stream) } else { Step::WriteValue(value, stream) })
        }
        launch => {
            let node = entry.required(launch)?;
            let is_dependent = entry.optional("programmatic")?.map_or(Ok(false), |node| node.boolean())?;
            launch_kernel(node, is_dependent, stream, reading)
        }
    }
}

/// A launch of the kernel that `node` names, with the attribute of programmatic dependent launch or without.
pub(super) fn launch_kernel(
    node: Node<'_>,
    is_dependent: bool,
    stream: StreamId,
    reading: &mut Reading<'_, '_>,
) -> Result<Step, Problem> {
    // What is behind a graph waits for all of it.
    let is_behind_graph = reading.graphs.ended.remove(&stream);
    let is_free = is_dependent && !is_behind_graph;
    let kernel = if is_free { reading.dependent(node)? } else { reading.kernel(node)? };
    let check = reading.builder.so_far().catalogue.check_launch(kernel, stream);
    check.map_err(|error| node.problem(error.to_string()))?;
    if is_dependent {
        reading.note_without_trigger(kernel, stream);
    }
    reading.last.insert(stream, Some(kernel));
    Ok(Step::Launch(kernel, stream))
}

/// A copy: its direction, and its size, its duration, or both.
fn copy(entry: &mut Object<'_>, stream: StreamId, reading: &mut Reading<'_, '_>) -> Result<Step, Problem> {
    let direction_node = entry.required("copy")?;
    let direction = direction(direction_node)?;
    let bytes = entry.optional("bytes")?.map(|node| node.whole_number(0, u64::MAX)).transpose()?;
    let duration = entry.optional("duration")?.map(|node| node.time()).transpose()?;
    if bytes.is_none() && duration.is_none() {
        return Err(entry
            .node()
            .problem("a copy needs \"bytes\", a \"duration\", or both, and one of the keys is missing"));
    }
    let copy = Copy { direction, bytes, duration };
    let id = reading.builder.add_copy(copy).map_err(|error| entry.node().problem(error.to_string()))?;
    reading.last.insert(stream, None);
    Ok(Step::Copy(id, stream))
}

/// A memset, whose size makes no difference.
fn memset(entry: &mut Object<'_>, stream: StreamId, reading: &mut Reading<'_, '_>) -> Result<Step, Problem> {
    reading.last.insert(stream, None);
    entry.required("memset")?.whole_number(0, u64::MAX)?;
    Ok(Step::Memset(stream))
}

/// When an event is recorded, if not once all before it has completed: once all blocks of the kernel before have begun.
pub(super) const LAUNCH_COMPLETION: &str = "launch_completion";

/// An event is recorded.
fn record(entry: &mut Object<'_>, stream: StreamId, reading: &mut Reading<'_, '_>) -> Result<Step, Problem> {
    let (event, _) = event(entry, "record", reading)?;
    if let Some(at) = entry.optional("at")? {
        at.named(&[LAUNCH_COMPLETION], |name| (name == LAUNCH_COMPLETION).then_some(()))?;
        let set = reading.builder.set_launch_completion_event(event);
        set.map_err(|error| at.problem(error.to_string()))?;
    }
    reading.last.insert(stream, None);
    Ok(Step::Record(event, stream))
}

/// What comes next in the stream waits for an event.
fn wait(entry: &mut Object<'_>, stream: StreamId, reading: &mut Reading<'_, '_>) -> Result<Step, Problem> {
    let (event, is_programmatic) = event(entry, "wait", reading)?;
    reading.last.insert(stream, None);
    if is_programmatic {
        // Whether the kernel of which the trigger is waited for has one is known where the event is recorded.
        reading.last.remove(&stream);
    }
    Ok(Step::Wait(event, stream))
}

/// The event that `key` names, and whether it is said here that it is recorded at a trigger.
fn event(entry: &mut Object<'_>, key: &'static str, reading: &mut Reading<'_, '_>) -> Result<(EventId, bool), Problem> {
    let event = reading.event(entry.required(key)?)?;
    let node = entry.optional("programmatic")?;
    let is_programmatic = node.map(|node| node.boolean()).transpose()?.unwrap_or(false);
    if let Some(node) = node.filter(|_| is_programmatic) {
        reading.builder.set_programmatic_event(event).map_err(|error| node.problem(error.to_string()))?;
    }
    Ok((event, is_programmatic))
}

pub(super) fn direction(node: Node<'_>) -> Result<CopyDirection, Problem> {
    one_of(node, &CopyDirection::ALL.map(CopyDirection::name), CopyDirection::from_name)
}
