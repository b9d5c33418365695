//! MPCP and FMLP+ as the analysis published with Wang, Liu, Wong and Kim, ECRTS 2024, has them
//! (`rtenlab/gcaps-super-repo`, `analysis/mpcp.py` and `analysis/fmlp.py`). Unsound: for comparison only.
//!
//! MPCP is the hybrid analysis of Patel, Baek, Kim and Rajkumar, "Analytical Enhancements and Practical Insights for
//! MPCP with Self-Suspensions", RTAS 2018, and FMLP+ the bound of Brandenburg, "The FMLP+: An Asymptotically Optimal
//! Real-Time Locking Protocol for Suspension-Aware Analysis", ECRTS 2014. In both the GPU is the one lock, held for a
//! whole GPU segment; the holder is raised above all others on its core. Neither counts switches of contexts (θ).
//!
//! What runs exceed even without them, see `docs/errata.md`: FMLP+ counts requests of the same core as if nobody were
//! suspended while it holds the lock, which on a GPU everybody is; MPCP with busy waiting lets a raised holder delay
//! its core by G^m only.

use super::fixed_point::{Interference, least_fixed_point};
use super::locks::LockOrder;
use super::segment_task_set::{GpuSegment, GpuWait, SegmentTask, SegmentTaskSet};
use super::task_bound::{ResponseBounds, in_order};
use crate::time::Duration;

/// What the published analysis says of all tasks. It proves nothing.
pub(super) fn bounds(set: &SegmentTaskSet, order: LockOrder, waiting: GpuWait) -> ResponseBounds {
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
        let blocking = match order {
            LockOrder::Priority => Blocking::Mpcp(Mpcp::new(set, task, known)?),
            LockOrder::Fifo => Blocking::FmlpPlus(FmlpPlus { set, task }),
        };
        least_fixed_point(this.alone_ns(), this.deadline, |window| {
            let preempted: u128 = on_cpu.iter().map(|one| one.within(window)).sum();
            this.alone_ns() + preempted + blocking.within(window)
        })
    })
}

enum Blocking<'s> {
    Mpcp(Mpcp<'s>),
    FmlpPlus(FmlpPlus<'s>),
}

impl Blocking<'_> {
    /// What a job is blocked for within a window \[ns\].
    fn within(&self, window_ns: u128) -> u128 {
        match self {
            Self::Mpcp(mpcp) => {
                mpcp.raised_ns(window_ns)
                    + mpcp.behind_more_urgent_ns(window_ns)
                    + mpcp.behind_less_urgent_ns(window_ns)
            }
            Self::FmlpPlus(fmlp) => fmlp.behind_remote_ns(window_ns) + fmlp.behind_local_ns(window_ns),
        }
    }
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
