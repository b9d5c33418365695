//! Certificates where kernels share the GPU and releases are not given (`proofs/responses.v`): of each stream a bound
//! on its responses, and these bounds say together how much work of other streams there can be beside a job.

use std::sync::Arc;

use serde::Serialize;

use super::shared::{SCALES, Weight, Weights};
use super::{Launches, MOST_NS, ProvenStream, SporadicVerdict, text};
use crate::scenario::Scenario;
use crate::time::Duration;

/// How often all bounds are raised at most.
const MOST_STEPS: usize = 10_000;

/// How much a block of each kernel weighs, and a bound on each stream of the highest `levels`. What a part says of
/// fewer levels is known to those after it.
#[derive(Debug, Serialize)]
pub(super) struct Responses {
    pub(super) levels: usize,
    scale: u64,
    weights: Vec<Weight>,
    /// By stream, in the order of the file.
    terms: Vec<Term>,
    proves: Vec<ProvenStream>,
}

#[derive(Debug, Serialize)]
struct Term {
    #[serde(serialize_with = "text")]
    stream: Arc<str>,
    period_ns: Duration,
    jitter_ns: Duration,
    /// From the launch of a job.
    response_ns: Duration,
    #[serde(skip)]
    thread: usize,
    /// What the operations of a job take one after another, and their blocks' times by what they weigh.
    #[serde(skip)]
    turns: Duration,
    #[serde(skip)]
    work: u64,
    #[serde(skip)]
    is_known: bool,
}

impl Responses {
    /// Of all `levels` of which something can be said: not if their streams wait for others, there are none, or a job
    /// may not be over when the next one of its stream comes.
    pub(super) fn all(launches: &Launches, scenario: &Scenario, verdicts: &[SporadicVerdict]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let is_apart = |levels: &usize| launches.are_apart(*levels) && launches.stand_alone(*levels);
        for levels in (1..=launches.levels).filter(is_apart) {
            let of_scale = |scale| Self::with_scale(launches, scenario, verdicts, levels, scale, all.last());
            let found = SCALES.into_iter().find_map(of_scale);
            // Of as many streams there is nothing new to say.
            all.extend(found.filter(|found| all.last().is_none_or(|last| last.terms.len() < found.terms.len())));
        }
        all
    }

    fn with_scale(
        launches: &Launches,
        scenario: &Scenario,
        verdicts: &[SporadicVerdict],
        levels: usize,
        scale: u64,
        before: Option<&Self>,
    ) -> Option<Self> {
        let weights = Weights::new(launches, scenario, levels, scale)?;
        let blocking = launches.blocking(levels);
        let mut terms: Vec<Term> = Vec::new();
        for launch in launches.all.iter().filter(|launch| launch.level < levels) {
            if terms.last().is_none_or(|last| last.thread != launch.thread) {
                let SporadicVerdict { period_ns, jitter_ns, .. } = *verdicts.get(launch.thread)?;
                let known = before.and_then(|before| before.terms.iter().find(|term| term.thread == launch.thread));
                terms.push(Term {
                    stream: Arc::clone(&launch.term.stream),
                    period_ns,
                    jitter_ns,
                    response_ns: known.map_or(Duration::ZERO, |known| known.response_ns),
                    thread: launch.thread,
                    turns: Duration::ZERO,
                    work: 0,
                    is_known: known.is_some(),
                });
            }
            let term = terms.last_mut()?;
            term.turns = term.turns.checked_add(launch.turn(&blocking)?)?;
            let work = weights.of(launch, scenario)?.checked_mul(launch.block_time.as_ns())?;
            term.work = term.work.checked_add(work)?;
        }
        if terms.is_empty() {
            return None;
        }
        let open: Vec<usize> = (0..terms.len()).filter(|&index| !terms[index].is_known).collect();
        for _ in 0..MOST_STEPS {
            let mut is_raised = false;
            for &index in &open {
                let response_ns = raised(&terms, index, weights.all_sms)?;
                is_raised |= response_ns > terms[index].response_ns;
                terms[index].response_ns = response_ns;
            }
            if !is_raised {
                return Some(Self { levels, scale, weights: weights.named(scenario), terms, proves: Vec::new() });
            }
        }
        None
    }

    /// A bound on a thread's stream from the arrival of a job, and what it proves.
    pub(super) fn of(&mut self, thread: usize) -> Option<(Duration, &mut Vec<ProvenStream>)> {
        let term = self.terms.iter().find(|term| term.thread == thread)?;
        Some((term.response_ns.checked_add(term.jitter_ns)?, &mut self.proves))
    }

    /// How many verdicts it proves.
    pub(super) fn proven(&self) -> usize {
        self.proves.len()
    }
}

/// What one stream's bound has to be at least by what the others are; `None`: too much, or beyond its next job.
fn raised(terms: &[Term], index: usize, all_sms: u64) -> Option<Duration> {
    let own = &terms[index];
    let mut sum = own.turns.as_ns().checked_mul(all_sms)?.checked_add(own.work)?;
    for (_, other) in terms.iter().enumerate().filter(|(other, _)| *other != index) {
        // Jobs that may be left when this one is launched, or come until it is over.
        let within = own.response_ns.checked_add(other.response_ns)?.checked_add(other.jitter_ns)?;
        let jobs = within.as_ns().checked_div(other.period_ns.as_ns())?.checked_add(1)?;
        sum = sum.checked_add(other.work.checked_mul(jobs)?)?;
    }
    let response_ns = Duration::from_ns(sum.div_ceil(all_sms).max(own.response_ns.as_ns()));
    let is_known = sum < MOST_NS && response_ns.checked_add(own.jitter_ns)? < own.period_ns;
    is_known.then_some(response_ns)
}
