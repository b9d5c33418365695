//! Certificates where **releases are not given**: windows within which all is over, and what is proven of streams.
//!
//! Claim (`proofs/sporadic.v`; Coq: `accepted_windows_hold`): if in a window that begins with any launch no more can be
//! launched than can be served in it, one operation after another, each operation is over within its length.
//! Assumption: what is served so are the highest priorities, which wait for nothing below.

use std::sync::Arc;

use serde::Serialize;

use super::bounds::Responses;
use super::{
    Arrivals, Certificate, Launches, MOST_NS, ProvenStream, SporadicVerdict, Uncertified, Verdict, hosts_launch, text,
    unknown,
};
use crate::analysis::chains::ChainVerdict;
use crate::scenario::Scenario;
use crate::time::{Duration, Instant, is_in_time};

/// How often the length of a window is raised at most.
const MOST_STEPS: usize = 100_000;

/// A length within which all is over that streams of so many of the highest priorities launch.
#[derive(Debug, Serialize)]
pub(super) struct BusyWindow {
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

impl BusyWindow {
    /// A bound on a stream from the arrival of a job.
    pub(super) fn bound_on(&self, stream: &str) -> Option<Duration> {
        let term = self.terms.iter().find(|term| *term.stream == *stream)?;
        self.length_ns.checked_add(term.jitter_ns)
    }

    /// How many verdicts it proves.
    pub(super) fn proven(&self) -> usize {
        self.proves.len()
    }

    /// Of the highest `levels`; `None`: there is nothing to prove of them, or the window would be longer than `most`.
    fn new(launches: &Launches, arrivals: &[Arrivals], levels: usize, most: Duration) -> Option<Self> {
        let mut terms: Vec<Share> = Vec::new();
        let mut thread = None;
        for (launch, up_to_ns) in launches.added(levels)? {
            if thread != Some(launch.thread) {
                thread = Some(launch.thread);
                let (period_ns, jitter_ns) = *arrivals.get(launch.thread)?;
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
    /// Of the verdicts on streams and chains whose releases are not given.
    pub fn of_sporadic(scenario: &Scenario, verdicts: &[SporadicVerdict], chains: &[ChainVerdict]) -> Self {
        let arrivals: Vec<Arrivals> = verdicts.iter().map(|verdict| (verdict.period_ns, verdict.jitter_ns)).collect();
        Self::all_phasings(scenario, &arrivals, verdicts, chains, false)
    }

    /// The same of jobs of threads that come so; of chains for the releases that are given if `is_in_phase`.
    pub(super) fn all_phasings(
        scenario: &Scenario,
        arrivals: &[Arrivals],
        verdicts: &[SporadicVerdict],
        chains: &[ChainVerdict],
        is_in_phase: bool,
    ) -> Self {
        let mut certificate = Self::empty(scenario);
        let verdicts = &certificate.take_pauses(scenario, arrivals, verdicts);
        if unknown(scenario).is_none() && hosts_launch(scenario) {
            certificate.take_phased(scenario, arrivals, verdicts);
        } else {
            let limits = chains.iter().filter(|chain| chain.verdict == Some(Verdict::Proven));
            certificate.take_streams(scenario, arrivals, verdicts, limits.filter_map(|chain| chain.limit_ns).max());
        }
        certificate.windows.retain(|window| !window.terms.is_empty());
        certificate.take_chains(scenario, arrivals, chains, is_in_phase);
        if certificate.chains.is_empty() {
            certificate.drop_idle_parts();
        }
        certificate
    }

    /// Takes up what is proven of streams over all phasings, and what chains may rest on that take so long at most.
    fn take_streams(
        &mut self,
        scenario: &Scenario,
        arrivals: &[Arrivals],
        verdicts: &[SporadicVerdict],
        longest: Option<Duration>,
    ) {
        let certificate = self;
        let steps = scenario.threads.iter().enumerate().flat_map(|(thread, of)| {
            let submissions = of.steps.iter().filter_map(|step| step.submission());
            submissions.map(move |(kind, stream)| (thread, kind, stream, Instant::ZERO))
        });
        let launches = unknown(scenario).map_or_else(|| Launches::new(scenario, steps), Err);
        let is_proven = |verdict: &&SporadicVerdict| verdict.verdict == Some(Verdict::Proven);
        let most = verdicts.iter().filter(is_proven).filter_map(|verdict| verdict.deadline_ns).max().max(longest);
        let launches = launches.map(|launches| {
            let level = |thread: usize| launches.level_of_thread.get(thread).copied().flatten();
            let known = (1..=launches.levels).filter(|&levels| launches.are_apart(levels));
            let windows = known.filter_map(|levels| BusyWindow::new(&launches, arrivals, levels, most?));
            certificate.windows = windows.collect();
            let windows: Vec<_> = certificate.windows.iter().map(|it| (it.levels, it.length_ns)).collect();
            certificate.responses = Responses::all(&launches, scenario, arrivals, &windows);
            (0..verdicts.len()).map(level).collect::<Vec<_>>()
        });
        for (thread, verdict) in verdicts.iter().enumerate().filter(|(_, verdict)| is_proven(verdict)) {
            let Some(deadline_ns) = verdict.deadline_ns else { continue };
            let stream: Arc<str> = Arc::from(&*verdict.stream);
            let found = launches.as_ref().map_err(Clone::clone).and_then(|levels: &Vec<Option<usize>>| {
                let level = levels[thread].ok_or_else(|| "it launches nothing".to_owned())?;
                // Of more priorities there is more to serve.
                let shortest = certificate.windows.iter_mut().find(|window| window.levels > level);
                let serial =
                    shortest.map(|window| (window.length_ns.saturating_add(verdict.jitter_ns), &mut window.proves));
                let responses = certificate.responses.iter_mut().filter(|responses| responses.levels > level);
                let by_weight = responses.filter_map(|responses| responses.of(thread));
                let by_weight = by_weight.min_by_key(|(bound, _)| *bound);
                let bounds = [&serial, &by_weight].map(|found| found.as_ref().map(|(bound, _)| *bound));
                match [serial, by_weight].into_iter().flatten().find(|(bound, _)| is_in_time(*bound, deadline_ns)) {
                    Some((bound_ns, proves)) => {
                        proves.push(ProvenStream { stream: Arc::clone(&stream), deadline_ns, bound_ns });
                        Ok(())
                    }
                    None => Err(too_late(bounds)),
                }
            });
            if let Err(reason) = found {
                certificate.without.push(Uncertified::of_stream(&stream, reason));
            }
        }
    }

    /// Leaves out what proves nothing.
    fn drop_idle_parts(&mut self) {
        let certificate = self;
        certificate.phased.retain(|part| part.proven() > 0);
        // What proves nothing itself may be known to what does.
        let last = certificate.responses.iter().rposition(|responses| responses.proven() > 0);
        certificate.responses.truncate(last.map_or(0, |last| last + 1));
        let responses = &certificate.responses;
        let is_known = |window: &BusyWindow| responses.iter().any(|responses| responses.rests_on(window.length_ns));
        certificate.windows.retain(|window| !window.proves.is_empty() || is_known(window));
    }
}

/// Why neither bound on a stream is enough: served one after another, and by weight.
fn too_late(bounds: [Option<Duration>; 2]) -> String {
    let takes = "what can be launched with it takes up to";
    match bounds {
        [Some(serial), Some(weight)] => {
            format!("served one after another, {takes} {serial}, and {weight} by what its blocks weigh")
        }
        [Some(serial), None] => format!("served one after another, {takes} {serial}"),
        [None, Some(weight)] => format!("{takes} {weight} by what its blocks weigh"),
        [None, None] => {
            "served one after another, what can be launched with it is too late; by what blocks weigh there may be \
             too much at once, or streams wait for one another"
                .to_owned()
        }
    }
}
