//! **SMs of its own**: green contexts, and clients of MPS, as GPUs of their own: which threads share nothing with those
//! of others.
//!
//! Claim: what such a group of threads submits begins and ends as if they alone were there, on a GPU of these SMs.
//! Assumptions: a green context, or a client of MPS where all together may use no more SMs than there are, so that it
//! has its own EE queues and SMs; and threads that use it share no SM, stream, event, barrier, core, copy engine or
//! hardware channel with others. Several that share some of these are bounded together. `docs/analysis.md`, "Green
//! contexts" and "Several clients of MPS", has the proofs.

use std::collections::{BTreeMap, BTreeSet};

use super::assumptions::{crowded_channels, has_masked_client, launches, queues_by_client};
use super::job_bounds::{JobBounds, Releases, SporadicRefusal, job_bounds_of_sides, reached};
use crate::device::{ChannelOrder, Device, DeviceSpec, SmOrder};
use crate::gpu::SubmitError;
use crate::joined::Joined;
use crate::scenario::{BarrierId, HostThread, Scenario};
use crate::workload::{Catalogue, GreenContext, GreenContextId, OperationKind, ProcessId, StreamId, StreamSpec};

/// Threads that share something.
pub(super) struct Partition {
    /// Their numbers, ascending.
    pub(super) threads: Vec<usize>,
    /// They on a GPU of the SMs of their green context or client of MPS, or of several of these; `None`: they use SMs
    /// that green contexts have in common, or of what is in none beside one.
    pub(super) alone: Option<Scenario>,
    /// Whether they are of several of these.
    is_shared: bool,
}

/// Whose SMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    /// All of the GPU.
    All,
    /// Those of a green context.
    Green(GreenContextId),
    /// Those of a client of MPS that may use a part of them.
    Client(ProcessId),
}

/// All threads of a scenario that uses green contexts, or has clients of MPS of which each has SMs of its own; `None`:
/// it does not, or what each of them runs cannot be told apart.
pub(super) fn partitions(scenario: &Scenario) -> Option<Vec<Partition>> {
    by_what_they_share(scenario, true)
}

/// The same, where sharing copy engines counts only if `with_copies`.
fn by_what_they_share(scenario: &Scenario, with_copies: bool) -> Option<Vec<Partition>> {
    // A call that frees memory holds threads whatever SMs they use: no bound knows it.
    if scenario.held_by_frees().is_some() {
        return None;
    }
    let of_clients = queues_by_client(scenario);
    if of_clients && (!scenario.catalogue.clients_are_disjoint() || has_masked_client(scenario, &launches(scenario))) {
        return None;
    }
    if !of_clients && scenario.catalogue.green_contexts().is_empty() {
        return None;
    }
    let owners: Vec<BTreeSet<Owner>> = (0..scenario.threads.len()).map(|thread| owners(scenario, thread)).collect();
    let is_green = |owner: &Owner| matches!(owner, Owner::Green(_));
    if !of_clients && !owners.iter().flatten().any(is_green) {
        return None;
    }
    let mut groups = Joined::new(scenario.threads.len());
    let each: Vec<Vec<usize>> = (0..scenario.threads.len()).map(|thread| vec![thread]).collect();
    for (thread, others) in reached(scenario, &each).into_iter().enumerate() {
        for other in others.into_iter().flatten() {
            groups.join(thread, other);
        }
    }
    for (number, thread) in scenario.threads.iter().enumerate() {
        for other in thread.until.into_iter().chain(thread.triggered_by) {
            groups.join(number, other as usize);
        }
    }
    let mut unite_all = |is_one: &dyn Fn(usize) -> bool| {
        let mut all = (0..scenario.threads.len()).filter(|thread| is_one(*thread));
        if let Some(first) = all.next() {
            for other in all {
                groups.join(first, other);
            }
        }
    };
    let barriers: BTreeSet<BarrierId> = scenario.threads.iter().flat_map(HostThread::barriers).collect();
    for barrier in barriers {
        unite_all(&|thread| scenario.threads[thread].barriers().any(|own| own == barrier));
    }
    let cores: BTreeSet<u32> = scenario.threads.iter().filter_map(core_of).collect();
    for core in cores {
        unite_all(&|thread| core_of(&scenario.threads[thread]) == Some(core));
    }
    let submits = |thread: usize, is_meant: fn(OperationKind) -> bool| {
        let mut steps = scenario.threads[thread].steps.iter().filter_map(|step| step.submission());
        steps.any(|(kind, _)| is_meant(kind))
    };
    if with_copies {
        unite_all(&|thread| submits(thread, |kind| matches!(kind, OperationKind::Copy(_))));
    }
    let streams: BTreeSet<StreamId> = scenario.threads.iter().flat_map(HostThread::launched_to).collect();
    // Who shares a channel that streams were dealt to waits for the others.
    let are_taken = scenario.device().channel_order != ChannelOrder::Submission;
    let are_few = scenario.device().channels.is_some_and(|channels| (channels as usize) < streams.len());
    if are_taken && (are_few || crowded_channels(scenario).iter().any(|(_, green)| green.is_none())) {
        unite_all(&|thread| !owners[thread].is_empty());
    }
    for one in 0..owners.len() {
        for other in 0..one {
            if owners[one].iter().any(|own| owners[other].iter().any(|its| share_sms(scenario, *own, *its))) {
                groups.join(one, other);
            }
        }
    }
    let partitions = into_partitions(&groups, scenario, &owners);
    // Several clients, or green contexts, that hang together, and nobody else, are known by what they run together.
    let is_together = |partition: &Partition| partition.is_shared && partition.alone.is_some();
    (partitions.len() > 1 || !of_clients && !partitions.iter().all(is_together)).then_some(partitions)
}

/// The core that a thread shares.
fn core_of(thread: &HostThread) -> Option<u32> {
    thread.core.map(|share| share.core)
}

/// On whose SMs the kernels of a thread run.
fn owners(scenario: &Scenario, thread: usize) -> BTreeSet<Owner> {
    scenario.threads[thread]
        .launched_to()
        .filter_map(|stream| scenario.streams().get(stream.index()))
        .map(|stream| match stream.green_context {
            Some(green) => Owner::Green(green),
            None if scenario.catalogue.is_limited_client(stream.process) => Owner::Client(stream.process),
            None => Owner::All,
        })
        .collect()
}

/// Whether two have an SM in common.
fn share_sms(scenario: &Scenario, one: Owner, other: Owner) -> bool {
    let context = |owner: GreenContextId| scenario.catalogue.green_contexts().get(owner.index());
    match (one, other) {
        (Owner::Green(one), Owner::Green(other)) => {
            let both = context(one).zip(context(other));
            both.is_none_or(|(one, other)| one.common_sms(other, scenario.device()) > 0)
        }
        // They are disjoint.
        (Owner::Client(one), Owner::Client(other)) => one == other,
        _ => true,
    }
}

/// Each set of threads that share something, which the first of them stands for.
fn into_partitions(groups: &Joined, scenario: &Scenario, owners: &[BTreeSet<Owner>]) -> Vec<Partition> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for thread in 0..owners.len() {
        members.entry(groups.of(thread)).or_default().push(thread);
    }
    let partition = |threads: Vec<usize>| {
        let used: BTreeSet<Owner> = threads.iter().flat_map(|&thread| &owners[thread]).copied().collect();
        let is_shared = used.len() > 1;
        let alone = if is_shared {
            of_several(scenario, &used, &threads)
        } else {
            alone(scenario, used.into_iter().next().unwrap_or(Owner::All), &threads)
        };
        Partition { threads, alone, is_shared }
    };
    members.into_values().map(partition).collect()
}

/// The threads on a GPU of their SMs.
fn alone(scenario: &Scenario, owner: Owner, threads: &[usize]) -> Option<Scenario> {
    let catalogue = on_own_channels(scenario, owner)?;
    let catalogue = match owner {
        Owner::Green(owner) => on_own_sms(&catalogue, catalogue.green_contexts().get(owner.index())?)?,
        Owner::Client(process) => of_client(&catalogue, process)?,
        Owner::All => catalogue.without_green_contexts(),
    };
    Some(with_threads(scenario, catalogue, threads))
}

/// The work on a GPU of which it is known whether the streams of `owner` share channels. Without work queues of their
/// own streams are dealt to channels as ever; else to one, as which channel each was dealt to depends on who has such.
fn on_own_channels(scenario: &Scenario, owner: Owner) -> Option<Catalogue> {
    let catalogue = &scenario.catalogue;
    if catalogue.green_contexts().iter().all(|context| context.work_queues.is_none()) {
        return Some(catalogue.clone());
    }
    let crowded = crowded_channels(scenario);
    let is_crowded = match owner {
        Owner::Green(green) => {
            let has_own = catalogue.green_contexts().get(green.index())?.work_queues.is_some();
            crowded.contains(&(ProcessId::FIRST, has_own.then_some(green)))
        }
        Owner::Client(process) => crowded.contains(&(process, None)),
        Owner::All => crowded.iter().any(|(_, green)| green.is_none()),
    };
    let device = catalogue.device().with(|spec| {
        if spec.channel_order == ChannelOrder::Submission {
            spec.channels = is_crowded.then_some(1);
        }
    });
    catalogue.on(device.ok()?).ok()
}

/// The threads of several clients of MPS, or of green contexts that have no SM in common: nobody else has blocks on
/// their SMs.
fn of_several(scenario: &Scenario, owners: &BTreeSet<Owner>, threads: &[usize]) -> Option<Scenario> {
    let are_clients = owners.iter().all(|owner| matches!(owner, Owner::Client(_)));
    let are_green = owners.iter().all(|owner| matches!(owner, Owner::Green(_))) && !scenario.has_processes();
    let are_apart =
        || owners.iter().all(|one| owners.iter().all(|other| one == other || !share_sms(scenario, *one, *other)));
    (are_clients || are_green && are_apart()).then(|| with_threads(scenario, scenario.catalogue.clone(), threads))
}

fn with_threads(scenario: &Scenario, catalogue: Catalogue, threads: &[usize]) -> Scenario {
    let threads = threads.iter().map(|&thread| scenario.threads[thread].placed(threads)).collect();
    Scenario { catalogue, threads, chains: Vec::new(), ..scenario.clone() }
}

/// A GPU of as many SMs as a client of MPS may use at once, on which no client is limited. Which ones they are changes,
/// and no bound asks (`docs/analysis.md`, "One client of MPS").
fn of_client(catalogue: &Catalogue, process: ProcessId) -> Option<Catalogue> {
    let device = part_of(catalogue.device(), catalogue.sms_at_once(process))?;
    catalogue.without_client_limits().on(device).ok()
}

/// A GPU of so many of its SMs. Bounds hold wherever blocks go.
fn part_of(device: &Device, sms: u32) -> Option<Device> {
    let part = |spec: &mut DeviceSpec| {
        spec.sms_per_tpc = spec.sms_per_tpc.min(sms);
        spec.sms = sms;
        spec.sm_order = SmOrder::Ascending;
    };
    device.with(part).ok()
}

/// A GPU of its SMs, with its work queues as channels.
fn on_own_sms(catalogue: &Catalogue, context: &GreenContext) -> Option<Catalogue> {
    let part = part_of(catalogue.device(), context.sms)?;
    let channels = |spec: &mut DeviceSpec| {
        if spec.channel_order != ChannelOrder::Submission {
            spec.channels = context.work_queues.or(spec.channels);
        }
    };
    let device = part.with(channels).ok()?;
    let mut plain = catalogue.without_green_contexts();
    for (number, stream) in (0..).map(StreamId).zip(catalogue.streams()) {
        if stream.green_context.is_some() {
            let spec = StreamSpec { green_context: None, sm_mask: None, ..StreamSpec::clone(stream) };
            plain.set_stream(number, spec).ok()?;
        }
    }
    plain.on(device).ok()
}

/// The bounds on jobs of a scenario, of each partition by itself where there are several.
pub(super) fn job_bounds_of(
    scenario: &Scenario,
    releases: Releases<'_>,
) -> Result<Result<JobBounds, SporadicRefusal>, SubmitError> {
    let Some(partitions) = partitions(scenario) else { return together(scenario, releases) };
    let mut all = JobBounds { responses: vec![None; scenario.threads.len()], refusal: None };
    for Partition { threads, alone, .. } in partitions {
        let jitter = releases.jitter_of(&threads);
        let releases = releases.with_jitter(&jitter);
        let bounds = match &alone {
            Some(alone) => together(alone, releases)?,
            None => Err(shared(scenario, &threads)),
        };
        let (own, refusal) = match bounds {
            Ok(JobBounds { responses, refusal }) => (responses, refusal),
            Err(refusal) => (Vec::new(), Some(refusal)),
        };
        for (&thread, response) in threads.iter().zip(own) {
            all.responses[thread] = response;
        }
        all.refusal = all.refusal.or(refusal);
    }
    Ok(Ok(all))
}

/// The bounds on jobs that hang together: of green contexts that share copy engines and nothing else, those of each
/// beside the copies of the others are among them.
fn together(scenario: &Scenario, releases: Releases<'_>) -> Result<Result<JobBounds, SporadicRefusal>, SubmitError> {
    let is_green = !scenario.catalogue.green_contexts().is_empty() && !queues_by_client(scenario);
    let are_dealt = scenario.device().channel_order == ChannelOrder::Submission;
    let has_channels = || are_dealt || crowded_channels(scenario).is_empty();
    let apart = by_what_they_share(scenario, false).filter(|_| is_green && has_channels());
    let sides = apart.into_iter().flatten().filter(|partition| !partition.is_shared);
    let sides: Vec<_> = sides.filter_map(|Partition { threads, alone, .. }| Some((alone?, threads))).collect();
    job_bounds_of_sides(scenario, releases, &sides)
}

/// Why threads that use the SMs of several have no bound.
pub(super) fn shared(scenario: &Scenario, threads: &[usize]) -> SporadicRefusal {
    let first = threads.first().and_then(|&thread| scenario.threads.get(thread));
    SporadicRefusal::SharedSms { thread: first.map_or_else(String::new, |thread| thread.label.to_string()) }
}
