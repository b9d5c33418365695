//! Chains in the runs of a search.

use crate::run::{ChainDelay, ChainTimes, Run, Summary};
use crate::scenario::{Chain, ChainLink, ChainMeasure, Scenario};
use crate::time::{Duration, Instant};
use crate::workload::Origin;

/// The chains of a scenario, of which runs are searched that are long.
pub(in crate::analysis) struct SearchedChains<'s> {
    scenario: &'s Scenario,
    /// When runs end, or no longer have all that is released.
    end: Option<Instant>,
    /// In the scenario's own run, and whether jobs that launch nothing do the same in all runs.
    own: Vec<(ChainTimes, bool)>,
}

impl<'s> SearchedChains<'s> {
    pub(super) fn new(scenario: &'s Scenario, run: &Run<'_>) -> Self {
        let end = scenario.known_until();
        let is_steady = |link: &ChainLink| {
            let thread = scenario.threads.get(link.thread as usize);
            thread.is_some_and(|thread| {
                thread.does_jobs() || !thread.steps.iter().any(|step| step.waits_for_operations())
            })
        };
        let own = |chain: &Chain| {
            let times = ChainTimes::new(chain, scenario, &Summary::of(run), end, |job| Some((job, true)));
            (times, chain.links.iter().all(is_steady))
        };
        Self { scenario, end, own: scenario.chains.iter().map(own).collect() }
    }

    /// How many numbers there are: each chain by both measures.
    pub(super) fn number(&self) -> usize {
        self.own.len() * ChainMeasure::ALL.len()
    }

    /// The most that is allowed of each.
    pub(super) fn limits(&self) -> impl Iterator<Item = Option<Duration>> {
        let limits = |chain: &'s Chain| ChainMeasure::ALL.map(|measure| chain.limit(measure));
        self.scenario.chains.iter().flat_map(limits)
    }

    /// What each comes to in the scenario's own run \[ns\].
    pub(super) fn own_worst(&self) -> impl Iterator<Item = Option<u64>> {
        self.own.iter().flat_map(|(times, _)| times.worst()).map(|worst| worst.map(Duration::as_ns))
    }

    /// What each comes to in a run \[ns\], of which `job` tells what its threads are in the scenario.
    pub(super) fn worst(
        &self,
        run: &Run<'_>,
        job: impl Fn(Origin) -> Option<(Origin, bool)>,
    ) -> impl Iterator<Item = Option<u64>> {
        let times = move |chain: usize| {
            let worst = self.times(chain, run, &job).map_or_else(Default::default, |times| times.worst());
            worst.map(|worst| worst.map(Duration::as_ns))
        };
        (0..self.own.len()).flat_map(times)
    }

    /// The longest of number `number` of these.
    pub(super) fn delay(
        &self,
        number: usize,
        run: &Run<'_>,
        job: impl Fn(Origin) -> Option<(Origin, bool)>,
    ) -> Option<ChainDelay> {
        let (chain, measure) = (number / ChainMeasure::ALL.len(), number % ChainMeasure::ALL.len());
        let times = self.times(chain, run, job)?;
        times.sum_up(self.scenario.chains.get(chain)?, *ChainMeasure::ALL.get(measure)?).worst
    }

    /// When the jobs of a chain read and wrote; `None`: that of some is not known.
    fn times(&self, chain: usize, run: &Run<'_>, job: impl Fn(Origin) -> Option<(Origin, bool)>) -> Option<ChainTimes> {
        let (own, is_steady) = self.own.get(chain)?;
        let mut times =
            ChainTimes::new(self.scenario.chains.get(chain)?, self.scenario, &Summary::of(run), self.end, job);
        // Jobs that launch nothing are no threads where each job is one.
        let is_whole = times.fill(own);
        (is_whole || *is_steady).then_some(times)
    }
}
