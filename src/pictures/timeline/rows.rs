//! What is in the rows of streams.

use std::ops::Range;

use super::budget::WAIT_LANE;
use super::{Label, TimeShare};
use crate::draw::{Length, Rect};
use crate::time::Instant;
use crate::trace::Rule;
use crate::workload::{OperationId, StreamId};

/// One stream, or the last of many streams together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamRow {
    /// The stream, or streams.
    pub streams: Vec<StreamId>,
    /// Its whole name.
    pub name: String,
    /// Its name and priority, shortened.
    pub label: Label,
    /// The whole window; waits are below it.
    pub area: Rect,
    /// Launches, in order of time; none where they are too close to be drawn one by one.
    pub arrows: Vec<Arrow>,
    /// Deadlines of the jobs that end in it, in order of time; only missed ones where they are too close.
    pub deadlines: Vec<DeadlineMark>,
    /// Where there are launches and deadlines that are too close to be drawn one by one, in order of time.
    pub strips: Vec<MarkStrip>,
    /// What waited in it, if that is asked for.
    pub waits: Option<StreamWaits>,
    /// Where it ends, with its waits.
    pub bottom: Length,
}

impl StreamRow {
    pub(super) fn wait_lanes(&self) -> usize {
        usize::try_from((self.bottom - self.area.bottom()) / WAIT_LANE).unwrap_or(0)
    }
}

/// Launches and deadlines that were met, too close to be drawn one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkStrip {
    /// From the first to the last.
    pub area: Rect,
    /// How many operations were submitted.
    pub launches: u64,
    /// How many deadlines.
    pub deadlines: u64,
}

/// What waited in a stream, from launch to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamWaits {
    /// All of it.
    pub area: Rect,
    /// The operations that have a bar, lane by lane, each in order of time.
    pub bars: Vec<WaitBar>,
    /// Wherever more waited than have bars.
    pub more: Vec<MoreWaits>,
    /// Where waits are too many and too short to be seen: how many wait under each rule on average; then `bars` is
    /// empty.
    pub shares: Vec<TimeShare<Rule>>,
    /// How many more wait at once at most, or how many stand for the whole height of the shares.
    pub label: Option<Label>,
}

/// An operation that waited, or several that are too short to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitBar {
    /// The (first) operation.
    pub operation: OperationId,
    /// How many.
    pub count: u64,
    /// From when to when, within the window.
    pub time: Range<Instant>,
    /// On paper.
    pub area: Rect,
    /// The rules that held it, in order of time; of several operations the one that held them longest.
    pub parts: Vec<WaitPart>,
    /// What is written beside it.
    pub label: Option<Label>,
}

/// The time for which one rule held an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitPart {
    /// The rule.
    pub rule: Rule,
    /// From when to when, within the window.
    pub time: Range<Instant>,
    /// On paper.
    pub area: Rect,
}

/// Operations without a bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoreWaits {
    /// How many.
    pub count: u64,
    /// From the first beginning to the last end, in all of which some wait.
    pub time: Range<Instant>,
    /// On paper.
    pub area: Rect,
}

/// The deadline of a job, or deadlines too close to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadlineMark {
    /// Where.
    pub x: Length,
    /// Width of its head: less where marks are close.
    pub head: Length,
    /// How many jobs.
    pub jobs: u64,
    /// Those of them that missed it.
    pub missed: u64,
    /// Which jobs, and what became of them.
    pub explanation: String,
}

/// Operations submitted to one stream at one time, or at times too close to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrow {
    /// Where.
    pub x: Length,
    /// Width of its head: less where arrows are close.
    pub head: Length,
    /// The operations, in launch order; only the first of many.
    pub operations: Vec<OperationId>,
    /// How many kernels were launched.
    pub kernels: u64,
    /// How many copies and memsets were submitted.
    pub others: u64,
    /// What is written beside it.
    pub label: Option<Label>,
}
