//! **Chains** of jobs, whether they are in time: bounds that follow from those on jobs, and what was found in runs.

use std::sync::Arc;

use serde::Serialize;

use super::prepared::Repeats;
use super::verdict::{JobVerdicts, Verdict, open_notes};
use crate::broken_bound::BrokenBound;
use crate::run::{ChainDelay, Run, Summary};
use crate::scenario::{Chain, ChainMeasure, ReleaseOrder, Scenario};
use crate::time::{Duration, Instant};
pub(super) use bounds::ChainBounds;
use bounds::Unbounded;

mod bounds;

/// One measure of a chain and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChainVerdict {
    /// Name of the chain.
    pub chain: String,
    /// Number of the chain in its scenario.
    #[serde(skip)]
    pub number: usize,
    /// What is measured.
    pub measure: ChainMeasure,
    /// Labels of its threads.
    pub path: Vec<String>,
    /// The longest in any run that was simulated.
    pub worst_found_ns: Option<Duration>,
    /// Whether that had no output when its run ended: all that was found is that it takes longer.
    pub is_cut: bool,
    /// None is longer; `None`: no bound is known.
    pub bound_ns: Option<Duration>,
    /// None is longer either if the threads have other phases; `None`: no bound is known.
    pub unphased_bound_ns: Option<Duration>,
    /// What the scenario allows at most.
    pub limit_ns: Option<Duration>,
    /// `None` if it states nothing.
    pub verdict: Option<Verdict>,
    /// For which order of simultaneous releases that holds.
    pub order: ReleaseOrder,
    /// From when to when the longest that was found lasted.
    pub from_ns: Option<Instant>,
    /// Its end.
    pub to_ns: Option<Instant>,
    /// The jobs on its way.
    pub jobs: Option<String>,
    /// Whether the scenario's own run has it.
    #[serde(skip)]
    in_own_run: bool,
}

/// The chains of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChainVerdicts {
    /// Each chain by both measures.
    pub rows: Vec<ChainVerdict>,
    /// Why chains have no bound, or are open though their bound meets what is allowed.
    pub notes: Vec<String>,
}

impl ChainVerdicts {
    /// The number of the first among `rows` that is longer than it may be in a run that was found.
    pub fn first_miss(&self) -> Option<usize> {
        self.rows.iter().position(|row| row.verdict == Some(Verdict::Missed))
    }

    /// A scenario whose simulation has the longest that was found of row number `row`, as
    /// [`JobVerdicts::witness`] has it of jobs; where each job is a thread of its own, the chain itself is left out.
    pub fn witness(&self, row: usize, scenario: &Scenario, verdicts: &JobVerdicts<'_>) -> Option<Scenario> {
        let row = self.rows.get(row)?;
        if row.in_own_run {
            return Some(scenario.clone());
        }
        verdicts.found.witness_of_chain((row.number, &row.chain), row.measure)
    }
}

/// What is known of chains whatever the phases of their threads, from bounds on the responses of any of their jobs;
/// `doubts` tell why jobs may come at other times than a period apart.
pub(crate) fn unphased_chains(scenario: &Scenario, responses: &[Option<Duration>], doubts: &[String]) -> ChainVerdicts {
    let bounds = ChainBounds::new(scenario, &[], responses, None);
    let mut known = ChainVerdicts::default();
    for (number, chain) in scenario.chains.iter().enumerate() {
        for measure in ChainMeasure::ALL {
            let mut row = ChainVerdict::new(scenario, (number, chain), measure, scenario.release_order);
            row.unphased_bound_ns = bounds.unphased(chain, measure);
            row.bound_ns = row.unphased_bound_ns;
            if doubts.is_empty() {
                row.verdict = row.limit_ns.map(|limit| Verdict::new(None, row.bound_ns, limit));
            }
            known.rows.push(row);
        }
    }
    if !known.rows.is_empty() {
        known.notes.push(
            "bounds on chains hold for jobs that come exactly a period apart, each up to its jitter later, whatever the \
             phases: jobs that come later make any chain longer"
                .to_owned(),
        );
        known.notes.extend(doubts.iter().map(|doubt| format!("chains are open: {doubt}")));
    }
    known
}

/// The chains of `scenario`, of which `run` is its own run and `verdicts` are those on its jobs; `doubts` tell why the
/// jobs that were judged may not be all.
///
/// # Errors
/// [`BrokenBound`]: a run that was found exceeds a bound.
pub fn chain_verdicts(
    scenario: &Scenario,
    run: &Run<'_>,
    verdicts: &JobVerdicts<'_>,
    doubts: &[String],
) -> Result<ChainVerdicts, BrokenBound> {
    if scenario.chains.is_empty() {
        return Ok(ChainVerdicts::default());
    }
    // No job of a chain but the first of its thread is made of what its threads have not done yet.
    let all = scenario.threads.iter().all(|thread| thread.period.is_some_and(|period| thread.release < period));
    let spans = verdicts.jobs.iter().map(|job| (job.thread, job.released_ns, job.bound_ns));
    let threads = (0..scenario.threads.len()).collect();
    let repeats = all.then(|| Repeats::of(scenario, &threads, spans, false)).flatten();
    let bounds = ChainBounds::new(scenario, &verdicts.jobs, &verdicts.responses, repeats);
    let (mut known, mut own) = (ChainVerdicts::default(), Summary::of(run).chains().into_iter());
    let mut doubtful = Vec::new();
    for (number, chain) in scenario.chains.iter().enumerate() {
        for measure in ChainMeasure::ALL {
            let mut row = ChainVerdict::new(scenario, (number, chain), measure, verdicts.options.order);
            let found = verdicts.found.worst_of_chain(number, measure);
            let in_own_run = own.next().and_then(|own| own.worst);
            let own_worst = in_own_run.as_ref().map(ChainDelay::length);
            row.worst_found_ns = own_worst.max(found);
            row.in_own_run = own_worst >= found;
            let delay = if found > own_worst { verdicts.found.delay_of_chain(number, measure) } else { in_own_run };
            row.from_ns = delay.as_ref().map(|delay| delay.from);
            row.to_ns = delay.as_ref().map(|delay| delay.to);
            row.is_cut = delay.as_ref().is_some_and(|delay| delay.is_cut);
            row.jobs = delay.map(|delay| delay.path(chain, scenario));
            match bounds.of(chain, measure) {
                Ok(bound) => row.bound_ns = Some(bound),
                Err(why) => known.note(scenario, chain, why),
            }
            row.unphased_bound_ns = bounds.unphased(chain, measure);
            let subject = || format!("the {} of {} is", measure.name(), chain.name);
            BrokenBound::check(row.worst_found_ns, ("the bound on all runs", row.bound_ns), subject)?;
            let verdict = row.limit_ns.map(|limit| Verdict::new(row.worst_found_ns, row.bound_ns, limit));
            let is_doubtful = verdict == Some(Verdict::Proven) && !doubts.is_empty();
            row.verdict = verdict.map(|verdict| if is_doubtful { Verdict::Open } else { verdict });
            doubtful.extend(is_doubtful.then_some(&*chain.name));
            known.rows.push(row);
        }
    }
    let why = |name| doubts.iter().map(move |doubt| (name, doubt.as_str()));
    known.notes.extend(open_notes(doubtful.into_iter().flat_map(why)));
    Ok(known)
}

impl ChainVerdicts {
    fn note(&mut self, scenario: &Scenario, chain: &Chain, why: Unbounded) {
        let label = |thread: u32| scenario.threads.get(thread as usize).map_or("", |thread| &thread.label);
        let why = match why {
            Unbounded::Releases(thread) => format!("when jobs of {:?} are released is not known", label(thread)),
            Unbounded::Jobs(thread) => format!("jobs of {:?} have no bound", label(thread)),
            Unbounded::Late => "jobs may be released at other times than stated".to_owned(),
            Unbounded::Ends => {
                "jobs of its threads end before it, and it is not shown that all goes on as it began".to_owned()
            }
            Unbounded::Horizon => "some of it may come after the horizon, and it is not shown that all goes on as it \
                                   began"
                .to_owned(),
        };
        let note = format!("chain {:?} has no bound: {why}", chain.name);
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

impl ChainVerdict {
    /// Of a chain, with its number, of which nothing is known yet.
    fn new(scenario: &Scenario, (number, chain): (usize, &Chain), measure: ChainMeasure, order: ReleaseOrder) -> Self {
        let threads = chain.links.iter().filter_map(|link| scenario.threads.get(link.thread as usize));
        let limit_ns = chain.limit(measure);
        Self {
            chain: chain.name.to_string(),
            number,
            measure,
            path: threads.map(|thread| Arc::clone(&thread.label).to_string()).collect(),
            worst_found_ns: None,
            is_cut: false,
            bound_ns: None,
            unphased_bound_ns: None,
            limit_ns,
            verdict: limit_ns.map(|_| Verdict::Open),
            order,
            from_ns: None,
            to_ns: None,
            jobs: None,
            in_own_run: false,
        }
    }
}
