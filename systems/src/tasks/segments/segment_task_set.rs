//! Tasks with segments, and sets of them.

use std::sync::Arc;

use serde::Serialize;

use crate::time::Duration;

/// What a task does on the CPU while the GPU works for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GpuWait {
    /// It suspends itself: others run on its core.
    Suspend,
    /// It keeps asking: only tasks of higher priority run on its core.
    Busy,
}

/// A GPU segment: work that needs the GPU, and the CPU to start it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GpuSegment {
    /// G^m, worst-case time of what the CPU does in it, before the GPU works.
    pub misc: Duration,
    /// G^e, worst-case time of the GPU's work if it has the GPU to itself; more than 0.
    pub exec: Duration,
}

/// A part of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskSegment {
    /// On the CPU only, for at most this long.
    Cpu(Duration),
    /// On the GPU.
    Gpu(GpuSegment),
}

/// A sporadic task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SegmentTask {
    /// Its name, which is also its process's.
    pub name: Arc<str>,
    /// The core that it is bound to.
    pub cpu: u32,
    /// Shortest time between two releases, T.
    pub period: Duration,
    /// Relative deadline D, at most T.
    pub deadline: Duration,
    /// Fixed priority, a smaller number being more urgent, unique; `None`: best effort, below all others and without a
    /// deadline that anyone promises.
    pub priority: Option<u64>,
    /// What each job does, in this order.
    pub segments: Vec<TaskSegment>,
    /// Release of its first job in runs; bounds are for any.
    pub offset: Duration,
    /// Whether runs release later jobs later than T apart; bounds are for any such releases.
    pub sporadic: bool,
    /// Whether its context has the interleave level "high" (rule T6): all others are "low".
    pub has_high_level: bool,
}

impl SegmentTask {
    /// Its GPU segments.
    pub fn gpu_segments(&self) -> impl Iterator<Item = &GpuSegment> {
        self.segments.iter().filter_map(|segment| match segment {
            TaskSegment::Cpu(_) => None,
            TaskSegment::Gpu(gpu) => Some(gpu),
        })
    }

    /// Number of GPU segments, η^g.
    pub fn gpu_count(&self) -> u64 {
        self.gpu_segments().count() as u64
    }

    /// Whether it has a GPU segment.
    pub fn uses_gpu(&self) -> bool {
        self.gpu_segments().next().is_some()
    }

    /// C, of all CPU segments together \[ns\].
    pub fn cpu_ns(&self) -> u128 {
        let cpu = |segment: &TaskSegment| match segment {
            TaskSegment::Cpu(time) => u128::from(time.as_ns()),
            TaskSegment::Gpu(_) => 0,
        };
        self.segments.iter().map(cpu).sum()
    }

    /// G^m, of all GPU segments together \[ns\].
    pub fn misc_ns(&self) -> u128 {
        self.gpu_segments().map(|segment| u128::from(segment.misc.as_ns())).sum()
    }

    /// G^e, of all GPU segments together \[ns\].
    pub fn exec_ns(&self) -> u128 {
        self.gpu_segments().map(|segment| u128::from(segment.exec.as_ns())).sum()
    }

    /// C + G: how long a job takes that nobody disturbs, without costs of sharing \[ns\].
    pub fn alone_ns(&self) -> u128 {
        self.cpu_ns() + self.misc_ns() + self.exec_ns()
    }

    /// Whether it is more urgent than `other`; tasks of best effort are not more urgent than anything.
    pub fn is_more_urgent_than(&self, other: &Self) -> bool {
        match (self.priority, other.priority) {
            (Some(own), Some(others)) => own < others,
            (own, _) => own.is_some(),
        }
    }
}

/// What sharing the GPU costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct GpuSharing {
    /// L, the time slice; more than 0.
    #[serde(rename = "time_slice_ns")]
    pub time_slice: Duration,
    /// θ, the switch from one context to another; at most L.
    #[serde(rename = "switch_cost_ns")]
    pub switch_cost: Duration,
    /// ε, the driver call of GCAPS at each end of a GPU segment, the switch that follows included.
    #[serde(rename = "update_cost_ns")]
    pub update_cost: Duration,
    /// How long the reset of a channel takes that does not yield (DRIVE OS).
    #[serde(rename = "channel_reset_ns")]
    pub channel_reset: Duration,
}

impl GpuSharing {
    /// What an update takes: the switch that follows is in it, so no less than that.
    pub(crate) fn update(&self) -> Duration {
        self.update_cost.max(self.switch_cost)
    }
}

/// A set of tasks with segments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SegmentTaskSet {
    /// Cores.
    pub cpus: u32,
    /// What sharing the GPU costs.
    pub gpu: GpuSharing,
    /// The tasks; at least one uses the GPU.
    pub tasks: Vec<SegmentTask>,
}

impl SegmentTaskSet {
    /// Tasks with priorities, the most urgent first, as indexes.
    pub fn by_urgency(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.tasks.len()).filter(|&task| self.tasks[task].priority.is_some()).collect();
        crate::sorted::sort_by_key(&mut order, |&task| self.tasks[task].priority);
        order
    }

    /// hp: tasks that are more urgent than `task`.
    pub fn more_urgent(&self, task: usize) -> impl Iterator<Item = usize> + Clone {
        (0..self.tasks.len()).filter(move |&other| self.tasks[other].is_more_urgent_than(&self.tasks[task]))
    }

    /// lp: other tasks that are not, those of best effort included.
    pub fn less_urgent(&self, task: usize) -> impl Iterator<Item = usize> + Clone {
        (0..self.tasks.len())
            .filter(move |&other| other != task && !self.tasks[other].is_more_urgent_than(&self.tasks[task]))
    }

    /// Whether two tasks are bound to one core.
    pub fn on_one_core(&self, one: usize, other: usize) -> bool {
        self.tasks[one].cpu == self.tasks[other].cpu
    }

    /// Whether all contexts have one interleave level, so that each has one turn a round.
    pub fn has_equal_levels(&self) -> bool {
        let mut levels = self.gpu_users().map(|user| self.tasks[user].has_high_level);
        let first = levels.next();
        levels.all(|level| Some(level) == first)
    }

    /// What all tasks together need of one core and the GPU, without costs of sharing, in parts of the cores
    /// \[thousandths\].
    #[doc(hidden)]
    pub fn load_permille(&self) -> u64 {
        let of_task =
            |task: &SegmentTask| task.alone_ns().saturating_mul(1_000_000) / u128::from(task.period.as_ns().max(1));
        let sum: u128 = self.tasks.iter().map(of_task).fold(0, u128::saturating_add);
        u64::try_from(sum / u128::from(self.cpus.max(1)) / 1_000).unwrap_or(u64::MAX)
    }

    /// Tasks with GPU segments.
    pub fn gpu_users(&self) -> impl Iterator<Item = usize> + Clone {
        (0..self.tasks.len()).filter(|&task| self.tasks[task].uses_gpu())
    }
}
