//! The tests by name, and what they say of a set.

use std::borrow::Cow;

use super::segment_task_set::{GpuWait, SegmentTaskSet};
use super::suspension::{self, SuspensionIs};
use super::task_bound::{ResponseBounds, Responses, TaskBound};
use super::{gcaps, gcaps_as_printed, gpu_priorities, locks, locks_as_published, round_robin, round_robin_as_printed};
use locks::LockOrder;
use round_robin_as_printed::Print;

use crate::time::Duration;

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

/// Declares the tests: each with its names where tasks are suspended and where they are busy, and by what they share
/// the GPU; then those that there are where tasks are suspended alone.
macro_rules! segment_tests {
    (
        either { $($(#[$about:meta])* $test:ident = $suspend:literal | $busy:literal: $policy:ident;)+ }
        suspended { $($(#[$of:meta])* $suspended:ident = $name:literal: $shared:ident;)+ }
    ) => {
        /// A test of sets of tasks with segments.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum SegmentTest {
            $($(#[$about])* $test(GpuWait),)+
            $($(#[$of])* $suspended),+
        }

        impl SegmentTest {
            /// All of them.
            pub const ALL: [Self; 2 * [$($suspend),+].len() + [$($name),+].len()] = [
                $(Self::$test(GpuWait::Suspend), Self::$test(GpuWait::Busy),)+
                $(Self::$suspended),+
            ];

            /// The name in options and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$test(GpuWait::Suspend) => $suspend, Self::$test(GpuWait::Busy) => $busy,)+
                    $(Self::$suspended => $name),+
                }
            }

            /// By what the GPU is shared.
            pub const fn policy(self) -> GpuPolicy {
                match self {
                    $(Self::$test(_) => GpuPolicy::$policy,)+
                    $(Self::$suspended => GpuPolicy::$shared),+
                }
            }

            /// What tasks do while the GPU works for them.
            pub const fn waiting(self) -> GpuWait {
                match self {
                    $(Self::$test(waiting))|+ => waiting,
                    $(Self::$suspended)|+ => GpuWait::Suspend,
                }
            }
        }
    };
}

segment_tests! {
    either {
        /// Time slices of equal contexts.
        RoundRobin = "round-robin-suspend" | "round-robin-busy": RoundRobin;
        /// GCAPS: the most urgent task between the calls at the ends of its GPU segments.
        Gcaps = "gcaps-suspend" | "gcaps-busy": Gcaps;
        /// GCAPS, with other GPU priorities if it fails with those of the set.
        GcapsAssigned = "gcaps-suspend-assigned" | "gcaps-busy-assigned": Gcaps;
        /// One lock, given by priority.
        Mpcp = "mpcp-suspend" | "mpcp-busy": Mpcp;
        /// One lock, given in the order of requests.
        FmlpPlus = "fmlp-plus-suspend" | "fmlp-plus-busy": FmlpPlus;
        /// Time slices, the equations of the paper: unsound.
        RoundRobinAsPrinted = "round-robin-suspend-as-printed" | "round-robin-busy-as-printed": RoundRobin;
        /// Time slices, as the paper's Table 5 was computed: unsound.
        RoundRobinTable5 = "round-robin-suspend-table-5" | "round-robin-busy-table-5": RoundRobin;
        /// Time slices, as the paper's Fig. 8 was computed: unsound.
        RoundRobinAsPublished = "round-robin-suspend-as-published" | "round-robin-busy-as-published": RoundRobin;
        /// GCAPS by the equations of the paper: unsound.
        GcapsAsPrinted = "gcaps-suspend-as-printed" | "gcaps-busy-as-printed": Gcaps;
        /// GCAPS by the equations of the paper, with other GPU priorities if it fails with those of the set: unsound.
        GcapsAssignedAsPrinted = "gcaps-suspend-assigned-as-printed" | "gcaps-busy-assigned-as-printed": Gcaps;
        /// One lock by the authors' program, given by priority: unsound.
        MpcpAsPublished = "mpcp-suspend-as-published" | "mpcp-busy-as-published": Mpcp;
        /// One lock by the authors' program, given in the order of requests: unsound.
        FmlpPlusAsPublished = "fmlp-plus-suspend-as-published" | "fmlp-plus-busy-as-published": FmlpPlus;
    }
    suspended {
        /// Time slices: being suspended is counted as execution.
        RoundRobinOblivious = "round-robin-suspend-oblivious": RoundRobin;
        /// Time slices: being suspended is counted as blocking.
        RoundRobinBlocking = "round-robin-suspend-as-blocking": RoundRobin;
        /// Time slices: of each task as what serves best.
        RoundRobinUnified = "round-robin-suspend-unified": RoundRobin;
    }
}

impl SegmentTest {
    /// The test of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|test| test.name() == name)
    }

    /// Whether no job exceeds its bounds.
    pub const fn is_sound(self) -> bool {
        let is_of_policy = matches!(
            self,
            Self::RoundRobin(_) | Self::Gcaps(_) | Self::GcapsAssigned(_) | Self::Mpcp(_) | Self::FmlpPlus(_)
        );
        is_of_policy || matches!(self, Self::RoundRobinOblivious | Self::RoundRobinBlocking | Self::RoundRobinUnified)
    }

    /// Whether these bounds prove that no task of their set is ever late.
    pub(crate) fn proves(self, bounds: &ResponseBounds) -> bool {
        self.is_sound() && bounds.iter().all(TaskBound::is_accepted)
    }

    /// Whose words or numbers are taken literally, if that is not sound: "as printed" in the paper, or "as published"
    /// by its authors.
    pub const fn taken_literally(self) -> Option<&'static str> {
        match self {
            _ if self.is_sound() => None,
            Self::RoundRobinAsPublished(_) | Self::MpcpAsPublished(_) | Self::FmlpPlusAsPublished(_) => {
                Some("as published")
            }
            _ => Some("as printed"),
        }
    }

    /// The sound test of what shares the GPU in the same way, whose runs are those of this one too.
    pub(crate) const fn run_of(self) -> Self {
        match self {
            Self::RoundRobin(wait)
            | Self::RoundRobinAsPrinted(wait)
            | Self::RoundRobinTable5(wait)
            | Self::RoundRobinAsPublished(wait) => Self::RoundRobin(wait),
            Self::RoundRobinOblivious | Self::RoundRobinBlocking | Self::RoundRobinUnified => {
                Self::RoundRobin(GpuWait::Suspend)
            }
            Self::Gcaps(wait) | Self::GcapsAsPrinted(wait) => Self::Gcaps(wait),
            Self::GcapsAssigned(wait) | Self::GcapsAssignedAsPrinted(wait) => Self::GcapsAssigned(wait),
            Self::Mpcp(wait) | Self::MpcpAsPublished(wait) => Self::Mpcp(wait),
            Self::FmlpPlus(wait) | Self::FmlpPlusAsPublished(wait) => Self::FmlpPlus(wait),
        }
    }

    /// Those that are sound.
    pub fn sound() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|test| test.is_sound())
    }

    /// The set with the GPU priorities that this test gives its tasks, which on each core leave the order as it is. It
    /// is the set as it stands if the test gives none, or that order is proven, or the search finds no other.
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
            Self::GcapsAssigned(_) => gpu_priorities::search(set, &|set, task, known| {
                gcaps::response(set, waiting, (task, set.tasks[task].deadline), known).ok()
            }),
            _ => gpu_priorities::search(set, &|set, task, known| gcaps_as_printed::response(set, waiting, task, known)),
        };
        // The proven bound also depends on the order of more urgent tasks, which the search changes later.
        let passes = |other: &SegmentTaskSet| plain.bounds(other).iter().all(TaskBound::is_accepted);
        found.filter(passes).map_or(Cow::Borrowed(set), Cow::Owned)
    }

    /// Bounds on the response times of all tasks. A task has none if one that it depends on has none; what others do,
    /// such as an overloaded task on another core, does not matter to it.
    pub fn bounds(self, set: &SegmentTaskSet) -> ResponseBounds {
        let waiting = self.waiting();
        match self {
            Self::RoundRobinAsPrinted(_) => round_robin_as_printed::bounds(set, waiting, Print::Equations),
            Self::RoundRobinTable5(_) => round_robin_as_printed::bounds(set, waiting, Print::Table5),
            Self::RoundRobinAsPublished(_) => round_robin_as_printed::bounds(set, waiting, Print::Published),
            Self::GcapsAsPrinted(_) => gcaps_as_printed::bounds(set, waiting),
            Self::GcapsAssignedAsPrinted(_) => gcaps_as_printed::bounds(&self.assigned(set), waiting),
            Self::MpcpAsPublished(_) => locks_as_published::bounds(set, LockOrder::Priority, waiting),
            Self::FmlpPlusAsPublished(_) => locks_as_published::bounds(set, LockOrder::Fifo, waiting),
            sound => sound.responses(set).map_or_else(Vec::new, |responses| responses.bounds),
        }
    }

    /// Bounds that exceed deadlines, by task: no job takes longer, but it may be late. `None` of a task whose bound
    /// meets its deadline, or that has none within its period.
    pub fn late_bounds(self, set: &SegmentTaskSet) -> Vec<Option<Duration>> {
        self.responses(set).map_or_else(|| vec![None; set.tasks.len()], |responses| responses.late)
    }

    /// `None` of a test that is not sound.
    fn responses(self, set: &SegmentTaskSet) -> Option<Responses> {
        let waiting = self.waiting();
        Some(match self {
            Self::RoundRobin(_) => round_robin::responses(set, waiting),
            Self::Gcaps(_) => gcaps::responses(set, waiting),
            Self::GcapsAssigned(_) => gcaps::responses(&self.assigned(set), waiting),
            Self::Mpcp(_) => locks::responses(set, LockOrder::Priority, waiting),
            Self::FmlpPlus(_) => locks::responses(set, LockOrder::Fifo, waiting),
            Self::RoundRobinOblivious => suspension::responses(set, SuspensionIs::Execution),
            Self::RoundRobinBlocking => suspension::responses(set, SuspensionIs::Blocking),
            Self::RoundRobinUnified => suspension::responses(set, SuspensionIs::WhatServesBest),
            _ => return None,
        })
    }
}
