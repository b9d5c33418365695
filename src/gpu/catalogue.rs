//! What was made known to the GPU: streams, kernels and copies, checked against the device.

use std::sync::Arc;

use super::error::SubmitError;
use crate::device::{BlockDemand, Device, SmMask};
use crate::time::Duration;
use crate::workload::{BlockTime, Copy, CopyId, Kernel, KernelId, Placement, StreamId, StreamSpec};

/// Streams, kernels and copies, with what the device makes of each.
#[derive(Debug, Clone)]
pub struct Catalogue {
    device: Device,
    streams: Vec<StreamSpec>,
    pub(super) stream_facts: Vec<StreamFacts>,
    kernels: Vec<Kernel>,
    pub(super) kernel_facts: Vec<KernelFacts>,
    copies: Vec<Copy>,
    pub(super) copy_facts: Vec<CopyFacts>,
    /// All SMs in the order of preference: the device's for most-room, by number for the other policies.
    sms: Vec<u16>,
}

/// What the device makes of a stream.
#[derive(Debug, Clone)]
pub(super) struct StreamFacts {
    /// Index of the EE queue of its priority, 0 is the highest (A1).
    pub(super) level: usize,
    /// SMs that its mask leaves; `None`: all.
    sms: Option<Box<[u16]>>,
}

/// What the device makes of a kernel.
#[derive(Debug, Clone)]
pub(super) struct KernelFacts {
    pub(super) demand: BlockDemand,
    /// SMs that its own mask leaves.
    sms: Option<Box<[u16]>>,
    /// Block times, where blocks have one each.
    pub(super) block_times: Option<Arc<[Duration]>>,
}

/// What the device makes of a copy.
#[derive(Debug, Clone, Copy)]
pub(super) struct CopyFacts {
    pub(super) duration: Duration,
    pub(super) engine: usize,
}

impl Catalogue {
    /// Only the NULL stream is known.
    pub(super) fn new(device: &Device, placement: Placement) -> Self {
        let ids = match placement {
            Placement::MostRoom => device.sm_order.ids(device.sms),
            _ => (0..device.sms).collect(),
        };
        // A device has at most 4,096 SMs, which its reader checks.
        let sms = ids.into_iter().filter_map(|sm| u16::try_from(sm).ok()).collect();
        let lowest = device.priorities().count() - 1;
        Self {
            device: device.clone(),
            streams: vec![StreamSpec::new("NULL")],
            stream_facts: vec![StreamFacts { level: lowest, sms: None }],
            kernels: Vec::new(),
            kernel_facts: Vec::new(),
            copies: Vec::new(),
            copy_facts: Vec::new(),
            sms,
        }
    }

    /// Forgets kernels and copies.
    pub(super) fn forget_work(&mut self) {
        self.kernels.clear();
        self.kernel_facts.clear();
        self.copies.clear();
        self.copy_facts.clear();
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// All kernels that were made known.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// All copies that were made known.
    #[must_use]
    pub fn copies(&self) -> &[Copy] {
        &self.copies
    }

    /// Streams, kernels and copies.
    pub(super) fn into_parts(self) -> (Vec<StreamSpec>, Vec<Kernel>, Vec<Copy>) {
        (self.streams, self.kernels, self.copies)
    }

    pub(super) fn add_stream(&mut self, spec: StreamSpec) -> Result<StreamId, SubmitError> {
        let mut priorities = self.device.priorities();
        let level = priorities.position(|priority| priority == spec.priority).ok_or(SubmitError::Priority {
            priority: spec.priority,
            highest: self.device.priorities().next().unwrap_or(0),
        })?;
        self.check_mask(spec.sm_mask)?;
        let id = StreamId(u32::try_from(self.streams.len()).map_err(|_| SubmitError::TooMany)?);
        let sms = spec.sm_mask.map(|mask| self.sms_left_by(mask));
        self.stream_facts.push(StreamFacts { level, sms });
        self.streams.push(spec);
        Ok(id)
    }

    pub(super) fn add_kernel(&mut self, kernel: Kernel) -> Result<KernelId, SubmitError> {
        let demand = BlockDemand::new(&kernel.shape, &self.device)?;
        if kernel.blocks == 0 {
            return Err(SubmitError::EmptyGrid);
        }
        if kernel.duration.best > kernel.duration.worst {
            return Err(SubmitError::BlockTime);
        }
        self.check_mask(kernel.sm_mask)?;
        let id = KernelId(u32::try_from(self.kernels.len()).map_err(|_| SubmitError::TooMany)?);
        let sms = kernel.sm_mask.map(|mask| self.sms_left_by(mask));
        self.kernel_facts.push(KernelFacts { demand, sms, block_times: None });
        self.kernels.push(kernel);
        Ok(id)
    }

    pub(super) fn add_copy(&mut self, copy: Copy) -> Result<CopyId, SubmitError> {
        let by_bandwidth = || self.device.copy.duration(copy.direction, copy.bytes);
        let duration = copy.duration.or_else(by_bandwidth).ok_or(SubmitError::CopyTooLong)?;
        let id = CopyId(u32::try_from(self.copies.len()).map_err(|_| SubmitError::TooMany)?);
        let engine = self.device.copy.engine_for(copy.direction) as usize;
        self.copy_facts.push(CopyFacts { duration, engine });
        self.copies.push(copy);
        Ok(id)
    }

    pub(super) fn set_block_time(&mut self, kernel: KernelId, time: BlockTime) {
        if let Some(known) = self.kernels.get_mut(kernel.0 as usize).filter(|_| time.best <= time.worst) {
            known.duration = time;
        }
    }

    pub(super) fn set_block_times(&mut self, kernel: KernelId, times: Arc<[Duration]>) {
        if let Some(known) = self.kernel_facts.get_mut(kernel.0 as usize) {
            known.block_times = Some(times);
        }
    }

    /// SMs that a kernel may use in a stream, in the order of preference: its own mask replaces the stream's.
    pub(super) fn sms_of(&self, kernel: KernelId, stream: StreamId) -> &[u16] {
        let own = self.kernel_facts[kernel.0 as usize].sms.as_deref();
        own.or(self.stream_facts[stream.0 as usize].sms.as_deref()).unwrap_or(&self.sms)
    }

    fn check_mask(&self, mask: Option<SmMask>) -> Result<(), SubmitError> {
        match mask.filter(|mask| mask.leaves_none(&self.device)) {
            Some(mask) => Err(SubmitError::MaskLeavesNoSm { mask, sms: self.device.sms }),
            None => Ok(()),
        }
    }

    fn sms_left_by(&self, mask: SmMask) -> Box<[u16]> {
        let enabled = |sm: &u16| mask.enables_sm(u32::from(*sm), &self.device);
        self.sms.iter().copied().filter(enabled).collect()
    }
}
