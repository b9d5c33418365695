//! The scenario that the analysis is about: the same work on one merged SM.

use std::collections::BTreeMap;

use super::analyse::Analysis;
use crate::scenario::Scenario;
use crate::workload::{BlockTime, Catalogue, Kernel, KernelId, StreamSpec, WorkloadError};

/// The same host threads, streams and kernels on a GPU whose one SM has what all SMs of the device have together, and
/// no more blocks at once than the analysis allows (`g_max`), with one priority and no SM masks: what the analysis
/// assumes, in a form that can be simulated and drawn.
///
/// # Errors
/// [`WorkloadError`], never for kernels that the device itself takes.
pub fn merged_scenario(scenario: &Scenario, analysis: &Analysis<'_>) -> Result<Scenario, WorkloadError> {
    let mut catalogue = Catalogue::new(scenario.device().merged(analysis.g_max));
    for stream in &scenario.streams()[1..] {
        catalogue.add_stream(StreamSpec { priority: 0, sm_mask: None, ..StreamSpec::clone(stream) })?;
    }
    for (id, kernel) in (0..).map(KernelId).zip(scenario.kernels()) {
        let duration = BlockTime::fixed(scenario.longest_block_time(id).unwrap_or(kernel.duration.worst));
        catalogue.add_kernel(Kernel { sm_mask: None, duration, ..Kernel::clone(kernel) })?;
    }
    for copy in scenario.copies() {
        catalogue.add_copy(**copy)?;
    }
    Ok(Scenario {
        name: "analysed: one merged SM".to_owned(),
        catalogue,
        block_times: BTreeMap::new(),
        ..scenario.clone()
    })
}
