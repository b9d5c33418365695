//! The tests by name, and what they say of a set.

use super::segment_task_set::{SegmentTaskSet, Waiting};
use super::{gcaps, gcaps_as_printed, locks, round_robin, round_robin_as_printed};
use crate::time::Duration;

/// What a test says of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskBound {
    /// No job takes longer, and this is at most the deadline.
    Bounded(Duration),
    /// The bound exceeds the deadline: perhaps jobs miss it, perhaps not.
    Exceeds,
    /// A task that it depends on has no bound, so nothing is known.
    DependsOn(usize),
    /// Best effort: nothing is promised.
    BestEffort,
    /// The analysis is not for such sets; why.
    NotApplicable(&'static str),
}

impl TaskBound {
    /// The bound, if there is one.
    #[must_use]
    pub fn bound(&self) -> Option<Duration> {
        match self {
            Self::Bounded(bound) => Some(*bound),
            Self::Exceeds | Self::DependsOn(_) | Self::BestEffort | Self::NotApplicable(_) => None,
        }
    }
}

/// What a test says of each task of a set.
pub type ResponseBounds = Vec<TaskBound>;

/// Goes through the tasks from the most urgent down. `response` gives the bound of one from the bounds of those before
/// it, or nothing if it exceeds the deadline. What a task without bound does to less urgent ones is unknown, so they
/// have none either.
pub(super) fn in_order(
    set: &SegmentTaskSet,
    mut response: impl FnMut(usize, &[Option<Duration>]) -> Option<Duration>,
) -> ResponseBounds {
    let mut bounds = vec![TaskBound::BestEffort; set.tasks.len()];
    let mut known = vec![None; set.tasks.len()];
    let mut failed = None;
    for task in set.by_urgency() {
        bounds[task] = match failed {
            Some(other) => TaskBound::DependsOn(other),
            None => match response(task, &known) {
                Some(bound) => TaskBound::Bounded(bound),
                None => TaskBound::Exceeds,
            },
        };
        known[task] = bounds[task].bound();
        if failed.is_none() && known[task].is_none() {
            failed = Some(task);
        }
    }
    bounds
}

/// A test of sets of tasks with segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentTest {
    /// [`round_robin`].
    RoundRobin(Waiting),
    /// [`gcaps`].
    Gcaps(Waiting),
    /// [`locks`], the lock given by priority.
    Mpcp(Waiting),
    /// [`locks`], the lock given in the order of requests.
    FmlpPlus(Waiting),
    /// [`round_robin_as_printed`], the equations of the paper: unsound.
    RoundRobinAsPrinted(Waiting),
    /// [`round_robin_as_printed`], as the paper's Table 5 was computed: unsound.
    RoundRobinTable5(Waiting),
    /// [`gcaps_as_printed`]: unsound.
    GcapsAsPrinted(Waiting),
}

impl SegmentTest {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::RoundRobin(Waiting::Suspend),
        Self::RoundRobin(Waiting::Busy),
        Self::Gcaps(Waiting::Suspend),
        Self::Gcaps(Waiting::Busy),
        Self::Mpcp(Waiting::Suspend),
        Self::Mpcp(Waiting::Busy),
        Self::FmlpPlus(Waiting::Suspend),
        Self::FmlpPlus(Waiting::Busy),
        Self::RoundRobinAsPrinted(Waiting::Suspend),
        Self::RoundRobinAsPrinted(Waiting::Busy),
        Self::RoundRobinTable5(Waiting::Suspend),
        Self::RoundRobinTable5(Waiting::Busy),
        Self::GcapsAsPrinted(Waiting::Suspend),
        Self::GcapsAsPrinted(Waiting::Busy),
    ];

    /// The name in options and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoundRobin(Waiting::Suspend) => "round-robin-suspend",
            Self::RoundRobin(Waiting::Busy) => "round-robin-busy",
            Self::Gcaps(Waiting::Suspend) => "gcaps-suspend",
            Self::Gcaps(Waiting::Busy) => "gcaps-busy",
            Self::Mpcp(Waiting::Suspend) => "mpcp-suspend",
            Self::Mpcp(Waiting::Busy) => "mpcp-busy",
            Self::FmlpPlus(Waiting::Suspend) => "fmlp-plus-suspend",
            Self::FmlpPlus(Waiting::Busy) => "fmlp-plus-busy",
            Self::RoundRobinAsPrinted(Waiting::Suspend) => "round-robin-suspend-as-printed",
            Self::RoundRobinAsPrinted(Waiting::Busy) => "round-robin-busy-as-printed",
            Self::RoundRobinTable5(Waiting::Suspend) => "round-robin-suspend-table-5",
            Self::RoundRobinTable5(Waiting::Busy) => "round-robin-busy-table-5",
            Self::GcapsAsPrinted(Waiting::Suspend) => "gcaps-suspend-as-printed",
            Self::GcapsAsPrinted(Waiting::Busy) => "gcaps-busy-as-printed",
        }
    }

    /// The test of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|test| test.name() == name)
    }

    /// Whether no job exceeds its bounds.
    #[must_use]
    pub const fn is_sound(self) -> bool {
        matches!(self, Self::RoundRobin(_) | Self::Gcaps(_) | Self::Mpcp(_) | Self::FmlpPlus(_))
    }

    /// Those that are sound.
    pub fn sound() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|test| test.is_sound())
    }

    /// Bounds on the response times of all tasks.
    #[must_use]
    pub fn bounds(self, set: &SegmentTaskSet) -> ResponseBounds {
        match self {
            Self::RoundRobin(waiting) => round_robin::bounds(set, waiting),
            Self::Gcaps(waiting) => gcaps::bounds(set, waiting),
            Self::Mpcp(waiting) => locks::bounds(set, locks::LockOrder::Priority, waiting),
            Self::FmlpPlus(waiting) => locks::bounds(set, locks::LockOrder::Fifo, waiting),
            Self::RoundRobinAsPrinted(waiting) => {
                round_robin_as_printed::bounds(set, waiting, round_robin_as_printed::Print::Equations)
            }
            Self::RoundRobinTable5(waiting) => {
                round_robin_as_printed::bounds(set, waiting, round_robin_as_printed::Print::Table5)
            }
            Self::GcapsAsPrinted(waiting) => gcaps_as_printed::bounds(set, waiting),
        }
    }
}
