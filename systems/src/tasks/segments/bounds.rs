//! What a test says of a task: least fixed points, and the order in which bounds follow from each other.

use super::segment_task_set::SegmentTaskSet;
use crate::limits::count_turn;
use crate::time::{Duration, is_in_time};

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
    pub fn bound(&self) -> Option<Duration> {
        match self {
            Self::Bounded(bound) => Some(*bound),
            Self::Exceeds | Self::DependsOn(_) | Self::BestEffort | Self::NotApplicable(_) => None,
        }
    }

    /// Whether the test accepts the task: it has a bound, or is promised nothing.
    pub const fn is_accepted(&self) -> bool {
        matches!(self, Self::Bounded(_) | Self::BestEffort)
    }
}

/// What a test says of each task of a set.
pub type ResponseBounds = Vec<TaskBound>;

/// Why a task has no bound within its period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoBound {
    /// There is none.
    Beyond,
    /// This task, which it depends on, has none.
    DependsOn(usize),
}

/// The bound of a task that another one depends on.
pub(super) fn known_of(known: &[Option<Duration>], task: usize) -> Result<Duration, NoBound> {
    known.get(task).copied().flatten().ok_or(NoBound::DependsOn(task))
}

/// What a test says of the tasks of a set, and bounds that are beyond deadlines but not beyond periods: these hold too.
pub(super) struct Responses {
    pub(super) bounds: ResponseBounds,
    pub(super) late: Vec<Option<Duration>>,
}

/// Goes through the tasks from the most urgent down. `response` gives the bound of one within its period from those of
/// more urgent ones, which has to do without those that have none.
pub(super) fn isolated(
    set: &SegmentTaskSet,
    mut response: impl FnMut(usize, &[Option<Duration>]) -> Result<Duration, NoBound>,
) -> Responses {
    let mut bounds = vec![TaskBound::BestEffort; set.tasks.len()];
    let mut known = vec![None; set.tasks.len()];
    let mut late = known.clone();
    for task in set.by_urgency() {
        let bound = response(task, &known);
        known[task] = bound.ok();
        bounds[task] = match bound {
            Ok(bound) if is_in_time(bound, set.tasks[task].deadline) => TaskBound::Bounded(bound),
            Ok(bound) => {
                late[task] = Some(bound);
                TaskBound::Exceeds
            }
            Err(NoBound::Beyond) => TaskBound::Exceeds,
            Err(NoBound::DependsOn(other)) => TaskBound::DependsOn(other),
        };
    }
    Responses { bounds, late }
}

/// The same of equations that are taken as they stand in print: `response` gives the bound of one from the bounds of
/// those before it, or nothing if it exceeds the deadline, and then less urgent ones have none either.
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
            None => response(task, &known).map_or(TaskBound::Exceeds, TaskBound::Bounded),
        };
        known[task] = bounds[task].bound();
        if failed.is_none() && known[task].is_none() {
            failed = Some(task);
        }
    }
    bounds
}

/// What jobs of one task can take from another within any window of some length t: ⌈(t + J) / T⌉ W.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "units belong to names")]
pub(super) struct Interference {
    /// T, least distance of their releases \[ns\].
    pub(super) period_ns: u64,
    /// J \[ns\]. R - W if work may come at the end of the response R of one job and at the beginning of the next one's;
    /// 0 if the window starts when no job of the task is pending.
    pub(super) jitter_ns: u128,
    /// W, of one job \[ns\].
    pub(super) work_ns: u128,
}

impl Interference {
    /// Of jobs with period T, response R and work W whose work may lie anywhere in their responses.
    pub(super) fn carried_in(period: Duration, response: Duration, work_ns: u128) -> Self {
        let jitter_ns = u128::from(response.as_ns()).saturating_sub(work_ns);
        Self { period_ns: period.as_ns(), jitter_ns, work_ns }
    }

    /// Of jobs with period T and work W, none of which is pending when the window starts.
    pub(super) fn released_within(period: Duration, work_ns: u128) -> Self {
        Self { period_ns: period.as_ns(), jitter_ns: 0, work_ns }
    }

    /// The work within a window of that length \[ns\].
    pub(super) fn within(&self, window_ns: u128) -> u128 {
        self.jobs_within(window_ns) * self.work_ns
    }

    /// The jobs that have work within a window of that length.
    pub(super) fn jobs_within(&self, window_ns: u128) -> u128 {
        (window_ns + self.jitter_ns).div_ceil(u128::from(self.period_ns))
    }
}

/// The least t with t = `base_ns` + all interference within t, if it is at most `limit`.
pub(super) fn least_response(base_ns: u128, interference: &[Interference], limit: Duration) -> Option<Duration> {
    least_fixed_point(base_ns, limit, |window| {
        base_ns + interference.iter().map(|one| one.within(window)).sum::<u128>()
    })
}

/// The least t of at least `from_ns` with t = `demand_ns(t)`, if it is at most `limit`; the demand grows with t.
pub(super) fn least_fixed_point(from_ns: u128, limit: Duration, demand_ns: impl Fn(u128) -> u128) -> Option<Duration> {
    let mut window = from_ns;
    loop {
        count_turn();
        if window > u128::from(limit.as_ns()) {
            return None;
        }
        let next = demand_ns(window);
        if next == window {
            return u64::try_from(window).ok().map(Duration::from_ns);
        }
        window = next;
    }
}
