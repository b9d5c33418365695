//! One lock for the GPU: MPCP and FMLP+, the baselines that time slices and GCAPS are compared with.
//!
//! A task holds the lock from the beginning to the end of each GPU segment, and its CPU part runs above all tasks
//! without the lock on its core. Tasks that wait for the lock are suspended. MPCP gives it to the most urgent of them
//! (Rajkumar, "Real-Time Synchronization Protocols for Shared Memory Multiprocessors", ICDCS 1990; Patel, Baek, Kim and
//! Rajkumar, "Analytical Enhancements and Practical Insights for MPCP with Self-Suspensions", RTAS 2018), FMLP+ to the
//! one that has waited longest (Brandenburg, "The FMLP+: An Asymptotically Optimal Real-Time Locking Protocol for
//! Suspension-Aware Analysis", ECRTS 2014).
//!
//! These bounds are for one lock, where they are simpler than theirs: the holder is delayed by nobody, for whoever else
//! is raised would hold the lock too. The GPU switches contexts at most once for each GPU segment. `docs/tasks.md` has
//! the proofs.

use super::bounds::{
    Interference, NoBound, ResponseBounds, Responses, in_order, isolated, known_of, least_fixed_point, least_response,
};
use super::segment_task_set::{GpuSegment, GpuWait, SegmentTask, SegmentTaskSet};
use crate::time::Duration;

/// Who of those that wait gets the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum LockOrder {
    /// The most urgent: MPCP.
    Priority,
    /// The first: FMLP+.
    Fifo,
}

/// Bounds for all tasks.
pub(super) fn responses(set: &SegmentTaskSet, order: LockOrder, waiting: GpuWait) -> Responses {
    // A context that is alone never changes.
    let is_shared = set.gpu_users().count() > 1;
    let switch = if is_shared { u128::from(set.gpu.switch_cost.as_ns()) } else { 0 };
    let misc = |segment: &GpuSegment| u128::from(segment.misc.as_ns());
    let held = move |segment: &GpuSegment| u128::from(segment.exec.as_ns()) + misc(segment) + switch;
    isolated(set, |task, known| {
        let this = &set.tasks[task];
        let longest = |other: usize, length: &dyn Fn(&GpuSegment) -> u128| {
            set.tasks[other].gpu_segments().map(length).max().unwrap_or(0)
        };
        let requests = u128::from(this.gpu_count());
        // Less urgent tasks on this core that got the lock delay each of the CPU segments, once each: they asked for it
        // when this task was not ready.
        let on_cpu: &dyn Fn(&GpuSegment) -> u128 = if waiting == GpuWait::Busy { &held } else { &misc };
        let local_low = set.less_urgent(task).filter(|&low| set.on_one_core(task, low));
        let raised: u128 = local_low.map(|low| longest(low, on_cpu)).sum();
        let before: u128 = match order {
            LockOrder::Priority => set.less_urgent(task).map(|low| longest(low, &held)).max().unwrap_or(0),
            LockOrder::Fifo => set.gpu_users().filter(|&user| user != task).map(|user| longest(user, &held)).sum(),
        };
        let mut interference = Vec::new();
        for other in set.more_urgent(task) {
            let other_task = &set.tasks[other];
            let holds: u128 = other_task.gpu_segments().map(held).sum();
            let waits_for_it = requests > 0 && order == LockOrder::Priority;
            let work = match (set.on_one_core(task, other), waits_for_it || waiting == GpuWait::Busy) {
                (true, true) => other_task.cpu_ns() + holds,
                (true, false) => other_task.cpu_ns() + other_task.misc_ns(),
                (false, _) if waits_for_it => holds,
                (false, _) => continue,
            };
            // What takes nothing from it may do as it likes.
            if work == 0 {
                continue;
            }
            interference.push(if other_task.uses_gpu() {
                Interference::carried_in(other_task.period, known_of(known, other)?, work)
            } else {
                Interference::released_within(other_task.period, work)
            });
        }
        let own = this.alone_ns() + switch * requests;
        let base = own + requests * before + (requests + 1) * raised;
        least_response(base, &interference, this.period).ok_or(NoBound::Beyond)
    })
}

/// What the analysis published with Wang, Liu, Wong and Kim, ECRTS 2024 (`rtenlab/gcaps-super-repo`,
/// `analysis/mpcp.py` and `analysis/fmlp.py`), says of all tasks. Unsound, for comparison only: it proves nothing.
///
/// MPCP is the hybrid analysis of Patel, Baek, Kim and Rajkumar, "Analytical Enhancements and Practical Insights for
/// MPCP with Self-Suspensions", RTAS 2018, and FMLP+ the bound of Brandenburg, "The FMLP+: An Asymptotically Optimal
/// Real-Time Locking Protocol for Suspension-Aware Analysis", ECRTS 2014. In both the GPU is the one lock, held for a
/// whole GPU segment; the holder is raised above all others on its core. Neither counts switches of contexts (θ).
///
/// What runs exceed even without them, see `docs/errata.md`: FMLP+ counts requests of the same core as if nobody were
/// suspended while it holds the lock, which on a GPU everybody is; MPCP with busy waiting lets a raised holder delay
/// its core by G^m only.
pub(super) fn bounds_as_published(set: &SegmentTaskSet, order: LockOrder, waiting: GpuWait) -> ResponseBounds {
    in_order(set, |task, known| {
        let this = &set.tasks[task];
        let local = set.more_urgent(task).filter(|&other| set.on_one_core(task, other));
        let on_cpu = local.map(|other| {
            let other_task = &set.tasks[other];
            let on_cpu = other_task.cpu_ns() + other_task.misc_ns();
            let work = if waiting == GpuWait::Busy { other_task.alone_ns() } else { on_cpu };
            Some(Interference::carried_in(other_task.period, known[other]?, work))
        });
        let on_cpu: Vec<Interference> = on_cpu.collect::<Option<_>>()?;
        let least = |blocked_ns: &dyn Fn(u128) -> u128| {
            least_fixed_point(this.alone_ns(), this.deadline, |window| {
                let preempted: u128 = on_cpu.iter().map(|one| one.within(window)).sum();
                this.alone_ns() + preempted + blocked_ns(window)
            })
        };
        match order {
            LockOrder::Priority => {
                let mpcp = Mpcp::new(set, task, known)?;
                least(&|window| mpcp.blocked_ns(window))
            }
            LockOrder::Fifo => least(&|window| FmlpPlus { set, task }.blocked_ns(window)),
        }
    })
}

fn held_ns(segment: &GpuSegment) -> u128 {
    u128::from(segment.misc.as_ns()) + u128::from(segment.exec.as_ns())
}

fn longest_ns(task: &SegmentTask) -> u128 {
    task.gpu_segments().map(held_ns).max().unwrap_or(0)
}

/// The hybrid analysis of MPCP.
struct Mpcp<'s> {
    set: &'s SegmentTaskSet,
    task: usize,
    /// Of each task that is more urgent and uses the GPU: its jobs within a window, the most requests of one of its
    /// segments that a job in question can find before it, and how long one of each of its segments keeps the lock.
    more_urgent: Vec<(Interference, u128, u128)>,
    /// Of each request of a less urgent task, the longest first: whose it is, and how long it keeps the lock.
    less_urgent: Vec<(usize, u128)>,
}

impl<'s> Mpcp<'s> {
    fn new(set: &'s SegmentTaskSet, task: usize, known: &[Option<Duration>]) -> Option<Self> {
        // W', of a request: also one of each task that is more urgent than whose it is.
        let before = |other: usize| set.more_urgent(other).map(|high| longest_ns(&set.tasks[high])).sum::<u128>();
        let keeps = |other: usize| {
            let before = before(other);
            set.tasks[other].gpu_segments().map(move |segment| held_ns(segment) + before)
        };
        let users = set.more_urgent(task).filter(|&other| set.tasks[other].uses_gpu());
        let more_urgent = users.map(|other| {
            let other_task = &set.tasks[other];
            let on_cpu = other_task.cpu_ns() + other_task.misc_ns();
            let jobs = Interference::carried_in(other_task.period, known[other]?, on_cpu);
            Some((jobs, keeps(other).sum::<u128>()))
        });
        let more_urgent: Vec<(Interference, u128)> = more_urgent.collect::<Option<_>>()?;
        let less_urgent = (0..set.tasks.len()).filter(|&other| set.tasks[task].is_more_urgent_than(&set.tasks[other]));
        let mut less_urgent: Vec<(usize, u128)> =
            less_urgent.flat_map(|other| keeps(other).map(move |length| (other, length))).collect();
        crate::sorted::sort_by_key(&mut less_urgent, |&(_, length)| std::cmp::Reverse(length));
        // Request-driven: how long one request waits. The task's own requests count as if they were of a less urgent
        // one.
        let own_or_less = less_urgent.first().map_or(0, |&(_, length)| length).max(keeps(task).max().unwrap_or(0));
        let request = least_fixed_point(own_or_less, set.tasks[task].deadline, |window| {
            let high = more_urgent.iter().map(|(jobs, length)| (jobs.jobs_within(window) + 1) * length);
            own_or_less + high.sum::<u128>()
        });
        let requests = u128::from(set.tasks[task].gpu_count());
        let most = |jobs: &Interference| match request {
            Some(request) => requests * (jobs.jobs_within(u128::from(request.as_ns())) + 1),
            None if requests == 0 => 0,
            None => u128::MAX,
        };
        let more_urgent = more_urgent.iter().map(|(jobs, length)| (*jobs, most(jobs), *length)).collect();
        Some(Self { set, task, more_urgent, less_urgent })
    }

    /// Jobs of a less urgent task within a window, of which no response is known.
    fn jobs_within(&self, other: usize, window_ns: u128) -> u128 {
        let task = &self.set.tasks[other];
        Interference::carried_in(task.period, task.period, task.cpu_ns() + task.misc_ns()).jobs_within(window_ns)
    }

    /// What a job is blocked for within a window \[ns\].
    fn blocked_ns(&self, window_ns: u128) -> u128 {
        self.raised_ns(window_ns) + self.behind_more_urgent_ns(window_ns) + self.behind_less_urgent_ns(window_ns)
    }

    /// B^dm,h.
    fn behind_more_urgent_ns(&self, window_ns: u128) -> u128 {
        self.more_urgent.iter().map(|(jobs, most, length)| jobs.jobs_within(window_ns).min(*most) * length).sum()
    }

    /// B^dm,l: one request of a less urgent task for each of its own, the longest of those that there can be.
    fn behind_less_urgent_ns(&self, window_ns: u128) -> u128 {
        let mut left = u128::from(self.set.tasks[self.task].gpu_count());
        let one = |&(other, length): &(usize, u128)| {
            let taken = left.min(self.jobs_within(other, window_ns));
            left -= taken;
            taken * length
        };
        self.less_urgent.iter().map(one).sum()
    }

    /// B^pm: raised G^m on its core, once for each of its own GPU segments and once more. The task itself counts as if
    /// it were less urgent.
    fn raised_ns(&self, window_ns: u128) -> u128 {
        let (set, task) = (self.set, self.task);
        let lower = (0..set.tasks.len())
            .filter(|&other| set.on_one_core(task, other) && !set.tasks[other].is_more_urgent_than(&set.tasks[task]));
        let of = |other: usize| {
            let mut raised: Vec<u128> =
                set.tasks[other].gpu_segments().map(|segment| u128::from(segment.misc.as_ns())).collect();
            crate::sorted::sort_by_key(&mut raised, |&length| std::cmp::Reverse(length));
            let mut left = 1 + u128::from(set.tasks[task].gpu_count());
            let jobs = self.jobs_within(other, window_ns);
            let one = |length: u128| {
                let taken = left.min(jobs);
                left -= taken;
                taken * length
            };
            raised.into_iter().map(one).sum::<u128>()
        };
        lower.map(of).sum()
    }
}

/// The bound of FMLP+.
struct FmlpPlus<'s> {
    set: &'s SegmentTaskSet,
    task: usize,
}

impl FmlpPlus<'_> {
    /// What a job is blocked for within a window \[ns\].
    fn blocked_ns(&self, window_ns: u128) -> u128 {
        self.behind_remote_ns(window_ns) + self.behind_local_ns(window_ns)
    }

    /// Requests of another task within a window: η ⌈(t + T) / T⌉.
    fn requests_within(&self, other: usize, window_ns: u128) -> u128 {
        let task = &self.set.tasks[other];
        let jobs = Interference::released_within(task.period, 0).jobs_within(window_ns) + 1;
        u128::from(task.gpu_count()) * jobs
    }

    fn remote(&self) -> impl Iterator<Item = usize> {
        (0..self.set.tasks.len()).filter(|&other| !self.set.on_one_core(self.task, other))
    }

    /// Each of its requests behind one of each task on another core.
    fn behind_remote_ns(&self, window_ns: u128) -> u128 {
        let own = u128::from(self.set.tasks[self.task].gpu_count());
        let requests = |other| own.min(self.requests_within(other, window_ns));
        self.remote().map(|other| requests(other) * longest_ns(&self.set.tasks[other])).sum()
    }

    /// Raised holders on its own core, once and each time that it is taken to be suspended, which is when it waits
    /// behind another core.
    fn behind_local_ns(&self, window_ns: u128) -> u128 {
        let own = u128::from(self.set.tasks[self.task].gpu_count());
        let suspended =
            self.remote().map(|other| own.min(self.requests_within(other, window_ns))).sum::<u128>().min(own);
        let lower = (0..self.set.tasks.len()).filter(|&other| {
            self.set.on_one_core(self.task, other)
                && self.set.tasks[self.task].is_more_urgent_than(&self.set.tasks[other])
        });
        let requests = |other| (1 + suspended).min(self.requests_within(other, window_ns));
        lower.map(|other| requests(other) * longest_ns(&self.set.tasks[other])).sum()
    }
}
