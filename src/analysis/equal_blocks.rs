//! By when equal, independent kernels have finished, whatever the order of those that are launched at one instant.
//!
//! By Kiefer and Wolfowitz no block starts earlier when others are put before it or run longer. So let all that several
//! threads launch at one instant run as long as the longest of it: then their order is no matter, and each starts its
//! last block by the time at which the last of all starts its own. `docs/analysis.md` has the proof.

use super::merged_backend::{Analysed, Costs, Merged};
use super::merged_resources::PooledKernel;
use crate::limits::end_if_stopped;
use crate::time::{Duration, Instant};
use crate::workload::OperationKind;

/// Bounds of all operations.
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
