//! Certificates of **hosts over all phasings**: each job of a host has a bound on its response, whatever it waits for
//! in its own streams, and whenever jobs are released.
//!
//! Claim (`proofs/phased.v`; Coq: `accepted_phased_hold`): a job is over within R of its release, if one after another
//! its pauses and its operations, each behind one block of a lower priority and for what its last block does not weigh,
//! with the weight times length of its own and of all that others may have left at its release or launch within R, fit
//! R; and if R, with the jitter, is shorter than the period. Assumption: no stream is used by two hosts, or waits for
//! another.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::bounds::{KernelWeights, MOST_ROUNDS, SCALES, Weight};
use super::hosts::not_covered;
use super::{Arrivals, Certificate, Launches, MOST_NS, ProvenStream, SporadicVerdict, Uncertified, Verdict, text};
use crate::limits::count_turn;
use crate::scenario::{Scenario, Step, followed};
use crate::time::{Duration, Instant, is_in_time};
use crate::workload::StreamId;

/// How much a block of each kernel weighs, and a bound on each host or stream of the highest `levels`.
#[derive(Debug, Serialize)]
pub(super) struct Phased {
    levels: usize,
    scale: u64,
    weights: Vec<Weight>,
    /// In the order of the file.
    terms: Vec<Term>,
    proves: Vec<ProvenStream>,
}

#[derive(Debug, Serialize)]
struct Term {
    #[serde(serialize_with = "text")]
    stream: Arc<str>,
    period_ns: Duration,
    jitter_ns: Duration,
    /// From the release of a job.
    response_ns: Duration,
    #[serde(skip)]
    thread: usize,
    /// What a job takes itself, and what its blocks' times are by what they weigh.
    #[serde(skip)]
    own: u64,
    #[serde(skip)]
    work: u64,
}

/// What launching threads do.
struct Bodies {
    launches: Launches,
    pauses: BTreeMap<usize, Duration>,
}

impl Bodies {
    /// # Errors
    /// What of a host no certificate knows.
    fn of(scenario: &Scenario) -> Result<Self, String> {
        let mut pauses = BTreeMap::new();
        let mut launched = Vec::new();
        let mut user_of: BTreeMap<StreamId, usize> = BTreeMap::new();
        let mut bodies = Vec::new();
        for (number, thread) in scenario.threads.iter().enumerate() {
            if !thread.steps.iter().any(|step| step.submission().is_some()) {
                continue;
            }
            let label = &thread.label;
            if let Some(what) = not_covered(thread) {
                return Err(format!("{label} {what}, which no certificate covers"));
            }
            if thread.period.is_none() {
                return Err(format!("{label} has no period"));
            }
            let body = followed(thread, 1).ok_or_else(|| format!("{label} has too many steps"))?;
            let mut pause = Duration::ZERO;
            for step in &body {
                if let Step::Sleep(time) | Step::Work(time) = *step {
                    pause = pause.checked_add(time).ok_or_else(|| format!("{label} sleeps too long"))?;
                }
                if let Some((kind, stream)) = step.submission() {
                    launched.push((number, kind, stream, Instant::ZERO));
                    if *user_of.entry(stream).or_insert(number) != number {
                        let name = &scenario.streams()[stream.index()].name;
                        return Err(format!("{label} launches into {name}, as another does"));
                    }
                }
            }
            pauses.insert(number, pause);
            bodies.push((number, body));
        }
        for (number, body) in bodies {
            let label = &scenario.threads[number].label;
            let is_others = |stream: &StreamId| user_of.get(stream).is_some_and(|user| *user != number);
            let waits_for_others = |step: &Step| match step {
                Step::SynchronizeStream(stream) => is_others(stream),
                Step::SynchronizeDevice => user_of.keys().any(|stream| {
                    is_others(stream)
                        && scenario.catalogue.process_of(*stream) == Some(scenario.threads[number].process)
                }),
                _ => false,
            };
            if body.iter().any(waits_for_others) {
                return Err(format!("{label} waits for what others launch"));
            }
        }
        let launches = Launches::new(scenario, launched.into_iter())?;
        let waits = |one: &super::Launch, other: &super::Launch| {
            one.stream != other.stream && one.null_rule.couples(other.null_rule)
        };
        if launches.all.iter().any(|one| launches.all.iter().any(|other| waits(one, other))) {
            return Err("streams wait for one another by the rules of the NULL stream".to_owned());
        }
        Ok(Self { launches, pauses })
    }
}

impl Phased {
    fn with_scale(
        bodies: &Bodies,
        scenario: &Scenario,
        arrivals: &[Arrivals],
        levels: usize,
        scale: u64,
    ) -> Option<Self> {
        let launches = &bodies.launches;
        let weights = KernelWeights::new(launches, scenario, levels, scale)?;
        let all_sms = weights.all_sms;
        let behind = launches.blocking(levels).last()?.as_ns();
        let mut terms: Vec<Term> = Vec::new();
        for launch in &launches.all {
            if launch.level >= levels {
                // All streams of a host are above, or none.
                let is_mixed = |one: &super::Launch| one.thread == launch.thread && one.level < levels;
                if launches.all.iter().any(is_mixed) {
                    return None;
                }
                continue;
            }
            if terms.last().is_none_or(|last| last.thread != launch.thread) {
                let (period_ns, jitter_ns) = *arrivals.get(launch.thread)?;
                terms.push(Term {
                    stream: Arc::clone(&launch.term.stream),
                    period_ns,
                    jitter_ns,
                    response_ns: Duration::ZERO,
                    thread: launch.thread,
                    own: bodies.pauses.get(&launch.thread)?.as_ns().checked_mul(all_sms)?,
                    work: 0,
                });
            }
            let term = terms.last_mut()?;
            let time = launch.block_time.as_ns();
            let last_block = all_sms.saturating_sub(weights.of_block(launch)).checked_mul(time)?;
            let blocked = if launch.waves > 0 && launch.is_kernel() { behind.checked_mul(all_sms)? } else { 0 };
            term.own = term.own.checked_add(last_block)?.checked_add(blocked)?;
            term.work = term.work.checked_add(weights.of(launch, scenario)?.checked_mul(time)?)?;
        }
        if terms.is_empty() {
            return None;
        }
        for _ in 0..MOST_ROUNDS {
            let mut is_raised = false;
            for index in 0..terms.len() {
                count_turn();
                let response_ns = raised(&terms, index, all_sms)?;
                is_raised |= response_ns > terms[index].response_ns;
                terms[index].response_ns = response_ns;
            }
            if !is_raised {
                return Some(Self { levels, scale, weights: weights.named(scenario), terms, proves: Vec::new() });
            }
        }
        None
    }

    /// A bound on a host or stream from the arrival of a job.
    pub(super) fn bound_on(&self, stream: &str) -> Option<Duration> {
        let term = self.terms.iter().find(|term| *term.stream == *stream)?;
        term.response_ns.checked_add(term.jitter_ns)
    }

    /// How many verdicts it proves.
    pub(super) fn proven(&self) -> usize {
        self.proves.len()
    }
}

/// What the bound on jobs of one thread has to be at least by what those on others are; `None`: too much.
fn raised(terms: &[Term], index: usize, all_sms: u64) -> Option<Duration> {
    let own = &terms[index];
    let mut sum = own.own.checked_add(own.work)?;
    for (_, term) in terms.iter().enumerate().filter(|(place, _)| *place != index) {
        let within = own.response_ns.checked_add(term.response_ns)?.checked_add(term.jitter_ns)?;
        let jobs = within.as_ns().checked_div(term.period_ns.as_ns())?.checked_add(1)?;
        sum = sum.checked_add(term.work.checked_mul(jobs)?)?;
    }
    let response = Duration::from_ns(sum.div_ceil(all_sms)).max(own.response_ns);
    (sum < MOST_NS && response.checked_add(own.jitter_ns)? < own.period_ns).then_some(response)
}

impl Certificate {
    /// Takes up what is proven of hosts and streams over all phasings.
    pub(super) fn take_phased(&mut self, scenario: &Scenario, arrivals: &[Arrivals], verdicts: &[SporadicVerdict]) {
        let is_proven = |verdict: &SporadicVerdict| verdict.verdict == Some(Verdict::Proven);
        let bodies = Bodies::of(scenario);
        if let Ok(bodies) = &bodies {
            let all = (1..=bodies.launches.levels).filter(|&levels| bodies.launches.are_apart(levels));
            let found = all.filter_map(|levels| {
                SCALES.into_iter().find_map(|scale| Phased::with_scale(bodies, scenario, arrivals, levels, scale))
            });
            self.phased = found.collect();
        }
        for (thread, verdict) in verdicts.iter().enumerate().filter(|(_, verdict)| is_proven(verdict)) {
            let Some(deadline_ns) = verdict.deadline_ns else { continue };
            let stream: Arc<str> = Arc::from(&*verdict.stream);
            let bounds = self.phased.iter_mut().filter_map(|part| {
                let term = part.terms.iter().find(|term| term.thread == thread)?;
                Some((term.response_ns.checked_add(term.jitter_ns)?, part))
            });
            let reason = match (&bodies, bounds.min_by_key(|(bound, _)| *bound)) {
                (_, Some((bound_ns, part))) if is_in_time(bound_ns, deadline_ns) => {
                    part.proves.push(ProvenStream { stream, deadline_ns, bound_ns });
                    continue;
                }
                (Err(reason), _) => reason.clone(),
                (_, Some((bound, _))) => format!("by what blocks weigh, its jobs take up to {bound}"),
                _ => "by what blocks weigh, jobs may not be over when their next ones are released, or it launches \
                      nothing"
                    .to_owned(),
            };
            self.without.push(Uncertified::of_stream(&stream, reason));
        }
    }
}
