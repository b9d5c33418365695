//! `streams`, and the operations that some of them launch by themselves.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::graphs;
use super::green_contexts;
use super::operations;
use super::processes;
use super::reading::Reading;
use crate::json::{Node, Object, Problem};
use crate::proven::Proven;
use crate::scenario::deadline::Deadline;
use crate::scenario::fields::{self, Place};
use crate::scenario::model::{HostThread, Step};
use crate::workload::{NULL_STREAM, ProcessId, StreamId, StreamSpec};

/// Words that `synchronize` takes for something else than a stream.
pub(super) const RESERVED: [&str; 2] = ["device", "last"];

/// Keys that describe when `operations` are launched, and mean nothing without them.
const TIMING: [&str; 5] = ["release", "period", "jitter", "jobs", "deadline"];

/// Reads the list of streams. One with `operations` gets a host thread of its own.
pub(super) fn read<'a>(node: Node<'a>, reading: &mut Reading<'a, '_>) -> Result<(), Problem> {
    let mut declared_null = BTreeSet::new();
    for node in node.filled_list()? {
        let mut entry = node.object()?;
        let name_node = entry.required("name")?;
        let name: Arc<str> = fields::name(name_node)?.into();
        let process = processes::process_of(&mut entry, reading)?;
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
        if let Some(thread) = thread(&mut entry, name, (stream, process), reading)? {
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
    let green_context = green_contexts::of_stream(entry, reading)?;
    let blocking = entry.optional("blocking")?.map(|node| node.boolean()).transpose()?;
    let spec = StreamSpec {
        name,
        process,
        priority: stated
            .map_or(StreamSpec::DEFAULT_PRIORITY, |priority| i32::try_from(priority).proven("it was checked")),
        blocking: blocking.unwrap_or(stated.is_none() && green_context.is_none()),
        sm_mask: place.sm_mask.map(fields::sm_mask).transpose()?,
        green_context,
    };
    reading.builder.add_stream(spec).map_err(|error| place.of(&error).problem(error.to_string()))
}

/// The host thread of a stream that has operations: it launches them all at its release, waiting for none of them.
fn thread(
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
    let period = fields::positive_time(entry, "period")?;
    let jobs = entry.optional("jobs")?.map(|node| node.whole_u32(1, u32::MAX)).transpose()?;
    let deadline = Deadline::of(entry)?;
    if jobs.is_some() && period.is_none() {
        return Err(entry.node().problem("\"jobs\" needs a \"period\", and that key is missing"));
    }
    Ok(Some(HostThread {
        label,
        process,
        release,
        iterations: if period.is_some() { jobs.map(u64::from) } else { Some(1) },
        is_cut: false,
        time_limit: None,
        until: None,
        period,
        jitter: fields::jitter(entry, period)?,
        unsure: None,
        deadline,
        barrier: None,
        core: None,
        steps,
    }))
}

fn operation(
    node: Node<'_>,
    stream: StreamId,
    reading: &mut Reading<'_, '_>,
    steps: &mut Vec<Step>,
) -> Result<(), Problem> {
    reading.builder.has_read(node.start());
    let mut entry = node.object()?;
    let step = match operations::kind(&entry, &["kernel", "graph", "copy", "memset", "record", "wait"])? {
        "graph" => {
            graphs::launch(&mut entry, stream, reading, steps)?;
            return entry.finish();
        }
        "kernel" => operations::launch(&mut entry, "kernel", stream, reading)?,
        "copy" => operations::copy(&mut entry, stream, reading)?,
        "record" => operations::record(&mut entry, stream, reading)?,
        "wait" => operations::wait(&mut entry, stream, reading)?,
        _ => operations::memset(&mut entry, stream, reading)?,
    };
    entry.finish()?;
    steps.push(step);
    Ok(())
}
