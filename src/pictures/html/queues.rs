//! What was in each queue over time, in columns.

use serde::Serialize;

use super::instants::Instants;
use crate::run::stream_index;
use crate::trace::{Queue, QueueContents, Trace};

/// One queue, or copy engine, and who was in it from when to when. Beginnings ascend; ends do, too, but for copies of
/// several contexts in a CE queue, and where copies share a link.
#[derive(Debug, Serialize)]
pub(super) struct QueueData<'a> {
    /// `stream`, `ee`, `ce` or `copy-engine`.
    kind: &'static str,
    /// The stream's number, the priority, or that of the copy engine.
    number: i64,
    /// Of an EE queue the number of its process, where contexts take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// Counted from the one before.
    operation: Vec<i64>,
    /// Number of the instant of entry, counted from that of the one before.
    entered: Vec<i64>,
    /// Number of the instant of leaving, counted from that of entry; -1: it was there when the run ended.
    length: Vec<i64>,
    /// Of a CE queue the place of each entry among those of all CE queues, counted from the one before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    order: Vec<i64>,
}

impl<'a> QueueData<'a> {
    pub(super) fn new(contents: &QueueContents, trace: &'a Trace, instants: &Instants) -> Self {
        let (kind, number, name) = match contents.queue {
            Queue::Stream(stream) => {
                let name = trace.streams().get(stream.index()).map(|stream| &*stream.name);
                ("stream", stream_index(stream), name)
            }
            Queue::Ee(_, priority) => ("ee", i64::from(priority), None),
            Queue::Ce(engine) => ("ce", i64::from(engine), None),
            Queue::CopyEngine(engine) => ("copy-engine", i64::from(engine), None),
        };
        let mut data = Self {
            kind,
            number,
            process: context_of(contents.queue, trace),
            name,
            operation: Vec::new(),
            entered: Vec::new(),
            length: Vec::new(),
            order: Vec::new(),
        };
        let (mut last, mut last_entered, mut last_order) = (0, 0, 0);
        for stay in &contents.stays {
            let (operation, entered) = (i64::from(stay.operation.0), instants.number(stay.entered));
            data.operation.push(operation - last);
            data.entered.push(entered - last_entered);
            data.length.push(stay.left.map_or(-1, |left| instants.number(left) - entered));
            if matches!(contents.queue, Queue::Ce(_)) {
                data.order.push(i64::from(stay.order) - last_order);
            }
            (last, last_entered, last_order) = (operation, entered, i64::from(stay.order));
        }
        data
    }
}

/// The number of the process that an EE queue is of, where contexts take turns and each has its own.
pub(super) fn context_of(queue: Queue, trace: &Trace) -> Option<u32> {
    match queue {
        Queue::Ee(process, _) if trace.is_time_sliced() => Some(process.0),
        _ => None,
    }
}
