//! By when the host of a job has done all its steps, where launch times do not depend on completions: what it does
//! after its last launch belongs to the job too.

use std::collections::BTreeSet;

use super::assumptions::{self, launches_at_release};
use super::finish_bounds::BoundedOperation;
use super::jobs::AnalysedJob;
use crate::scenario::{HostThread, ReleaseOrder, Scenario, Step, followed};
use crate::time::Instant;
use crate::workload::{OperationKind, Origin, StreamId};

/// What a thread does in an iteration after its last launch, repeated steps as often as they are; `None`: too many of
/// them.
pub(super) fn after_last_launch(thread: &HostThread) -> Option<Vec<Step>> {
    let mut steps = followed(thread, 1)?;
    let first = steps.iter().rposition(|step| step.submission().is_some()).map_or(0, |last| last + 1);
    Some(steps.split_off(first))
}

/// When hosts have done what they do in a job, by bounds on what all threads launch.
pub(super) struct HostEnds<'a> {
    scenario: &'a Scenario,
    /// All operations, at the instants at which they are launched in every run.
    operations: &'a [BoundedOperation],
    /// By thread: whether it launches all at its release and waits for nothing but that.
    waits_for_own: Vec<bool>,
    /// Whether some thread that comes to a barrier waits for operations or works: then it may come earlier or later.
    may_be_late_at_barriers: bool,
}

impl<'a> HostEnds<'a> {
    pub(super) fn new(scenario: &'a Scenario, operations: &'a [BoundedOperation], order: ReleaseOrder) -> Self {
        let mut users: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); scenario.streams().len()];
        for (number, thread) in scenario.threads.iter().enumerate() {
            for (_, stream) in thread.steps.iter().filter_map(|step| step.submission()) {
                users[stream.index()].insert(number);
            }
        }
        let is_shared = |stream: StreamId| users[stream.index()].len() > 1;
        let waits_for_own = |thread: &HostThread| {
            launches_at_release(thread).is_some() && assumptions::waits_for_own(thread, is_shared, order)
        };
        let comes_late = |thread: &HostThread| {
            thread.barriers().next().is_some()
                && (thread.works() || thread.steps.iter().any(|step| step.waits_for_operations()))
        };
        Self {
            scenario,
            operations,
            waits_for_own: scenario.threads.iter().map(waits_for_own).collect(),
            may_be_late_at_barriers: scenario.threads.iter().any(comes_late),
        }
    }

    /// By when the host of a job has done all its steps, barriers at the end aside, or the last operation of the job
    /// has ended; `None`: not known.
    ///
    /// If the host waits for no operation, that is the same in every run. Else, after its last launch, it sleeps for
    /// just as long as stated, and waits for no longer than until all has ended that was launched before and that it
    /// waits for.
    pub(super) fn of(&self, job: &AnalysedJob) -> Option<Instant> {
        let thread = self.scenario.threads.get(job.thread as usize)?;
        if thread.works() || self.may_be_late_at_barriers && thread.barriers().next().is_some() {
            return None;
        }
        if self.waits_for_own[job.thread as usize] {
            return Some(job.released);
        }
        if !thread.steps.iter().any(|step| step.waits_for_operations()) {
            return job.host_finished;
        }
        let origin = Origin { thread: job.thread, iteration: job.job };
        let is_own = |one: &BoundedOperation| one.origin == origin;
        let process = |stream: StreamId| self.scenario.streams().get(stream.index()).map(|stream| stream.process);
        let mut now = self.operations.iter().filter(|one| is_own(one)).map(|one| one.launched).max()?;
        for step in after_last_launch(thread)? {
            now = match step {
                Step::Sleep(time) => now.checked_add(time)?,
                Step::Barrier(_) => return None,
                Step::AwaitLast => self.latest(now, is_own)?,
                Step::SynchronizeStream(stream) => self.latest(now, |one| one.stream == stream)?,
                step if step.waits_for_device() => {
                    self.latest(now, |one| process(one.stream) == Some(thread.process))?
                }
                Step::SynchronizeEvent(event) => self.latest(now, |one| one.kind == OperationKind::Record(event))?,
                _ => now,
            };
        }
        Some(now)
    }

    /// When all such operations have ended that are launched by `now`, and not before that; `None`: that of one of them
    /// is not known.
    fn latest(&self, now: Instant, is_awaited: impl Fn(&BoundedOperation) -> bool) -> Option<Instant> {
        let mut awaited = self.operations.iter().filter(|one| one.launched <= now && is_awaited(one));
        awaited.try_fold(now, |latest, one| Some(latest.max(one.finish?)))
    }
}
