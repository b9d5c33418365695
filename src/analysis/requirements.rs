//! Whether the requirements of an AMALTHEA model are met: what is known of the jobs of a scenario that was made from
//! it, and whether these jobs are all that the model allows.

use std::collections::BTreeSet;

use serde::Serialize;

use super::sporadic::SporadicVerdicts;
use super::verdict::{JobVerdict, JobVerdicts, Verdict};
use crate::scenario::amalthea::{ModelDemands, RequirementOf, ResponseLimit};
use crate::scenario::{HostThread, ReleaseOrder, Scenario, who_delays};
use crate::time::{Duration, Instant};

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
        if doubts.is_empty() && repeat_alone(scenario, &threads, jobs).is_none() {
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

/// From when on all jobs are those of one hyperperiod H earlier once more: every stream is periodic, is first released
/// within its period, and there is an instant x by which all that was released before it is done, by the bounds, and
/// by x + H, too. Then the GPU is as empty at x + H as it was at x, and what is released from x + H on is what was
/// released from x on, H later; and so on. The first such x + H; `None` if there is none among the jobs that are
/// judged.
pub(super) fn repeats(scenario: &Scenario, jobs: &[JobVerdict]) -> Option<Instant> {
    repeat_alone(scenario, &(0..scenario.threads.len()).collect(), jobs.iter())
}

/// As [`repeats`], of threads that no others delay.
fn repeat_alone<'j>(
    scenario: &Scenario,
    threads: &BTreeSet<usize>,
    jobs: impl Iterator<Item = &'j JobVerdict>,
) -> Option<Instant> {
    let threads = || threads.iter().map(|&thread| &scenario.threads[thread]);
    let phases = threads().map(|thread| thread.period.map(|period| (thread.release, period)));
    let phases = phases.collect::<Option<Vec<_>>>()?;
    if phases.iter().any(|(release, period)| release >= period) {
        return None;
    }
    let one = Duration::from_ns(1);
    let hyperperiod = phases.iter().try_fold(one, |multiple, (_, period)| multiple.least_common_multiple(*period))?;
    let is_judged_until = |end: Instant| {
        let goes_on = |thread: &HostThread| {
            thread.time_limit.is_none()
                && thread.iterations.is_none_or(|iterations| thread.release_of(iterations) >= end)
        };
        threads().all(goes_on) && scenario.horizon.is_none_or(|horizon| Instant::ZERO + horizon >= end)
    };
    // Each job: when it is released, and by when it is done.
    let done = |job: &JobVerdict| job.bound_ns.map(|bound| job.released_ns.saturating_add(bound));
    let mut spans: Vec<(Instant, Option<Instant>)> = jobs.map(|job| (job.released_ns, done(job))).collect();
    spans.sort_unstable();
    // By when so many of them are done.
    let mut over = vec![Some(Instant::ZERO)];
    for (_, done) in &spans {
        over.push(over.last().copied().flatten().zip(*done).map(|(over, done)| over.max(done)));
    }
    let is_idle = |at: Instant| {
        let before = spans.partition_point(|(released, _)| *released < at);
        over.get(before).copied().flatten().is_some_and(|over| over <= at)
    };
    let all = spans.iter().flat_map(|(released, done)| [Some(*released), *done]).flatten();
    let idle = all.chain([Instant::ZERO]).filter(|from| is_idle(*from));
    let ends = idle.filter_map(|from| from.checked_add(hyperperiod));
    ends.filter(|end| is_judged_until(*end) && is_idle(*end)).min()
}
