//! From when on what is released is done as one hyperperiod earlier: what was judged then holds for ever
//! (`docs/analysis.md`, "Beyond one hyperperiod").

use std::collections::BTreeSet;

use crate::scenario::{HostThread, Scenario, Step};
use crate::time::{Duration, Instant};
use crate::workload::OperationKind;

/// From `from` on all jobs are those of one hyperperiod earlier once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeats {
    pub(super) from: Instant,
    pub(super) hyperperiod: Duration,
}

/// How long after its end a job of a thread is certain to leave nothing at that instant: what takes no time, and may be
/// the last of it, is not before what is released just then, nor is a wait that a host begins at its end.
pub(super) fn last_instant(scenario: &Scenario, thread: u32) -> Duration {
    let takes_no_time = |kind: OperationKind| match kind {
        OperationKind::Kernel(kernel) => scenario.longest_block_time(kernel) == Some(Duration::ZERO),
        OperationKind::Copy(copy) => {
            scenario.copies().get(copy.index()).is_none_or(|copy| copy.time() == Duration::ZERO)
        }
        OperationKind::Memset | OperationKind::Record(_) | OperationKind::Wait(_) => true,
    };
    let Some(thread) = scenario.threads.get(thread as usize) else { return Duration::ZERO };
    let is_instant = |step: &Step| step.submission().is_some_and(|(kind, _)| takes_no_time(kind));
    Duration::from_ns(u64::from(waits_late(thread) || thread.steps.iter().any(is_instant)))
}

/// How long all that is released is in a scenario. What comes later might delay what then still runs.
pub(super) struct AllReleased<'a> {
    scenario: &'a Scenario,
    is_cut: bool,
    until: Option<Instant>,
}

impl<'a> AllReleased<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, is_cut: scenario.cut_at().is_some(), until: scenario.known_until() }
    }

    /// Whether nothing else can come before what a thread has finished by an instant.
    pub(super) fn covers(&self, thread: u32, finish: Instant) -> bool {
        // Of what comes at a horizon all is known; what comes at a cut may be before what takes no time.
        let last = if self.is_cut { last_instant(self.scenario, thread) } else { Duration::ZERO };
        self.until.is_none_or(|until| finish.saturating_add(last) <= until)
    }
}

/// Whether a thread may begin to wait for more than its own operations later than at its release.
fn waits_late(thread: &HostThread) -> bool {
    let mut is_later = thread.barrier.is_some() || thread.period.is_none() && thread.iterations != Some(1);
    thread.steps.iter().any(|step| {
        let begins = is_later && step.waits_for_operations() && *step != Step::AwaitLast;
        is_later |= step.waits_for_operations() || !step.is_cuda_call();
        begins
    })
}

/// What a run of a scenario that is [known until](Scenario::known_until) an instant shows of a response: of one that
/// ends after that, that it is longer than until then, as what may be released later could help it.
pub(super) fn shown(known_until: Option<Instant>, released: Instant, response: Duration) -> Duration {
    let longer = |until: Instant| until.since(released).saturating_add(Duration::from_ns(1));
    known_until.map_or(response, |until| response.min(longer(until)))
}

impl Repeats {
    /// Of threads that no others delay, with their jobs: of which thread each is, when it is released, and after how
    /// long it is done, in all runs.
    ///
    /// There is an instant x before which all that comes once was released, and from which on all else is released
    /// in its period (first less than a period after x). By x + H, with the hyperperiod H, all that was released
    /// before it is done; and so it is at x, or else what was released before x might have taken no time at all
    /// (`is_any_shorter`: that is among the runs which the bounds cover). Then the GPU is empty at x + H as it was at
    /// x, and what is released from x + H on is what was released from x on, H later; and so on. The first such x + H
    /// by which jobs are still judged; `None`: there is none, or threads meet at barriers, where one may be under way
    /// though all its jobs are done.
    pub(super) fn of(
        scenario: &Scenario,
        threads: &BTreeSet<usize>,
        jobs: impl Iterator<Item = (u32, Instant, Option<Duration>)>,
        is_any_shorter: bool,
    ) -> Option<Self> {
        let threads = || threads.iter().map(|&thread| &scenario.threads[thread]);
        if threads().any(|thread| thread.barriers().next().is_some()) {
            return None;
        }
        // Beside what has no end, a job that is counted comes once, whatever its period.
        let is_endless = scenario.cut_at().is_some();
        let period_of = |thread: &HostThread| thread.period.filter(|_| !is_endless || thread.is_cut);
        let mut periods = threads().filter_map(period_of);
        let hyperperiod = periods.try_fold(Duration::from_ns(1), Duration::least_common_multiple)?;
        let is_regular_from = |from: Instant| {
            threads().all(|thread| match period_of(thread) {
                Some(period) => thread.release_of(0) < from.saturating_add(period),
                None => thread.iterations == Some(1) && thread.release_of(0) < from,
            })
        };
        let is_judged_until = |end: Instant| {
            let goes_on = |thread: &HostThread| {
                !thread.may_end_early()
                    && thread.iterations.is_none_or(|iterations| thread.release_of(iterations) >= end)
            };
            threads().all(|thread| period_of(thread).is_none() || goes_on(thread))
                && scenario.horizon.is_none_or(|horizon| Instant::ZERO + horizon >= end)
        };
        let done = |(thread, released, bound): (u32, Instant, Option<Duration>)| {
            (released, bound.map(|bound| released.saturating_add(bound).saturating_add(last_instant(scenario, thread))))
        };
        let mut spans: Vec<(Instant, Option<Instant>)> = jobs.map(done).collect();
        spans.sort_unstable();
        // By when so many of them are done.
        let mut over = vec![Some(Instant::ZERO)];
        for (_, done) in &spans {
            over.push(over.last().copied().flatten().zip(*done).map(|(over, done)| over.max(done)));
        }
        let is_idle = |at: Instant| {
            let before = spans.partition_point(|(released, _)| *released < at);
            over.get(before).copied().flatten().is_some_and(|over| over <= at)
        };
        let all = spans.iter().flat_map(|(released, done)| [Some(*released), *done]).flatten();
        let begins = all.chain([Instant::ZERO]).filter(|from| is_regular_from(*from));
        let begins = begins.filter(|from| is_any_shorter || is_idle(*from));
        let ends = begins.filter_map(|from| from.checked_add(hyperperiod));
        let from = ends.filter(|end| is_judged_until(*end) && is_idle(*end)).min()?;
        Some(Self { from, hyperperiod })
    }
}
