//! Who is at which place of each EE queue and CE queue over time, in columns.

use serde::Serialize;

use super::instants::Instants;
use super::queues::context_of;
use crate::trace::{Place, Queue, QueueContents, Trace};

/// Places that are shown, from the head on.
const MOST_LANES: usize = 5;

/// The places of one queue. What is in it for no time is left out.
#[derive(Debug, Serialize)]
pub(super) struct LaneColumns {
    /// `ee` or `ce`.
    kind: &'static str,
    /// The priority, or the number of the copy engine.
    number: i64,
    /// Of an EE queue the number of its process, where contexts take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<u32>,
    /// How many are in it at once at most.
    depth: usize,
    operation: Vec<u32>,
    position: Vec<usize>,
    /// Number of the instant of its beginning.
    from: Vec<i64>,
    /// Number of the instant of its end, counted from that of its beginning.
    length: Vec<i64>,
}

/// Of the queues in which something waits.
pub(super) fn lanes(contents: &[QueueContents], trace: &Trace, instants: &Instants) -> Vec<LaneColumns> {
    let of = |contents: &QueueContents| {
        let (kind, number) = match contents.queue {
            Queue::Ee(_, priority) => ("ee", i64::from(priority)),
            Queue::Ce(engine) => ("ce", i64::from(engine)),
            Queue::Stream(_) | Queue::CopyEngine(_) => return None,
        };
        let (mut places, depth) = contents.places(MOST_LANES, trace.end());
        places.sort_by_key(|place: &Place| (place.time.start, place.position));
        let from: Vec<i64> = places.iter().map(|place| instants.number(place.time.start)).collect();
        let to = places.iter().map(|place| instants.number(place.time.end));
        Some(LaneColumns {
            kind,
            number,
            process: context_of(contents.queue, trace),
            depth,
            operation: places.iter().map(|place| place.operation.0).collect(),
            position: places.iter().map(|place| place.position).collect(),
            length: to.zip(&from).map(|(to, from)| to - from).collect(),
            from,
        })
    };
    contents.iter().filter_map(of).filter(|lanes| !lanes.operation.is_empty()).collect()
}
