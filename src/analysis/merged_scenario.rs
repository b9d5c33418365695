//! The scenario that the analysis is about: the same work on one merged SM.

use super::analyse::Analysis;
use crate::scenario::Scenario;
use crate::workload::{BlockTime, KernelId};

/// The same host threads, streams and kernels on a GPU whose one SM has what all SMs of the device have together, and
/// no more blocks at once than the analysis allows (`g_max`), with one priority and no SM masks: what the analysis
/// assumes, in a form that can be simulated and drawn.
#[must_use]
pub fn merged_scenario(scenario: &Scenario, analysis: &Analysis<'_>) -> Scenario {
    let mut merged = scenario.clone();
    merged.device = scenario.device.merged(analysis.g_max);
    "analysed: one merged SM".clone_into(&mut merged.name);
    for stream in &mut merged.streams {
        stream.priority = 0;
        stream.sm_mask = None;
    }
    for (id, kernel) in (0..).map(KernelId).zip(&mut merged.kernels) {
        kernel.sm_mask = None;
        kernel.duration = BlockTime::fixed(scenario.longest_block_time(id).unwrap_or(kernel.duration.worst));
    }
    merged.block_times.clear();
    merged
}
