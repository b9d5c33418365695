//! By when every operation of a scenario has finished, in every run: which bounds are taken of it, and that on
//! **equal, independent kernels**.
//!
//! Claim of the latter: a kernel ends by the finish on the merged SM, also if blocks run shorter (Kiefer and Wolfowitz;
//! Coq: `equal_independent_kernels_are_sustainable`); under any order of what is launched at one instant, by s + `C_k`,
//! with s the start of the last block of that instant where all of it runs for its longest time C*. Assumptions: all
//! blocks take the same, no kernel has anything before it in its stream, there is one priority, no SM mask, no NULL
//! stream, no copy and no wait for a channel, and launch times do not depend on completions. `docs/analysis.md`,
//! "Equal, independent kernels: yes" and "Releases at one instant".

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;
use thiserror::Error;

use super::assumptions::{Departure, acts_after_waiting, launches_at_release, queues_by_client, waits_for_own};
use super::job_bounds::{Releases, SporadicRefusal};
use super::merged_resources::{Analysed, Costs, Merged, PooledKernel};
use super::partitions::{Partition, job_bounds_of, partitions, shared};
use super::prepared::Prepared;
use super::safe_bound::{BoundOptions, MOST_OPERATIONS, SafeBounds};
use crate::effort;
use crate::hosts::ProgramError;
use crate::limits::end_if_stopped;
use crate::scenario::{HostThread, ReleaseOrder, Scenario};
use crate::spelling::option;
use crate::time::{Duration, Instant, is_in_time};
use crate::workload::{OperationKind, Origin, StreamId};

/// Why no bounds are given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BoundRefusal {
    /// Threads that wait at the end of an iteration are in time for the next one in the declared order only.
    #[error(
        "no bound is given: it is not certain under any order of simultaneous releases that {thread:?} has done waiting \
         when its next job is released; it is under the declared order, which \"release_order\": \"declared\" in the scenario judges"
    )]
    OnTimeAsDeclared {
        /// The label of the first such thread.
        thread: String,
    },
    /// Too much that threads launch at one instant may wait for one another.
    #[error(
        "no bound is given: several threads launch {operations} operations at the same instants, and too many of these may \
         wait for one another (a stream of several threads, the NULL stream, events); \"release_order\": \"declared\" in the \
         scenario judges the declared order alone"
    )]
    TooManyWaits {
        /// So many.
        operations: usize,
    },
    /// No job of some thread is bounded, or none at all.
    #[error("no bound is given{}: {reason}", if *.is_partial { " for some threads" } else { "" })]
    Jobs {
        /// Why.
        reason: SporadicRefusal,
        /// Whether others are.
        is_partial: bool,
    },
    /// Too many operations.
    #[error(
        "no bound is given: {operations} operations are more than {MOST_OPERATIONS}; a shorter {} has fewer",
        option("horizon")
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
    /// Kernels, copies and memsets in launch order; none of them if there are no bounds, or only on jobs.
    pub operations: Vec<BoundedOperation>,
    /// By host thread: no job, from its release to its end on the GPU and on its host, takes longer, whenever jobs are
    /// released a period or more apart; of jobs that others release, from the release of the one from which on one
    /// releases the other up to it. Empty where operations have bounds of their own.
    pub responses: Vec<Option<Duration>>,
    /// What the bounds on jobs assume and leave out.
    pub notes: Vec<String>,
    /// Why there are none.
    pub refusal: Option<BoundRefusal>,
    /// What they hold for.
    pub options: BoundOptions,
    /// Whether the work was stopped before all were computed: some are missing, others larger than they need be.
    pub stopped: bool,
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
///
/// Another thread may submit to the stream between a launch and the wait for it. So nothing is bounded where another
/// thread uses a stream that is waited for, but for a thread's first wait in the declared order of simultaneous
/// releases.
fn bounds_on_time(scenario: &Scenario, options: BoundOptions) -> Option<FinishBounds> {
    if waits_for_shared_stream(&scenario.threads, options.order) {
        return None;
    }
    if scenario.threads.iter().any(HostThread::works) {
        return None;
    }
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

/// Whether a thread waits for a stream that another one may have submitted to by then, and then goes on.
fn waits_for_shared_stream(threads: &[HostThread], order: ReleaseOrder) -> bool {
    let submits = |thread: &HostThread, stream: StreamId| {
        thread.steps.iter().any(|step| step.submission().is_some_and(|(_, own)| own == stream))
    };
    threads.iter().enumerate().any(|(number, thread)| {
        let is_shared = |stream: StreamId| {
            threads.iter().enumerate().any(|(other, thread)| other != number && submits(thread, stream))
        };
        acts_after_waiting(thread) && !waits_for_own(thread, is_shared, order)
    })
}

/// The bounds of a scenario made ready.
pub(super) fn bounds_of(scenario: &Scenario, prepared: &Prepared, options: BoundOptions) -> FinishBounds {
    effort::in_part(|| known_bounds_of(scenario, prepared, options))
}

/// As far as there is time for them.
fn known_bounds_of(scenario: &Scenario, prepared: &Prepared, options: BoundOptions) -> FinishBounds {
    let Prepared { demands, costs, walked, departures, dependence, .. } = prepared;
    if let Some(partitions) = partitions(scenario) {
        return of_partitions(scenario, prepared, &partitions, options);
    }
    let on_time = |options| dependence.as_ref().and_then(|_| bounds_on_time(scenario, options));
    if let Some(bounds) = on_time(options) {
        return bounds;
    }
    let count = walked.operations.len();
    // Of green contexts what several run that share copy engines.
    let needs_jobs = [
        Departure::GreenContexts,
        Departure::Channels,
        Departure::Latencies,
        Departure::Turns,
        Departure::MaskedClient,
        Departure::SharedLink,
    ];
    let is_held = queues_by_client(scenario) || needs_jobs.iter().any(|departure| departures.contains(departure));
    if dependence.is_some() || is_held {
        let declared = BoundOptions { order: ReleaseOrder::Declared, ..options };
        let as_declared = || {
            let late =
                dependence.as_ref().filter(|_| options.order == ReleaseOrder::Any && on_time(declared).is_some());
            late.map(|dependence| BoundRefusal::OnTimeAsDeclared { thread: dependence.thread.clone() })
        };
        return of_jobs(scenario, departures, options, as_declared);
    }
    // Equal, independent kernels finish as analysed at the latest (Kiefer and Wolfowitz), however many there are. That
    // is not said of copies, whose order may change.
    let is_equal = prepared.finish_is_safe() && !departures.contains(&Departure::Copies);
    let order = if prepared.order.simultaneous { options.order } else { ReleaseOrder::Declared };
    let analysed = match order {
        _ if !is_equal => None,
        ReleaseOrder::Declared => {
            let finish = walked.operations.iter().map(|record| record.finish).collect();
            Some(EqualBlocks { finish, is_exact: true })
        }
        ReleaseOrder::Any => Some(EqualBlocks::new(&walked.operations, costs, prepared.merged.clone())),
    };
    let too_many = (count > MOST_OPERATIONS && analysed.is_none())
        .then_some(BoundRefusal::TooManyOperations { operations: count });
    if too_many.is_some() {
        return FinishBounds::none(too_many, options);
    }
    let is_exact = analysed.as_ref().is_some_and(|analysed| analysed.is_exact);
    let safe = (!is_exact).then(|| {
        let options = BoundOptions { order, ..options };
        SafeBounds::new(scenario, demands, costs, &walked.operations, options)
    });
    if safe.as_ref().is_some_and(|safe| safe.waits_are_too_many) {
        return FinishBounds::none(Some(BoundRefusal::TooManyWaits { operations: count }), options);
    }
    let bound = |number: u32| {
        let analysed = analysed.as_ref().and_then(|analysed| analysed.finish.get(number as usize).copied().flatten());
        analysed.into_iter().chain(safe.as_ref().and_then(|safe| safe.finish(number))).min()
    };
    let operations = (0..).zip(&walked.operations);
    let mut operations: Vec<BoundedOperation> =
        operations.map(|(number, record)| BoundedOperation::of(record, bound(number))).collect();
    if safe.is_some() {
        bound_by_jobs(scenario, &mut operations);
    }
    let stopped = safe.is_some() && effort::check().is_err();
    FinishBounds { operations, stopped, ..FinishBounds::none(None, options) }
}

/// The bounds of each partition by itself: on operations where all have those, or else on jobs.
fn of_partitions(
    scenario: &Scenario,
    prepared: &Prepared,
    partitions: &[Partition],
    options: BoundOptions,
) -> FinishBounds {
    // By thread and iteration, in the order of launches.
    let mut known: FxHashMap<(usize, u32), VecDeque<Option<Instant>>> = FxHashMap::default();
    let mut stopped = false;
    for Partition { threads, alone, .. } in partitions {
        let Some(alone) = alone else { continue };
        let bounds = finish_bounds(alone, options).ok();
        let on_operations = bounds.filter(|bounds| bounds.refusal.is_none() && bounds.responses.is_empty());
        let Some(bounds) = on_operations.filter(|_| prepared.dependence.is_none()) else {
            return of_jobs(scenario, &prepared.departures, options, || None);
        };
        stopped |= bounds.stopped;
        for BoundedOperation { origin, finish, .. } in bounds.operations {
            let Some(&thread) = threads.get(origin.thread as usize) else { continue };
            known.entry((thread, origin.iteration)).or_default().push_back(finish);
        }
    }
    let operations = prepared.walked.operations.iter().map(|record| {
        let own = known.get_mut(&(record.origin.thread as usize, record.origin.iteration));
        BoundedOperation::of(record, own.and_then(|operations| operations.pop_front().flatten()))
    });
    let unbounded = partitions.iter().find(|partition| partition.alone.is_none());
    let refusal = unbounded.map(|Partition { threads, .. }| BoundRefusal::Jobs {
        reason: shared(scenario, threads),
        is_partial: partitions.len() > 1,
    });
    FinishBounds { operations: operations.collect(), stopped, ..FinishBounds::none(refusal, options) }
}

/// Where some deadline is beyond its bound: what holds of jobs whenever they come holds of the releases that are given.
fn bound_by_jobs(scenario: &Scenario, operations: &mut [BoundedOperation]) {
    let thread = |origin: Origin| scenario.threads.get(origin.thread as usize);
    let is_late = |operation: &BoundedOperation| {
        let deadline = thread(operation.origin).and_then(HostThread::deadline);
        let due = deadline.map(|deadline| operation.launched.saturating_add(deadline));
        due.is_some_and(|due| operation.finish.is_none_or(|finish| !is_in_time(finish, due)))
    };
    if !operations.iter().any(is_late) {
        return;
    }
    let Ok(Ok(bounds)) = job_bounds_of(scenario, Releases::Given) else { return };
    for BoundedOperation { origin, finish, .. } in operations {
        let response = bounds.responses.get(origin.thread as usize).copied().flatten();
        // Of a host without a period that meets others before an iteration, they count from when these are there.
        let counted = thread(*origin).filter(|thread| thread.period.is_some() || thread.barrier.is_none());
        let release = counted.map(|thread| thread.release_of(u64::from(origin.iteration)));
        let by_job = release.zip(response).map(|(release, response)| release.saturating_add(response));
        *finish = (*finish).into_iter().chain(by_job).min();
    }
}

impl BoundedOperation {
    fn of(record: &Analysed, finish: Option<Instant>) -> Self {
        let Analysed { kind, origin, stream, launched, .. } = *record;
        Self { kind, origin, stream, launched, finish }
    }
}

impl FinishBounds {
    fn none(refusal: Option<BoundRefusal>, options: BoundOptions) -> Self {
        Self { operations: Vec::new(), responses: Vec::new(), notes: Vec::new(), refusal, options, stopped: false }
    }
}

/// The bounds on jobs, whenever these come, of a scenario in which launches depend on completions, or something holds
/// operations of which the bounds on single operations know nothing. Where no thread has one, `otherwise` may know more
/// of the reason.
fn of_jobs(
    scenario: &Scenario,
    departures: &BTreeSet<Departure>,
    options: BoundOptions,
    otherwise: impl Fn() -> Option<BoundRefusal>,
) -> FinishBounds {
    let bounds = match job_bounds_of(scenario, Releases::Given) {
        Ok(Ok(bounds)) => bounds,
        Ok(Err(reason)) => {
            return FinishBounds::none(otherwise().or(Some(BoundRefusal::Jobs { reason, is_partial: false })), options);
        }
        // A scenario that was prepared has no such error.
        Err(_) => return FinishBounds::none(otherwise(), options),
    };
    let is_partial = bounds.responses.iter().any(Option::is_some);
    let refusal = bounds.refusal.map(|reason| BoundRefusal::Jobs { reason, is_partial });
    let responses = bounds.responses;
    if !is_partial {
        return FinishBounds::none(otherwise().or(refusal), options);
    }
    let is_beyond_period =
        |(thread, response): (&HostThread, &Option<Duration>)| *response > thread.period.or(*response);
    let is_any_beyond = scenario.threads.iter().zip(&responses).any(is_beyond_period);
    let refusal = refusal.or_else(|| if is_any_beyond { otherwise() } else { None });
    let mut notes = vec![
        "bounds of jobs hold for any releases at least as far apart as stated, any order and shorter blocks".to_owned(),
    ];
    let held = departures.iter().filter_map(|departure| match departure {
        Departure::Channels => {
            Some("streams wait for the hardware channels that they were dealt to, or for any one that is free")
        }
        Departure::Latencies => Some("every launch latency and kernel gap comes in full"),
        Departure::Turns => Some("each turn of another context lasts its whole slice, or as long as it has work"),
        Departure::SharedLink => Some("copies share their link with all copies that may be there"),
        _ => None,
    });
    notes.extend(held.map(|held| format!("bounds of jobs assume that {held}")));
    FinishBounds { responses, notes, stopped: effort::check().is_err(), ..FinishBounds::none(refusal, options) }
}

/// By when equal, independent kernels have finished, whatever the order of those that are launched at one instant.
///
/// By Kiefer and Wolfowitz no block starts earlier when others are put before it or run longer. So let all that several
/// threads launch at one instant run as long as the longest of it: then their order is no matter, and each starts its
/// last block by the time at which the last of all starts its own. `docs/analysis.md` has the proof.
#[derive(Debug)]
pub(super) struct EqualBlocks {
    /// By operation.
    pub(super) finish: Vec<Option<Instant>>,
    /// Whether some order leads to each of them, so that there are no smaller ones.
    pub(super) is_exact: bool,
}

impl EqualBlocks {
    /// Of operations in launch order, on an empty merged SM. There must be nothing among them that a kernel waits for.
    pub(super) fn new(operations: &[Analysed], costs: &Costs, mut merged: Merged) -> Self {
        let mut bounds = Self { finish: Vec::with_capacity(operations.len()), is_exact: true };
        let cost_of = |operation: &Analysed| match operation.kind {
            OperationKind::Kernel(kernel) => costs.kernels.get(kernel.index()).copied(),
            _ => None,
        };
        for together in operations.chunk_by(|one, other| one.launched == other.launched) {
            end_if_stopped();
            let several = together.iter().any(|other| other.origin.thread != together[0].origin.thread);
            let times = || together.iter().filter_map(cost_of).map(|cost| cost.block_time);
            let longest = times().max().unwrap_or(Duration::ZERO);
            bounds.is_exact &= !several || times().all(|time| time == longest);
            let first = bounds.finish.len();
            for operation in together {
                let Some(cost) = cost_of(operation) else {
                    bounds.finish.push(operation.finish);
                    continue;
                };
                let block_time = if several { longest } else { cost.block_time };
                let placed = merged.place(&PooledKernel { release: operation.launched, block_time, ..cost });
                if placed.is_none() {
                    // Nor is anything known of what comes after it.
                    bounds.finish.truncate(first);
                    bounds.finish.resize(operations.len(), None);
                    return bounds;
                }
                bounds.finish.push(placed);
            }
            if several {
                let last = bounds.finish[first..].iter().copied().max().flatten();
                for (operation, finish) in together.iter().zip(&mut bounds.finish[first..]) {
                    let Some(cost) = cost_of(operation) else { continue };
                    let earlier = longest.as_ns() - cost.block_time.as_ns();
                    *finish = last.map(|last| Instant::from_ns(last.as_ns().saturating_sub(earlier)));
                }
            }
        }
        bounds
    }
}
