//! The tests by name, and what they say of a set.

use std::borrow::Cow;

use super::segment_task_set::{GpuWait, SegmentTaskSet};
use super::task_bound::{ResponseBounds, TaskBound};
use super::{gcaps, gcaps_as_printed, gpu_priorities, locks, locks_as_published, round_robin, round_robin_as_printed};
use locks::LockOrder;
use round_robin_as_printed::Print;

/// By what tasks share the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GpuPolicy {
    /// Turns of contexts, the driver's default.
    RoundRobin,
    /// The most urgent task between the calls at the ends of its GPU segments.
    Gcaps,
    /// One lock, given to the most urgent.
    Mpcp,
    /// One lock, given to who asked first.
    FmlpPlus,
}

/// A test of sets of tasks with segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentTest {
    /// [`round_robin`].
    RoundRobin(GpuWait),
    /// [`gcaps`].
    Gcaps(GpuWait),
    /// [`gcaps`], with other GPU priorities if it fails with those of the set.
    GcapsAssigned(GpuWait),
    /// [`locks`], the lock given by priority.
    Mpcp(GpuWait),
    /// [`locks`], the lock given in the order of requests.
    FmlpPlus(GpuWait),
    /// [`round_robin_as_printed`], the equations of the paper: unsound.
    RoundRobinAsPrinted(GpuWait),
    /// [`round_robin_as_printed`], as the paper's Table 5 was computed: unsound.
    RoundRobinTable5(GpuWait),
    /// [`round_robin_as_printed`], as the paper's Fig. 8 was computed: unsound.
    RoundRobinAsPublished(GpuWait),
    /// [`gcaps_as_printed`]: unsound.
    GcapsAsPrinted(GpuWait),
    /// [`gcaps_as_printed`], with other GPU priorities if it fails with those of the set: unsound.
    GcapsAssignedAsPrinted(GpuWait),
    /// [`locks_as_published`], the lock given by priority: unsound.
    MpcpAsPublished(GpuWait),
    /// [`locks_as_published`], the lock given in the order of requests: unsound.
    FmlpPlusAsPublished(GpuWait),
}

impl SegmentTest {
    /// All of them.
    pub const ALL: [Self; 24] = {
        const S: GpuWait = GpuWait::Suspend;
        const B: GpuWait = GpuWait::Busy;
        [
            Self::RoundRobin(S),
            Self::RoundRobin(B),
            Self::Gcaps(S),
            Self::Gcaps(B),
            Self::GcapsAssigned(S),
            Self::GcapsAssigned(B),
            Self::Mpcp(S),
            Self::Mpcp(B),
            Self::FmlpPlus(S),
            Self::FmlpPlus(B),
            Self::RoundRobinAsPrinted(S),
            Self::RoundRobinAsPrinted(B),
            Self::RoundRobinTable5(S),
            Self::RoundRobinTable5(B),
            Self::RoundRobinAsPublished(S),
            Self::RoundRobinAsPublished(B),
            Self::GcapsAsPrinted(S),
            Self::GcapsAsPrinted(B),
            Self::GcapsAssignedAsPrinted(S),
            Self::GcapsAssignedAsPrinted(B),
            Self::MpcpAsPublished(S),
            Self::MpcpAsPublished(B),
            Self::FmlpPlusAsPublished(S),
            Self::FmlpPlusAsPublished(B),
        ]
    };

    /// The name in options and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        let (suspend, busy) = match self {
            Self::RoundRobin(_) => ("round-robin-suspend", "round-robin-busy"),
            Self::Gcaps(_) => ("gcaps-suspend", "gcaps-busy"),
            Self::GcapsAssigned(_) => ("gcaps-suspend-assigned", "gcaps-busy-assigned"),
            Self::Mpcp(_) => ("mpcp-suspend", "mpcp-busy"),
            Self::FmlpPlus(_) => ("fmlp-plus-suspend", "fmlp-plus-busy"),
            Self::RoundRobinAsPrinted(_) => ("round-robin-suspend-as-printed", "round-robin-busy-as-printed"),
            Self::RoundRobinTable5(_) => ("round-robin-suspend-table-5", "round-robin-busy-table-5"),
            Self::RoundRobinAsPublished(_) => ("round-robin-suspend-as-published", "round-robin-busy-as-published"),
            Self::GcapsAsPrinted(_) => ("gcaps-suspend-as-printed", "gcaps-busy-as-printed"),
            Self::GcapsAssignedAsPrinted(_) => ("gcaps-suspend-assigned-as-printed", "gcaps-busy-assigned-as-printed"),
            Self::MpcpAsPublished(_) => ("mpcp-suspend-as-published", "mpcp-busy-as-published"),
            Self::FmlpPlusAsPublished(_) => ("fmlp-plus-suspend-as-published", "fmlp-plus-busy-as-published"),
        };
        match self.waiting() {
            GpuWait::Suspend => suspend,
            GpuWait::Busy => busy,
        }
    }

    /// The test of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|test| test.name() == name)
    }

    /// By what the GPU is shared.
    #[must_use]
    pub const fn policy(self) -> GpuPolicy {
        match self {
            Self::RoundRobin(_)
            | Self::RoundRobinAsPrinted(_)
            | Self::RoundRobinTable5(_)
            | Self::RoundRobinAsPublished(_) => GpuPolicy::RoundRobin,
            Self::Gcaps(_) | Self::GcapsAssigned(_) | Self::GcapsAsPrinted(_) | Self::GcapsAssignedAsPrinted(_) => {
                GpuPolicy::Gcaps
            }
            Self::Mpcp(_) | Self::MpcpAsPublished(_) => GpuPolicy::Mpcp,
            Self::FmlpPlus(_) | Self::FmlpPlusAsPublished(_) => GpuPolicy::FmlpPlus,
        }
    }

    /// What tasks do while the GPU works for them.
    #[must_use]
    pub const fn waiting(self) -> GpuWait {
        match self {
            Self::RoundRobin(waiting)
            | Self::Gcaps(waiting)
            | Self::GcapsAssigned(waiting)
            | Self::Mpcp(waiting)
            | Self::FmlpPlus(waiting)
            | Self::RoundRobinAsPrinted(waiting)
            | Self::RoundRobinTable5(waiting)
            | Self::RoundRobinAsPublished(waiting)
            | Self::GcapsAsPrinted(waiting)
            | Self::GcapsAssignedAsPrinted(waiting)
            | Self::MpcpAsPublished(waiting)
            | Self::FmlpPlusAsPublished(waiting) => waiting,
        }
    }

    /// Whether no job exceeds its bounds.
    #[must_use]
    pub const fn is_sound(self) -> bool {
        matches!(
            self,
            Self::RoundRobin(_) | Self::Gcaps(_) | Self::GcapsAssigned(_) | Self::Mpcp(_) | Self::FmlpPlus(_)
        )
    }

    /// Whose words or numbers are taken literally, if that is not sound: "as printed" in the paper, or "as published"
    /// by its authors.
    #[must_use]
    pub const fn taken_literally(self) -> Option<&'static str> {
        match self {
            _ if self.is_sound() => None,
            Self::RoundRobinAsPublished(_) | Self::MpcpAsPublished(_) | Self::FmlpPlusAsPublished(_) => {
                Some("as published")
            }
            _ => Some("as printed"),
        }
    }

    /// Those that are sound.
    pub fn sound() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|test| test.is_sound())
    }

    /// The set with the GPU priorities that this test gives its tasks, which on each core leave the order as it is. It
    /// is the set as it stands if the test gives none, or that order is proven, or the search finds no other.
    #[must_use]
    pub fn assigned(self, set: &SegmentTaskSet) -> Cow<'_, SegmentTaskSet> {
        let plain = match self {
            Self::GcapsAssigned(waiting) => Self::Gcaps(waiting),
            Self::GcapsAssignedAsPrinted(waiting) => Self::GcapsAsPrinted(waiting),
            _ => return Cow::Borrowed(set),
        };
        if plain.bounds(set).iter().all(TaskBound::is_accepted) {
            return Cow::Borrowed(set);
        }
        let waiting = self.waiting();
        let found = match self {
            Self::GcapsAssigned(_) => {
                gpu_priorities::search(set, &|set, task, known| gcaps::response(set, waiting, task, known))
            }
            _ => gpu_priorities::search(set, &|set, task, known| gcaps_as_printed::response(set, waiting, task, known)),
        };
        // The proven bound also depends on the order of more urgent tasks, which the search changes later.
        let passes = |other: &SegmentTaskSet| plain.bounds(other).iter().all(TaskBound::is_accepted);
        found.filter(passes).map_or(Cow::Borrowed(set), Cow::Owned)
    }

    /// Bounds on the response times of all tasks.
    #[must_use]
    pub fn bounds(self, set: &SegmentTaskSet) -> ResponseBounds {
        let waiting = self.waiting();
        match self {
            Self::RoundRobin(_) => round_robin::bounds(set, waiting),
            Self::Gcaps(_) => gcaps::bounds(set, waiting),
            Self::GcapsAssigned(_) => gcaps::bounds(&self.assigned(set), waiting),
            Self::Mpcp(_) => locks::bounds(set, LockOrder::Priority, waiting),
            Self::FmlpPlus(_) => locks::bounds(set, LockOrder::Fifo, waiting),
            Self::RoundRobinAsPrinted(_) => round_robin_as_printed::bounds(set, waiting, Print::Equations),
            Self::RoundRobinTable5(_) => round_robin_as_printed::bounds(set, waiting, Print::Table5),
            Self::RoundRobinAsPublished(_) => round_robin_as_printed::bounds(set, waiting, Print::Published),
            Self::GcapsAsPrinted(_) => gcaps_as_printed::bounds(set, waiting),
            Self::GcapsAssignedAsPrinted(_) => gcaps_as_printed::bounds(&self.assigned(set), waiting),
            Self::MpcpAsPublished(_) => locks_as_published::bounds(set, LockOrder::Priority, waiting),
            Self::FmlpPlusAsPublished(_) => locks_as_published::bounds(set, LockOrder::Fifo, waiting),
        }
    }
}
