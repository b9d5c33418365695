//! The scenario that the analysis is about: the same work on one merged SM.

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use super::analyse::Analysis;
use crate::device::DeviceError;
use crate::scenario::Scenario;
use crate::workload::{
    BlockTime, Catalogue, Kernel, KernelId, ProcessId, ProcessSharing, ProcessSpec, StreamId, StreamSpec, WorkloadError,
};

/// Why there is no merged scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MergedScenarioError {
    /// More blocks may be resident at once than one SM can have slots.
    #[error("all SMs merged into one: {0}")]
    Device(#[from] DeviceError),
    /// The merged SM does not take something; never so for what the device itself takes.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// The same host threads, streams and kernels on a GPU whose one SM has what all SMs of the device have together, and
/// no more blocks at once than the analysis allows (`g_max`), with one priority and no SM masks, and all processes as
/// clients of MPS that take no turns: what the analysis assumes, in a form that can be simulated and drawn.
///
/// # Errors
/// [`MergedScenarioError::Device`] if more blocks may be resident at once than one SM can have slots.
pub fn merged_scenario(scenario: &Scenario, analysis: &Analysis<'_>) -> Result<Scenario, MergedScenarioError> {
    let device = scenario.device();
    let sms = analysis.sms;
    let slots = analysis.g_max.unwrap_or(device.per_sm.blocks * sms);
    let merged = device.merged(sms, slots).or_else(|_| device.merged(sms, usable_slots(slots, analysis)))?;
    let mut catalogue = Catalogue::new(merged);
    catalogue.set_sharing(ProcessSharing { mps: scenario.has_processes(), ..ProcessSharing::default() })?;
    let alike = |process| ProcessSpec::new(scenario.catalogue.process_name(process));
    catalogue.set_process(ProcessId::FIRST, alike(ProcessId::FIRST))?;
    for (id, stream) in (0..).map(StreamId).zip(scenario.streams()).skip(1) {
        if scenario.catalogue.is_null_stream(id) {
            // It comes with its process, at the same place.
            catalogue.add_process(alike(stream.process))?;
            continue;
        }
        catalogue.add_stream(StreamSpec {
            priority: 0,
            sm_mask: None,
            green_context: None,
            ..StreamSpec::clone(stream)
        })?;
    }
    for event in scenario.events() {
        catalogue.add_event(Arc::clone(event))?;
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

/// Of `slots` block slots those that the launches can use: one for each of their blocks.
fn usable_slots(slots: u32, analysis: &Analysis<'_>) -> u32 {
    let blocks = analysis.kernels.iter().map(|kernel| u64::from(kernel.blocks)).sum::<u64>();
    u32::try_from(blocks).map_or(slots, |blocks| slots.min(blocks.max(1)))
}
