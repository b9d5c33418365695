//! Certificates where kernels share the GPU and releases are not given (`proofs/responses.v`): of each stream a bound
//! on its responses, and these bounds say together how much work of other streams there can be while it is busy.

use std::sync::Arc;

use serde::Serialize;

use super::shared::{SCALES, Weight, Weights};
use super::{Launches, MOST_NS, ProvenStream, SporadicVerdict, text};
use crate::scenario::Scenario;
use crate::time::Duration;

/// How often all bounds are raised at most.
const MOST_STEPS: usize = 10_000;

/// How much a block of each kernel weighs, and a bound on each stream of the highest `levels`. What windows and parts
/// of fewer levels say is known.
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
    /// What is known without this part.
    #[serde(skip)]
    known_ns: Option<Duration>,
}

impl Responses {
    /// Of all `levels` of which something can be said: not if their streams wait for others, or there are none. Windows
    /// are known by their levels and lengths.
    pub(super) fn all(
        launches: &Launches,
        scenario: &Scenario,
        verdicts: &[SporadicVerdict],
        windows: &[(usize, Duration)],
    ) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let is_apart = |levels: &usize| launches.are_apart(*levels) && launches.stand_alone(*levels);
        for levels in (1..=launches.levels).filter(is_apart) {
            let known = |thread: usize, level: usize| {
                let terms = all.last().into_iter().flat_map(|before| &before.terms);
                let before = terms.filter(|term| term.thread == thread).map(|term| term.response_ns);
                let windows = windows.iter().filter(|(levels, _)| *levels > level).map(|(_, length_ns)| *length_ns);
                before.chain(windows).min()
            };
            let of_scale = |scale| Self::with_scale(launches, scenario, verdicts, levels, scale, known);
            let found = SCALES.into_iter().find_map(of_scale);
            let is_more = |found: &Self| all.last().is_none_or(|last| last.terms.len() < found.terms.len());
            let is_new = |term: &Term| Some(term.response_ns) != term.known_ns;
            all.extend(found.filter(|found| is_more(found) && found.terms.iter().any(is_new)));
        }
        all
    }

    fn with_scale(
        launches: &Launches,
        scenario: &Scenario,
        verdicts: &[SporadicVerdict],
        levels: usize,
        scale: u64,
        known: impl Fn(usize, usize) -> Option<Duration>,
    ) -> Option<Self> {
        let weights = Weights::new(launches, scenario, levels, scale)?;
        let blocking = launches.blocking(levels);
        let mut terms: Vec<Term> = Vec::new();
        for launch in launches.all.iter().filter(|launch| launch.level < levels) {
            if terms.last().is_none_or(|last| last.thread != launch.thread) {
                let SporadicVerdict { period_ns, jitter_ns, .. } = *verdicts.get(launch.thread)?;
                terms.push(Term {
                    stream: Arc::clone(&launch.term.stream),
                    period_ns,
                    jitter_ns,
                    response_ns: Duration::ZERO,
                    thread: launch.thread,
                    turns: Duration::ZERO,
                    work: 0,
                    known_ns: known(launch.thread, launch.level),
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
        for _ in 0..MOST_STEPS {
            let mut is_raised = false;
            for index in 0..terms.len() {
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

    /// Whether a stream has the bound of a window of this length.
    pub(super) fn rests_on(&self, length_ns: Duration) -> bool {
        self.terms.iter().any(|term| term.response_ns == length_ns)
    }

    /// How many verdicts it proves.
    pub(super) fn proven(&self) -> usize {
        self.proves.len()
    }
}

/// What one stream's bound has to be at least by what the others are, or what is known of it; `None`: too much.
fn raised(terms: &[Term], index: usize, all_sms: u64) -> Option<Duration> {
    let own = &terms[index];
    let needed = || {
        let mut sum = 0_u64;
        for (place, term) in terms.iter().enumerate() {
            // Jobs that may be left when the stream becomes busy, or come until it is over; of its own none is left.
            let (left, of_job) = if place == index {
                (Duration::ZERO, own.turns.as_ns().checked_mul(all_sms)?.checked_add(own.work)?)
            } else {
                (term.response_ns, term.work)
            };
            let within = own.response_ns.checked_add(left)?.checked_add(term.jitter_ns)?;
            let jobs = within.as_ns().checked_div(term.period_ns.as_ns())?.checked_add(1)?;
            sum = sum.checked_add(of_job.checked_mul(jobs)?)?;
        }
        let needed = Duration::from_ns(sum.div_ceil(all_sms));
        (sum < MOST_NS).then_some(needed.max(own.response_ns))
    };
    needed().into_iter().chain(own.known_ns).min()
}
