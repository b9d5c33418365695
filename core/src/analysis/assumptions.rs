//! When merging the SMs is exact, and why not when it is not; and what else bounds ask of a scenario: SMs, clients,
//! channels, links, launches that depend on completions.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::merged_resources::Analysed;
use crate::device::{BlockDemand, CopySharing};
use crate::scenario::{BarrierId, HostThread, ReleaseOrder, Scenario, Step};
use crate::spelling::option;
use crate::time::Duration;
use crate::workload::{
    ChannelId, CheckedCopy, GreenContextId, KernelId, OperationKind, ProcessId, StreamId, dealt_channels,
};

/// An assumption of the exactness theorem (`docs/analysis.md`, "When merging the SMs is exact") that an input does not
/// keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum Departure {
    /// Blocks of different warps.
    #[error(
        "blocks differ in their threads: one merged SM pools what is free on several SMs, where no single block of \
         the real GPU could use it"
    )]
    UnequalThreads,
    /// Blocks of different shared memory or registers.
    #[error("blocks differ in their shared memory or registers: one merged SM pools what is free on several SMs")]
    UnequalResources,
    /// Kernels in streams of different priorities.
    #[error("streams have different priorities: the analysis takes kernels in the order in which they become ready")]
    Priorities,
    /// A mask keeps a kernel from some SMs.
    #[error("an SM mask keeps a kernel from some SMs: the merged SM only limits how many of its blocks run at once")]
    SmMask,
    /// A mask, and an MPS percentage that may keep a client from some of the SMs that the mask leaves.
    #[error(
        "an SM mask and an mps_percentage hold at once: which SMs the client has in use decides whether a kernel finds \
         one that its mask leaves"
    )]
    MaskedClient,
    /// Green contexts, each with queues and SMs of its own.
    #[error(
        "streams are of green contexts, which have EE queues and SMs of their own: the merged SM takes all for one GPU"
    )]
    GreenContexts,
    /// Several clients of MPS.
    #[error("several processes are clients of MPS: the analysis takes them for threads of one")]
    Clients,
    /// Contexts take turns.
    #[error("contexts of several processes take turns: the analysis takes them for threads of one, so it is too early")]
    Turns,
    /// Something runs on the NULL stream.
    #[error("the NULL stream is used: its operations wait for those of other streams and they for it (N1, N2)")]
    NullStream,
    /// Copies or memsets.
    #[error("there are copies or memsets: they are taken in the order in which they become ready")]
    Copies,
    /// Copies that share a link.
    #[error("copies of several streams share a link (copies: shared-link): they are analysed one at a time")]
    SharedLink,
    /// Several kernels in one stream.
    #[error("a stream has several kernels: a later one is released when its predecessor is analysed to finish")]
    Chains,
    /// Streams share hardware channels.
    #[error("streams share hardware channels: the analysis lets every stream have one")]
    Channels,
    /// Streams wait for one another by events.
    #[error("streams wait for events: what comes after a wait is released when the event is analysed to be recorded")]
    Events,
    /// Launch latencies or kernel gaps.
    #[error("the device states a launch latency or a kernel gap, of which the theorem says nothing")]
    Latencies,
    /// Blocks of a kernel run for different times.
    #[error("block times vary: every block is analysed with its longest")]
    Variation,
}

/// What verdicts that are proven rest on beside what is analysed, if anything is [stated](Scenario::assumptions).
pub(crate) fn proven_under(assumptions: &[String]) -> Option<String> {
    (!assumptions.is_empty()).then(|| format!("proven under: {}", assumptions.join("; ")))
}

impl Scenario {
    /// What verdicts that are proven rest on beside what is analysed, if anything is [stated](Self::assumptions).
    pub fn proven_under(&self) -> Option<String> {
        proven_under(&self.assumptions)
    }
}

/// Why launch times depend on when operations complete.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("safe_finish_ns is not given: {thread:?} {why}")]
pub(crate) struct LaunchDependence {
    /// The label of the first such thread.
    pub thread: String,
    /// What it does.
    pub why: DependentLaunch,
}

/// What a thread does whose launches come earlier or later in some runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum DependentLaunch {
    #[error(
        "waits for operations and then goes on, so what it does later comes earlier or later when blocks run shorter"
    )]
    Waits,
    #[error("works, so what it does then comes earlier or later when that takes less time")]
    Works,
    #[error("goes on until another host has ended, so it has more jobs where that ends later")]
    Until,
    #[error(
        "is released by the ends of another's jobs, so what it does comes earlier or later when these take less time"
    )]
    Triggered,
    #[error("waits in its calls while another thread of its process frees memory (H2)")]
    Held,
}

/// A launch that a scenario states.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatedLaunch {
    pub(super) kernel: KernelId,
    pub(super) stream: StreamId,
    /// SMs that it may use.
    pub(super) allowed_sms: u32,
}

/// The launches of a scenario, in the order of the threads and their steps.
pub(super) fn launches(scenario: &Scenario) -> Vec<StatedLaunch> {
    let launches = scenario.threads.iter().filter(|thread| thread.iterations != Some(0)).flat_map(|thread| {
        thread.steps.iter().filter_map(|step| match *step {
            Step::Launch(kernel, stream) => {
                Some(StatedLaunch { kernel, stream, allowed_sms: allowed_sms(scenario, kernel, stream) })
            }
            _ => None,
        })
    });
    launches.collect()
}

/// SMs that a launch may use: a kernel's own mask replaces its stream's. A static partition of MPS counts as what a
/// client may use at once, and as no mask.
pub(super) fn allowed_sms(scenario: &Scenario, kernel: KernelId, stream: StreamId) -> u32 {
    let has_partition =
        || scenario.catalogue.process_of(stream).is_some_and(|one| scenario.catalogue.has_partition(one));
    if scenario.catalogue.mask(kernel, stream).is_none() || has_partition() {
        return scenario.device().sms;
    }
    scenario.catalogue.sms(kernel, stream).map(|_| 1).sum()
}

/// SMs on which a launch may have blocks at once: those of its mask, or as many as its process may use as a client
/// of MPS.
pub(super) fn sms_of(scenario: &Scenario, kernel: KernelId, stream: StreamId) -> u32 {
    let process = scenario.streams()[stream.index()].process;
    allowed_sms(scenario, kernel, stream).min(scenario.catalogue.sms_at_once(process))
}

/// On how many SMs blocks run at once at most: where the only process is a client of MPS with a percentage, on no more
/// than that allows, unless masks leave no more in any case.
pub(super) fn sms_at_once(scenario: &Scenario, launches: &[StatedLaunch]) -> u32 {
    let sms = scenario.device().sms;
    let most = scenario.catalogue.sms_at_once(ProcessId::FIRST);
    if most >= sms || scenario.has_processes() {
        return sms;
    }
    if scenario.catalogue.has_partition(ProcessId::FIRST) {
        return most;
    }
    let mut used = vec![false; sms as usize];
    for launch in launches {
        for sm in scenario.catalogue.sms(launch.kernel, launch.stream) {
            used[sm as usize] = true;
        }
    }
    if used.iter().filter(|used| **used).count() > most as usize { most } else { sms }
}

/// Whether a client of MPS may use a part of the SMs, and masks may leave it more.
fn some_client_is_limited(scenario: &Scenario, launches: &[StatedLaunch]) -> bool {
    if !scenario.has_processes() {
        return sms_at_once(scenario, launches) < scenario.device().sms;
    }
    let catalogue = &scenario.catalogue;
    (0..).map(ProcessId).take(catalogue.processes().len()).any(|process| catalogue.is_limited_client(process))
}

/// Whether an SM mask and a percentage of MPS hold at once.
pub(super) fn has_masked_client(scenario: &Scenario, launches: &[StatedLaunch]) -> bool {
    let is_masked = launches.iter().any(|launch| launch.allowed_sms < scenario.device().sms);
    is_masked && some_client_is_limited(scenario, launches)
}

/// Whether kernels of several clients of MPS wait in EE queues of their own.
pub(super) fn queues_by_client(scenario: &Scenario) -> bool {
    let streams = scenario.threads.iter().flat_map(HostThread::launched_to);
    let processes = streams.filter_map(|stream| scenario.catalogue.process_of(stream));
    let mut owners = processes.map(|process| Some(process).filter(|one| scenario.catalogue.is_limited_client(*one)));
    let first = owners.next();
    owners.any(|owner| Some(owner) != first)
}

/// Which assumptions a scenario does not keep. `demands` are those of all its kernels, `launches` all that it states;
/// `chained` says whether a kernel launch had another before it in its stream.
pub(super) fn departures(
    scenario: &Scenario,
    demands: &[BlockDemand],
    launches: &[StatedLaunch],
    chained: bool,
) -> BTreeSet<Departure> {
    let mut found = BTreeSet::new();
    let mut note = |departure, holds: bool| {
        if holds {
            found.insert(departure);
        }
    };
    let demand = |launch: &StatedLaunch| demands.get(launch.kernel.index()).copied();
    let first = launches.first().and_then(demand);
    let differs = |what: fn(&BlockDemand) -> [u32; 2]| {
        first.is_some_and(|first| launches.iter().filter_map(demand).any(|other| what(&other) != what(&first)))
    };
    note(Departure::UnequalThreads, differs(|demand| [demand.warps, 0]));
    note(Departure::UnequalResources, differs(|demand| [demand.registers, demand.shared_memory_bytes]));
    let priority = |stream: StreamId| scenario.streams().get(stream.index()).map_or(0, |stream| stream.priority);
    let mut priorities = launches.iter().map(|launch| priority(launch.stream));
    let first = priorities.next();
    note(Departure::Priorities, priorities.any(|other| Some(other) != first));
    let is_green = |launch: &StatedLaunch| {
        scenario.streams().get(launch.stream.index()).is_some_and(|stream| stream.green_context.is_some())
    };
    let is_masked_by_mask = |launch: &StatedLaunch| launch.allowed_sms < scenario.device().sms && !is_green(launch);
    note(Departure::SmMask, launches.iter().any(is_masked_by_mask));
    note(Departure::GreenContexts, launches.iter().any(is_green));
    note(Departure::MaskedClient, has_masked_client(scenario, launches));
    note(Departure::Clients, scenario.has_processes() && !scenario.catalogue.is_time_sliced());
    note(Departure::Turns, scenario.catalogue.is_time_sliced());
    note(Departure::Variation, launches.iter().any(|launch| scenario.block_times_vary(launch.kernel)));
    note(Departure::SharedLink, links_are_shared(scenario));
    for step in scenario.threads.iter().flat_map(|thread| &thread.steps) {
        let Some((kind, stream)) = step.submission() else { continue };
        note(Departure::NullStream, scenario.catalogue.is_null_stream(stream));
        note(Departure::Copies, matches!(kind, OperationKind::Copy(_) | OperationKind::Memset));
        note(Departure::Events, matches!(kind, OperationKind::Wait(_)));
    }
    note(Departure::Channels, !crowded_channels(scenario).is_empty());
    note(Departure::Chains, chained);
    let device = scenario.device();
    note(Departure::Latencies, device.launch_latency > Duration::ZERO || device.kernel_gap > Duration::ZERO);
    found
}

/// Whose channels some streams may have to share: those of a process, or of a green context that has work queues of its
/// own.
pub(super) type ChannelPool = (ProcessId, Option<GreenContextId>);

/// The streams that launch kernels or wait for events, and so need channels, each with whose these are and how many of
/// them there are.
fn need_channels(scenario: &Scenario) -> Vec<(StreamId, ChannelPool, u32)> {
    let mut used = Streams::default();
    let submissions = scenario.threads.iter().flat_map(|thread| &thread.steps).filter_map(|step| step.submission());
    let needed = submissions.filter_map(|(kind, stream)| {
        if !matches!(kind, OperationKind::Kernel(_) | OperationKind::Wait(_)) || !used.insert(stream) {
            return None;
        }
        let own = scenario.catalogue.work_queues_of(stream);
        let all = own.map(|(_, queues)| queues).or(scenario.device().channels)?;
        Some((stream, (scenario.streams()[stream.index()].process, own.map(|(green, _)| green)), all))
    });
    needed.collect()
}

/// The streams that need channels by the channel that they were dealt to; none if they take any that is free.
pub(super) fn sharing_channels(scenario: &Scenario) -> Vec<Vec<StreamId>> {
    let dealt = dealt_channels(scenario.streams(), scenario.catalogue.green_contexts(), scenario.device());
    let mut of_channel: BTreeMap<ChannelId, Vec<StreamId>> = BTreeMap::new();
    for (stream, ..) in need_channels(scenario) {
        if let Some(channel) = dealt[stream.index()] {
            of_channel.entry(channel).or_default().push(stream);
        }
    }
    of_channel.into_values().filter(|streams| streams.len() > 1).collect()
}

/// Whose channels hold streams up: of which more streams than there are channels launch kernels or wait for events, or
/// two of these were dealt to one.
pub(super) fn crowded_channels(scenario: &Scenario) -> BTreeSet<ChannelPool> {
    let sharing: BTreeSet<StreamId> = sharing_channels(scenario).into_iter().flatten().collect();
    let mut counts: BTreeMap<ChannelPool, u32> = BTreeMap::new();
    let mut crowded = BTreeSet::new();
    for (stream, pool, all) in need_channels(scenario) {
        let count = counts.entry(pool).or_default();
        *count += 1;
        if *count > all || sharing.contains(&stream) {
            crowded.insert(pool);
        }
    }
    crowded
}

/// What verdicts depend on where streams share channels; or take for granted of a device whose number of channels
/// nobody published, if it matters: no board is known to have fewer than two.
pub(crate) fn note_on_channels(scenario: &Scenario) -> Option<String> {
    let device = scenario.device();
    let (channels, states) = (device.channels?, option("connections"));
    let sharing = sharing_channels(scenario);
    if let Some(streams) = sharing.first() {
        let labels: Vec<String> =
            streams.iter().map(|stream| format!("{:?}", scenario.streams()[stream.index()].name)).collect();
        let more = if sharing.len() > 1 { " (and others another one)" } else { "" };
        return Some(format!(
            "verdicts take it that streams are dealt to the {channels} hardware channels of a process as they are \
             created, so that {} share one{more}: which stream gets which is not published; with a single channel, as \
             {states} may state, all share it, and bounds hold whichever each gets",
            labels.join(" and ")
        ));
    }
    if !crowded_channels(scenario).is_empty() {
        return Some(format!(
            "streams share the {channels} hardware channels of a process, where each may wait for all that was launched \
             before it ({states} states how many there are)"
        ));
    }
    if !device.assumptions.contains_key("channels") {
        return None;
    }
    let fewest = device.with(|spec| spec.channels = Some(FEWEST_CHANNELS.min(channels))).ok()?;
    let with_fewest = Scenario { catalogue: scenario.catalogue.on(fewest).ok()?, ..scenario.clone() };
    (!crowded_channels(&with_fewest).is_empty()).then(|| {
        format!(
            "verdicts take the {channels} hardware channels of a process that are assumed for {}: how many it has is not \
             published; with fewer, streams may wait for one another ({states} states the number)",
            device.name
        )
    })
}

/// The fewest channels of a process that were seen on any board: on a Xavier (Bakita and Anderson, RTAS 2024).
const FEWEST_CHANNELS: u32 = 2;

/// Whether copies may be on the link of an engine at once: unless all of an engine are in one stream of one thread.
pub(super) fn links_are_shared(scenario: &Scenario) -> bool {
    let mut of_engine: BTreeMap<usize, (usize, StreamId)> = BTreeMap::new();
    let steps =
        scenario.threads.iter().enumerate().flat_map(|(number, thread)| {
            thread.steps.iter().filter_map(move |step| Some((number, step.submission()?)))
        });
    let mut is_alone = |(number, (kind, stream)): (usize, (OperationKind, StreamId))| match kind {
        OperationKind::Copy(copy) => {
            let engine = scenario.copies().get(copy.index()).map_or(0, CheckedCopy::engine);
            *of_engine.entry(engine).or_insert((number, stream)) == (number, stream)
        }
        _ => true,
    };
    scenario.device().copy.sharing == CopySharing::SharedLink && !steps.into_iter().all(&mut is_alone)
}

/// Some of the streams of a scenario, by their numbers.
#[derive(Default)]
struct Streams(Vec<bool>);

impl Streams {
    /// Adds one; says whether it was not there.
    fn insert(&mut self, stream: StreamId) -> bool {
        let number = stream.index();
        if number >= self.0.len() {
            self.0.resize(number + 1, false);
        }
        !std::mem::replace(&mut self.0[number], true)
    }
}

/// What the operations of a walk have before them in their streams.
pub(super) struct Order {
    /// A kernel has a kernel before it.
    pub(super) chained: bool,
    /// A kernel has any operation before it.
    preceded: bool,
    /// Several threads launch something at one instant.
    pub(super) simultaneous: bool,
}

impl Order {
    pub(super) fn of(operations: &[Analysed]) -> Self {
        let mut order = Self { chained: false, preceded: false, simultaneous: false };
        let (mut used, mut with_kernel) = (Streams::default(), Streams::default());
        for record in operations {
            let is_kernel = matches!(record.kind, OperationKind::Kernel(_));
            let is_first = used.insert(record.stream);
            order.preceded |= is_kernel && !is_first;
            order.chained |= is_kernel && !with_kernel.insert(record.stream);
        }
        order.simultaneous = operations
            .windows(2)
            .any(|pair| pair[0].launched == pair[1].launched && pair[0].origin.thread != pair[1].origin.thread);
        order
    }
    /// Whether the analysed finish of every kernel is one that shorter blocks cannot exceed, if launch times do not
    /// depend on completions: equal blocks, nothing before any kernel in its stream (`docs/analysis.md`, section 4).
    pub(super) fn analysed_finish_is_safe(&self, departures: &BTreeSet<Departure>) -> bool {
        let harmless = [Departure::Copies, Departure::Variation];
        !self.preceded && departures.iter().all(|departure| harmless.contains(departure))
    }
}

/// Whether some thread works, or submits anything, or lets others through a barrier, after it waited for an operation.
/// When it ends, it lets those through that come to one of its barriers more often than it does.
pub(super) fn launch_dependence(scenario: &Scenario) -> Option<LaunchDependence> {
    let opens_at_its_end = |thread: &HostThread| {
        let others = || scenario.threads.iter().filter(|other| !std::ptr::eq(*other, thread));
        let is_left = |barrier: BarrierId| others().any(|other| passes(other, barrier).1 > passes(thread, barrier).0);
        thread.steps.iter().any(|step| step.waits_for_operations()) && thread.barriers().any(is_left)
    };
    let waits = |thread: &&HostThread| acts_after_waiting(thread) || opens_at_its_end(thread);
    let waits = || scenario.threads.iter().find(waits).map(|thread| (thread, DependentLaunch::Waits));
    let works = || scenario.threads.iter().find(|thread| thread.works()).map(|thread| (thread, DependentLaunch::Works));
    let held = scenario.held_by_frees().map(|(thread, _)| (thread, DependentLaunch::Held));
    let until = || scenario.threads.iter().find(|one| one.until.is_some()).map(|one| (one, DependentLaunch::Until));
    let triggered = || scenario.threads.iter().find(|one| one.triggered_by.is_some());
    let triggered = || triggered().map(|thread| (thread, DependentLaunch::Triggered));
    let (thread, why) = held.or_else(triggered).or_else(waits).or_else(works).or_else(until)?;
    Some(LaunchDependence { thread: thread.label.to_string(), why })
}

/// What an iteration launches at its release, if all it does after that is to wait for what it has launched itself: as
/// long as every iteration ends before the next release, the waits change nothing.
pub(super) fn launches_at_release(thread: &HostThread) -> Option<&[Step]> {
    let is_launch = |step: &Step| step.submission().is_some();
    let count = thread.steps.iter().take_while(|step| is_launch(step)).count();
    let (launches, waits) = thread.steps.split_at_checked(count)?;
    let is_own = |stream: StreamId| launches.iter().any(|step| step.submission().is_some_and(|(_, own)| own == stream));
    let is_own_wait = |step: &Step| match *step {
        Step::AwaitLast => !launches.is_empty(),
        Step::SynchronizeStream(stream) => is_own(stream),
        _ => false,
    };
    (thread.barrier.is_none() && waits.iter().all(is_own_wait)).then_some(launches)
}

/// Whether a thread that launches all it has at its release waits for nothing that others submit: to a stream that it
/// waits for by name nobody else does, or, in the declared order, nobody between the launches and the first of its
/// waits. A later wait begins later, and by then others may have submitted more.
pub(super) fn waits_for_own(thread: &HostThread, is_shared: impl Fn(StreamId) -> bool, order: ReleaseOrder) -> bool {
    let waits = thread.steps.iter().filter(|step| step.waits_for_operations());
    waits.enumerate().all(|(number, step)| match *step {
        Step::SynchronizeStream(stream) => number == 0 && order == ReleaseOrder::Declared || !is_shared(stream),
        _ => true,
    })
}

/// How often a thread comes to a barrier, at least and at most.
fn passes(thread: &HostThread, barrier: BarrierId) -> (u64, u64) {
    let of_steps = thread.barriers().filter(|own| *own == barrier).count() as u64;
    let once = of_steps.saturating_mul(thread.iterations.unwrap_or(u64::MAX));
    let repeats = thread.steps.iter().any(|step| matches!(step, Step::Repeat { .. }));
    let most = if repeats && once > 0 { u64::MAX } else { once };
    (if thread.may_end_early() { 0 } else { once }, most)
}

pub(super) fn acts_after_waiting(thread: &HostThread) -> bool {
    let acts = |step: &Step| step.submission().is_some() || matches!(step, Step::Barrier(_));
    let mut waited = false;
    // What holds from one iteration to the next holds for all.
    let rounds = thread.iterations.map_or(2, |iterations| iterations.min(2));
    for _ in 0..rounds {
        if waited && thread.barrier.is_some() {
            return true;
        }
        for (index, step) in thread.steps.iter().enumerate() {
            match *step {
                step if step.waits_for_operations() => waited = true,
                step if waited && acts(&step) => return true,
                Step::Repeat { from, times } if times > 1 && waited => {
                    let body = thread.steps.get(from as usize..index).unwrap_or_default();
                    if body.iter().any(acts) {
                        return true;
                    }
                }
                _ => {}
            }
        }
    }
    false
}
