//! Who is at which place of each EE queue and CE queue over time, in columns.

use serde::Serialize;

use super::instants::Instants;
use super::queues::QueueKey;
use crate::trace::{Place, Queue, QueueContents, Trace};

/// Places that are shown, from the head on.
const MOST_LANES: usize = 5;

/// The places of one queue. What is in it for no time is left out.
#[derive(Debug, Serialize)]
pub(super) struct LaneColumns {
    #[serde(flatten)]
    key: QueueKey,
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
        let (mut places, depth) = contents.places(MOST_LANES, trace.end());
        crate::sorted::sort_by_key(&mut places, |place: &Place| (place.time.start, place.position));
        let from: Vec<i64> = places.iter().map(|place| instants.number(place.time.start)).collect();
        let to = places.iter().map(|place| instants.number(place.time.end));
        LaneColumns {
            key: QueueKey::new(contents.queue, trace),
            depth,
            operation: places.iter().map(|place| place.operation.0).collect(),
            position: places.iter().map(|place| place.position).collect(),
            length: to.zip(&from).map(|(to, from)| to - from).collect(),
            from,
        }
    };
    let waited_in = contents.iter().filter(|contents| matches!(contents.queue, Queue::Ee(..) | Queue::Ce(_)));
    waited_in.map(of).filter(|lanes| !lanes.operation.is_empty()).collect()
}
