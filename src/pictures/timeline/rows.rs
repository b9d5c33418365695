//! What is in the rows of streams.

use std::ops::Range;

use super::budget::WAIT_LANE;
use super::{Label, TimeShare};
use crate::draw::{Length, Rect};
use crate::run::HeldCall;
use crate::time::Instant;
use crate::trace::Rule;
use crate::workload::{OperationId, StreamId};

/// One stream, or the last of many streams together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamRow {
    pub(crate) streams: Vec<StreamId>,
    /// Its whole name.
    pub(crate) name: String,
    /// Its name and priority, shortened.
    pub(crate) label: Label,
    /// The whole window; waits are below it.
    pub(crate) area: Rect,
    /// Launches, in order of time; none where they are too close to be drawn one by one.
    pub(crate) arrows: Vec<Arrow>,
    /// Deadlines of the jobs that end in it, in order of time; only missed ones where they are too close.
    pub(crate) deadlines: Vec<DeadlineMark>,
    /// Where there are launches and deadlines that are too close to be drawn one by one, in order of time.
    pub(crate) strips: Vec<MarkStrip>,
    /// What waited in it, if that is asked for.
    pub(crate) waits: Option<StreamWaits>,
    /// Where it ends, with its waits.
    pub(crate) bottom: Length,
}

impl StreamRow {
    pub(super) fn wait_lanes(&self) -> usize {
        usize::try_from((self.bottom - self.area.bottom()) / WAIT_LANE).unwrap_or(0)
    }
}

/// Launches and deadlines that were met, too close to be drawn one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MarkStrip {
    /// From the first to the last.
    pub(crate) area: Rect,
    /// How many operations were submitted.
    pub(crate) launches: u64,
    /// How many deadlines.
    pub(crate) deadlines: u64,
}

/// What waited in a stream, from launch to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamWaits {
    /// All of it.
    pub(crate) area: Rect,
    /// The operations that have a bar, lane by lane, each in order of time.
    pub(crate) bars: Vec<WaitBar>,
    /// Wherever more waited than have bars.
    pub(crate) more: Vec<MoreWaits>,
    /// Where waits are too many and too short to be seen: how many wait under each rule on average; then `bars` is
    /// empty.
    pub(crate) shares: Vec<TimeShare<Rule>>,
    /// How many more wait at once at most, or how many stand for the whole height of the shares.
    pub(crate) label: Option<Label>,
}

/// Who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiter {
    Operation(OperationId),
    /// A call of a host (H1, H2).
    Call(HeldCall),
}

/// An operation or a call that waited, or several that are too short to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WaitBar {
    /// The (first) one.
    pub(crate) who: Waiter,
    /// How many.
    pub(crate) count: u64,
    /// From when to when, within the window.
    pub(crate) time: Range<Instant>,
    /// On paper.
    pub(crate) area: Rect,
    /// The rules that held it, in order of time; of several operations the one that held them longest.
    pub(crate) parts: Vec<WaitPart>,
    /// What is written beside it.
    pub(crate) label: Option<Label>,
}

/// The time for which one rule held an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WaitPart {
    pub(crate) rule: Rule,
    /// From when to when, within the window.
    pub(crate) time: Range<Instant>,
    /// On paper.
    pub(crate) area: Rect,
}

/// Operations without a bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MoreWaits {
    /// How many.
    pub(crate) count: u64,
    /// From the first beginning to the last end, in all of which some wait.
    pub(crate) time: Range<Instant>,
    /// On paper.
    pub(crate) area: Rect,
}

/// The deadline of a job, or deadlines too close to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeadlineMark {
    /// Where.
    pub(crate) x: Length,
    /// Width of its head: less where marks are close.
    pub(crate) head: Length,
    /// How many jobs.
    pub(crate) jobs: u64,
    /// Those of them that missed it.
    pub(crate) missed: u64,
    /// Which jobs, and what became of them.
    pub(crate) explanation: String,
}

/// Operations submitted to one stream at one time, or at times too close to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arrow {
    /// Where.
    pub(crate) x: Length,
    /// Width of its head: less where arrows are close.
    pub(crate) head: Length,
    /// The operations, in launch order; only the first of many.
    pub(crate) operations: Vec<OperationId>,
    /// How many kernels were launched.
    pub(crate) kernels: u64,
    /// How many copies and memsets were submitted.
    pub(crate) others: u64,
    /// What is written beside it.
    pub(crate) label: Option<Label>,
}
