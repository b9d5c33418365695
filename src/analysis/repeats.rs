//! From when on what is released is done as one hyperperiod earlier: what was judged then holds for ever
//! (`docs/analysis.md`, "Beyond one hyperperiod").

use std::collections::BTreeSet;

use crate::scenario::{HostThread, Scenario};
use crate::time::{Duration, Instant};

/// From `from` on all jobs are those of one hyperperiod earlier once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeats {
    pub(super) from: Instant,
    pub(super) hyperperiod: Duration,
}

impl Repeats {
    /// Of threads that no others delay, with their jobs: when each is released, and after how long it is done, in all
    /// runs.
    ///
    /// There is an instant x before which all that has no period was released, and from which on all else is released
    /// in its period (first less than a period after x). By x + H, with the hyperperiod H, all that was released
    /// before it is done; and so it is at x, or else what was released before x might have taken no time at all
    /// (`is_any_shorter`: that is among the runs which the bounds cover). Then the GPU is empty at x + H as it was at
    /// x, and what is released from x + H on is what was released from x on, H later; and so on. The first such x + H
    /// by which jobs are still judged; `None`: there is none.
    pub(super) fn of(
        scenario: &Scenario,
        threads: &BTreeSet<usize>,
        jobs: impl Iterator<Item = (Instant, Option<Duration>)>,
        is_any_shorter: bool,
    ) -> Option<Self> {
        let threads = || threads.iter().map(|&thread| &scenario.threads[thread]);
        let mut periods = threads().filter_map(|thread| thread.period);
        let hyperperiod = periods.try_fold(Duration::from_ns(1), Duration::least_common_multiple)?;
        let is_regular_from = |from: Instant| {
            threads().all(|thread| match thread.period {
                Some(period) => thread.release_of(0) < from.saturating_add(period),
                None => thread.iterations == Some(1) && thread.release_of(0) < from,
            })
        };
        let is_judged_until = |end: Instant| {
            let goes_on = |thread: &HostThread| {
                thread.time_limit.is_none()
                    && thread.iterations.is_none_or(|iterations| thread.release_of(iterations) >= end)
            };
            threads().all(|thread| thread.period.is_none() || goes_on(thread))
                && scenario.horizon.is_none_or(|horizon| Instant::ZERO + horizon >= end)
        };
        let done = |(released, bound): (Instant, Option<Duration>)| {
            (released, bound.map(|bound| released.saturating_add(bound)))
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
