//! Hill climbing: from the worst run of a job, changes that do not make its response shorter.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::early_ends::{self, EarlyEnd};
use super::{Found, MOST_TARGETS, SearchResult, SearchedChains, Searcher, Variation, unless_stopped};
use crate::effort;
use crate::hosts::{ProgramError, simulate};
use crate::time::Duration;
use crate::workload::Origin;

/// How a run is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// In a few things that are drawn.
    Any,
    /// Blocks end just before the job looked at asks for their room.
    EarlyEnds,
}

impl Searcher<'_, '_> {
    /// From the worst run of each of some jobs, a few changes at a time, as long as its response does not fall.
    pub(super) fn climb(&mut self, round: u64, runs: u64, by: Change) -> Result<(), ProgramError> {
        if runs == 0 {
            return Ok(());
        }
        let mut targets = self.targets();
        targets.retain(|target| by == Change::Any || *target < self.result.jobs.len());
        let steps = runs.checked_div(targets.len() as u64).unwrap_or(0);
        let here = effort::here();
        let climb = |&job: &usize| here.within(|| self.climb_one(round, job, steps, by));
        let climbs: Vec<_> = targets.par_iter().map(climb).collect::<Result<_, ProgramError>>()?;
        for (job, worse) in climbs.into_iter().flatten() {
            let found = &mut self.result.found[job];
            if Some(worse.response) > found.as_ref().map(|found| found.response) {
                *found = Some(worse);
            }
        }
        Ok(())
    }

    /// Of each stream the jobs with the longest responses, relative to their deadlines if they have any.
    fn targets(&self) -> Vec<usize> {
        let (jobs, chains) = (&self.result.jobs, self.chains.as_ref());
        // Of chains those are worth the while that may be too long.
        let limits: Vec<Option<Duration>> = chains.into_iter().flat_map(SearchedChains::limits).collect();
        let limited = |chain: &usize| limits[*chain].is_some();
        let limited = (0..limits.len()).filter(limited).map(|chain| jobs.len() + chain);
        let rank = |&job: &usize| {
            let of_chain = || limits.get(job - jobs.len()).copied().flatten();
            let deadline = jobs.get(job).map_or_else(of_chain, |job| job.deadline);
            let deadline = deadline.map_or(1, |deadline| deadline.as_ns().max(1));
            let response = self.result.found[job].as_ref().map_or(0, |found| found.response);
            std::cmp::Reverse(u128::from(response) * 1_000_000 / u128::from(deadline))
        };
        let mut ranked: Vec<usize> = (0..jobs.len()).chain(limited).collect();
        ranked.sort_by_key(rank);
        // The worst of every stream first, then the second worst.
        let mut of_thread = BTreeMap::<Option<u32>, u32>::new();
        let mut turns: Vec<(u32, usize)> = ranked
            .into_iter()
            .map(|job| {
                let turn = of_thread.entry(jobs.get(job).map(|job| job.thread)).or_default();
                *turn += 1;
                (*turn, job)
            })
            .collect();
        turns.sort_by_key(|(turn, _)| *turn);
        turns.truncate(MOST_TARGETS);
        turns.into_iter().map(|(_, job)| job).collect()
    }

    /// The worst runs of those steps that were taken, by job of which none as bad was known.
    fn climb_one(
        &self,
        round: u64,
        job: usize,
        steps: u64,
        by: Change,
    ) -> Result<BTreeMap<usize, Found>, ProgramError> {
        let mut worse = BTreeMap::<usize, Found>::new();
        let Some(start) = &self.result.found[job] else { return Ok(worse) };
        let freedom = &self.result.freedom;
        let mut numbers = self.numbers(round, true, by as u64 * self.result.found.len() as u64 + job as u64);
        let mut best = start.clone();
        // Blocks end early in the run as stated first, then in the best one so far.
        let stated = (by == Change::EarlyEnds).then(|| Arc::new(freedom.placed_as_stated(&self.result.base)));
        let mut waits = None;
        for step in 0..steps {
            if self.is_over() {
                break;
            }
            let variation = if by == Change::Any {
                freedom.mutate(&best.variation, &mut numbers)
            } else {
                let from = stated.as_ref().filter(|_| step < steps / 2).unwrap_or(&best.variation);
                waits = waits.filter(|_| step != steps / 2);
                if waits.is_none() {
                    waits = unless_stopped(self.waits(job, from)).transpose()?;
                }
                let Some(waits) = waits.as_ref() else { break };
                freedom.ending_early(from, &early_ends::drawn(waits, &mut numbers))
            };
            let variation = Arc::new(variation);
            let Some(responses) = unless_stopped(self.run(&variation)).transpose()? else { break };
            let response = responses.get(job).copied().flatten();
            if let Some(response) = response.filter(|response| *response >= best.response) {
                waits = waits.filter(|_| response == best.response || step < steps / 2);
                best = Found { response, variation: Arc::clone(&variation) };
            }
            for (job, (response, found)) in responses.iter().zip(&self.result.found).enumerate() {
                let known = worse.get(&job).or(found.as_ref()).map(|found| found.response);
                if let Some(response) = response.filter(|response| Some(*response) > known) {
                    worse.insert(job, Found { response, variation: Arc::clone(&variation) });
                }
            }
        }
        Ok(worse)
    }

    /// What blocks of others run when operations of a job begin to wait.
    fn waits(&self, job: usize, variation: &Variation) -> Result<Vec<Vec<EarlyEnd>>, ProgramError> {
        let SearchResult { jobs, base, freedom, .. } = &self.result;
        // With its blocks, which other runs of the search do not record.
        let varied = freedom.apply(base, variation);
        let run = simulate(&varied)?;
        let own = jobs.get(job).map(|own| if self.unrolled { (job, 0) } else { (own.thread as usize, own.job) });
        let is_own = |origin: Origin| own == Some((variation.declared(origin.thread) as usize, origin.iteration));
        Ok(early_ends::before_waits(&run, is_own))
    }
}
