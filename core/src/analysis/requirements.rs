//! Whether the requirements of an AMALTHEA model are met: what is known of the jobs of a scenario that was made from
//! it, and whether these jobs are all that the model allows.

use serde::Serialize;

use super::prepared::Repeats;
use super::sporadic::SporadicVerdicts;
use super::verdict::{JobVerdicts, Verdict};
use crate::scenario::{ModelDemands, ReleaseOrder, RequirementOf, ResponseLimit, Scenario, who_delays};
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
        let counted = verdicts.counts_jitter;
        let rest = limit.doubts.iter().filter(|doubt| !counted || !doubt.is_within_sporadic);
        let mut doubts: Vec<String> = rest.map(|doubt| doubt.what.clone()).collect();
        let jobs = verdicts.jobs.iter().filter(|job| threads.contains(&(job.thread as usize)));
        let spans = jobs.map(|job| (job.thread, job.released_ns, job.bound_ns));
        if doubts.is_empty() && !counted && Repeats::of(scenario, &threads, spans, false).is_none() {
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
