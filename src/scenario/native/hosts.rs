//! `hosts`: programs that launch, wait and sleep.

use std::collections::{BTreeMap, BTreeSet};

use super::graphs;
use super::operations;
use super::processes;
use super::reading::Reading;
use crate::json::{Node, Object, Problem};
use crate::proven::Proven;
use crate::scenario::deadline::Deadline;
use crate::scenario::fields;
use crate::scenario::model::{BarrierId, CoreShare, HostThread, Step};
use crate::workload::ProcessId;

/// `repeat` steps may be nested this deep.
const MAX_NESTING: u32 = 16;

/// What a step can be; its key says which.
const KINDS: [&str; 14] = [
    "launch",
    "graph",
    "copy",
    "memset",
    "record",
    "wait",
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
pub(super) fn read<'a>(node: Node<'a>, reading: &mut Reading<'a, '_>) -> Result<(), Problem> {
    // Threads of streams are named after them, and a name that stands for two threads would confuse every report.
    let mut names: BTreeSet<String> = reading.builder.threads().iter().map(|thread| thread.label.to_string()).collect();
    for node in node.filled_list()? {
        let mut entry = node.object()?;
        let name_node = entry.required("name")?;
        let name = fields::name(name_node)?;
        if !names.insert(name.clone()) {
            return Err(name_node
                .problem(format!("two host threads are called {name:?}"))
                .with_help("a stream with operations has a thread of the stream's name"));
        }
        let thread = thread(&mut entry, name, reading)?;
        entry.finish()?;
        reading.add_thread(node, thread);
    }
    note_lonely_barriers(reading);
    Ok(())
}

/// Without any limit stated a host runs once; with a period or a limit on time, the number of its iterations is
/// limited only if the file says so.
fn thread<'a>(entry: &mut Object<'a>, name: String, reading: &mut Reading<'a, '_>) -> Result<HostThread, Problem> {
    let release = entry.optional("release")?.map(|node| node.time()).transpose()?.unwrap_or_default();
    let iterations = entry.optional("iterations")?.map(|node| node.whole_u32(1, u32::MAX)).transpose()?.map(u64::from);
    let time_limit = fields::positive_time(entry, "time_limit")?;
    let period = fields::positive_time(entry, "period")?;
    let deadline = Deadline::of(entry)?;
    let barrier = entry.optional("barrier")?.map(|node| barrier(node, reading)).transpose()?;
    let core = core(entry, reading)?;
    let process = processes::process_of(entry, reading)?;
    let mut steps = Vec::new();
    read_steps(entry.required("steps")?, process, 0, reading, &mut steps)?;
    let once = period.is_none() && time_limit.is_none();
    Ok(HostThread {
        label: name.into(),
        process,
        release,
        iterations: iterations.or(once.then_some(1)),
        is_cut: false,
        time_limit,
        until: None,
        period,
        jitter: fields::jitter(entry, period)?,
        unsure: None,
        deadline,
        barrier,
        core,
        steps,
    })
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
                let from = steps.len();
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
    kind: &str,
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
        "barrier" => Ok(Step::Barrier(barrier(entry.required("barrier")?, reading)?)),
        submission => {
            let stream = reading.stream_of(entry.required("stream")?, process)?;
            match submission {
                "launch" => operations::launch(entry, "launch", stream, reading),
                "copy" => operations::copy(entry, stream, reading),
                "record" => operations::record(entry, stream, reading),
                "wait" => operations::wait(entry, stream, reading),
                _ => operations::memset(entry, stream, reading),
            }
        }
    }
}

/// The barrier that `node` names; the first mention makes it.
fn barrier(node: Node<'_>, reading: &mut Reading<'_, '_>) -> Result<BarrierId, Problem> {
    let name = fields::name(node)?;
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
