//! Certificates: what a proven checker needs to see that verdicts are.
//!
//! The bounds of [`finish_bounds()`](super::finish_bounds()) are proven in prose. One that is simpler, and larger, is
//! proven by machine (`proofs/busy.v`): **served one after another**. Claim: all that is launched is over by when it
//! would be if it were served one operation after another, each kernel in as many waves as the whole GPU needs for it,
//! and behind one block of a lower priority (Coq: `over_by`; over all phasings `over_within`). Assumption: what is
//! served so are the highest priorities, down to some level, which wait for nothing below.
//!
//! Another one is by weight, in `bounds`. A verdict has a certificate where one of them is enough. `docs/proofs.md`
//! says how it is checked, and by whom.

mod bounds;
mod chains;
mod hosts;
mod phased;
mod windows;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use super::analyse::Analysis;
use super::assumptions::{Departure, allowed_sms, departures, launches, sms_at_once};
use super::chains::ChainVerdict;
use super::finish_bounds::BoundedOperation;
use super::merged_resources::{Pool, kinds_of_warps, needs};
use super::prepared::demands;
use super::safe_bound::NullRule;
use super::sporadic::SporadicVerdict;
use super::verdict::{JobVerdict, Verdict, text};
use crate::device::{CopySharing, RegisterFile};
use crate::scenario::{ChainMeasure, HostThread, Scenario, Step};
use crate::time::{Duration, Instant, is_in_time};
use crate::workload::{CheckedCopy, CheckedKernel, CheckedStream, OperationKind, StreamId};
use bounds::{Responses, Shared};
use chains::ProvenChain;
use hosts::Hosts;
use phased::Phased;
use windows::BusyWindow;

/// The proven verdicts of a scenario with what a checker needs to see it, or why there is nothing to see.
#[derive(Debug, Serialize)]
pub struct Certificate {
    format: &'static str,
    scenario: String,
    /// The last instant before which nothing is missing that is released without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    until_ns: Option<Instant>,
    /// By how many of the highest priorities are looked at.
    parts: Vec<Part>,
    /// The same where kernels share the GPU.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shared: Vec<Shared>,
    /// Verdicts on hosts, for which that is enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hosts: Vec<Proven>,
    /// The same where releases are not given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    windows: Vec<BusyWindow>,
    /// The same where besides kernels share the GPU.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    responses: Vec<Responses>,
    /// The same of hosts that launch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    phased: Vec<Phased>,
    /// Verdicts on hosts that only sleep and work, whenever their jobs come.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pauses: Vec<ProvenStream>,
    /// Verdicts on chains, which follow from bounds on jobs whose releases are not given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    chains: Vec<ProvenChain>,
    #[serde(rename = "no_certificate")]
    without: Vec<Uncertified>,
}

/// All that streams of so many priorities launch.
#[derive(Debug, Serialize)]
struct Part {
    levels: usize,
    intervals: Vec<Interval>,
}

/// What is launched from one instant on is all over by another.
#[derive(Debug, Serialize)]
struct Interval {
    from_ns: Instant,
    until_ns: Instant,
    terms: Vec<Term>,
    /// Verdicts for which this is enough.
    proves: Vec<Proven>,
}

/// An operation, and by how much it can delay what is launched with it.
#[derive(Debug, Clone, Serialize)]
struct Term {
    #[serde(serialize_with = "text")]
    stream: Arc<str>,
    #[serde(serialize_with = "text")]
    operation: Arc<str>,
    launched_ns: Instant,
    up_to_ns: Duration,
}

#[derive(Debug, Serialize)]
struct Proven {
    #[serde(serialize_with = "text")]
    stream: Arc<str>,
    job: u32,
    released_ns: Instant,
    deadline_ns: Duration,
    bound_ns: Duration,
}

/// The same of jobs whose releases are not given.
#[derive(Debug, Serialize)]
struct ProvenStream {
    #[serde(serialize_with = "text")]
    stream: Arc<str>,
    deadline_ns: Duration,
    /// From the arrival of a job.
    bound_ns: Duration,
}

/// A verdict on a job, or on all jobs of a stream, or on a chain.
#[derive(Debug, Default, Serialize)]
struct Uncertified {
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<ChainMeasure>,
    reason: String,
}

/// Of jobs that come again and again: how far they are apart at least, and how late each may be.
type Arrivals = (Duration, Duration);

/// The longest sum of times that the checker takes.
const MOST_NS: u64 = 1 << 60;

impl Certificate {
    /// Of an analysis, the operations of its bounds, and the verdicts on jobs and chains.
    pub fn new(
        analysis: &Analysis<'_>,
        operations: &[BoundedOperation],
        jobs: &[JobVerdict],
        chains: &[ChainVerdict],
    ) -> Self {
        let mut certificate = Self::of_jobs(analysis, operations, jobs);
        if chains.iter().any(|chain| chain.verdict == Some(Verdict::Proven)) {
            let threads = analysis.of.threads.iter();
            let arrivals: Vec<Arrivals> =
                threads.map(|thread| (thread.period.unwrap_or_default(), thread.jitter)).collect();
            let of_chains = Self::all_phasings(analysis.of, &arrivals, &[], chains, true);
            certificate.windows = of_chains.windows;
            certificate.responses = of_chains.responses;
            certificate.phased = of_chains.phased;
            certificate.chains = of_chains.chains;
            certificate.without.extend(of_chains.without);
        }
        certificate
    }

    fn of_jobs(analysis: &Analysis<'_>, operations: &[BoundedOperation], jobs: &[JobVerdict]) -> Self {
        let scenario = analysis.of;
        let proven = || jobs.iter().filter(|job| job.verdict == Some(Verdict::Proven));
        let mut certificate = Self::empty(scenario);
        let is_not_given = || "its bound is on jobs whose launches are not given".to_owned();
        // What comes at a horizon is listed; what comes one hyperperiod after the last first release is not.
        let cut = scenario.cut_at().map(|cut| Instant::from_ns(cut.as_ns().saturating_sub(1)));
        certificate.until_ns = cut.filter(|_| scenario.horizon.is_none());
        let known = scenario.horizon.map(|horizon| Instant::ZERO + horizon).or(cut).unwrap_or(Instant::MAX);
        let planned = || -> Result<(Option<Hosts<'_>>, Launches), String> {
            if let Some(reason) = unknown(scenario) {
                return Err(reason);
            }
            if let Some((hosts, launched)) = Hosts::of(scenario, known)? {
                return Ok((Some(hosts), Launches::new(scenario, launched.into_iter())?));
            }
            if operations.is_empty() {
                return Err(is_not_given());
            }
            let launched =
                operations.iter().map(|one| (one.origin.thread as usize, one.kind, one.stream, one.launched));
            Ok((None, Launches::new(scenario, launched)?))
        };
        let (hosts, launches) = match planned() {
            Ok(planned) => planned,
            Err(reason) => {
                certificate.without.extend(proven().map(|job| Uncertified::new(job, reason.clone())));
                return certificate;
            }
        };
        let mut parts: BTreeMap<usize, Part> = (1..=launches.levels)
            .filter(|&levels| launches.are_apart(levels))
            .filter_map(|levels| Some((levels, Part { levels, intervals: launches.intervals(levels)? })))
            .collect();
        let mut shared: Vec<Shared> = (1..=launches.levels)
            .filter(|&levels| launches.are_apart(levels))
            .filter_map(|levels| Shared::new(&launches, scenario, levels))
            .collect();
        let host_ends = hosts.as_ref().map(|hosts| hosts.ends(&parts, &mut shared, jobs, known));
        let host_ends = match host_ends.transpose() {
            Ok(ends) => ends.unwrap_or_default(),
            Err(reason) => {
                certificate.without.extend(proven().map(|job| Uncertified::new(job, reason.clone())));
                return certificate;
            }
        };
        for job in proven() {
            let thread = job.thread as usize;
            if hosts.as_ref().is_some_and(|hosts| hosts.is_host(thread)) {
                match Hosts::proof(job, host_ends.get(&(job.thread, job.job)).copied(), known) {
                    Ok(proven) => certificate.hosts.push(proven),
                    Err(reason) => certificate.without.push(Uncertified::new(job, reason)),
                }
                continue;
            }
            let level = launches.level_of_thread.get(thread).copied().flatten();
            let levels = level.map_or(usize::MAX, |level| level + 1);
            let one_after_another = parts.range_mut(levels..).filter_map(|(_, part)| {
                let after = part.intervals.partition_point(|interval| interval.from_ns <= job.released_ns);
                let interval = part.intervals.get_mut(after.checked_sub(1)?)?;
                Some((interval.until_ns, &mut interval.proves))
            });
            let by_weight = shared.iter_mut().filter(|shared| shared.levels >= levels);
            let by_weight =
                by_weight.filter_map(|shared| shared.over_by(launches.stream_of_thread[thread]?, job.released_ns));
            let one_after_another = one_after_another.min_by_key(|(until, _)| *until);
            let by_weight = by_weight.min_by_key(|(until, _)| *until);
            let found = [one_after_another, by_weight].map(|found| found.filter(|(until, _)| *until <= known));
            let bounds = found.each_ref().map(|found| Some(found.as_ref()?.0.since(job.released_ns)));
            let proves = |(until, _): &(Instant, _)| {
                job.deadline_ns.is_some_and(|deadline| is_in_time(until.since(job.released_ns), deadline))
            };
            match found.into_iter().flatten().find(proves) {
                Some((until, proves)) => proves.push(Proven {
                    stream: Arc::clone(&job.stream),
                    job: job.job,
                    released_ns: job.released_ns,
                    deadline_ns: job.deadline_ns.unwrap_or_default(),
                    bound_ns: until.since(job.released_ns),
                }),
                None => certificate.without.push(Uncertified::new(job, too_late(bounds))),
            }
        }
        // What hosts wait for may be in any of them.
        let is_kept = hosts.is_some() && certificate.proven() + proven_of(parts.values(), &shared) > 0;
        parts.retain(|_, part| is_kept || part.intervals.iter().any(|interval| !interval.proves.is_empty()));
        certificate.parts = parts.into_values().collect();
        shared.retain(|shared| shared.proven() > 0 || is_kept && shared.is_of_use());
        certificate.shared = shared;
        certificate
    }

    fn empty(scenario: &Scenario) -> Self {
        Self {
            format: "gpusched-certificate/1",
            scenario: scenario.name.clone(),
            until_ns: None,
            parts: Vec::new(),
            shared: Vec::new(),
            hosts: Vec::new(),
            windows: Vec::new(),
            responses: Vec::new(),
            phased: Vec::new(),
            pauses: Vec::new(),
            chains: Vec::new(),
            without: Vec::new(),
        }
    }

    /// How many verdicts it proves.
    pub fn proven(&self) -> usize {
        proven_of(self.parts.iter(), &self.shared)
            + self.hosts.len()
            + self.windows.iter().map(BusyWindow::proven).sum::<usize>()
            + self.responses.iter().map(Responses::proven).sum::<usize>()
            + self.phased.iter().map(Phased::proven).sum::<usize>()
            + self.pauses.len()
            + self.chains.len()
    }

    /// Which verdicts have no certificate, and why: those with the same reason together.
    pub fn notes(&self) -> Vec<String> {
        let mut by_reason: Vec<(&str, &Uncertified, usize)> = Vec::new();
        for without in &self.without {
            match by_reason.iter_mut().find(|(reason, ..)| *reason == without.reason) {
                Some((.., count)) => *count += 1,
                None => by_reason.push((&without.reason, without, 1)),
            }
        }
        let told = by_reason.into_iter().map(|(reason, first, count)| {
            let others = if count > 1 { format!(" and {} others", count - 1) } else { String::new() };
            format!("no certificate for {}{others}: {reason}", first.what())
        });
        told.collect()
    }
}

/// Whether hosts launch, so that bounds on streams alone say too little.
fn hosts_launch(scenario: &Scenario) -> bool {
    hosts::launch(scenario)
}

/// How many verdicts on streams such parts prove.
fn proven_of<'a>(parts: impl Iterator<Item = &'a Part>, shared: &[Shared]) -> usize {
    let intervals = parts.flat_map(|part| &part.intervals);
    intervals.map(|interval| interval.proves.len()).sum::<usize>() + shared.iter().map(Shared::proven).sum::<usize>()
}

impl Uncertified {
    fn new(job: &JobVerdict, reason: String) -> Self {
        Self { job: Some(job.job), ..Self::of_stream(&job.stream, reason) }
    }

    fn of_stream(stream: &str, reason: String) -> Self {
        Self { stream: Some(stream.to_owned()), reason, ..Self::default() }
    }

    fn of_chain(chain: &str, measure: ChainMeasure, reason: String) -> Self {
        Self { chain: Some(chain.to_owned()), measure: Some(measure), reason, ..Self::default() }
    }

    /// Of what it is.
    fn what(&self) -> String {
        let stream = self.stream.as_deref().unwrap_or_default();
        match (self.measure.zip(self.chain.as_deref()), self.job) {
            (Some((measure, chain)), _) => format!("the {} of {chain}", measure.name()),
            (None, Some(job)) => format!("job {job} of {stream}"),
            (None, None) => format!("jobs of {stream}"),
        }
    }
}

/// Why neither bound on a job is enough: served one after another, and by weight.
fn too_late(bounds: [Option<Duration>; 2]) -> String {
    let takes = "what is launched with it takes up to";
    match bounds {
        [Some(serial), Some(weight)] => {
            format!("{takes} {serial} from its release served one after another, and {weight} by what its blocks weigh")
        }
        [Some(serial), None] => format!("served one after another, {takes} {serial} from its release"),
        [None, Some(weight)] => format!("{takes} {weight} from its release by what its blocks weigh"),
        [None, None] => {
            "its streams wait for streams of lower priorities, or it may end after the horizon or one hyperperiod"
                .to_owned()
        }
    }
}

/// Why the rules that are proven, or the program that reads scenarios for the checker, know nothing of a scenario.
fn unknown(scenario: &Scenario) -> Option<String> {
    let device = scenario.device();
    let launches = launches(scenario);
    let departures: BTreeSet<Departure> = departures(scenario, &demands(scenario), &launches, false);
    let departures = departures.iter().filter_map(|departure| match departure {
        Departure::GreenContexts => Some("green contexts"),
        Departure::MaskedClient => Some("clients of MPS with a part of the SMs"),
        Departure::Turns => Some("contexts that take turns"),
        Departure::Channels => Some("streams that wait for hardware channels"),
        Departure::Events => Some("waits for events"),
        Departure::Latencies => Some("launch latencies and kernel gaps"),
        _ => None,
    });
    let others = [
        ("several processes, but for clients of MPS that may use all SMs", !are_as_threads(scenario)),
        ("parts of the SMs of a GPU", sms_at_once(scenario, &launches) < device.sms),
        ("masks of single kernels", scenario.kernels().iter().any(|kernel| kernel.sm_mask.is_some())),
        ("jobs that others release", scenario.threads.iter().any(|thread| thread.triggered_by.is_some())),
        ("copies that share a link", device.copy.sharing == CopySharing::SharedLink),
        ("warps that take unlike numbers of registers", registers_charged(scenario).is_none()),
    ];
    let mut all = departures.chain(others.into_iter().filter_map(|(what, is)| is.then_some(what)));
    all.next().map(|what| format!("the proven rules leave out {what}"))
}

/// Whether there is one process, or all are clients of MPS that may use all SMs: they wait in the same queues. Each has
/// a NULL stream of its own, into which nothing is submitted.
fn are_as_threads(scenario: &Scenario) -> bool {
    let (catalogue, sms) = (&scenario.catalogue, scenario.device().sms);
    let uses_null = |thread: &HostThread| {
        let mut streams = thread.steps.iter().filter_map(|step| Some(step.submission()?.1));
        streams.any(|stream| catalogue.is_null_stream(stream))
            || thread
                .steps
                .iter()
                .any(|step| matches!(step, Step::SynchronizeStream(stream) if catalogue.is_null_stream(*stream)))
    };
    let has_all = |stream: &CheckedStream| {
        catalogue.sms_at_once(stream.process) >= sms && !catalogue.has_partition(stream.process)
    };
    !scenario.has_processes()
        || !catalogue.is_time_sliced()
            && scenario.streams().iter().all(has_all)
            && !scenario.threads.iter().any(uses_null)
}

/// How many registers the proven rules charge each warp that takes any: an even share of its sub-partition, so that
/// dividing all registers gives what sub-partitions hold. `None`: it does not, as where warps take unlike numbers.
fn registers_charged(scenario: &Scenario) -> Option<u64> {
    let (device, file) = (scenario.device(), RegisterFile::of(scenario.device()));
    let needs: Vec<Pool> = scenario.kernels().iter().map(|kernel| needs(&kernel.demand())).collect();
    match kinds_of_warps(&needs).as_slice() {
        [] => Some(0),
        [registers] => {
            let parts = device.register_allocation.sub_partitions;
            let places = file.places(*registers);
            let charge = (device.per_sm.registers / parts).checked_div(places / parts)?;
            let charged = device.per_sm.registers.checked_div(charge)?;
            (charged == places || device.warps_per_sm() <= places).then_some(u64::from(charge))
        }
        _ => None,
    }
}

/// One launch of a stream.
struct Launch {
    thread: usize,
    stream: usize,
    level: usize,
    term: Term,
    kind: OperationKind,
    /// How long a wave of it takes, and how many there are.
    block_time: Duration,
    waves: u64,
    null_rule: NullRule,
}

impl Launch {
    const fn is_kernel(&self) -> bool {
        matches!(self.kind, OperationKind::Kernel(_))
    }

    /// How long it takes but for what keeps it out by weight: a block, and before that of a kernel a block of the
    /// priorities whose blocks are not weighed.
    fn turn(&self, blocking: &[Duration]) -> Option<Duration> {
        match self.kind {
            OperationKind::Kernel(_) => self.block_time.checked_add(*blocking.last()?),
            _ => Some(self.block_time),
        }
    }
}

struct Launches {
    /// In the order of launches.
    all: Vec<Launch>,
    /// Of the device.
    levels: usize,
    level_of_thread: Vec<Option<usize>>,
    /// Of those that are streams of their own.
    stream_of_thread: Vec<Option<usize>>,
    engine_of: Vec<usize>,
}

impl Launches {
    /// Of what each thread launches into which stream when.
    fn new(
        scenario: &Scenario,
        launched: impl Iterator<Item = (usize, OperationKind, StreamId, Instant)>,
    ) -> Result<Self, String> {
        let device = scenario.device();
        let mut level_of_thread = vec![None; scenario.threads.len()];
        let mut stream_of_thread = vec![None; scenario.threads.len()];
        let mut all = Vec::new();
        let demands: Vec<u64> =
            scenario.kernels().iter().map(|kernel| u64::from(kernel.demand().blocks_per_sm(device))).collect();
        for (thread, kind, id, launched_ns) in launched {
            let stream = &scenario.streams()[id.index()];
            let Some(of) = scenario.threads.get(thread) else { return Err("a launch is of no stream".to_owned()) };
            level_of_thread[thread] = Some(stream.level());
            stream_of_thread[thread] = Some(id.index());
            let (block_time, waves, name) = match kind {
                OperationKind::Kernel(kernel) => {
                    let at_once = u64::from(allowed_sms(scenario, kernel, id)) * demands[kernel.index()];
                    let of: &CheckedKernel = &scenario.kernels()[kernel.index()];
                    let time = scenario.longest_block_time(kernel).unwrap_or(of.duration.worst);
                    (time, u64::from(of.blocks).div_ceil(at_once.max(1)), Arc::clone(&of.name))
                }
                OperationKind::Copy(id) => {
                    let copy = &scenario.copies()[id.index()];
                    (copy.time(), 1, Arc::from(copy.direction.name()))
                }
                other => (Duration::ZERO, 0, Arc::from(other.name())),
            };
            all.push(Launch {
                thread,
                stream: id.index(),
                level: stream.level(),
                term: Term { stream: Arc::clone(&of.label), operation: name, launched_ns, up_to_ns: Duration::ZERO },
                kind,
                block_time,
                waves,
                null_rule: NullRule::of(id, scenario),
            });
        }
        let levels = device.priority_levels as usize;
        let engine_of = scenario.copies().iter().map(CheckedCopy::engine).collect();
        Ok(Self { all, levels, level_of_thread, stream_of_thread, engine_of })
    }

    /// Whether operations of some levels and others wait for each other by N1 and N2.
    fn couple(&self, some: Range<usize>, others: Range<usize>) -> bool {
        let [some, others] = [some, others].map(|levels| {
            let launches = self.all.iter().filter(|launch| levels.contains(&launch.level));
            launches.map(|launch| launch.null_rule).collect::<BTreeSet<NullRule>>()
        });
        some.iter().any(|one| others.iter().any(|other| one.couples(*other)))
    }

    /// Whether nothing of the highest `levels` waits for a lower stream but for blocks that run: not by N1 and N2, and
    /// not for a copy.
    fn are_apart(&self, levels: usize) -> bool {
        let engine = |launch: &Launch| match launch.kind {
            OperationKind::Copy(copy) => self.engine_of.get(copy.index()).copied(),
            _ => None,
        };
        let mut users: BTreeMap<usize, [bool; 2]> = BTreeMap::new();
        for launch in &self.all {
            if let Some(engine) = engine(launch) {
                users.entry(engine).or_default()[usize::from(launch.level < levels)] = true;
            }
        }
        !self.couple(0..levels, levels..self.levels) && users.values().all(|used| *used != [true, true])
    }

    /// Whether besides no stream of the highest `levels` waits for another by N1 and N2.
    fn stand_alone(&self, levels: usize) -> bool {
        !self.couple(0..levels, 0..self.levels)
    }

    /// Of each of the highest `levels`, the longest block of a kernel below it.
    fn blocking(&self, levels: usize) -> Vec<Duration> {
        let longest_below = |level: usize| {
            let below = self.all.iter().filter(|launch| launch.level > level);
            let kernels = below.filter(|launch| matches!(launch.kind, OperationKind::Kernel(_)));
            kernels.map(|launch| launch.block_time).max().unwrap_or(Duration::ZERO)
        };
        (0..levels).map(longest_below).collect()
    }

    /// What each launch of the highest `levels` adds: its waves, and for a kernel the longest block of a lower priority
    /// before it; `None`: that is too long.
    fn added(&self, levels: usize) -> Option<Vec<(&Launch, Duration)>> {
        let blocking = self.blocking(levels);
        let upper = self.all.iter().filter(|launch| launch.level < levels);
        let added = upper.map(|launch| {
            let waves = launch.block_time.checked_mul(launch.waves)?;
            let is_kernel = matches!(launch.kind, OperationKind::Kernel(_));
            let blocking = if is_kernel { blocking[launch.level] } else { Duration::ZERO };
            Some((launch, waves.checked_add(blocking)?))
        });
        added.collect()
    }

    /// When there may be work of the highest `levels`; `None` if that is too long, or nothing is of them.
    fn intervals(&self, levels: usize) -> Option<Vec<Interval>> {
        let mut intervals: Vec<Interval> = Vec::new();
        for (launch, up_to_ns) in self.added(levels)? {
            let term = Term { up_to_ns, ..launch.term.clone() };
            let ends = |begins: Instant| {
                let end = begins.checked_add(term.up_to_ns)?;
                (end.as_ns() < MOST_NS).then_some(end)
            };
            match intervals.last_mut() {
                Some(last) if term.launched_ns <= last.until_ns => {
                    last.until_ns = ends(last.until_ns)?;
                    last.terms.push(term);
                }
                _ => {
                    let (from_ns, until_ns) = (term.launched_ns, ends(term.launched_ns)?);
                    intervals.push(Interval { from_ns, until_ns, terms: vec![term], proves: Vec::new() });
                }
            }
        }
        (!intervals.is_empty()).then_some(intervals)
    }
}
