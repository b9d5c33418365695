//! The tests by name; what they say of a set, how much longer its tasks may take, and what no test can accept.

use std::borrow::Cow;

use super::bounds::{ResponseBounds, Responses, TaskBound};
use super::locks::LockOrder;
use super::segment_task_set::{GpuSegment, GpuWait, SegmentTask, SegmentTaskSet, TaskSegment};
use super::time_slices::{Print, SuspensionIs};
use super::{gcaps, locks, time_slices};
use crate::effort;
use crate::limits::count_turn;
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
    #[doc(hidden)]
    pub const fn run_of(self) -> Self {
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
            Self::GcapsAssigned(_) => gcaps::search(set, &|set, task, known| {
                gcaps::response(set, waiting, (task, set.tasks[task].deadline), known).ok()
            }),
            _ => gcaps::search(set, &|set, task, known| gcaps::response_as_printed(set, waiting, task, known)),
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
            Self::RoundRobinAsPrinted(_) => time_slices::bounds_as_printed(set, waiting, Print::Equations),
            Self::RoundRobinTable5(_) => time_slices::bounds_as_printed(set, waiting, Print::Table5),
            Self::RoundRobinAsPublished(_) => time_slices::bounds_as_printed(set, waiting, Print::Published),
            Self::GcapsAsPrinted(_) => gcaps::bounds_as_printed(set, waiting),
            Self::GcapsAssignedAsPrinted(_) => gcaps::bounds_as_printed(&self.assigned(set), waiting),
            Self::MpcpAsPublished(_) => locks::bounds_as_published(set, LockOrder::Priority, waiting),
            Self::FmlpPlusAsPublished(_) => locks::bounds_as_published(set, LockOrder::Fifo, waiting),
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
            Self::RoundRobin(_) => time_slices::responses(set, waiting),
            Self::Gcaps(_) => gcaps::responses(set, waiting),
            Self::GcapsAssigned(_) => gcaps::responses(&self.assigned(set), waiting),
            Self::Mpcp(_) => locks::responses(set, LockOrder::Priority, waiting),
            Self::FmlpPlus(_) => locks::responses(set, LockOrder::Fifo, waiting),
            Self::RoundRobinOblivious => time_slices::responses_by_suspension(set, SuspensionIs::Execution),
            Self::RoundRobinBlocking => time_slices::responses_by_suspension(set, SuspensionIs::Blocking),
            Self::RoundRobinUnified => time_slices::responses_by_suspension(set, SuspensionIs::WhatServesBest),
            _ => return None,
        })
    }
}

/// Growth of a task is counted in these parts of its time.
const PARTS: u128 = 100_000;

impl SegmentTest {
    /// The slack of each task: how much longer a job of it may take, all its segments longer in one proportion, while
    /// the others stay as they are and the test still proves that all meet their deadlines. Found by bisection, to a
    /// hundred-thousandth of C + G.
    ///
    /// That the set is proven with the longer task is what makes it safe: bounds hold for jobs that take less, so no
    /// growth up to it makes a job late. It need not be the most where a larger one passes after a smaller one failed.
    ///
    /// `None` of best-effort tasks, and of all where the test proves nothing of the set as it is, or nothing at all.
    /// What is stopped by [`effort`] is not found.
    pub fn slack(self, set: &SegmentTaskSet) -> Vec<Option<Duration>> {
        let proves = |set: &SegmentTaskSet| self.proves(&self.bounds(set));
        if !proves(set) {
            return vec![None; set.tasks.len()];
        }
        let mut longer = set.clone();
        let mut of_task = |number: usize, task: &SegmentTask| {
            task.priority?;
            let mut passes = |growth: u128| {
                longer.tasks[number] = grown(task, growth)?;
                Some(effort::check().is_ok() && proves(&longer))
            };
            let room = u128::from(task.deadline.as_ns()).checked_sub(task.alone_ns())?;
            let (mut low, mut high) = (0, (room * PARTS).checked_div(task.alone_ns())?);
            while low < high {
                count_turn();
                let middle = low + (high - low).div_ceil(2);
                if passes(middle)? { low = middle } else { high = middle - 1 }
            }
            longer.tasks[number] = task.clone();
            effort::check().ok()?;
            // Each segment was rounded up; what all of them are together is rounded down.
            u64::try_from(task.alone_ns() * low / PARTS).ok().map(Duration::from_ns)
        };
        set.tasks.iter().enumerate().map(|(number, task)| of_task(number, task)).collect()
    }
}

/// A task with all its segments longer by so many parts of them; `None` past the longest time there is.
fn grown(task: &SegmentTask, growth: u128) -> Option<SegmentTask> {
    let longer = |time: Duration| {
        let more = (u128::from(time.as_ns()) * growth).div_ceil(PARTS);
        time.checked_add(Duration::from_ns(u64::try_from(more).ok()?))
    };
    let segments = task.segments.iter().map(|segment| {
        Some(match *segment {
            TaskSegment::Cpu(time) => TaskSegment::Cpu(longer(time)?),
            TaskSegment::Gpu(GpuSegment { misc, exec }) => {
                TaskSegment::Gpu(GpuSegment { misc: longer(misc)?, exec: longer(exec)? })
            }
        })
    });
    Some(SegmentTask { segments: segments.collect::<Option<_>>()?, ..task.clone() })
}

/// Which tasks of a set, or which of its resources, are asked for too much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overload {
    /// By task: why jobs miss their deadline, if that is known of this task.
    pub(crate) tasks: Vec<Option<&'static str>>,
    /// Why some task misses its deadline, of which it is not told which.
    pub(crate) some: Option<String>,
}

impl Overload {
    /// Of a set whose tasks share the GPU by a policy, wait for it in this way, and have these bounds by a sound test.
    #[doc(hidden)]
    pub fn of(set: &SegmentTaskSet, policy: GpuPolicy, waiting: GpuWait, bounds: &[TaskBound]) -> Self {
        let mut overload = Self { tasks: vec![None; set.tasks.len()], some: None };
        for (task, missed) in set.tasks.iter().zip(&mut overload.tasks) {
            if task.priority.is_some() && task.alone_ns() > u128::from(task.deadline.as_ns()) {
                *missed = Some("C + G exceeds the deadline");
            }
        }
        for cpu in 0..set.cpus {
            overload.look_at_core(set, (policy, waiting), (cpu, bounds));
        }
        let promised = || set.tasks.iter().filter(|task| task.priority.is_some());
        if promised().map(|task| share(task, task.exec_ns())).sum::<u128>() > ONE {
            overload
                .some
                .get_or_insert_with(|| "the GPU is asked for more than it has (utilization above 1)".to_owned());
        }
        overload
    }

    /// Whether some task is known to miss its deadline, whichever it is.
    #[doc(hidden)]
    pub fn is_certain(&self) -> bool {
        self.some.is_some() || self.tasks.iter().any(Option::is_some)
    }

    /// The tasks of a core from the most urgent down to the first with which they ask for more than the core has. If
    /// those above it get what they ask for, it does not.
    fn look_at_core(
        &mut self,
        set: &SegmentTaskSet,
        (policy, waiting): (GpuPolicy, GpuWait),
        (cpu, bounds): (u32, &[TaskBound]),
    ) {
        // Who has a lock is above all others of its core. Without one the GPU works on for a task that asks for it when
        // a more urgent one takes its core; only the most urgent keeps the core until the GPU is done.
        let has_lock = matches!(policy, GpuPolicy::Mpcp | GpuPolicy::FmlpPlus);
        let mut keeps_core = waiting == GpuWait::Busy;
        let of_core = set.by_urgency().into_iter().filter(|&task| set.tasks[task].cpu == cpu);
        let (mut sum, mut above_get_theirs) = (0_u128, true);
        for number in of_core {
            let task = &set.tasks[number];
            let busy = if keeps_core { task.exec_ns() } else { 0 };
            keeps_core &= has_lock;
            sum = sum.saturating_add(share(task, task.cpu_ns() + task.misc_ns() + busy));
            if sum > ONE {
                if above_get_theirs {
                    self.tasks[number].get_or_insert("its core is asked for more than it has (utilization above 1)");
                } else {
                    let why = || format!("core {cpu} is asked for more than it has (utilization above 1)");
                    self.some.get_or_insert_with(why);
                }
                return;
            }
            // What never waits for the GPU, and what is done within its deadline, gets all that it asks for.
            above_get_theirs &= !task.uses_gpu() || bounds.get(number).is_some_and(|bound| bound.bound().is_some());
        }
    }
}

/// The whole of a core.
const ONE: u128 = 1 << 64;

/// The share of a core that `ns` in each period are, rounded down, so that a sum above [`ONE`] is one.
fn share(task: &SegmentTask, ns: u128) -> u128 {
    (ns.min(1 << 63) << 64) / u128::from(task.period.as_ns().max(1))
}
