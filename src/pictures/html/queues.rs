//! What was in each queue over time, in columns.

use serde::Serialize;

use super::instants::{Instants, steps};
use crate::trace::{Queue, QueueContents, Stay, Trace};

/// Which queue, or copy engine.
#[derive(Debug, Serialize)]
pub(super) struct QueueKey {
    /// `stream`, `ee`, `ce` or `copy-engine`.
    kind: &'static str,
    /// The stream's number, which tells NULL streams apart, the priority, or that of the copy engine.
    number: i64,
    /// Of an EE queue the place of whom it is of among those that have queues of their own, if there are several.
    #[serde(rename = "process", skip_serializing_if = "Option::is_none")]
    owner: Option<usize>,
}

impl QueueKey {
    pub(super) fn new(queue: Queue, trace: &Trace) -> Self {
        let owner = |context| {
            trace.queue_context_name(context)?;
            trace.queue_contexts().iter().position(|other| *other == context)
        };
        let (kind, number, owner) = match queue {
            Queue::Stream(stream) => ("stream", i64::from(stream.0) - 1, None),
            Queue::Ee(context, priority) => ("ee", i64::from(priority), owner(context)),
            Queue::Ce(engine) => ("ce", i64::from(engine), None),
            Queue::CopyEngine(engine) => ("copy-engine", i64::from(engine), None),
        };
        Self { kind, number, owner }
    }
}

/// One queue, or copy engine, and who was in it from when to when. Beginnings ascend; ends do, too, but for copies of
/// several contexts in a CE queue, and where copies share a link.
#[derive(Debug, Serialize)]
pub(super) struct QueueData<'a> {
    #[serde(flatten)]
    key: QueueKey,
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
        let QueueContents { queue, stays } = contents;
        let name = match queue {
            Queue::Stream(stream) => Some(trace.stream_name(*stream)),
            _ => None,
        };
        let ordered = if matches!(queue, Queue::Ce(_)) { &stays[..] } else { &[] };
        let length = |stay: &Stay| stay.left.map_or(-1, |left| instants.number(left) - instants.number(stay.entered));
        Self {
            key: QueueKey::new(*queue, trace),
            name,
            operation: steps(stays.iter().map(|stay| stay.operation.0.into())),
            entered: steps(stays.iter().map(|stay| instants.number(stay.entered))),
            length: stays.iter().map(length).collect(),
            order: steps(ordered.iter().map(|stay| stay.order.into())),
        }
    }
}
