//! Certificates of **chains**: bounds on reaction times and data ages that follow from certified bounds on jobs.
//!
//! Claim (`proofs/chains.v`; Coq: `accepted_chains_hold`, `accepted_chains_in_phase_hold`): where jobs of each thread
//! come exactly a period apart and have written within a bound, whenever that is, a reaction takes no longer than the
//! sum of periods and bounds, or, with given first releases, than the longest way over one hyperperiod; and data is no
//! older than that less the last period. Assumption: threads go on for ever, first released within a period.

use std::sync::Arc;

use serde::Serialize;

use super::hosts::{not_covered, unread};
use super::{Arrivals, Certificate, ProvenStream, SporadicVerdict, Uncertified, text, unknown};
use crate::analysis::chains::{ChainBounds, ChainVerdict};
use crate::analysis::verdict::Verdict;
use crate::scenario::{ChainMeasure, HostThread, Scenario, Step, followed};
use crate::time::{Duration, is_in_time};

/// A chain that is in time by one measure, with the bounds on its jobs from which that follows.
#[derive(Debug, Serialize)]
pub(super) struct ProvenChain {
    chain: String,
    measure: ChainMeasure,
    limit_ns: Duration,
    bound_ns: Duration,
    /// With the releases that are given: jobs of the first thread in a hyperperiod. `None`: whatever the phases.
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<u64>,
    links: Vec<Link>,
}

/// No job of a thread takes longer from where it is stated to come.
#[derive(Debug, Serialize)]
struct Link {
    #[serde(serialize_with = "text")]
    stream: Arc<str>,
    period_ns: Duration,
    bound_ns: Duration,
}

impl Certificate {
    /// Takes up what is proven of chains; for the releases that are given if `is_in_phase`, or else for any.
    pub(super) fn take_chains(
        &mut self,
        scenario: &Scenario,
        arrivals: &[Arrivals],
        verdicts: &[ChainVerdict],
        is_in_phase: bool,
    ) {
        let bounds: Vec<Option<Duration>> =
            (0..arrivals.len()).map(|thread| self.bound_on(scenario, thread, arrivals[thread])).collect();
        let known = ChainBounds::new(scenario, &[], &bounds, None);
        let unread = refusal(scenario).map_or(Ok(()), Err);
        for verdict in verdicts.iter().filter(|verdict| verdict.verdict == Some(Verdict::Proven)) {
            let (Some(chain), Some(limit_ns)) = (scenario.chains.get(verdict.number), verdict.limit_ns) else {
                continue;
            };
            let label = |thread: u32| scenario.threads.get(thread as usize).map(|thread| Arc::clone(&thread.label));
            let links = chain.links.iter().map(|link| {
                let (thread, bound) = (label(link.thread), bounds.get(link.thread as usize).copied().flatten());
                let arrivals = arrivals.get(link.thread as usize).copied();
                match (thread, bound, arrivals) {
                    (Some(stream), Some(bound_ns), Some((period_ns, _))) => Ok(Link { stream, period_ns, bound_ns }),
                    (stream, ..) => Err(format!("jobs of {} have no certified bound", stream.unwrap_or_default())),
                }
            });
            let links = unread.clone().and_then(|()| links.collect::<Result<Vec<Link>, String>>());
            let proven = links.and_then(|links| {
                let jobs = known.jobs_in_hyperperiod(chain).filter(|_| is_in_phase);
                let any_jobs = || known.of_any_jobs(chain, verdict.measure);
                let bound = if jobs.is_some() { any_jobs() } else { known.unphased(chain, verdict.measure) };
                match bound {
                    Some(bound_ns) if is_in_time(bound_ns, limit_ns) => {
                        let (chain, measure) = (verdict.chain.clone(), verdict.measure);
                        Ok(ProvenChain { chain, measure, limit_ns, bound_ns, jobs, links })
                    }
                    Some(bound) => {
                        Err(format!("by certified bounds on jobs, whenever they come, it takes up to {bound}"))
                    }
                    None => Err("its threads end, or are first released after a period".to_owned()),
                }
            });
            match proven {
                Ok(proven) => self.chains.push(proven),
                Err(reason) => self.without.push(Uncertified::of_chain(&verdict.chain, verdict.measure, reason)),
            }
        }
    }

    /// The least that parts say of any job of a thread, from where it is stated to come; or what the thread sleeps and
    /// works, if it does nothing else.
    fn bound_on(&self, scenario: &Scenario, thread: usize, (period, jitter): Arrivals) -> Option<Duration> {
        let of = scenario.threads.get(thread)?;
        let windows = self.windows.iter().filter_map(|window| window.bound_on(&of.label));
        let responses = self.responses.iter().filter_map(|responses| responses.bound_on(&of.label));
        let phased = self.phased.iter().filter_map(|phased| phased.bound_on(&of.label));
        windows.chain(responses).chain(phased).min().or_else(|| pauses(of, (period, jitter)))
    }

    /// Takes up what is proven of hosts that only sleep and work, and comes back with all verdicts, without a result
    /// where it is taken up.
    pub(super) fn take_pauses(
        &mut self,
        scenario: &Scenario,
        arrivals: &[Arrivals],
        verdicts: &[SporadicVerdict],
    ) -> Vec<SporadicVerdict> {
        let mut others = verdicts.to_vec();
        let is_read = refusal(scenario).is_none();
        for ((verdict, thread), arrivals) in others.iter_mut().zip(&scenario.threads).zip(arrivals) {
            let is_proven = is_read && verdict.verdict == Some(Verdict::Proven);
            let in_time = |deadline_ns: Duration| {
                let bound_ns = pauses(thread, *arrivals).filter(|bound| is_in_time(*bound, deadline_ns))?;
                Some(ProvenStream { stream: Arc::clone(&thread.label), deadline_ns, bound_ns })
            };
            if let Some(proven) = verdict.deadline_ns.filter(|_| is_proven).and_then(in_time) {
                self.pauses.push(proven);
                verdict.verdict = None;
            }
        }
        others
    }
}

/// Why the checker knows nothing of a scenario, whatever is said of it.
fn refusal(scenario: &Scenario) -> Option<String> {
    unknown(scenario).or_else(|| unread(scenario))
}

/// Up to how long after it is stated to come a job of a thread sleeps and works, if it does nothing else, and has done
/// so before the next one comes.
fn pauses(thread: &HostThread, (period, jitter): Arrivals) -> Option<Duration> {
    let mut pauses = jitter;
    for step in followed(thread, 1).filter(|_| not_covered(thread).is_none())? {
        let (Step::Sleep(time) | Step::Work(time)) = step else { return None };
        pauses = pauses.checked_add(time)?;
    }
    (pauses <= period).then_some(pauses)
}
