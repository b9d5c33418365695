//! **Bound by orders of dispatch over all phasings**: of one job, of jobs that queue, and of what a context does in its
//! **own time** (`docs/analysis.md`, "Releases that are not given" and "Contexts that take turns").
//!
//! Claims: a job that is released at r, beside jobs of every other stream j released at r - `R_j` + 1 ns + n `T_j` or
//! later, or never, is over by r + `F_i`; the last of q jobs, each of which begins when the one before it has ended, by
//! `F_(i,q)` after the release of the first; and where contexts take turns, in a time that stands still while the
//! context has work and no turn, beside jobs of others that come n `T_j` of the real time apart.

use std::collections::BTreeSet;

use super::model::{Releases, Task, TaskSet};
use crate::analysis::safe_bound::{Begin, Job, Operation, Phased, Weights, Work};
use crate::device::Device;
use crate::gpu::SubmitError;
use crate::limits::count_turn;
use crate::scenario::Scenario;
use crate::time::Duration;

/// By when each operation of a job has ended, from its arrival \[ns\].
pub(super) type Ends = Vec<u64>;

/// Jobs of one task beside another's above which nothing is explored.
const MOST_JOBS: u64 = 32;

/// Lengths of a window of jobs that queue that are tried.
const MOST_WINDOWS: usize = 1_000;

/// Threads that share nothing with the others but copy engines, on a GPU of their SMs, beside the copies of the others:
/// these come at any time after what is before them in their jobs.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) device: Device,
    pub(super) tasks: TaskSet,
    /// Which of all tasks each is: those of the side first, so many.
    of: Vec<usize>,
    own: usize,
    /// The context whose own time this is, which stands still while it has work and no turn.
    pub(super) context: Option<usize>,
}

impl Side {
    /// Of threads that have the numbers `own` among those of `joint`, alone; `None`: something is not known.
    pub(super) fn new(
        joint: &TaskSet,
        (alone, own): (&Scenario, &[usize]),
        releases: Releases<'_>,
    ) -> Result<Option<Self>, SubmitError> {
        let Ok(mut tasks) = TaskSet::new(alone, releases)? else { return Ok(None) };
        let is_own = |task: &Task| task.members.iter().all(|(thread, _)| own.contains(thread));
        let (mut of, mut others) = (Vec::new(), Vec::new());
        for (number, task) in joint.tasks.iter().enumerate() {
            if is_own(task) {
                of.push(number);
            } else if task.copies() {
                let Some(copies) = task.as_copies(alone.threads.len()) else { return Ok(None) };
                others.push((number, copies));
            }
        }
        let own = of.len();
        if own != tasks.tasks.len() {
            return Ok(None);
        }
        tasks.streams = tasks.streams.max(joint.streams + alone.threads.len());
        for (number, copies) in others {
            of.push(number);
            tasks.tasks.push(copies);
        }
        Ok(Some(Self { device: alone.device().clone(), tasks, of, own, context: None }))
    }

    /// What is submitted to a context that has turns, in its own time; `None`: more than its turns holds operations of
    /// it.
    pub(super) fn of_context(joint: &TaskSet, device: &Device, context: usize) -> Option<Self> {
        let is_held = joint.linked || joint.channels.is_some() || joint.queues_by_client || joint.latency > 0;
        let with_copies = joint.turns.as_ref()?.with_copies;
        if is_held {
            return None;
        }
        let kernels = |task: &Task| {
            let of = |one: &Operation| matches!(one.work, Work::Kernel { .. }).then_some(one.context);
            task.operations.iter().filter_map(of).collect::<BTreeSet<usize>>()
        };
        let mut side = Self {
            device: device.clone(),
            tasks: TaskSet { tasks: Vec::new(), turns: None, contexts: None, ..joint.clone() },
            of: Vec::new(),
            own: 0,
            context: Some(context),
        };
        let (mut own_engines, mut others) = (BTreeSet::new(), BTreeSet::new());
        for (number, task) in joint.tasks.iter().enumerate() {
            if task.reached.is_some() {
                return None;
            }
            if kernels(task) == BTreeSet::from([context]) {
                // Within what it is released is asked of all tasks.
                let mut own = Task { trigger: None, ..task.clone() };
                for one in &mut own.operations {
                    // Less of the context's own time goes by than a host sleeps.
                    if let Work::Pause(time) = one.work {
                        one.work = Work::Busy(time);
                    }
                }
                own_engines.extend(engines(task));
                side.of.push(number);
                side.tasks.tasks.push(own);
            } else if kernels(task).contains(&context) {
                return None;
            } else {
                others.extend(engines(task));
            }
        }
        side.own = side.of.len();
        // Copies of several contexts on one engine trade, or wait for turns.
        let are_apart = !with_copies && own_engines.is_disjoint(&others);
        (own_engines.is_empty() || are_apart).then_some(side)
    }

    /// Which of its tasks a task is, if it is one of this side.
    pub(super) fn place(&self, task: usize) -> Option<usize> {
        self.of[..self.own].iter().position(|&of| of == task)
    }

    /// What is known of each of its tasks.
    pub(super) fn of_each<T: Copy>(&self, all: &[Option<T>]) -> Vec<Option<T>> {
        self.of.iter().map(|&of| all.get(of).copied().flatten()).collect()
    }
}

/// A job, or some that queue, beside jobs of others.
struct Look<'a> {
    tasks: &'a TaskSet,
    weights: &'a Weights<'a>,
    index: usize,
    responses: &'a [Option<u64>],
    /// What is done from the release on.
    job: &'a [Operation],
    begin: Begin,
    /// How long what is looked at takes at most \[ns\].
    window: u64,
    /// In a context's own time, for how long that stands still meanwhile \[ns\].
    lost: Option<u64>,
}

impl Look<'_> {
    /// How many jobs of another task there can be.
    fn jobs(&self, other: usize) -> Option<u64> {
        // Those that arrived by r - R_j are done at r, so that the first of the others comes at r - R_j + 1 ns.
        let before = self.responses[other]?.saturating_sub(1);
        let jobs = self.tasks.tasks[other].jobs(self.window.checked_add(before)?, Some(0))?.max(1);
        (jobs <= MOST_JOBS).then_some(jobs)
    }

    /// By when each operation has ended, from the release \[ns\]; of some tasks nothing is known but that they are
    /// below all others.
    fn ends_beside(&self, is_lower: impl Fn(usize) -> bool) -> Option<Vec<u64>> {
        let (mut others, mut lower) = (Vec::new(), Vec::new());
        for (number, (other, response)) in self.tasks.tasks.iter().zip(self.responses).enumerate() {
            if number == self.index {
                continue;
            }
            if is_lower(number) {
                lower.push(&other.operations[..]);
                continue;
            }
            // So much less of a context's own time goes by.
            let begin = if self.lost.is_some() { Begin::Event } else { other.begin(*response) };
            let before = (*response)?.saturating_sub(1);
            let job = |number: u64| {
                let after = number.checked_mul(other.period)?.saturating_sub(self.lost.unwrap_or(0));
                Some(Job { operations: &other.operations, before, after, begin })
            };
            others.push((0..self.jobs(number)?).map(job).collect::<Option<Vec<_>>>()?);
        }
        let phased = Phased {
            job: self.job,
            begin: self.begin,
            others,
            lower,
            streams: self.tasks.streams,
            levels: self.tasks.levels,
            engines: self.tasks.engines,
        };
        phased.ends(&self.tasks.classes, self.weights)
    }

    /// The same; where that is more than `enough`, or nothing, by all that is known of all tasks, too.
    fn ends(&self, enough: u64) -> Option<Vec<u64>> {
        let apart = set_apart(self.tasks, &self.tasks.tasks[self.index]);
        // What is known of lower priorities is of little use, and there are fewer orders without it.
        let found = self.ends_beside(|other| apart[other]);
        if found.as_ref().is_some_and(|found| last(found) <= enough) || !apart.contains(&true) {
            return found;
        }
        smaller(found, self.ends_beside(|_| false))
    }
}

/// By when each operation of a job of task number `index` has ended, from its arrival \[ns\], if `responses` bound
/// those of all tasks and its own is not beyond its period. It holds if none is more than `responses[index]`. `None`:
/// too much to explore, or something holds operations that the orders of dispatch do not know, or it waits for a task
/// whose response is not known.
pub(super) fn ends_by_orders(
    tasks: &TaskSet,
    weights: &Weights<'_>,
    index: usize,
    responses: &[Option<u64>],
) -> Option<Ends> {
    let task = tasks.tasks.get(index)?;
    // Nothing is known of when a host of the job goes on that works.
    if task.works() || !is_explored(tasks) {
        return None;
    }
    let window = responses[index]?;
    let begin = task.begin(Some(window));
    let look = Look { tasks, weights, index, responses, job: &task.operations, begin, window, lost: None };
    // J_i + F_i.
    let jitter = task.released_within(responses)?;
    look.ends(window)?.into_iter().map(|end| end.checked_add(jitter)).collect()
}

/// Whether orders of dispatch are all that matters: where threads wait for one another's operations, nothing is known
/// of the order in which they then go on.
fn is_explored(tasks: &TaskSet) -> bool {
    tasks.is_plain() && tasks.tasks.iter().all(|task| task.reached.is_none())
}

/// Jobs of each other task that may be there, if that is known, and for how long the time stands still \[ns\].
type Others = (Vec<Option<u64>>, Option<u64>);

/// What takes place of q jobs.
pub(super) struct Queue {
    /// Jobs of the task.
    pub(super) jobs: u64,
    /// Kernels that may each be the first that its context has.
    pub(super) kernels: u64,
    /// From the release of the first to the end of the last \[ns\], and how much of that something is done.
    pub(super) window: u64,
    pub(super) busy: u64,
}

/// The same of jobs that queue, or of a context in its own time: `lost` says for how long that stands still.
/// `has_core`: no other host may have the core of the task's. It holds whatever its own response.
pub(super) fn ends_of_queue(
    (tasks, weights): (&TaskSet, &Weights<'_>),
    (index, jitter, has_core, in_own_time): (usize, u64, bool, bool),
    responses: &[Option<u64>],
    lost: impl Fn(&Queue) -> Option<u64>,
) -> Option<Ends> {
    let task = tasks.tasks.get(index)?;
    if task.works() && !has_core || !is_explored(tasks) {
        return None;
    }
    let kernels =
        |task: &Task| task.operations.iter().filter(|one| matches!(one.work, Work::Kernel { .. })).count() as u64;
    // Between its kernels those of others may begin and end; a copy of no length may wait for a longer one.
    let lasts = |one: &Operation| match one.work {
        Work::Pause(time) | Work::Busy(time) | Work::Within(time) => time > Duration::ZERO,
        Work::Copy { .. } => true,
        Work::Kernel { .. } | Work::Nothing => false,
    };
    let has_gaps = task.operations.iter().any(lasts);
    let mut ends = vec![0; task.operations.len()];
    for q in 1..=task.most_queued {
        let job = queued(task, q);
        let earlier = task.period.checked_mul(q - 1)?;
        let most = task.within.checked_add(earlier)?.checked_sub(jitter)?;
        let begin = Begin::Event;
        let lost_at_first = in_own_time.then_some(0);
        let mut look = Look { tasks, weights, index, responses, job: &job, begin, window: 0, lost: lost_at_first };
        let mut known: Option<(Others, Ends)> = None;
        let mut is_found = false;
        for _ in 0..MOST_WINDOWS {
            count_turn();
            let others = (0..tasks.tasks.len()).filter(|&other| other != index);
            let jobs: Vec<Option<u64>> = others.clone().map(|other| look.jobs(other)).collect();
            let of_others = |(other, jobs): (usize, &Option<u64>)| {
                jobs.unwrap_or(u64::MAX).saturating_mul(kernels(&tasks.tasks[other]))
            };
            let of_others = others.zip(&jobs).map(of_others).fold(0, u64::saturating_add);
            let kernels = (q * kernels(task)).saturating_add(if has_gaps { of_others } else { 0 });
            let beside = (jobs, look.lost);
            if known.as_ref().is_none_or(|(of, _)| *of != beside) {
                known = Some((beside, look.ends(0)?));
            }
            let busy = known.as_ref().map(|(_, ends)| last(ends))?;
            let lost = lost(&Queue { jobs: q, kernels, window: look.window, busy })?;
            let window = busy.checked_add(lost)?;
            if window <= look.window && look.lost.is_none_or(|most| lost <= most) {
                is_found = true;
                break;
            }
            if window > most {
                return None;
            }
            look.window = look.window.max(window);
            look.lost = look.lost.max(in_own_time.then_some(lost));
        }
        let (_, of_jobs) = known.filter(|_| is_found)?;
        let over = look.lost.unwrap_or(0);
        let of_last = &of_jobs[of_jobs.len() - ends.len()..];
        // J + F_(i,q) - (q - 1) T, and for how long the time has stood still.
        let of_last: Vec<u64> = of_last.iter().map(|end| (jitter + end + over).saturating_sub(earlier)).collect();
        let is_over = of_last.iter().all(|end| *end <= task.period);
        ends.iter_mut().zip(of_last).for_each(|(end, of_q)| *end = of_q.max(*end));
        if is_over || task.most_queued == 1 {
            return Some(ends);
        }
    }
    None
}

/// What q jobs of a task do, each from when the one before it has ended. A host that has its core to itself goes on
/// within the time that it works.
fn queued(task: &Task, q: u64) -> Vec<Operation> {
    let length = task.operations.len();
    let is_last = |number: &usize| !task.operations.iter().any(|one| one.after.contains(number));
    let last: Vec<usize> = (0..length).filter(is_last).collect();
    let mut all: Vec<Operation> = Vec::new();
    for _ in 0..q {
        let first = all.len();
        for one in &task.operations {
            let after = match first.checked_sub(length) {
                Some(before) if one.after.is_empty() => last.iter().map(|number| before + number).collect(),
                _ => one.after.iter().map(|before| first + before).collect(),
            };
            let work = match one.work {
                Work::Busy(time) => Work::Within(time),
                work => work,
            };
            all.push(Operation { work, after, ..one.clone() });
        }
    }
    all
}

/// One by one, the smaller of two bounds.
pub(super) fn smaller(one: Option<Vec<u64>>, other: Option<Vec<u64>>) -> Option<Vec<u64>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.into_iter().zip(other).map(|(one, other)| one.min(other)).collect()),
        (one, other) => one.or(other),
    }
}

/// When the last operation of a job has ended.
pub(super) fn last(ends: &[u64]) -> u64 {
    ends.iter().max().copied().unwrap_or(0)
}

/// The copy engines of a task.
fn engines(task: &Task) -> impl Iterator<Item = usize> {
    task.operations.iter().filter_map(|operation| match operation.work {
        Work::Copy { engine, .. } => Some(engine),
        _ => None,
    })
}

/// By task: whether all of it is below all tasks of which this is not so, `task` among them, and none of its copies may
/// be before one of theirs.
fn set_apart(tasks: &TaskSet, task: &Task) -> Vec<bool> {
    let mut apart: Vec<bool> = tasks.tasks.iter().map(|other| other.highest > task.lowest).collect();
    loop {
        count_turn();
        let beside = || tasks.tasks.iter().zip(&apart).filter(|(_, apart)| !**apart).map(|(one, _)| one);
        let lowest = beside().map(|one| one.lowest).max();
        let used: Vec<usize> = beside().flat_map(engines).collect();
        let interferes =
            |other: &Task| Some(other.highest) <= lowest || engines(other).any(|engine| used.contains(&engine));
        let next = (0..apart.len()).find(|&other| apart[other] && interferes(&tasks.tasks[other]));
        let Some(next) = next else { return apart };
        apart[next] = false;
    }
}
