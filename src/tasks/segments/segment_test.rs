//! The tests by name, and what they say of a set.

use super::segment_task_set::{GpuWait, SegmentTaskSet};
use super::task_bound::ResponseBounds;
use super::{gcaps, gcaps_as_printed, locks, round_robin, round_robin_as_printed};

/// A test of sets of tasks with segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentTest {
    /// [`round_robin`].
    RoundRobin(GpuWait),
    /// [`gcaps`].
    Gcaps(GpuWait),
    /// [`locks`], the lock given by priority.
    Mpcp(GpuWait),
    /// [`locks`], the lock given in the order of requests.
    FmlpPlus(GpuWait),
    /// [`round_robin_as_printed`], the equations of the paper: unsound.
    RoundRobinAsPrinted(GpuWait),
    /// [`round_robin_as_printed`], as the paper's Table 5 was computed: unsound.
    RoundRobinTable5(GpuWait),
    /// [`gcaps_as_printed`]: unsound.
    GcapsAsPrinted(GpuWait),
}

impl SegmentTest {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::RoundRobin(GpuWait::Suspend),
        Self::RoundRobin(GpuWait::Busy),
        Self::Gcaps(GpuWait::Suspend),
        Self::Gcaps(GpuWait::Busy),
        Self::Mpcp(GpuWait::Suspend),
        Self::Mpcp(GpuWait::Busy),
        Self::FmlpPlus(GpuWait::Suspend),
        Self::FmlpPlus(GpuWait::Busy),
        Self::RoundRobinAsPrinted(GpuWait::Suspend),
        Self::RoundRobinAsPrinted(GpuWait::Busy),
        Self::RoundRobinTable5(GpuWait::Suspend),
        Self::RoundRobinTable5(GpuWait::Busy),
        Self::GcapsAsPrinted(GpuWait::Suspend),
        Self::GcapsAsPrinted(GpuWait::Busy),
    ];

    /// The name in options and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoundRobin(GpuWait::Suspend) => "round-robin-suspend",
            Self::RoundRobin(GpuWait::Busy) => "round-robin-busy",
            Self::Gcaps(GpuWait::Suspend) => "gcaps-suspend",
            Self::Gcaps(GpuWait::Busy) => "gcaps-busy",
            Self::Mpcp(GpuWait::Suspend) => "mpcp-suspend",
            Self::Mpcp(GpuWait::Busy) => "mpcp-busy",
            Self::FmlpPlus(GpuWait::Suspend) => "fmlp-plus-suspend",
            Self::FmlpPlus(GpuWait::Busy) => "fmlp-plus-busy",
            Self::RoundRobinAsPrinted(GpuWait::Suspend) => "round-robin-suspend-as-printed",
            Self::RoundRobinAsPrinted(GpuWait::Busy) => "round-robin-busy-as-printed",
            Self::RoundRobinTable5(GpuWait::Suspend) => "round-robin-suspend-table-5",
            Self::RoundRobinTable5(GpuWait::Busy) => "round-robin-busy-table-5",
            Self::GcapsAsPrinted(GpuWait::Suspend) => "gcaps-suspend-as-printed",
            Self::GcapsAsPrinted(GpuWait::Busy) => "gcaps-busy-as-printed",
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
