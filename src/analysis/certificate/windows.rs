//! Certificates where releases are not given (`proofs/sporadic.v`): if in a window that begins with any launch no more
//! can be launched than can be served in it, one operation after another, each operation is over within its length.

use std::sync::Arc;

use serde::Serialize;

use super::{Certificate, Launches, MOST_NS, SporadicVerdict, Uncertified, Verdict, text, unknown};
use crate::scenario::Scenario;
use crate::time::{Duration, Instant};

/// How often the length of a window is raised at most.
const MOST_STEPS: usize = 100_000;

/// A length within which all is over that streams of so many of the highest priorities launch.
#[derive(Debug, Serialize)]
pub(super) struct Window {
    levels: usize,
    length_ns: Duration,
    /// By stream, in the order of the file.
    terms: Vec<Share>,
    proves: Vec<ProvenStream>,
}

/// How many jobs of a stream can be launched in a window, and how much each of them adds.
#[derive(Debug, Serialize)]
struct Share {
    #[serde(serialize_with = "text")]
    stream: Arc<str>,
    period_ns: Duration,
    jitter_ns: Duration,
    jobs: u64,
    of_job_ns: Duration,
}

#[derive(Debug, Serialize)]
struct ProvenStream {
    #[serde(serialize_with = "text")]
    stream: Arc<str>,
    deadline_ns: Duration,
    /// From the arrival of a job.
    bound_ns: Duration,
}

impl Window {
    /// How many verdicts it proves.
    pub(super) fn proven(&self) -> usize {
        self.proves.len()
    }

    /// Of the highest `levels`; `None`: there is nothing to prove of them, or the window would be longer than `most`.
    fn new(launches: &Launches, verdicts: &[SporadicVerdict], levels: usize, most: Duration) -> Option<Self> {
        let mut terms: Vec<Share> = Vec::new();
        let mut thread = None;
        for (launch, up_to_ns) in launches.added(levels)? {
            if thread != Some(launch.thread) {
                thread = Some(launch.thread);
                let SporadicVerdict { period_ns, jitter_ns, .. } = *verdicts.get(launch.thread)?;
                let stream = Arc::clone(&launch.term.stream);
                terms.push(Share { stream, period_ns, jitter_ns, jobs: 1, of_job_ns: Duration::ZERO });
            }
            let share = terms.last_mut()?;
            share.of_job_ns = share.of_job_ns.checked_add(up_to_ns)?;
        }
        let mut length_ns = Duration::ZERO;
        for _ in 0..MOST_STEPS {
            let mut all = Duration::ZERO;
            for share in &mut terms {
                let within = length_ns.checked_add(share.jitter_ns)?.as_ns();
                share.jobs = within.checked_div(share.period_ns.as_ns())?.checked_add(1)?;
                all = all.checked_add(share.of_job_ns.checked_mul(share.jobs)?)?;
            }
            if all <= length_ns {
                return Some(Self { levels, length_ns, terms, proves: Vec::new() });
            }
            if all > most || all.as_ns() >= MOST_NS {
                return None;
            }
            length_ns = all;
        }
        None
    }
}

impl Certificate {
    /// Of the verdicts on streams whose releases are not given.
    pub fn of_sporadic(scenario: &Scenario, verdicts: &[SporadicVerdict]) -> Self {
        let mut certificate = Self::empty(scenario);
        let steps = scenario.threads.iter().enumerate().flat_map(|(thread, of)| {
            let submissions = of.steps.iter().filter_map(|step| step.submission());
            submissions.map(move |(kind, stream)| (thread, kind, stream, Instant::ZERO))
        });
        let launches = unknown(scenario).map_or_else(|| Launches::new(scenario, steps), Err);
        let is_proven = |verdict: &&SporadicVerdict| verdict.verdict == Some(Verdict::Proven);
        let most = verdicts.iter().filter(is_proven).filter_map(|verdict| verdict.deadline_ns).max();
        let launches = launches.map(|launches| {
            let level = |thread: usize| launches.level_of_thread.get(thread).copied().flatten();
            let known = (1..=launches.levels).filter(|&levels| launches.are_apart(levels));
            let windows = known.filter_map(|levels| Window::new(&launches, verdicts, levels, most?));
            certificate.windows = windows.collect();
            (0..verdicts.len()).map(level).collect::<Vec<_>>()
        });
        for (thread, verdict) in verdicts.iter().enumerate().filter(|(_, verdict)| is_proven(verdict)) {
            let Some(deadline_ns) = verdict.deadline_ns else { continue };
            let stream: Arc<str> = Arc::from(&*verdict.stream);
            let found = launches.as_ref().map_err(Clone::clone).and_then(|levels: &Vec<Option<usize>>| {
                let level = levels[thread].ok_or_else(|| "it launches nothing".to_owned())?;
                let mut windows = certificate.windows.iter_mut().filter(|window| window.levels > level);
                // Of more priorities there is more to serve.
                let shortest = windows
                    .next()
                    .ok_or_else(|| "served one after another, what can be launched with it is too late".to_owned())?;
                let bound_ns = shortest.length_ns.saturating_add(verdict.jitter_ns);
                if bound_ns > deadline_ns {
                    let late = format!("served one after another, what can be launched with it takes up to {bound_ns}");
                    return Err(late);
                }
                shortest.proves.push(ProvenStream { stream: Arc::clone(&stream), deadline_ns, bound_ns });
                Ok(())
            });
            if let Err(reason) = found {
                certificate.without.push(Uncertified { stream, job: None, reason });
            }
        }
        certificate.windows.retain(|window| !window.proves.is_empty());
        certificate
    }
}
