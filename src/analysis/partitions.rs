//! Green contexts as GPUs of their own: which threads share nothing with those of other green contexts.
//!
//! A green context has its own EE queues and SMs. Where threads that use one share no SM, stream, event, barrier, core,
//! copy engine or hardware channel with others, what they submit runs as if they alone were there, on a GPU of these
//! SMs (`docs/analysis.md`, "Green contexts").

use std::collections::BTreeSet;

use super::assumptions::crowded_channels;
use super::job_bounds::{JobBounds, Releases, SporadicRefusal, job_bounds, reached};
use crate::device::{ChannelOrder, Device, SmOrder};
use crate::gpu::SubmitError;
use crate::scenario::{BarrierId, HostThread, Scenario};
use crate::workload::{Catalogue, GreenContext, GreenContextId, OperationKind, ProcessId, StreamId, StreamSpec};

/// Threads that share something.
pub(super) struct Partition {
    /// Their numbers, ascending.
    pub(super) threads: Vec<usize>,
    /// They on a GPU of the SMs of their green context; `None`: they use those of several, or of what is in none beside
    /// one.
    pub(super) alone: Option<Scenario>,
}

/// Whose SMs: those of a green context, or all.
type Owner = Option<GreenContextId>;

/// All threads of a scenario that uses green contexts; `None`: it uses none.
pub(super) fn partitions(scenario: &Scenario) -> Option<Vec<Partition>> {
    if scenario.catalogue.green_contexts().is_empty() {
        return None;
    }
    let owners: Vec<BTreeSet<Owner>> = (0..scenario.threads.len()).map(|thread| owners(scenario, thread)).collect();
    if owners.iter().flatten().all(Option::is_none) {
        return None;
    }
    let mut groups = Groups((0..scenario.threads.len()).collect());
    let each: Vec<Vec<usize>> = (0..scenario.threads.len()).map(|thread| vec![thread]).collect();
    for (thread, others) in reached(scenario, &each).into_iter().enumerate() {
        others.into_iter().flatten().for_each(|other| groups.unite(thread, other));
    }
    let mut unite_all = |is_one: &dyn Fn(usize) -> bool| {
        let mut all = (0..scenario.threads.len()).filter(|thread| is_one(*thread));
        if let Some(first) = all.next() {
            all.for_each(|other| groups.unite(first, other));
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
    unite_all(&|thread| submits(thread, |kind| matches!(kind, OperationKind::Copy(_))));
    let streams: BTreeSet<StreamId> = scenario.threads.iter().flat_map(HostThread::launched_to).collect();
    let crowded = crowded_channels(scenario);
    let are_few = scenario.device().channels.is_some_and(|channels| (channels as usize) < streams.len());
    if are_few || crowded.iter().any(|(_, green)| green.is_none()) {
        unite_all(&|thread| !owners[thread].is_empty());
    }
    for one in 0..owners.len() {
        for other in 0..one {
            if owners[one].iter().any(|own| owners[other].iter().any(|its| share_sms(scenario, *own, *its))) {
                groups.unite(one, other);
            }
        }
    }
    Some(groups.into_partitions(scenario, &owners))
}

/// The core that a thread shares.
fn core_of(thread: &HostThread) -> Option<u32> {
    thread.core.map(|share| share.core)
}

/// On whose SMs the kernels of a thread run.
fn owners(scenario: &Scenario, thread: usize) -> BTreeSet<Owner> {
    scenario.threads[thread]
        .launched_to()
        .map(|stream| scenario.streams().get(stream.index()).and_then(|stream| stream.green_context))
        .collect()
}

/// Whether two have an SM in common.
fn share_sms(scenario: &Scenario, one: Owner, other: Owner) -> bool {
    let context = |owner: GreenContextId| scenario.catalogue.green_contexts().get(owner.index());
    match (one.and_then(context), other.and_then(context)) {
        (Some(one), Some(other)) => one.common_sms(other, scenario.device()) > 0,
        _ => true,
    }
}

/// Each with another of its group, or itself.
struct Groups(Vec<usize>);

impl Groups {
    fn first_of(&self, mut thread: usize) -> usize {
        while self.0[thread] != thread {
            thread = self.0[thread];
        }
        thread
    }

    fn unite(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first_of(one), self.first_of(other));
        self.0[one.max(other)] = one.min(other);
    }

    fn into_partitions(self, scenario: &Scenario, owners: &[BTreeSet<Owner>]) -> Vec<Partition> {
        let firsts: BTreeSet<usize> = (0..self.0.len()).map(|thread| self.first_of(thread)).collect();
        let partition = |first: usize| {
            let threads: Vec<usize> = (0..self.0.len()).filter(|&thread| self.first_of(thread) == first).collect();
            let used: BTreeSet<Owner> = threads.iter().flat_map(|&thread| &owners[thread]).copied().collect();
            let mut used = used.into_iter();
            let owner = used.next().unwrap_or(None);
            // What a percentage of MPS leaves, all green contexts have together.
            let is_limited = scenario.catalogue.sms_at_once(ProcessId::FIRST) < scenario.device().sms;
            let shares = is_limited || used.next().is_some();
            let alone = if shares { None } else { alone(scenario, owner, &threads) };
            Partition { threads, alone }
        };
        firsts.into_iter().map(partition).collect()
    }
}

/// The threads on a GPU of their SMs.
fn alone(scenario: &Scenario, owner: Owner, threads: &[usize]) -> Option<Scenario> {
    let threads = threads.iter().map(|&thread| scenario.threads[thread].clone()).collect();
    let device = |catalogue: &Catalogue| {
        // Where their streams were dealt to, the other streams have a part in.
        let own = owner.filter(|owner| catalogue.green_contexts()[owner.index()].work_queues.is_some());
        let is_crowded = crowded_channels(scenario).contains(&(ProcessId::FIRST, own));
        catalogue.device().with(|spec| {
            if spec.channel_order == ChannelOrder::Submission {
                spec.channels = is_crowded.then_some(1);
            }
        })
    };
    let catalogue = scenario.catalogue.on(device(&scenario.catalogue).ok()?).ok()?;
    let catalogue = match owner {
        Some(owner) => on_own_sms(&catalogue, catalogue.green_contexts().get(owner.index())?)?,
        None => catalogue.without_green_contexts(),
    };
    Some(Scenario { catalogue, threads, chains: Vec::new(), ..scenario.clone() })
}

/// A GPU of its SMs, with its work queues as channels. Bounds hold wherever blocks go.
fn on_own_sms(catalogue: &Catalogue, context: &GreenContext) -> Option<Catalogue> {
    let sms = context.sms;
    let device: Device = catalogue
        .device()
        .with(|spec| {
            spec.sms_per_tpc = spec.sms_per_tpc.min(sms);
            spec.sms = sms;
            if spec.channel_order != ChannelOrder::Submission {
                spec.channels = context.work_queues.or(spec.channels);
            }
            spec.sm_order = SmOrder::Ascending;
        })
        .ok()?;
    let mut plain = catalogue.without_green_contexts();
    for (number, stream) in (0..).map(StreamId).zip(catalogue.streams()) {
        if stream.green_context.is_some() {
            let spec = StreamSpec { green_context: None, sm_mask: None, ..StreamSpec::clone(stream) };
            plain.set_stream(number, spec).ok()?;
        }
    }
    plain.on(device).ok()
}

/// The bounds on jobs of a scenario, of each partition by itself where green contexts are used.
pub(super) fn job_bounds_of(
    scenario: &Scenario,
    releases: Releases<'_>,
) -> Result<Result<JobBounds, SporadicRefusal>, SubmitError> {
    let Some(partitions) = partitions(scenario) else { return job_bounds(scenario, releases) };
    let mut all = JobBounds { responses: vec![None; scenario.threads.len()], refusal: None };
    for Partition { threads, alone } in partitions {
        let jitter: Vec<_> = match releases {
            Releases::Sporadic(jitter) => {
                threads.iter().map(|&thread| jitter.get(thread).copied().unwrap_or_default()).collect()
            }
            Releases::Given => Vec::new(),
        };
        let releases = if matches!(releases, Releases::Given) { releases } else { Releases::Sporadic(&jitter) };
        let bounds = match &alone {
            Some(alone) => job_bounds(alone, releases)?,
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

/// Why threads that use the SMs of several have no bound.
pub(super) fn shared(scenario: &Scenario, threads: &[usize]) -> SporadicRefusal {
    let first = threads.first().and_then(|&thread| scenario.threads.get(thread));
    SporadicRefusal::SharedSms { thread: first.map_or_else(String::new, |thread| thread.label.to_string()) }
}
