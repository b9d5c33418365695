//! `streams`, and the operations that some of them launch by themselves; `hosts`: programs that launch, wait and sleep.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::counters::{WAIT_VALUE, WRITE_VALUE};
use super::reading::Reading;
use super::{counters, graphs, operations, sharing, triggers};
use crate::json::{Node, Object, Problem};
use crate::proven::{OrMost, Proven};
use crate::scenario::host_thread::{BarrierId, CoreShare, Deadline, HostThread, Step};
use crate::scenario::reader::{self, Place};
use crate::workload::{NULL_STREAM, ProcessId, StreamId, StreamSpec};

/// Words that `synchronize` takes for something else than a stream.
pub(super) const RESERVED: [&str; 2] = ["device", "last"];

/// Keys that describe when `operations` are launched, and mean nothing without them.
const TIMING: [&str; 5] = ["release", "period", "jitter", "jobs", "deadline"];

/// Reads the list of streams. One with `operations` gets a host thread of its own.
pub(super) fn read_streams<'a>(node: Node<'a>, reading: &mut Reading<'a, '_>) -> Result<(), Problem> {
    let mut declared_null = BTreeSet::new();
    for node in node.list()? {
        let mut entry = node.object()?;
        let name_node = entry.required("name")?;
        let name: Arc<str> = reader::filled_name(name_node)?.into();
        let process = sharing::process_of(&mut entry, reading)?;
        let is_null = &*name == NULL_STREAM;
        let as_threads = reading.builder.options().as_threads;
        let again = if is_null {
            !as_threads && declared_null.contains(&process)
        } else {
            reading.streams.contains_key(&*name)
        };
        if again {
            return Err(name_node.problem(format!("two streams are called {name:?}")));
        }
        if RESERVED.contains(&&*name) {
            return Err(name_node.problem(format!(
                "{name:?} means something else to \"synchronize\", so no stream can have this name"
            )));
        }
        let stream = if is_null {
            declared_null.insert(process);
            check_null_stream(&entry)?;
            reading.builder.null_stream_of_added(process)
        } else {
            let stream = add_stream(&mut entry, Arc::clone(&name), process, reading)?;
            reading.streams.insert(name.to_string(), stream);
            stream
        };
        if let Some(thread) = stream_thread(&mut entry, name, (stream, process), reading)? {
            reading.add_thread(node, thread);
        }
        entry.finish()?;
    }
    Ok(())
}

/// The NULL stream exists already, and its properties are CUDA's.
fn check_null_stream(entry: &Object<'_>) -> Result<(), Problem> {
    match ["priority", "blocking", "sm_mask", "green_context"].into_iter().find(|key| entry.has(key)) {
        None => Ok(()),
        Some(key) => Err(entry.node().problem(format!(
            "unknown key {key:?} here: the stream called {NULL_STREAM:?} is the NULL stream, of lowest priority and without a mask"
        ))),
    }
}

/// A stream without a stated priority is blocking, one with a priority is not, as in the RTSS 2017 study; `blocking`
/// says otherwise. One of a green context never is.
fn add_stream(
    entry: &mut Object<'_>,
    name: Arc<str>,
    process: ProcessId,
    reading: &mut Reading<'_, '_>,
) -> Result<StreamId, Problem> {
    let place = Place {
        whole: entry.node(),
        threads: None,
        priority: entry.optional("priority")?,
        sm_mask: entry.optional("sm_mask")?,
    };
    let stated = place.priority.map(|node| node.signed_number(i64::from(i32::MIN), i64::from(i32::MAX))).transpose()?;
    let green_context = sharing::of_stream(entry, reading)?;
    let blocking = entry.optional("blocking")?.map(|node| node.boolean()).transpose()?;
    let spec = StreamSpec {
        name,
        process,
        priority: stated
            .map_or(StreamSpec::DEFAULT_PRIORITY, |priority| i32::try_from(priority).proven("it was checked")),
        blocking: blocking.unwrap_or(stated.is_none() && green_context.is_none()),
        sm_mask: place.sm_mask.map(reader::sm_mask).transpose()?,
        green_context,
    };
    reading.builder.add_stream(spec).map_err(|error| place.of(&error).problem(error.to_string()))
}

/// The host thread of a stream that has operations: it launches them all at its release, waiting for none of them.
fn stream_thread(
    entry: &mut Object<'_>,
    label: Arc<str>,
    (stream, process): (StreamId, ProcessId),
    reading: &mut Reading<'_, '_>,
) -> Result<Option<HostThread>, Problem> {
    let Some(operations) = entry.optional("operations")? else {
        return match TIMING.into_iter().find(|key| entry.has(key)) {
            None => Ok(None),
            Some(key) => {
                let problem = entry.node().problem(format!("{key:?} needs \"operations\", and that key is missing"));
                Err(problem
                    .with_help("a stream without operations launches nothing by itself; hosts have times of their own"))
            }
        };
    };
    let mut steps = Vec::new();
    for node in operations.filled_list()? {
        operation(node, stream, reading, &mut steps)?;
    }
    let release = entry.optional("release")?.map(|node| node.time()).transpose()?.unwrap_or_default();
    let period = reader::positive_time(entry, "period")?;
    let jobs = entry.optional("jobs")?.map(|node| node.whole_u32(1, u32::MAX)).transpose()?;
    let deadline = Deadline::of(entry)?;
    if jobs.is_some() && period.is_none() {
        return Err(entry.node().problem("\"jobs\" needs a \"period\", and that key is missing"));
    }
    let jitter = reader::jitter(entry, period)?;
    let iterations = if period.is_some() { jobs.map(u64::from) } else { Some(1) };
    let plain = HostThread::once(label, release, steps);
    Ok(Some(HostThread { process, iterations, period, jitter, deadline, ..plain }))
}

fn operation(
    node: Node<'_>,
    stream: StreamId,
    reading: &mut Reading<'_, '_>,
    steps: &mut Vec<Step>,
) -> Result<(), Problem> {
    reading.builder.has_read(node.start());
    let mut entry = node.object()?;
    match operations::kind(&entry, &["kernel", "graph", "copy", "memset", "record", "wait", WAIT_VALUE, WRITE_VALUE])? {
        "graph" => graphs::launch(&mut entry, stream, reading, steps)?,
        kind => steps.push(operations::submission(kind, &mut entry, stream, reading)?),
    }
    entry.finish()
}

/// `repeat` steps may be nested this deep.
const MAX_NESTING: u32 = 16;

/// What a step can be; its key says which.
const KINDS: [&str; 16] = [
    "launch",
    "graph",
    "copy",
    "memset",
    "record",
    "wait",
    WAIT_VALUE,
    WRITE_VALUE,
    "synchronize",
    "synchronize_event",
    "free",
    "malloc",
    "sleep",
    "work",
    "barrier",
    "repeat",
];

/// Reads the list of hosts.
pub(super) fn read_hosts<'a>(node: Node<'a>, reading: &mut Reading<'a, '_>) -> Result<(), Problem> {
    // Threads of streams are named after them, and a name that stands for two threads would confuse every report.
    let mut names: BTreeSet<String> = reading.builder.threads().iter().map(|thread| thread.label.to_string()).collect();
    let mut triggered = Vec::new();
    for node in node.filled_list()? {
        let mut entry = node.object()?;
        let name_node = entry.required("name")?;
        let name = reader::filled_name(name_node)?;
        if !names.insert(name.clone()) {
            return Err(name_node
                .problem(format!("two host threads are called {name:?}"))
                .with_help("a stream with operations has a thread of the stream's name"));
        }
        if let Some(trigger) = triggers::read(&mut entry)? {
            triggered.push((reading.nodes.len(), trigger));
        }
        let thread = host_thread(&mut entry, name, reading)?;
        entry.finish()?;
        reading.add_thread(node, thread);
    }
    triggers::resolve(&triggered, reading)?;
    note_lonely_barriers(reading);
    Ok(())
}

/// Without any limit stated a host runs once; with a period or a limit on time, the number of its iterations is
/// limited only if the file says so.
fn host_thread<'a>(entry: &mut Object<'a>, name: String, reading: &mut Reading<'a, '_>) -> Result<HostThread, Problem> {
    let release = entry.optional("release")?.map(|node| node.time()).transpose()?.unwrap_or_default();
    let iterations = entry.optional("iterations")?.map(|node| node.whole_u32(1, u32::MAX)).transpose()?.map(u64::from);
    let time_limit = reader::positive_time(entry, "time_limit")?;
    let period = reader::positive_time(entry, "period")?;
    let deadline = Deadline::of(entry)?;
    let barrier = entry.optional("barrier")?.map(|node| barrier(node, reading)).transpose()?;
    let core = core(entry, reading)?;
    let process = sharing::process_of(entry, reading)?;
    let mut steps = Vec::new();
    read_steps(entry.required("steps")?, process, 0, reading, &mut steps)?;
    let once = period.is_none() && time_limit.is_none();
    let iterations = iterations.or(once.then_some(1));
    let jitter = reader::jitter(entry, period)?;
    let plain = HostThread::once(name, release, steps);
    Ok(HostThread { process, iterations, time_limit, period, jitter, deadline, barrier, core, ..plain })
}

/// The core that a host shares, if it says one: no two hosts of a core are equally urgent, so that it is stated which
/// of them has it.
fn core<'a>(entry: &mut Object<'a>, reading: &Reading<'a, '_>) -> Result<Option<CoreShare>, Problem> {
    let Some(node) = entry.optional("core")? else {
        return match ["cpu_priority", "spin"].into_iter().find(|key| entry.has(key)) {
            Some(key) => Err(entry.node().problem(format!("{key:?} needs a \"core\", and that key is missing"))),
            None => Ok(None),
        };
    };
    let core = node.whole_u32(0, CoreShare::MOST_CORE)?;
    let stated = entry.optional("cpu_priority")?;
    let priority = stated.map(|node| node.signed_number(i64::from(i32::MIN), i64::from(i32::MAX))).transpose()?;
    let priority = priority.map_or(0, |priority| i32::try_from(priority).proven("it was checked"));
    let spins = entry.optional("spin")?.map(|node| node.boolean()).transpose()?.unwrap_or(false);
    let is_equal =
        |other: &&HostThread| other.core.is_some_and(|share| (share.core, share.priority) == (core, priority));
    if let Some(other) = reading.builder.threads().iter().find(is_equal) {
        return Err(stated.unwrap_or(node).problem(format!(
            "{:?} has the \"cpu_priority\" {priority} on core {core} too: which of two hosts has their core follows from it",
            other.label
        )));
    }
    Ok(Some(CoreShare { core, priority, spins }))
}

fn read_steps(
    list: Node<'_>,
    process: ProcessId,
    depth: u32,
    reading: &mut Reading<'_, '_>,
    steps: &mut Vec<Step>,
) -> Result<(), Problem> {
    for node in list.filled_list()? {
        reading.builder.has_read(node.start());
        let mut entry = node.object()?;
        match operations::kind(&entry, &KINDS)? {
            "repeat" => {
                if depth == MAX_NESTING {
                    return Err(node.problem(format!("\"repeat\" is nested more than {MAX_NESTING} deep")));
                }
                let times = u64::from(entry.required("repeat")?.whole_u32(1, u32::MAX)?);
                // More steps than 32 bits count would take 64 GiB.
                let from = u32::try_from(steps.len()).or_most();
                read_steps(entry.required("steps")?, process, depth + 1, reading, steps)?;
                steps.push(Step::Repeat { from, times });
            }
            "graph" => {
                let stream = reading.stream_of(entry.required("stream")?, process)?;
                graphs::launch(&mut entry, stream, reading, steps)?;
            }
            "memset" if synchronous(&mut entry)? => {
                entry.required("memset")?.whole_number(0, u64::MAX)?;
                if let Some(stream) = entry.optional("stream")? {
                    return Err(stream
                        .problem("a synchronous memset goes to the NULL stream of its process: it has no \"stream\""));
                }
                let null = reading.builder.null_stream_of_added(process);
                reading.last.insert(null, None);
                steps.extend(Step::synchronous_memset(null, reading.builder.device()));
            }
            kind => steps.push(step(kind, &mut entry, process, reading)?),
        }
        entry.finish()?;
    }
    Ok(())
}

/// Whether a memset is called synchronously.
fn synchronous(entry: &mut Object<'_>) -> Result<bool, Problem> {
    Ok(entry.optional("synchronous")?.map(|node| node.boolean()).transpose()?.unwrap_or(false))
}

/// Of which memory a call is, device or host: both behave alike.
fn memory(node: Node<'_>) -> Result<(), Problem> {
    const KINDS: [&str; 2] = ["device", "host"];
    node.named(&KINDS, |name| KINDS.contains(&name).then_some(()))
}

fn step(
    kind: &'static str,
    entry: &mut Object<'_>,
    process: ProcessId,
    reading: &mut Reading<'_, '_>,
) -> Result<Step, Problem> {
    match kind {
        "synchronize" => {
            let target = entry.required("synchronize")?;
            match target.string()?.as_str() {
                "device" => Ok(Step::SynchronizeDevice),
                "last" => Ok(Step::AwaitLast),
                _ => Ok(Step::SynchronizeStream(reading.stream_of(target, process)?)),
            }
        }
        "synchronize_event" => Ok(Step::SynchronizeEvent(reading.event(entry.required("synchronize_event")?)?)),
        "free" => memory(entry.required("free")?).map(|()| Step::Free),
        "malloc" => memory(entry.required("malloc")?).map(|()| Step::Allocate),
        "work" => Ok(Step::Work(entry.required("work")?.time()?)),
        "sleep" => Ok(Step::Sleep(entry.required("sleep")?.time()?)),
        key @ (WAIT_VALUE | WRITE_VALUE) => counters::step(key, entry, process, reading),
        "barrier" => Ok(Step::Barrier(barrier(entry.required("barrier")?, reading)?)),
        submission => {
            let stream = reading.stream_of(entry.required("stream")?, process)?;
            operations::submission(submission, entry, stream, reading)
        }
    }
}

/// The barrier that `node` names; the first mention makes it.
fn barrier(node: Node<'_>, reading: &mut Reading<'_, '_>) -> Result<BarrierId, Problem> {
    let name = reader::filled_name(node)?;
    let Reading { builder, barriers, .. } = reading;
    Ok(*barriers.entry(name).or_insert_with(|| builder.new_barrier()))
}

/// A barrier that only one thread uses never holds it, which is likely to be a misspelt name.
fn note_lonely_barriers(reading: &mut Reading<'_, '_>) {
    let mut members: BTreeMap<BarrierId, usize> = BTreeMap::new();
    for thread in reading.builder.threads() {
        for barrier in thread.barriers().collect::<BTreeSet<_>>() {
            *members.entry(barrier).or_default() += 1;
        }
    }
    let Reading { builder, barriers, .. } = reading;
    for (name, _) in barriers.iter().filter(|(_, id)| members.get(id) == Some(&1)) {
        builder.note(format!("only one host uses the barrier {name:?}, so nothing waits there"));
    }
}
