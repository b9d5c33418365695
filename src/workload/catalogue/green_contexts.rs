//! The green contexts of a catalogue.

use std::sync::Arc;

use super::{Catalogue, WorkloadError};
use crate::workload::{GreenContext, GreenContextId, KernelId, ProcessId, SmSplit, StreamId, StreamSpec};

impl Catalogue {
    /// Splits, in the order in which they were made.
    pub fn splits(&self) -> &[SmSplit] {
        &self.splits
    }

    /// Green contexts, by [`GreenContextId`].
    pub fn green_contexts(&self) -> &[GreenContext] {
        &self.green_contexts
    }

    /// The next green context that a split makes; `None` if no more can be numbered.
    fn next_green_context(&self) -> Option<GreenContextId> {
        u16::try_from(self.green_contexts.len()).ok().map(GreenContextId)
    }

    /// Makes the green contexts of a split, of its groups in their order and then of what remains; gives the first of
    /// them.
    ///
    /// # Errors
    /// [`WorkloadError`] if there are not so many SMs, the device has no green contexts, or there are several
    /// processes.
    pub fn add_split(&mut self, split: SmSplit) -> Result<GreenContextId, WorkloadError> {
        if self.processes.len() > 1 || self.sms_at_once(ProcessId::FIRST) < self.device.sms {
            return Err(WorkloadError::GreenContextsOfProcesses);
        }
        let made = split.apply(&self.device, &self.green_contexts)?;
        let first = self.next_green_context().ok_or(WorkloadError::TooMany)?;
        if self.green_contexts.len() + made.len() > usize::from(u16::MAX) {
            return Err(WorkloadError::TooMany);
        }
        self.green_contexts.extend(made);
        self.splits.push(split);
        Ok(first)
    }

    /// A stream of a green context has the SMs of that.
    pub(super) fn take_green_context(&self, spec: &mut StreamSpec) -> Result<(), WorkloadError> {
        let Some(id) = spec.green_context else { return Ok(()) };
        let context = self.green_contexts.get(id.index()).ok_or(WorkloadError::NoGreenContext)?;
        if spec.sm_mask.is_some_and(|mask| mask != context.mask) {
            return Err(WorkloadError::MaskInGreenContext);
        }
        if spec.blocking {
            return Err(WorkloadError::BlockingInGreenContext);
        }
        spec.sm_mask = Some(context.mask);
        Ok(())
    }

    /// The green context whose work queues a stream shares, and how many there are; `None`: it takes those of all.
    pub(crate) fn work_queues_of(&self, stream: StreamId) -> Option<(GreenContextId, u32)> {
        let green = self.streams.get(stream.index())?.green_context?;
        let queues = self.green_contexts.get(green.index())?.work_queues?;
        Some((green, queues))
    }

    /// The same, with green contexts whose streams take channels as all others.
    pub(crate) fn without_work_queues(&self) -> Self {
        let mut other = self.clone();
        other.splits.iter_mut().for_each(|split| split.work_queues = None);
        other.green_contexts.iter_mut().for_each(|context| context.work_queues = None);
        other
    }

    /// Whether a kernel may be launched into a stream: one with a mask not into that of a green context or static
    /// partition, of which it is not known what holds then, and one of clusters only where one of them can run.
    ///
    /// # Errors
    /// [`WorkloadError::MaskInGreenContext`], [`WorkloadError::MaskInPartition`], [`WorkloadError::ClusterMasked`] and
    /// [`WorkloadError::ClustersOfClient`].
    pub fn check_launch(&self, kernel: KernelId, stream: StreamId) -> Result<(), WorkloadError> {
        self.check_clusters(kernel, stream)?;
        let is_masked =
            self.has_kernel_masks && self.kernels.get(kernel.index()).is_some_and(|kernel| kernel.sm_mask.is_some());
        if is_masked && self.process_of(stream).is_some_and(|process| self.has_partition(process)) {
            return Err(WorkloadError::MaskInPartition);
        }
        let is_green = self.streams.get(stream.index()).is_some_and(|stream| stream.green_context.is_some());
        if is_masked && is_green { Err(WorkloadError::MaskInGreenContext) } else { Ok(()) }
    }

    /// The same, with streams that have masks in place of their green contexts: what runs in one of them alone cannot
    /// tell the difference.
    pub(crate) fn without_green_contexts(&self) -> Self {
        let mut plain = self.clone();
        plain.splits.clear();
        plain.green_contexts.clear();
        for stream in Arc::make_mut(&mut plain.streams) {
            stream.spec.green_context = None;
        }
        plain
    }
}
