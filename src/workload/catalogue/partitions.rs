//! Static SM partitions of MPS: SMs that only one client has.

use std::sync::Arc;

use super::{Catalogue, WorkloadError};
use crate::device::SmMask;
use crate::workload::{GreenContext, MpsPercentage, ProcessId, StreamSpec};

impl Catalogue {
    /// Whether a process has SMs of its own as a client of MPS.
    pub(crate) fn has_partition(&self, process: ProcessId) -> bool {
        self.sharing.mps && self.processes.get(process.index()).is_some_and(|process| process.sms.is_some())
    }

    /// Gives the streams of each process with a partition its SMs as their mask, which without MPS is none.
    pub(super) fn place_partitions(&mut self) -> Result<(), WorkloadError> {
        if self.processes.iter().all(|process| process.sms.is_none()) {
            return Ok(());
        }
        let masks = self.partitions()?;
        for stream in Arc::make_mut(&mut self.streams) {
            let process = stream.process.index();
            if self.processes[process].sms.is_some() {
                stream.spec.sm_mask = masks[process];
            }
        }
        Ok(())
    }

    /// By process, the mask that leaves just the SMs of its partition: one after another in the order in which the GPU
    /// is split for green contexts, which nobody published.
    fn partitions(&self) -> Result<Vec<Option<SmMask>>, WorkloadError> {
        if !self.sharing.mps {
            return Ok(vec![None; self.processes.len()]);
        }
        let device = &self.device;
        let chunk = device.mps_chunk().ok_or(WorkloadError::NoSmPartitions)?;
        let mut order = device.split_units(|_| true).concat();
        let rest: Vec<u32> = (0..device.sms).filter(|sm| !order.contains(sm)).collect();
        order.extend(rest);
        let (mut left, mut is_remainder_left) = (&order[..], true);
        let mask = |process: &super::CheckedProcess| {
            let sms = process.sms.ok_or(WorkloadError::ClientWithoutPartition)?;
            let beside_chunks = sms % chunk;
            let is_remainder = beside_chunks > 0 && beside_chunks == device.sms % chunk;
            let takes_remainder = is_remainder && std::mem::take(&mut is_remainder_left);
            if sms == 0 || beside_chunks > 0 && !takes_remainder {
                return Err(WorkloadError::SmPartition { sms, chunk });
            }
            let split = left.split_at_checked(sms as usize);
            let (own, others) = split.ok_or(WorkloadError::PartitionsTooLarge { sms: device.sms })?;
            left = others;
            let is_own: Vec<bool> = (0..device.sms).map(|sm| own.contains(&sm)).collect();
            GreenContext::of(&process.name, &is_own, device).map(|context| Some(context.mask))
        };
        self.processes.iter().map(mask).collect()
    }

    /// A stream of a client with a partition has its SMs, and no others.
    pub(super) fn take_partition(&self, spec: &mut StreamSpec) -> Result<(), WorkloadError> {
        let process = self.processes.get(spec.process.index()).filter(|process| process.sms.is_some());
        let Some(process) = process else { return Ok(()) };
        let own = self.streams.get(process.null.index()).and_then(|null| null.sm_mask);
        if spec.sm_mask.is_some_and(|mask| Some(mask) != own) {
            return Err(WorkloadError::MaskInPartition);
        }
        spec.sm_mask = own;
        Ok(())
    }

    /// The same, with clients of MPS that may use all SMs.
    pub(crate) fn without_client_limits(&self) -> Self {
        let mut plain = self.clone();
        for stream in Arc::make_mut(&mut plain.streams) {
            if plain.processes[stream.process.index()].sms.is_some() {
                stream.spec.sm_mask = None;
            }
        }
        for process in &mut plain.processes {
            (process.spec.sms, process.spec.mps_percentage) = (None, MpsPercentage::ALL);
        }
        plain
    }
}
