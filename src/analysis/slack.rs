//! How much longer all that a thread does may take while what is proven stays proven (`docs/analysis.md`, "Slack").

use std::collections::BTreeSet;

use super::bound_options::BoundOptions;
use super::chains::{ChainVerdicts, chain_verdicts};
use super::finish_bounds::finish_bounds;
use super::kept::AnalysisError;
use super::requirements::{RequirementVerdict, requirements_of_jobs};
use super::search::SearchOptions;
use super::verdict::{JobVerdicts, Verdict, judge_known};
use crate::effort::{self, Progress};
use crate::hosts::simulate;
use crate::limits::count_turn;
use crate::scenario::amalthea::ModelDemands;
use crate::scenario::{ChainMeasure, Scenario};
use crate::time::Duration;

/// Growth is counted in these parts of a time.
const PARTS: u128 = 1_000;

/// A host thread with a deadline, and its slack.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ThreadSlack {
    /// Label of the host thread.
    pub(crate) stream: String,
    pub(crate) deadline: Duration,
    /// No job of it takes longer as things are.
    pub(crate) bound: Option<Duration>,
    /// Its blocks, copies and CPU work may each take so much longer \[%\]; `None`: none of its jobs is proven, or they
    /// do nothing that takes time.
    pub(crate) slack_percent: Option<f64>,
    /// What is not proven any more where they take the smallest step more that was looked at and is too much.
    pub(crate) until: Option<String>,
}

/// Something that can be proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// Of a job by thread and number: it is in time.
    Job(u32, u32),
    /// A chain by number keeps what is measured within its limit.
    Chain(usize, u8),
    /// A requirement by number is met.
    Requirement(usize),
}

impl Claim {
    fn words(self, scenario: &Scenario, requirements: &[RequirementVerdict]) -> String {
        match self {
            Self::Job(thread, job) => format!("job {job} of {}", scenario.threads[thread as usize].label),
            Self::Chain(chain, measure) => {
                let measure = ChainMeasure::ALL[usize::from(measure)].name();
                format!("{measure} of {}", scenario.chains[chain].name)
            }
            Self::Requirement(number) => format!("requirement {}", requirements[number].requirement),
        }
    }
}

fn proven(jobs: &JobVerdicts<'_>, chains: &ChainVerdicts, requirements: &[RequirementVerdict]) -> BTreeSet<Claim> {
    let is_proven = |verdict: Option<Verdict>| verdict == Some(Verdict::Proven);
    let of_jobs = jobs.jobs.iter().filter(|job| is_proven(job.verdict)).map(|job| Claim::Job(job.thread, job.job));
    let of_chains = chains.rows.iter().filter(|row| is_proven(row.verdict));
    let of_chains = of_chains.map(|row| Claim::Chain(row.number, row.measure as u8));
    let of_model = requirements.iter().enumerate().filter(|(_, one)| is_proven(one.verdict));
    of_jobs.chain(of_chains).chain(of_model.map(|(number, _)| Claim::Requirement(number))).collect()
}

/// What the bounds prove of a scenario.
fn proven_by_bounds(scenario: &Scenario, demands: Option<&ModelDemands>) -> Result<BTreeSet<Claim>, AnalysisError> {
    let bound = BoundOptions::of(scenario);
    let bounds = finish_bounds(scenario, bound)?;
    let run = simulate(scenario)?;
    let only_the_own_run =
        SearchOptions { bound, placements: Vec::new(), runs: 0, seed: scenario.seed, time_limit: None };
    let jobs = judge_known(scenario, (&run, &run.jobs()), &bounds, &only_the_own_run, Progress::NONE)?;
    let chains = chain_verdicts(scenario, &run, &jobs, &[])?;
    let requirements = demands.map(|demands| requirements_of_jobs(demands, scenario, &jobs));
    Ok(proven(&jobs, &chains, &requirements.unwrap_or_default()))
}

/// The slack of each thread with a deadline: how much longer all its blocks, copies and CPU work may take, in one
/// proportion or each by less, while the other threads stay as they are and the bounds still prove all that is proven
/// of the scenario. Found by bisection, to a thousandth. `watch` counts the growths that were looked at.
///
/// That all is proven with the longer times is what makes it safe: bounds hold for blocks, copies and work that take
/// less. It need not be the most where a larger growth passes after a smaller one failed. What is stopped by [`effort`]
/// is not found.
///
/// # Errors
/// [`AnalysisError::Broken`]: a run exceeds a bound.
pub(crate) fn slack_of_threads(
    scenario: &Scenario,
    (jobs, chains, requirements): (&JobVerdicts<'_>, &ChainVerdicts, &[RequirementVerdict]),
    demands: Option<&ModelDemands>,
    watch: Progress<'_>,
) -> Result<Vec<ThreadSlack>, AnalysisError> {
    let known = proven(jobs, chains, requirements);
    let mut slacks = Vec::new();
    for (number, thread) in scenario.threads.iter().enumerate() {
        let own = || jobs.jobs.iter().filter(|job| job.thread as usize == number);
        let Some(deadline) = thread.deadline().filter(|_| own().next().is_some()) else { continue };
        // What is lost of what is known; nothing if there is no such scenario.
        let lost = |growth: u128| -> Result<Option<Claim>, AnalysisError> {
            watch.advance(1);
            let Some(grown) = scenario.with_longer_jobs(number, &|time| longer(time, growth)) else {
                return Ok(known.first().copied());
            };
            match proven_by_bounds(&grown, demands) {
                Ok(still) => Ok(known.difference(&still).next().copied()),
                // It cannot be run: its times are too long.
                Err(AnalysisError::Run(_)) => Ok(known.first().copied()),
                Err(broken) => Err(broken),
            }
        };
        let bounds = own().map(|job| job.bound_ns).collect::<Option<Vec<_>>>();
        let mut slack = ThreadSlack {
            stream: thread.label.to_string(),
            deadline,
            bound: bounds.and_then(|bounds| bounds.into_iter().max()),
            slack_percent: None,
            until: None,
        };
        let is_own = |claim: &Claim| matches!(claim, Claim::Job(thread, _) if *thread as usize == number);
        // A job with a piece longer than its deadline is late, so one step more than that is too much.
        let piece = scenario.longest_piece(number).map(|piece| u128::from(piece.as_ns())).filter(|piece| *piece > 0);
        let room = piece.and_then(|piece| Some((u128::from(deadline.as_ns()).checked_sub(piece)?, piece)));
        if let Some((room, piece)) = room.filter(|_| known.iter().any(is_own)) {
            let (mut low, mut high) = (0, room * PARTS / piece + 1);
            while low < high && effort::check().is_ok() {
                count_turn();
                let middle = low + (high - low).div_ceil(2);
                match lost(middle)? {
                    None => low = middle,
                    Some(claim) => {
                        high = middle - 1;
                        slack.until = Some(claim.words(scenario, requirements));
                    }
                }
            }
            if effort::check().is_ok() {
                slack.slack_percent = Some(low as f64 * 100.0 / PARTS as f64);
            }
        }
        slacks.push(slack);
    }
    Ok(slacks)
}

/// A time, and so many parts of it more, rounded up.
fn longer(time: Duration, growth: u128) -> Option<Duration> {
    let more = (u128::from(time.as_ns()) * growth).div_ceil(PARTS);
    time.checked_add(Duration::from_ns(u64::try_from(more).ok()?))
}
