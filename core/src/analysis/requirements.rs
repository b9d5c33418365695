//! Whether the requirements of an AMALTHEA model are met: what is known of the jobs of a scenario that was made from
//! it, and whether these jobs are all that the model allows; and how much longer jobs may take with all that is proven
//! still proven.

use std::collections::BTreeSet;

use serde::Serialize;

use super::chains::{ChainVerdicts, chain_verdicts};
use super::compare::AnalysisError;
use super::finish_bounds::finish_bounds;
use super::prepared::Repeats;
use super::safe_bound::BoundOptions;
use super::search::SearchOptions;
use super::sporadic::SporadicVerdicts;
use super::verdict::{JobVerdicts, Verdict, judge_known};
use crate::effort;
use crate::effort::Progress;
use crate::hosts::simulate_in_brief;
use crate::limits::count_turn;
use crate::scenario::{ChainMeasure, ModelDemands, ReleaseOrder, RequirementOf, ResponseLimit, Scenario, who_delays};
use crate::time::Duration;

/// A requirement and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequirementVerdict {
    /// Its name in the model.
    pub requirement: String,
    /// Of what it speaks.
    pub of: RequirementOf,
    /// The name of the task or runnable.
    pub target: String,
    /// Streams whose jobs have to keep it.
    pub streams: Vec<String>,
    /// The response time at most.
    pub limit_ns: Duration,
    /// The longest response found of a job of these streams; `None` if one did not finish in any run.
    pub worst_found_ns: Option<Duration>,
    /// No response of a job that was judged is longer; `None`: not known.
    pub bound_ns: Option<Duration>,
    /// `None` if nothing of it runs on the GPU.
    pub verdict: Option<Verdict>,
    /// For which order of simultaneous releases that holds.
    pub order: ReleaseOrder,
    /// Why it is not proven although the bound meets it.
    pub doubts: Vec<String>,
}

/// Stream, longest response found, and bound.
type StreamResponses<'a> = (&'a str, Option<Duration>, Option<Duration>);

/// The requirements in view of the jobs of `scenario`, of which `demands` speaks.
///
/// Proven is one only if the jobs that were judged are all that the model allows: its stimuli are exactly periodic, and
/// what comes after the judged jobs repeats them.
pub fn requirements_of_jobs(
    demands: &ModelDemands,
    scenario: &Scenario,
    verdicts: &JobVerdicts<'_>,
) -> Vec<RequirementVerdict> {
    let known: Vec<StreamResponses<'_>> =
        verdicts.jobs.iter().map(|job| (&*job.stream, job.worst_found_ns, job.bound_ns)).collect();
    let order = verdicts.options.order;
    let judged = demands.limits.iter().map(|limit| {
        let threads = who_delays(scenario, &limit.streams);
        let mut doubts: Vec<String> = limit.doubts.iter().map(|doubt| doubt.what.clone()).collect();
        let jobs = verdicts.jobs.iter().filter(|job| threads.contains(&(job.thread as usize)));
        let spans = jobs.map(|job| (job.thread, job.released_ns, job.bound_ns));
        if doubts.is_empty() && Repeats::of(scenario, &threads, spans, false).is_none() {
            doubts.push("jobs released later than those that were judged may take longer".to_owned());
        }
        judge_limit(limit, &known, &doubts, order)
    });
    judged.collect()
}

/// The requirements in view of streams whose jobs come in any phasing.
pub fn requirements_of_streams(demands: &ModelDemands, verdicts: &SporadicVerdicts) -> Vec<RequirementVerdict> {
    let known: Vec<StreamResponses<'_>> =
        verdicts.streams.iter().map(|one| (one.stream.as_str(), one.worst_found_ns, one.bound_ns)).collect();
    let order = verdicts.streams.first().map_or_else(ReleaseOrder::default, |stream| stream.order);
    let judged = demands.limits.iter().map(|limit| {
        let rest = limit.doubts.iter().filter(|doubt| !doubt.is_within_sporadic);
        let doubts: Vec<String> = rest.map(|doubt| doubt.what.clone()).collect();
        judge_limit(limit, &known, &doubts, order)
    });
    judged.collect()
}

fn judge_limit(
    limit: &ResponseLimit,
    known: &[StreamResponses<'_>],
    doubts: &[String],
    order: ReleaseOrder,
) -> RequirementVerdict {
    let meant: Vec<&StreamResponses<'_>> =
        known.iter().filter(|(stream, ..)| limit.streams.iter().any(|one| one == stream)).collect();
    let most = |of: fn(&StreamResponses<'_>) -> Option<Duration>| {
        let all = meant.iter().map(|known| of(known)).collect::<Option<Vec<Duration>>>();
        all.and_then(|all| all.into_iter().max())
    };
    let (worst_found_ns, bound_ns) = (most(|known| known.1).filter(|_| !limit.is_part), most(|known| known.2));
    let stated = &limit.requirement;
    // One job that is too long is enough, also where another did not finish in any run; not of what is a part of it.
    let longest = meant.iter().filter_map(|known| known.1).max().filter(|_| !limit.is_part);
    let of_jobs = Verdict::new(longest, bound_ns, stated.response_time_ns);
    let doubts: Vec<String> = limit.doubt.iter().chain(doubts).cloned().collect();
    let verdict = match of_jobs {
        Verdict::Proven if !doubts.is_empty() => Verdict::Open,
        verdict => verdict,
    };
    RequirementVerdict {
        requirement: stated.name.clone(),
        of: stated.of,
        target: stated.target.clone(),
        streams: limit.streams.clone(),
        limit_ns: stated.response_time_ns,
        worst_found_ns,
        bound_ns,
        verdict: (!limit.streams.is_empty()).then_some(verdict),
        order,
        doubts: if of_jobs == Verdict::Proven { doubts } else { Vec::new() },
    }
}

/// Growth is counted in these parts of a time.
const PARTS: u128 = 1_000;

/// A host thread with a deadline, and its slack.
///
/// How much longer all that a thread does may take while what is proven stays proven (`docs/analysis.md`, "Slack").
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
    let run = simulate_in_brief(scenario)?;
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
