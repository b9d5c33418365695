//! What is in the EE and CE queues.

use std::io::{self, Write};

use super::PerfettoRun;
use super::event::{Events, SliceTime};
use super::tracks::Tracks;
use crate::run::title;
use crate::trace::{Queue, queue_contents, stays};
use crate::workload::OperationId;

/// Whether it lies between the streams and what executes.
const fn is_shown(queue: Queue) -> bool {
    matches!(queue, Queue::Ee(..) | Queue::Ce(_))
}

/// What it is called; each context has EE queues of its own where they take turns.
fn name_of(run: &PerfettoRun<'_>, queue: Queue) -> String {
    match queue {
        Queue::Ee(context, priority) => match run.summary.trace.queue_context_name(context) {
            Some(name) => format!("EE queue of {name}, priority {priority}"),
            None => queue.to_string(),
        },
        _ => queue.to_string(),
    }
}

pub(super) fn write<W: Write>(run: &PerfettoRun<'_>, tracks: &Tracks<'_>, events: &mut Events<W>) -> io::Result<()> {
    let summary = &run.summary;
    let (trace, device) = (summary.trace, summary.scenario.device());
    for id in (0..).map(OperationId).take(trace.operations().len()) {
        for (queue, stay) in stays(trace, device, id).filter(|(queue, _)| is_shown(*queue)) {
            let time = stay.time(trace.end());
            let (category, name) = (name_of(run, queue), title(summary, id));
            let span = SliceTime { from: time.start, to: time.end };
            events.asynchronous(tracks.queues(), &category, &name, tracks.id(id.0), span)?;
        }
    }
    for contents in queue_contents(trace, device).iter().filter(|contents| is_shown(contents.queue)) {
        let name = name_of(run, contents.queue);
        for (at, length) in contents.lengths() {
            events.counter(tracks.queues(), &name, at, "operations", length)?;
        }
    }
    Ok(())
}
