//! Which processes a scenario has, and how their contexts share the GPU.

use gpusched::device::{Preemption, Runlists};
use gpusched::scenario::Scenario;
use gpusched::workload::{InterleaveLevel, StreamId};

/// What the rules about contexts need to know of a scenario. Under MPS all processes are clients of one context.
#[derive(Debug, Clone)]
pub(super) struct Contexts {
    /// The context of each stream.
    pub(super) of_stream: Vec<usize>,
    pub(super) process_of_stream: Vec<usize>,
    /// The stream number of each process' NULL stream.
    pub(super) null_of_process: Vec<usize>,
    /// On how many SMs at once each process may have blocks.
    pub(super) sms_of_process: Vec<usize>,
    /// T6: the contexts in the order of their turns.
    pub(super) round: Vec<usize>,
    /// T2: of each context \[ns\].
    pub(super) slices: Vec<u64>,
    /// T3 \[ns\].
    pub(super) switch_cost: u64,
    /// T4: blocks do not stop in their midst.
    pub(super) blocks_run_to_their_end: bool,
    /// T5 \[ns\].
    pub(super) copy_slice: u64,
    /// T5: copy engines have no runlists of their own.
    pub(super) share_a_runlist: bool,
}

impl Contexts {
    pub(super) fn of(scenario: &Scenario) -> Self {
        let (catalogue, device) = (&scenario.catalogue, scenario.device());
        let (processes, sharing, slicing) = (catalogue.processes(), catalogue.sharing(), &device.time_slicing);
        let process_of_stream: Vec<usize> = scenario.streams().iter().map(|stream| stream.process.index()).collect();
        let slices = processes.iter().map(|process| process.time_slice.unwrap_or(slicing.time_slice).as_ns());
        let levels: Vec<u32> = processes
            .iter()
            .map(|process| match process.level {
                InterleaveLevel::Low => 0,
                InterleaveLevel::Medium => 1,
                InterleaveLevel::High => 2,
            })
            .collect();
        let limits = processes.iter().map(|process| {
            let parts = process.mps_percentage.percent() * 10_000.0;
            if device.gpus() > 1 {
                return (device.sms / device.gpus()) as usize;
            }
            let of_share = || limit_of_client(device.sms, device.sms_per_tpc, parts);
            if sharing.mps { process.sms.map_or_else(of_share, |sms| sms as usize) } else { device.sms as usize }
        });
        Self {
            of_stream: process_of_stream.iter().map(|&process| if sharing.mps { 0 } else { process }).collect(),
            process_of_stream,
            null_of_process: processes.iter().map(|process| process.null_stream().index()).collect(),
            sms_of_process: limits.collect(),
            round: if sharing.mps { vec![0] } else { round(&levels) },
            slices: slices.collect(),
            switch_cost: sharing.switch_cost.unwrap_or(slicing.switch_cost).as_ns(),
            blocks_run_to_their_end: slicing.preemption == Preemption::BlockEnd,
            copy_slice: slicing.copy_time_slice.as_ns(),
            share_a_runlist: slicing.runlists == Runlists::Shared,
        }
    }

    pub(super) fn number(&self) -> usize {
        self.slices.len()
    }

    pub(super) fn is_null(&self, stream: StreamId) -> bool {
        let stream = stream.index();
        self.null_of_process[self.process_of_stream[stream]] == stream
    }
}

/// MPS: whole TPCs, and at least one, of a share of the SMs in ten-thousandths of a percent.
fn limit_of_client(sms: u32, sms_per_tpc: u32, parts: f64) -> usize {
    let mut limit = 0;
    for tpcs in 1..=sms {
        let up_to = (tpcs * sms_per_tpc).min(sms);
        if f64::from(up_to) * 1_000_000.0 <= f64::from(sms) * parts || tpcs == 1 {
            limit = up_to;
        }
    }
    limit as usize
}

/// T6: the order of a round, as nvgpu's driver makes it: before each context, all of those above it, each of them in
/// turn with all of those above itself before it.
fn round(levels: &[u32]) -> Vec<usize> {
    let at = |level: u32| (0..levels.len()).filter(move |&context| levels[context] == level);
    let highs: Vec<usize> = at(2).collect();
    let mut mediums = Vec::new();
    for medium in at(1) {
        mediums.extend(&highs);
        mediums.push(medium);
    }
    let mut all = Vec::new();
    for low in at(0) {
        all.extend(&mediums);
        all.extend(&highs);
        all.push(low);
    }
    match (all.is_empty(), mediums.is_empty()) {
        (false, _) => all,
        (true, false) => mediums,
        (true, true) => highs,
    }
}
