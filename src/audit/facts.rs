//! What all checks need to know of an operation.

use super::demand::{self, Amounts};
use super::observation::{Observation, ObservedOperation, ObservedWork, TimeSource};

/// What all checks need to know of an operation.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// When its first block, or the copy, started \[ns\].
    pub(super) first_start: Option<i64>,
    /// When its last block started \[ns\]; `i64::MAX` while some have not.
    pub(super) last_start: i64,
    /// When all of it had completed \[ns\].
    pub(super) finish: Option<i64>,
    /// Priority of its stream; 0 where nobody says.
    pub(super) priority: i32,
    /// What one block takes.
    pub(super) taken: Amounts,
}

/// Of all operations, in their order.
pub(super) fn facts(observation: &Observation) -> Vec<Facts> {
    let simulated = matches!(observation.source, TimeSource::Simulated { .. });
    let of = |operation: &ObservedOperation| {
        let stream = observation.streams.get(operation.stream);
        let priority = stream.and_then(|stream| stream.priority).unwrap_or(0);
        let mut facts = Facts { first_start: None, last_start: i64::MAX, finish: None, priority, taken: [0; 4] };
        match &operation.work {
            ObservedWork::Kernel(kernel) => {
                facts.taken = demand::taken(&kernel.shape, &observation.device);
                facts.first_start = kernel.blocks.first_start_ns();
                // Where blocks are missing from a log, those that are there must do.
                if kernel.is_whole() || !simulated {
                    facts.last_start = kernel.blocks.last_start_ns().unwrap_or(i64::MAX);
                    facts.finish = kernel.blocks.finish_ns();
                }
            }
            ObservedWork::Copy(copy) => {
                facts.first_start = copy.times_ns.map(|[start, _]| start);
                facts.last_start = facts.first_start.unwrap_or(i64::MAX);
                facts.finish = copy.times_ns.map(|[_, end]| end);
            }
            ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_) => {}
        }
        facts
    };
    observation.operations.iter().map(of).collect()
}
