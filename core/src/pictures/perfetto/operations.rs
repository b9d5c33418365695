//! What the host submitted, the heads of the streams, the copies, the EE and CE queues, turns of contexts (T1, T3), and
//! missed deadlines.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use serde_json::{Map, Value, json};

use super::events::{Events, FROM, Flow, NamedLanes, TO};
use super::{PerfettoKnown, PerfettoRun, STREAMS, Tracks};
use crate::pictures::looks::{is_launch_known, is_shown, queue_owner};
use crate::pictures::timeline_model::{self, ALWAYS, CopyInLane};
use crate::run::{DueJobs, Summary, due_jobs, title};
use crate::time::Instant;
use crate::trace::{Queue, Trace, queue_contents, stays};
use crate::workload::{OperationId, StreamId};

pub(super) fn write_operations<W: Write>(tracks: &Tracks<'_>, events: &mut Events<W>) -> io::Result<()> {
    submissions(tracks, events)?;
    match tracks.run.known {
        PerfettoKnown::Everything => {
            stream_heads(tracks, events)?;
            copies(tracks, events)
        }
        PerfettoKnown::Streams => recorded(tracks, events),
        PerfettoKnown::Blocks => Ok(()),
    }
}

/// What ran in each stream, in order of its start.
fn recorded<W: Write>(tracks: &Tracks<'_>, events: &mut Events<W>) -> io::Result<()> {
    let summary = &tracks.run.summary;
    let ran = summary.trace.numbered().filter_map(|(id, record)| {
        let time = record.first_start()?..record.finish()?;
        Some((time, id, record))
    });
    let mut ran: Vec<_> = ran.collect();
    // What has no length comes before what begins when it ends.
    crate::sorted::sort_by_key(&mut ran, |(time, id, _)| (time.start, time.end, *id));
    let mut lanes: BTreeMap<StreamId, NamedLanes> = BTreeMap::new();
    for (time, id, record) in ran {
        let name = summary.trace.stream_name(record.stream);
        let lanes = lanes.entry(record.stream).or_insert_with(|| NamedLanes::with(tracks.stream(record.stream)));
        let lane = lanes.take(&time, events, |number| format!("{name} ({})", number + 1))?;
        let args = json!({"id": id, "launched_ns": record.launched(), "finish_ns": time.end});
        events.slice(lane, "stream", &title(summary, id), time.clone(), args)?;
        if has_arrow(summary, id) {
            events.arrow(TO, Flow::Launch, lane, tracks.id(id.0), time.start)?;
        }
    }
    Ok(())
}

/// What each host thread submits at each instant is one slice: slices without length at one instant would pile up.
fn submissions<W: Write>(tracks: &Tracks<'_>, events: &mut Events<W>) -> io::Result<()> {
    let summary = &tracks.run.summary;
    let mut submitted: BTreeMap<(u32, Instant), Vec<OperationId>> = BTreeMap::new();
    for (id, record) in summary.trace.numbered() {
        if is_launch_known(summary.trace, record) {
            submitted.entry((record.origin.thread, record.launched())).or_default().push(id);
        }
    }
    for ((thread, at), ids) in submitted {
        let titles: Vec<String> = ids.iter().map(|&id| title(summary, id)).collect();
        let name = match titles.as_slice() {
            [only] => format!("submit {only}"),
            [first, others @ ..] => format!("submit {first} and {} more", others.len()),
            [] => continue,
        };
        let lane = tracks.thread(thread);
        let args = json!({"operations": titles, "ids": ids});
        events.slice(lane, "host", &name, at..at, args)?;
        for id in ids {
            if has_arrow(summary, id) {
                events.arrow(FROM, Flow::Launch, lane, tracks.id(id.0), at)?;
            }
        }
    }
    Ok(())
}

/// Whether an arrow leads from the launch of a kernel to its first block: it has one, and it did not start before the
/// launch, as it may seem where a measured run's clocks differ.
pub(super) fn has_arrow(summary: &Summary<'_>, id: OperationId) -> bool {
    let record = summary.trace.record(id).filter(|_| summary.trace.kernel_of(id).is_some());
    record.is_some_and(|record| record.first_start().is_some_and(|start| start >= record.launched()))
}

/// What is at the head of each stream queue.
fn stream_heads<W: Write>(tracks: &Tracks<'_>, events: &mut Events<W>) -> io::Result<()> {
    let summary = &tracks.run.summary;
    let released = waits_by_record(summary.trace);
    for (id, record) in summary.trace.numbered() {
        let Some(from) = record.reached_head() else { continue };
        let to = record.finish().unwrap_or(summary.trace.end());
        let waits: Map<String, Value> = summary
            .waits_by_rule(id, Instant::MAX)
            .into_iter()
            .map(|(rule, time)| (rule.name().to_owned(), time.as_ns().into()))
            .collect();
        let args = json!({
            "id": id,
            "iteration": record.origin.iteration,
            "launched_ns": record.launched(),
            "finish_ns": record.finish(),
            "response_ns": record.response(),
            "waits_ns": waits,
        });
        let lane = tracks.stream(record.stream);
        events.slice(lane, "stream", &title(summary, id), from..to, args)?;
        // Both ends stand right behind their slices, which are still open for readers then.
        for wait in released.get(&id).into_iter().flatten() {
            events.arrow(FROM, Flow::Event, lane, tracks.id(wait.0), to)?;
        }
        if released_by(summary.trace, id).is_some() {
            events.arrow(TO, Flow::Event, lane, tracks.id(id.0), to)?;
        }
    }
    Ok(())
}

/// The record that a wait was for, if both completed.
fn released_by(trace: &Trace, wait: OperationId) -> Option<OperationId> {
    let record = trace.awaited_by(wait)?;
    let completed = |id: OperationId| trace.record(id).is_some_and(|one| one.finish().is_some());
    (completed(record) && completed(wait)).then_some(record)
}

/// The waits that each record released.
fn waits_by_record(trace: &Trace) -> BTreeMap<OperationId, Vec<OperationId>> {
    let mut waits: BTreeMap<OperationId, Vec<OperationId>> = BTreeMap::new();
    for (wait, _) in trace.numbered() {
        if let Some(record) = released_by(trace, wait) {
            waits.entry(record).or_default().push(wait);
        }
    }
    waits
}

fn copies<W: Write>(tracks: &Tracks<'_>, events: &mut Events<W>) -> io::Result<()> {
    let summary = &tracks.run.summary;
    for CopyInLane { id, copy, engine, time, lane } in timeline_model::copies(summary, &ALWAYS) {
        let args = json!({"id": id, "bytes": copy.bytes, "direction": copy.direction.name()});
        // Of one that stands still, each part that is served.
        let mut parts: Vec<Range<Instant>> = summary.trace.runs(id).collect();
        if parts.is_empty() {
            parts.push(time);
        }
        for part in parts {
            events.slice(tracks.engine(engine, lane), "copy", &title(summary, id), part, &args)?;
        }
    }
    Ok(())
}

/// A slice for each job that missed its deadline, from then until it finished; one for all jobs of a thread that had
/// not begun when the run ended, of which there may be any number.
pub(super) fn write_deadlines<W: Write>(tracks: &Tracks<'_>, events: &mut Events<W>) -> io::Result<()> {
    let summary = &tracks.run.summary;
    let missed = due_jobs(summary).into_iter().filter(DueJobs::is_missed);
    for (number, jobs) in (0..).zip(missed) {
        let to = jobs.finished().unwrap_or(summary.trace.end());
        let sentence = jobs.sentence(0, summary.scenario);
        let name = match jobs.count {
            1 => sentence,
            count => format!("{sentence}; and {} more like it", count - 1),
        };
        let process = tracks.first_process + STREAMS;
        events.asynchronous(process, "deadline missed", &name, tracks.id(number), jobs.due_of(0)..to)?;
    }
    Ok(())
}

/// What it is called; each context has EE queues of its own where they take turns.
fn name_of(run: &PerfettoRun<'_>, queue: Queue) -> String {
    match (queue, queue_owner(run.summary.trace, queue)) {
        (Queue::Ee(_, priority), Some(owner)) => format!("EE queue of {owner}, priority {priority}"),
        _ => queue.to_string(),
    }
}

pub(super) fn write_queues<W: Write>(tracks: &Tracks<'_>, events: &mut Events<W>) -> io::Result<()> {
    let summary = &tracks.run.summary;
    let (trace, device) = (summary.trace, summary.scenario.device());
    for (id, _) in trace.numbered() {
        for (queue, stay) in stays(trace, device, id).filter(|(queue, _)| is_shown(*queue)) {
            let (category, name) = (name_of(tracks.run, queue), title(summary, id));
            events.asynchronous(tracks.queues(), &category, &name, tracks.id(id.0), stay.time(trace.end()))?;
        }
    }
    for contents in queue_contents(trace, device).iter().filter(|contents| is_shown(contents.queue)) {
        let name = name_of(tracks.run, contents.queue);
        for (at, length) in contents.lengths() {
            events.counter(tracks.queues(), &name, at, "operations", length)?;
        }
    }
    Ok(())
}

/// A slice for each turn, in the lane of its process, and before it one for the switch to it.
pub(super) fn write_turns<W: Write>(tracks: &Tracks<'_>, events: &mut Events<W>) -> io::Result<()> {
    let summary = &tracks.run.summary;
    if summary.trace.turns().is_empty() {
        return Ok(());
    }
    let lanes = tracks.contexts(events)?;
    for turn in summary.trace.turns() {
        let Some(&lane) = lanes.get(turn.process.index()) else { continue };
        if turn.switch_from < turn.start {
            events.slice(lane, "turn", "switch", turn.switch_from..turn.start, json!({}))?;
        }
        events.slice(lane, "turn", "turn", turn.start..turn.end, json!({"ended_by": turn.ended_by}))?;
    }
    Ok(())
}
