//! The scenario that the analysis is about: the same work on one merged SM.

use super::analyse::Analysis;
use crate::device::{PerSmLimits, SmOrder};
use crate::scenario::Scenario;
use crate::workload::{BlockTime, KernelId};

/// The same host threads, streams and kernels on a GPU whose one SM has what all SMs of the device have together, and
/// no more blocks at once than the analysis allows (`g_max`), with one priority and no SM masks: what the analysis
/// assumes, in a form that can be simulated and drawn.
#[must_use]
pub fn merged_scenario(scenario: &Scenario, analysis: &Analysis<'_>) -> Scenario {
    let mut merged = scenario.clone();
    let device = &mut merged.device;
    let sms = device.sms;
    let per_sm = device.per_sm;
    device.per_sm = PerSmLimits {
        threads: per_sm.threads * sms,
        warps: per_sm.warps * sms,
        blocks: analysis.g_max.unwrap_or(per_sm.blocks * sms),
        registers: per_sm.registers.saturating_mul(sms),
        shared_memory_bytes: per_sm.shared_memory_bytes.saturating_mul(sms),
    };
    device.sms = 1;
    device.sms_per_tpc = 1;
    device.sm_order = SmOrder::Ascending;
    device.channels = None;
    device.name = format!("{sms} SMs merged");
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
