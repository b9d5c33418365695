//! Who has which core when, in columns.

use serde::Serialize;

use super::instants::{Instants, steps};
use super::palette::PageFill;
use crate::draw::theme::share_fill;
use crate::run::CoreSpan;

#[derive(Debug, Serialize)]
pub(super) struct CoreData {
    lanes: Vec<CoreLane>,
    /// By number of the host thread.
    light: Vec<PageFill>,
    dark: Vec<PageFill>,
}

#[derive(Debug, Serialize)]
struct CoreLane {
    core: u32,
    thread: Vec<u32>,
    job: Vec<u32>,
    spins: Vec<bool>,
    /// Number of the instant at which it begins, counted from the end of the one before.
    start: Vec<i64>,
    /// Number of its end, counted from its beginning.
    length: Vec<i64>,
}

impl CoreData {
    /// `None` where hosts share no core.
    pub(super) fn new(spans: &[CoreSpan], threads: usize, instants: &Instants) -> Option<Self> {
        let lane = |own: &[CoreSpan]| {
            let times = own.iter().flat_map(|span| [span.start, span.end]);
            let times = steps(times.map(|at| instants.number(at)));
            let (start, length) = times.chunks_exact(2).map(|time| (time[0], time[1])).unzip();
            CoreLane {
                core: own.first().map_or(0, |span| span.core),
                thread: own.iter().map(|span| span.thread).collect(),
                job: own.iter().map(|span| span.iteration).collect(),
                spins: own.iter().map(|span| span.spins).collect(),
                start,
                length,
            }
        };
        let lanes: Vec<CoreLane> = spans.chunk_by(|one, other| one.core == other.core).map(lane).collect();
        let looks = |fill: fn(usize) -> PageFill| (0..threads).map(fill).collect();
        (!lanes.is_empty()).then(|| Self {
            lanes,
            light: looks(|thread| PageFill::from(share_fill(thread))),
            dark: looks(|thread| PageFill::dark(share_fill(thread))),
        })
    }
}
