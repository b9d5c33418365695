//! Certificates of **hosts that launch at fixed instants**: they sleep, launch, and wait for what is
//! launched no earlier than after their last launch.
//!
//! Claim (`proofs/planned.v`; Coq: `accepted_hosts_hold`): if whatever a host waits for is over before its next job is
//! released, each launch of each host comes at the same instant in every run, so bounds on what is launched then hold;
//! and a job of a host is over when its launches are and its last sleep or wait ends. Assumption: each host begins,
//! launches and goes on without waiting for a core.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::bounds::Shared;
use super::{Interval, JobVerdict, Part, Proven};
use crate::scenario::{HostThread, Scenario, Step, followed};
use crate::time::{Duration, Instant, is_in_time};
use crate::workload::{OperationKind, StreamId};

/// A launch: its thread, what, into which stream, when.
type Launched = (usize, OperationKind, StreamId, Instant);
/// Of jobs of hosts, by thread and number: by when they are over.
type Ends = BTreeMap<(u32, u32), Instant>;

/// How many launches of hosts, steps and jobs are planned at most.
const MOST_PLANNED: usize = 200_000;

/// Hosts whose launches are given.
pub(super) struct Hosts<'a> {
    scenario: &'a Scenario,
    /// By thread: what one that is a host does in each job; `None`: it is a stream, or does nothing that is looked at.
    bodies: Vec<Option<Vec<Step>>>,
    numbers: BTreeSet<usize>,
    /// Streams into which something is launched.
    used: BTreeSet<StreamId>,
}

/// Names of what a file of the scenario would have as hosts; `None`: it cannot be written.
fn names(scenario: &Scenario) -> Option<BTreeSet<String>> {
    let file = serde_json::from_str::<serde_json::Value>(&scenario.to_native_json().ok()?).ok()?;
    let hosts = file.get("hosts").and_then(|hosts| hosts.as_array()).map_or(&[][..], Vec::as_slice);
    Some(hosts.iter().filter_map(|host| Some(host.get("name")?.as_str()?.to_owned())).collect())
}

/// Whether a host launches, or waits for the GPU.
pub(super) fn launch(scenario: &Scenario) -> bool {
    let acts = |thread: &HostThread| !thread.steps.iter().all(|step| is_harmless(*step));
    let is_host = |names: &BTreeSet<String>, thread: &HostThread| names.contains(&*thread.label);
    names(scenario).is_none_or(|names| scenario.threads.iter().any(|thread| is_host(&names, thread) && acts(thread)))
}

const NOT_WRITTEN: &str = "no file that the checker reads can say what threads do";

/// The streams among these that are of the process of a thread: what it waits for with the device.
fn streams_of(scenario: &Scenario, thread: &HostThread, streams: &[StreamId]) -> Vec<StreamId> {
    let is_own = |stream: &StreamId| scenario.catalogue.process_of(*stream) == Some(thread.process);
    streams.iter().copied().filter(is_own).collect()
}

/// Whether a step does nothing on the GPU and waits for nothing there.
fn is_harmless(step: Step) -> bool {
    matches!(step, Step::Sleep(_) | Step::Work(_) | Step::Barrier(_) | Step::Repeat { .. })
}

/// What a thread does, or has, that no certificate knows.
pub(super) fn not_covered(thread: &HostThread) -> Option<&'static str> {
    let of_step = thread.steps.iter().find_map(|step| match step {
        Step::Barrier(_) => Some("comes to a barrier"),
        Step::SynchronizeEvent(_) => Some("waits for an event"),
        Step::Free | Step::Allocate => Some("frees or allocates memory"),
        Step::AwaitValue(_) | Step::SetValue(_) => Some("uses a counter"),
        _ => None,
    });
    let has_limit = thread.time_limit.is_some() || thread.until.is_some() || thread.barrier.is_some();
    let of_core = thread.core.is_some().then_some("shares a core");
    of_step.or(of_core).or_else(|| has_limit.then_some("has a time limit or a barrier"))
}

/// What threads do that the checker does not read, whatever it is asked.
pub(super) fn unread(scenario: &Scenario) -> Option<String> {
    let of_thread = |thread: &HostThread| {
        let acts = !thread.steps.iter().all(|step| is_harmless(*step));
        let goes_on =
            || (thread.period.is_none() && thread.iterations != Some(1)).then_some("goes on without a period");
        let what = acts.then(|| not_covered(thread)).flatten().or_else(goes_on)?;
        Some(format!("{} {what}, which no certificate covers", thread.label))
    };
    if names(scenario).is_none() {
        return Some(NOT_WRITTEN.to_owned());
    }
    scenario.threads.iter().find_map(of_thread)
}

impl<'a> Hosts<'a> {
    /// Hosts, and what all threads launch until it is not known any more what is released, in the order of instants;
    /// `None`: there are no hosts.
    ///
    /// # Errors
    /// Why launches of a host are not given.
    pub(super) fn of(scenario: &'a Scenario, known: Instant) -> Result<Option<(Self, Vec<Launched>)>, String> {
        let names = names(scenario).ok_or_else(|| NOT_WRITTEN.to_owned())?;
        if names.is_empty() {
            return Ok(None);
        }
        let number_and_is_host =
            |(number, thread): (usize, &HostThread)| names.contains(&*thread.label).then_some(number);
        let numbers = scenario.threads.iter().enumerate().filter_map(number_and_is_host).collect();
        let mut all = Self { scenario, bodies: Vec::new(), numbers, used: BTreeSet::new() };
        let mut launched: Vec<Launched> = Vec::new();
        for (number, thread) in scenario.threads.iter().enumerate() {
            let body = all.body(number, thread)?;
            let own: Vec<(Duration, OperationKind, StreamId)> = launches_of(thread, body.as_deref())?;
            for job in jobs(thread, known) {
                for &(offset, kind, stream) in &own {
                    let at = thread.release_of(job).checked_add(offset).ok_or_else(too_many)?;
                    launched.push((number, kind, stream, at));
                    all.used.insert(stream);
                }
                if launched.len() > MOST_PLANNED {
                    return Err(too_many());
                }
            }
            all.bodies.push(body.filter(|_| all.numbers.contains(&number)));
        }
        launched.sort_by_key(|(.., at)| *at);
        Ok(Some((all, launched)))
    }

    /// What a thread does in each job; `None`: nothing that is looked at.
    fn body(&self, number: usize, thread: &HostThread) -> Result<Option<Vec<Step>>, String> {
        let refused = |what: &str| Err(format!("{} {what}, so what it launches is not given", thread.label));
        let has_special =
            thread.core.is_some() || thread.time_limit.is_some() || thread.until.is_some() || thread.barrier.is_some();
        let only_sleeps = |step: &Step| matches!(step, Step::Sleep(_) | Step::Repeat { .. });
        if thread.steps.iter().all(|step| is_harmless(*step)) && (has_special || !thread.steps.iter().all(only_sleeps))
        {
            return Ok(None);
        }
        if let Some(what) = not_covered(thread) {
            return refused(what);
        }
        if thread.works() {
            return refused("works");
        }
        if self.numbers.contains(&number) && thread.period.is_none() && thread.iterations != Some(1) {
            return refused("goes on without a period");
        }
        followed(thread, 1).map(Some).ok_or_else(too_many)
    }

    pub(super) fn is_host(&self, thread: usize) -> bool {
        self.numbers.contains(&thread)
    }

    /// By when the jobs of hosts are over, at last one after another: where that is too late for a job, by weight.
    ///
    /// # Errors
    /// That a host may still wait when its next job is released.
    pub(super) fn ends(
        &self,
        parts: &BTreeMap<usize, Part>,
        shared: &mut [Shared],
        jobs: &[JobVerdict],
        known: Instant,
    ) -> Result<Ends, String> {
        let level = |stream: StreamId| self.scenario.streams()[stream.index()].level();
        let serial = |stream: StreamId, at: Instant| {
            let known = parts.range(level(stream) + 1..).map(|(_, part)| settled(&part.intervals, at));
            known.min()
        };
        let is_late = |ends: &Ends| {
            jobs.iter().filter(|job| self.is_host(job.thread as usize)).any(|job| {
                let proof = ends.get(&(job.thread, job.job)).map(|end| Self::proof(job, Some(*end), known));
                proof.is_some_and(|proof| proof.is_err())
            })
        };
        let ends = self.followed(known, &mut |stream, at| serial(stream, at));
        if shared.is_empty() || ends.as_ref().is_ok_and(|ends| !is_late(ends)) {
            return ends;
        }
        let mut told = Vec::new();
        let ends = self.followed(known, &mut |stream, at| {
            let by_weight = shared.iter().enumerate().filter_map(|(number, shared)| {
                let (until, interval) = shared.settled(stream.index(), at)?;
                (shared.levels > level(stream)).then_some((until, number, interval))
            });
            let by_weight = by_weight.min();
            match (serial(stream, at), by_weight) {
                (Some(until), found) if found.is_none_or(|(by_weight, ..)| until <= by_weight) => Some(until),
                (_, Some((until, number, interval))) => {
                    told.push((number, interval, stream, until));
                    Some(until)
                }
                (until, None) => until,
            }
        })?;
        for (number, interval, stream, until) in told {
            shared[number].tell(interval, &self.scenario.streams()[stream.index()].name, until);
        }
        Ok(ends)
    }

    /// By when the jobs of hosts are over, if it is known by when all is that a stream launches until an instant.
    fn followed(
        &self,
        known: Instant,
        settles: &mut dyn FnMut(StreamId, Instant) -> Option<Instant>,
    ) -> Result<Ends, String> {
        let mut ends = Ends::new();
        let streams: Vec<StreamId> = self.used.iter().copied().collect();
        for (number, body) in self.bodies.iter().enumerate() {
            let Some(body) = body else { continue };
            let thread = &self.scenario.threads[number];
            let own: BTreeSet<StreamId> = body.iter().filter_map(|step| Some(step.submission()?.1)).collect();
            let mut free = Instant::ZERO;
            for job in jobs(thread, known) {
                let released = thread.release_of(job);
                let late = || format!("{} may still wait when its job {job} is released", thread.label);
                let unknown = || format!("it is not known by when all is over that {} waits for", thread.label);
                if free > released {
                    return Err(late());
                }
                let mut now = released;
                let mut end = now;
                for step in body {
                    let awaited: Vec<StreamId> = match *step {
                        Step::Sleep(time) => {
                            now = now.checked_add(time).ok_or_else(too_many)?;
                            continue;
                        }
                        Step::AwaitLast => own.iter().copied().collect(),
                        Step::SynchronizeStream(stream) => vec![stream],
                        Step::SynchronizeDevice => streams_of(self.scenario, thread, &streams),
                        step => {
                            if let Some((_, stream)) = step.submission() {
                                end = end.max(settles(stream, now).ok_or_else(unknown)?);
                            }
                            continue;
                        }
                    };
                    let begun = now;
                    for stream in awaited.into_iter().filter(|stream| self.used.contains(stream)) {
                        now = now.max(settles(stream, begun).ok_or_else(unknown)?);
                    }
                }
                free = now;
                let (thread, job) = (u32::try_from(number), u32::try_from(job));
                if let (Ok(thread), Ok(job)) = (thread, job) {
                    ends.insert((thread, job), end.max(now));
                }
            }
        }
        Ok(ends)
    }

    /// What proves a verdict on a job that is over by then.
    ///
    /// # Errors
    /// Why nothing does.
    pub(super) fn proof(job: &JobVerdict, end: Option<Instant>, known: Instant) -> Result<Proven, String> {
        let Some(end) = end else {
            return Err("its host works, or has a core, a time limit or a barrier, and launches nothing".to_owned());
        };
        let bound_ns = end.since(job.released_ns);
        let deadline_ns = job.deadline_ns.filter(|deadline| is_in_time(bound_ns, *deadline));
        match deadline_ns.filter(|_| end <= known) {
            Some(deadline_ns) => Ok(Proven {
                stream: Arc::clone(&job.stream),
                job: job.job,
                released_ns: job.released_ns,
                deadline_ns,
                bound_ns,
            }),
            None => Err(format!("with what its host waits for and sleeps it takes up to {bound_ns} from its release")),
        }
    }
}

fn too_many() -> String {
    format!("hosts have more than {MOST_PLANNED} steps and launches")
}

/// The numbers of the jobs that are released.
fn jobs(thread: &HostThread, known: Instant) -> impl Iterator<Item = u64> {
    let all = if thread.period.is_some() {
        thread.iterations.unwrap_or(u64::MAX)
    } else {
        thread.iterations.unwrap_or(1).min(1)
    };
    (0..all).take_while(move |&job| thread.release_of(job) <= known).take(MOST_PLANNED)
}

/// What is launched in each job, how long after its release.
fn launches_of(thread: &HostThread, body: Option<&[Step]>) -> Result<Vec<(Duration, OperationKind, StreamId)>, String> {
    let (mut offset, mut has_waited, mut launched) = (Duration::ZERO, false, Vec::new());
    for step in body.unwrap_or_default() {
        match *step {
            Step::Sleep(time) => offset = offset.checked_add(time).ok_or_else(too_many)?,
            step if step.waits_for_operations() => has_waited = true,
            step => {
                if let Some((kind, stream)) = step.submission() {
                    if has_waited {
                        return Err(format!("{} launches after a wait, so when is not given", thread.label));
                    }
                    launched.push((offset, kind, stream));
                }
            }
        }
    }
    Ok(launched)
}

/// By when all is over that is launched until an instant, served one after another.
fn settled(intervals: &[Interval], at: Instant) -> Instant {
    let after = intervals.partition_point(|interval| interval.from_ns <= at);
    let until = after.checked_sub(1).and_then(|last| intervals.get(last)).map(|interval| interval.until_ns);
    until.map_or(at, |until| until.max(at))
}
