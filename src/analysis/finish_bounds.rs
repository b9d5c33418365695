//! By when every operation of a scenario has finished, in every run.

use thiserror::Error;

use super::assumptions::{Departure, LaunchDependence, acts_after_waiting, launches_at_release};
use super::bound_options::{BoundOptions, SimultaneousLaunches};
use super::merged_back::Analysed;
use super::prepared::Prepared;
use super::safe_bound::{MOST_OPERATIONS, SafeBounds};
use crate::hosts::ProgramError;
use crate::scenario::Scenario;
use crate::time::Instant;
use crate::workload::{OperationKind, Origin, StreamId};

/// Why no bounds are given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BoundRefusal {
    /// A thread launches after it has waited, and is not known to do so at a release.
    #[error("no bound is given: {:?} waits for operations and then goes on, so what it does later depends on the run", .0.thread)]
    LaunchDependence(LaunchDependence),
    /// More streams than channels.
    #[error("no bound is given: streams may have to wait for a hardware channel")]
    Channels,
    /// Launch latencies or kernel gaps.
    #[error("no bound is given: the device states a launch latency or a kernel gap, which the bound does not know")]
    Latencies,
    /// An SM mask and an MPS percentage.
    #[error("no bound is given: {}", Departure::MaskedClient)]
    MaskedClient,
    /// Copies that share a link.
    #[error(
        "no bound is given: copies of several streams share a link (copies: shared-link), and the bound knows copies one \
         at a time"
    )]
    SharedLink,
    /// Too many operations.
    #[error(
        "no bound is given: {operations} operations are more than {MOST_OPERATIONS}; a shorter --horizon has fewer"
    )]
    TooManyOperations {
        /// So many.
        operations: usize,
    },
}

/// One operation and its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundedOperation {
    /// What it is.
    pub kind: OperationKind,
    /// Who launches it.
    pub origin: Origin,
    /// Its stream.
    pub stream: StreamId,
    /// When (G1).
    pub launched: Instant,
    /// By when it has finished; `None`: past the end of time, or too much work to tell.
    pub finish: Option<Instant>,
}

/// The bounds of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishBounds {
    /// Kernels, copies and memsets in launch order; none of them if there are no bounds.
    pub operations: Vec<BoundedOperation>,
    /// Why there are none.
    pub refusal: Option<BoundRefusal>,
    /// What they hold for, which is less than asked for where [`SimultaneousLaunches::AnyOrder`] is not supported.
    pub options: BoundOptions,
}

/// What is asked for, as far as it is supported for this scenario.
#[must_use]
pub(super) fn supported(scenario: &Scenario, options: BoundOptions) -> BoundOptions {
    let launches = match options.launches {
        SimultaneousLaunches::AnyOrder if order_decides_more(scenario) => SimultaneousLaunches::AsDeclared,
        launches => launches,
    };
    BoundOptions { launches, ..options }
}

/// Whether the order of threads decides more than who is first in an EE or CE queue.
fn order_decides_more(scenario: &Scenario) -> bool {
    let mut users = vec![None; scenario.streams().len()];
    let mut event_users = vec![None; scenario.events().len()];
    // What no catalogue has is no matter of the order: no run gets there.
    let is_of_another = |users: &mut [Option<usize>], number: u32, thread: usize| {
        users.get_mut(number as usize).is_some_and(|user| *user.get_or_insert(thread) != thread)
    };
    for (thread, program) in scenario.threads.iter().enumerate() {
        for step in &program.steps {
            if let Some((kind, stream)) = step.submission() {
                let shared = is_of_another(&mut users, stream.0, thread);
                // The order of records and waits says which record a wait is for.
                let shares_event = match kind {
                    OperationKind::Record(event) | OperationKind::Wait(event) => {
                        is_of_another(&mut event_users, event.0, thread)
                    }
                    _ => false,
                };
                if shared || shares_event || stream == StreamId::NULL {
                    return true;
                }
            }
        }
    }
    false
}

/// Bounds the finish of every operation, for every work-conserving placement and all that `options` names.
///
/// # Errors
/// [`ProgramError`], as the simulation of the same scenario has it.
pub fn finish_bounds(scenario: &Scenario, options: BoundOptions) -> Result<FinishBounds, ProgramError> {
    Ok(bounds_of(scenario, &Prepared::new(scenario)?, options))
}

/// The bounds of a scenario whose threads wait for what they have launched at the end of each iteration only, if these
/// bounds say that no wait outlasts the time to the next release: then all launches are at releases, as without waits.
/// (Up to the first release that a wait delays, the run is one without waits, so the bounds hold until then.)
fn bounds_on_time(scenario: &Scenario, options: BoundOptions) -> Option<FinishBounds> {
    let mut plain = scenario.clone();
    let mut waiting = vec![false; plain.threads.len()];
    for (thread, waits) in plain.threads.iter_mut().zip(&mut waiting) {
        if acts_after_waiting(thread) {
            thread.period?;
            thread.steps = launches_at_release(thread)?.to_vec();
            *waits = true;
        }
    }
    let prepared = Prepared::new(&plain).ok()?;
    if prepared.dependence.is_some() {
        return None;
    }
    let bounds = bounds_of(&plain, &prepared, options);
    let horizon = scenario.horizon.map_or(Instant::MAX, |horizon| Instant::ZERO + horizon);
    let in_time = |operation: &BoundedOperation| {
        let thread = operation.origin.thread as usize;
        let next = u64::from(operation.origin.iteration) + 1;
        let Some(program) = plain.threads.get(thread).filter(|_| waiting[thread]) else { return true };
        let release = program.release_of(next);
        let is_last = program.iterations.is_some_and(|iterations| next >= iterations) || release > horizon;
        is_last || operation.finish.is_some_and(|finish| finish < release)
    };
    (bounds.refusal.is_none() && bounds.operations.iter().all(in_time)).then_some(bounds)
}

/// The bounds of a scenario made ready.
pub(super) fn bounds_of(scenario: &Scenario, prepared: &Prepared, options: BoundOptions) -> FinishBounds {
    let options = supported(scenario, options);
    let Prepared { demands, costs, walked, departures, dependence, .. } = prepared;
    if let Some(bounds) = dependence.as_ref().and_then(|_| bounds_on_time(scenario, options)) {
        return bounds;
    }
    let count = walked.operations.len();
    let refusal = dependence
        .clone()
        .map(BoundRefusal::LaunchDependence)
        .or_else(|| departures.contains(&Departure::Channels).then_some(BoundRefusal::Channels))
        .or_else(|| departures.contains(&Departure::Latencies).then_some(BoundRefusal::Latencies))
        .or_else(|| departures.contains(&Departure::MaskedClient).then_some(BoundRefusal::MaskedClient))
        .or_else(|| departures.contains(&Departure::SharedLink).then_some(BoundRefusal::SharedLink));
    // Equal, independent kernels finish as analysed at the latest (Kiefer and Wolfowitz), however many there are. That
    // is not said of copies, whose order may change.
    let analysed = prepared.finish_is_safe()
        && !departures.contains(&Departure::Copies)
        && options.launches == SimultaneousLaunches::AsDeclared;
    let too_many =
        (count > MOST_OPERATIONS && !analysed).then_some(BoundRefusal::TooManyOperations { operations: count });
    let refusal = refusal.or(too_many);
    if refusal.is_some() {
        return FinishBounds { operations: Vec::new(), refusal, options };
    }
    let safe = (!analysed).then(|| SafeBounds::new(scenario, demands, costs, &walked.operations, options));
    let bound = |number: u32, record: &Analysed| match &safe {
        Some(safe) => safe.finish(number),
        None => record.finish,
    };
    let operations = (0..).zip(&walked.operations).map(|(number, record)| BoundedOperation {
        kind: record.kind,
        origin: record.origin,
        stream: record.stream,
        launched: record.launched,
        finish: bound(number, record),
    });
    FinishBounds { operations: operations.collect(), refusal, options }
}
