//! When merging the SMs is exact, and why not when it is not.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use thiserror::Error;

use super::merged_back::Analysed;
use crate::device::{BlockDemand, CopySharing};
use crate::scenario::{HostThread, Scenario, Step};
use crate::time::Duration;
use crate::workload::{KernelId, OperationKind, StreamId};

/// An assumption of the exactness theorem (`docs/analysis.md`, "When merging is exact") that an input does not keep.
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
    /// Fewer channels than streams.
    #[error("there are fewer hardware channels than streams: the analysis lets every stream have one")]
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

/// Why launch times depend on when operations complete.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "safe_finish_ns is not given: {thread:?} waits for operations and then goes on, so what it does later comes \
     earlier or later when blocks run shorter"
)]
pub struct LaunchDependence {
    /// The label of the first such thread.
    pub thread: String,
}

/// What each launch of a scenario refers to, in the order of the threads and their steps.
pub(super) fn launches(scenario: &Scenario) -> impl Iterator<Item = (KernelId, StreamId)> + '_ {
    scenario.threads.iter().filter(|thread| thread.iterations != Some(0)).flat_map(|thread| {
        thread.steps.iter().filter_map(|step| match step {
            Step::Launch(kernel, stream) => Some((*kernel, *stream)),
            _ => None,
        })
    })
}

/// SMs that a launch may use: a kernel's own mask replaces its stream's.
pub(super) fn allowed_sms(scenario: &Scenario, kernel: KernelId, stream: StreamId) -> u32 {
    scenario.catalogue.sms(kernel, stream).map(|_| 1).sum()
}

/// Which assumptions a scenario does not keep. `demands` are those of all its kernels; `chained` says whether a kernel
/// launch had another before it in its stream.
pub(super) fn departures(scenario: &Scenario, demands: &[BlockDemand], chained: bool) -> BTreeSet<Departure> {
    let mut found = BTreeSet::new();
    let mut note = |departure, holds: bool| {
        if holds {
            found.insert(departure);
        }
    };
    let used: Vec<(KernelId, StreamId)> = launches(scenario).collect();
    let demand = |launch: &(KernelId, StreamId)| demands.get(launch.0.0 as usize).copied();
    let first = used.first().and_then(demand);
    for other in used.iter().filter_map(demand) {
        let Some(first) = first else { break };
        note(Departure::UnequalThreads, other.warps != first.warps);
        let same = other.registers == first.registers && other.shared_memory_bytes == first.shared_memory_bytes;
        note(Departure::UnequalResources, !same);
    }
    let priority = |stream: StreamId| scenario.streams().get(stream.0 as usize).map_or(0, |stream| stream.priority);
    let priorities: BTreeSet<i32> = used.iter().map(|(_, stream)| priority(*stream)).collect();
    note(Departure::Priorities, priorities.len() > 1);
    note(
        Departure::SmMask,
        used.iter().any(|&(kernel, stream)| allowed_sms(scenario, kernel, stream) < scenario.device().sms),
    );
    note(Departure::Variation, used.iter().any(|(kernel, _)| scenario.block_times_vary(*kernel)));
    let mut streams = FxHashSet::default();
    for step in scenario.threads.iter().flat_map(|thread| &thread.steps) {
        let Some((kind, stream)) = step.submission() else { continue };
        streams.insert(stream);
        note(Departure::Copies, matches!(kind, OperationKind::Copy(_) | OperationKind::Memset));
        let shares = scenario.device().copy.sharing == CopySharing::SharedLink;
        note(Departure::SharedLink, shares && matches!(kind, OperationKind::Copy(_)));
        note(Departure::Events, matches!(kind, OperationKind::Wait(_)));
    }
    note(Departure::NullStream, streams.contains(&StreamId::NULL));
    let channels = scenario.device().channels.map_or(usize::MAX, |channels| channels as usize);
    note(Departure::Channels, streams.len() > channels);
    note(Departure::Chains, chained);
    let device = scenario.device();
    note(Departure::Latencies, device.launch_latency > Duration::ZERO || device.kernel_gap > Duration::ZERO);
    found
}

/// What the operations of a walk have before them in their streams.
pub(super) struct Order {
    /// A kernel has a kernel before it.
    pub(super) chained: bool,
    /// A kernel has any operation before it.
    preceded: bool,
}

impl Order {
    pub(super) fn of(operations: &[Analysed]) -> Self {
        let mut order = Self { chained: false, preceded: false };
        let (mut used, mut with_kernel) = (FxHashSet::default(), FxHashSet::default());
        for record in operations {
            let is_kernel = matches!(record.kind, OperationKind::Kernel(_));
            let is_first = used.insert(record.stream);
            order.preceded |= is_kernel && !is_first;
            order.chained |= is_kernel && !with_kernel.insert(record.stream);
        }
        order
    }
    /// Whether the analysed finish of every kernel is one that shorter blocks cannot exceed, if launch times do not
    /// depend on completions: equal blocks, nothing before any kernel in its stream (`docs/analysis.md`, section 4).
    pub(super) fn analysed_finish_is_safe(&self, departures: &BTreeSet<Departure>) -> bool {
        let harmless = [Departure::Copies, Departure::Variation];
        !self.preceded && departures.iter().all(|departure| harmless.contains(departure))
    }
}

/// Whether some thread submits anything, or lets others through a barrier, after it waited for an operation.
pub(super) fn launch_dependence(scenario: &Scenario) -> Option<LaunchDependence> {
    let dependent = scenario.threads.iter().find(|thread| acts_after_waiting(thread))?;
    Some(LaunchDependence { thread: dependent.label.to_string() })
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

pub(super) fn acts_after_waiting(thread: &HostThread) -> bool {
    let acts = |step: &Step| step.submission().is_some() || matches!(step, Step::Barrier(_));
    let mut waited = false;
    // What holds from one iteration to the next holds for all.
    let rounds = thread.iterations.unwrap_or(u64::MAX).min(2);
    for _ in 0..rounds {
        if waited && thread.barrier.is_some() {
            return true;
        }
        for (index, step) in thread.steps.iter().enumerate() {
            match *step {
                step if step.waits_for_operations() => waited = true,
                step if waited && acts(&step) => return true,
                Step::Repeat { from, times } if times > 1 && waited => {
                    let body = thread.steps.get(from..index).unwrap_or_default();
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
