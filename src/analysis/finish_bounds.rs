//! By when every operation of a scenario has finished, in every run.

use thiserror::Error;

use super::analyse::{demands, merge, walk};
use super::assumptions::{self, Departure, LaunchDependence, Order};
use super::bound_options::{BoundOptions, SimultaneousLaunches};
use super::merged_back::Analysed;
use super::safe_bound::{MOST_OPERATIONS, SafeBounds};
use crate::hosts::ProgramError;
use crate::scenario::Scenario;
use crate::time::Instant;
use crate::workload::{OperationKind, Origin, StreamId};

/// Why no bounds are given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BoundRefusal {
    /// A thread launches after it has waited.
    #[error("no bound is given: {:?} waits for operations and then goes on, so what it does later depends on the run", .0.thread)]
    LaunchDependence(LaunchDependence),
    /// More streams than channels.
    #[error("no bound is given: streams may have to wait for a hardware channel")]
    Channels,
    /// Launch latencies or kernel gaps.
    #[error("no bound is given: the device states a launch latency or a kernel gap, which the bound does not know")]
    Latencies,
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
    /// Kernels, copies and memsets in launch order.
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
    let mut users = std::collections::BTreeMap::new();
    let mut event_users = std::collections::BTreeMap::new();
    for (thread, program) in scenario.threads.iter().enumerate() {
        for step in &program.steps {
            if let Some((kind, stream)) = step.submission() {
                let shared = *users.entry(stream).or_insert(thread) != thread;
                // The order of records and waits says which record a wait is for.
                let shares_event = match kind {
                    OperationKind::Record(event) | OperationKind::Wait(event) => {
                        *event_users.entry(event).or_insert(thread) != thread
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
    let options = supported(scenario, options);
    let demands = demands(scenario);
    let (costs, merged) = merge(scenario, &demands)?;
    let walked = walk(scenario, &costs, merged)?;
    let order = Order::of(&walked.operations);
    let departures = assumptions::departures(scenario, &demands, order.chained);
    let count = walked.operations.len();
    let refusal = assumptions::launch_dependence(scenario)
        .map(BoundRefusal::LaunchDependence)
        .or_else(|| departures.contains(&Departure::Channels).then_some(BoundRefusal::Channels))
        .or_else(|| departures.contains(&Departure::Latencies).then_some(BoundRefusal::Latencies));
    // Equal, independent kernels finish as analysed at the latest (Kiefer and Wolfowitz), however many there are. That
    // is not said of copies, whose order may change.
    let analysed = order.analysed_finish_is_safe(&departures)
        && !departures.contains(&Departure::Copies)
        && options.launches == SimultaneousLaunches::AsDeclared;
    let too_many =
        (count > MOST_OPERATIONS && !analysed).then_some(BoundRefusal::TooManyOperations { operations: count });
    let refusal = refusal.or(too_many);
    let safe = (refusal.is_none() && !analysed)
        .then(|| SafeBounds::new(scenario, &demands, &costs, &walked.operations, options));
    let bound = |number: u32, record: &Analysed| match &safe {
        Some(safe) => safe.finish(number),
        None => record.finish.filter(|_| refusal.is_none()),
    };
    let operations = (0..).zip(&walked.operations).map(|(number, record)| BoundedOperation {
        kind: record.kind,
        origin: record.origin,
        stream: record.stream,
        launched: record.launched,
        finish: bound(number, record),
    });
    Ok(FinishBounds { operations: operations.collect(), refusal, options })
}
