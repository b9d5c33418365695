//! What is in the EE and CE queues.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use super::PerfettoRun;
use super::event::{Events, Span};
use super::tracks::Tracks;
use crate::gpu::OperationRecord;
use crate::report::state::title;
use crate::report::summary::Summary;
use crate::time::Instant;
use crate::workload::{OperationId, OperationKind};

/// A queue between the streams and what executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Queue {
    /// By stream priority.
    Ee(i32),
    /// By copy engine.
    Ce(u32),
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ee(priority) => write!(f, "EE queue, priority {priority}"),
            Self::Ce(engine) => write!(f, "CE queue {engine}"),
        }
    }
}

impl Queue {
    /// The queue that an operation goes through; none for memsets.
    fn of(summary: &Summary<'_>, record: &OperationRecord) -> Option<Self> {
        match record.kind {
            OperationKind::Kernel(_) => {
                summary.trace.streams().get(record.stream.0 as usize).map(|stream| Self::Ee(stream.priority))
            }
            OperationKind::Copy(copy) => {
                let direction = summary.trace.copies().get(copy.0 as usize)?.direction;
                Some(Self::Ce(summary.scenario.device().copy.engine_for(direction)))
            }
            OperationKind::Memset => None,
        }
    }
}

pub(super) fn write<W: Write>(run: &PerfettoRun<'_>, tracks: &Tracks<'_>, events: &mut Events<W>) -> io::Result<()> {
    let summary = &run.summary;
    let mut changes: BTreeMap<Queue, BTreeMap<Instant, i64>> = BTreeMap::new();
    for (id, record) in (0..).map(OperationId).zip(summary.trace.operations()) {
        let Some((queue, from)) = Queue::of(summary, record).zip(record.queued()) else { continue };
        let left = record.last_start();
        let to = left.unwrap_or(summary.trace.end());
        let (category, name) = (queue.to_string(), title(summary, id));
        events.asynchronous(tracks.queues(), &category, &name, tracks.id(id.0), Span { from, to })?;
        let changes = changes.entry(queue).or_default();
        *changes.entry(from).or_default() += 1;
        if let Some(left) = left {
            *changes.entry(left).or_default() -= 1;
        }
    }
    for (queue, changes) in changes {
        let mut length = 0_i64;
        for (at, change) in changes {
            length += change;
            // An operation enters before it leaves.
            let length = u64::try_from(length).unwrap_or(0);
            events.counter(tracks.queues(), &queue.to_string(), at, "operations", length)?;
        }
    }
    Ok(())
}
