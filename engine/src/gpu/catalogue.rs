//! What was made known to the GPU, with what only a GPU that runs it wants to know: the SMs that each stream and kernel
//! may use, in the order of preference, and block times of single blocks.

use std::sync::Arc;

use super::host::SubmitError;
use crate::device::{Device, SmMask};
use crate::time::Duration;
use crate::workload::{
    BlockTime, Catalogue, CheckedCopy, CheckedStream, Clusters, Copy, CopyId, EventId, Items, Kernel, KernelId,
    Kernels, Placement, ProcessId, ProcessSharing, ProcessSpec, Programmatic, StreamId, StreamSpec, Synchronization,
};

/// Streams, kernels and copies that the device takes, and where and how long their blocks run.
#[derive(Debug, Clone)]
pub struct GpuCatalogue {
    catalogue: Catalogue,
    /// SMs that each stream's mask leaves, by stream; `None`, or past the end of the list: all SMs.
    stream_sms: Vec<Option<Box<[u16]>>>,
    /// SMs that each kernel's own mask leaves, by kernel; `None`, or past the end: it has no mask.
    kernel_sms: Vec<Option<Box<[u16]>>>,
    /// Block times by kernel, where each block has its own; past the end of the list no kernel has.
    block_times: Vec<Option<Arc<[Duration]>>>,
    /// All SMs in the policy's order of preference.
    sms: Vec<u16>,
}

impl GpuCatalogue {
    /// Only the NULL stream is known.
    pub(super) fn new(device: &Device, placement: Placement) -> Self {
        // A device has at most 4,096 SMs, which its constructor checks.
        let sms = device.sm_preference(placement).into_iter().filter_map(|sm| u16::try_from(sm).ok()).collect();
        Self {
            catalogue: Catalogue::new(device.clone()),
            stream_sms: Vec::new(),
            kernel_sms: Vec::new(),
            block_times: Vec::new(),
            sms,
        }
    }

    /// Forgets kernels and copies.
    pub(super) fn forget_work(&mut self) {
        self.catalogue.forget_work();
        self.kernel_sms.clear();
        self.block_times.clear();
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.catalogue.device()
    }

    /// All kernels that were made known.
    pub fn kernels(&self) -> &Kernels {
        self.catalogue.kernels()
    }

    /// All copies that were made known.
    pub fn copies(&self) -> &[CheckedCopy] {
        self.catalogue.copies()
    }

    pub(super) const fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    pub(super) fn set_sharing(&mut self, sharing: ProcessSharing) -> Result<(), SubmitError> {
        self.catalogue.set_sharing(sharing)?;
        self.refresh_stream_masks();
        Ok(())
    }

    /// Those of static partitions depend on all processes.
    fn refresh_stream_masks(&mut self) {
        self.stream_sms.clear();
        let masks: Vec<Option<SmMask>> = self.streams().iter().map(|stream| stream.sm_mask).collect();
        (0..).map(StreamId).zip(masks).for_each(|(id, mask)| self.set_stream_mask(id, mask));
    }

    pub(super) fn add_process(&mut self, spec: ProcessSpec) -> Result<ProcessId, SubmitError> {
        let id = self.catalogue.add_process(spec)?;
        self.refresh_stream_masks();
        Ok(id)
    }

    pub(super) fn null_stream(&self, process: ProcessId) -> Option<StreamId> {
        self.catalogue.null_stream(process)
    }

    /// All streams that were made known.
    pub fn streams(&self) -> &[CheckedStream] {
        self.catalogue.streams()
    }

    /// Streams, events, kernels and copies as plain data.
    pub(super) fn into_items(self) -> Items {
        self.catalogue.into_items()
    }

    /// Names of all events that were made known.
    pub(crate) fn events(&self) -> &[Arc<str>] {
        self.catalogue.events()
    }

    pub(super) fn add_event(&mut self, name: Arc<str>) -> Result<EventId, SubmitError> {
        Ok(self.catalogue.add_event(name)?)
    }

    pub(super) fn add_stream(&mut self, spec: StreamSpec) -> Result<StreamId, SubmitError> {
        let id = self.catalogue.add_stream(spec)?;
        // That of its green context, if it is of one.
        let mask = self.catalogue.streams()[id.index()].sm_mask;
        self.set_stream_mask(id, mask);
        Ok(id)
    }

    pub(super) fn add_kernel(&mut self, kernel: Kernel) -> Result<KernelId, SubmitError> {
        let mask = kernel.sm_mask;
        let id = self.catalogue.add_kernel(kernel)?;
        self.set_kernel_mask(id, mask);
        Ok(id)
    }

    /// Shares all streams, events, kernels and copies of `work`, checked against the same device, where nothing is
    /// known yet. Says no where something is, or the devices differ.
    pub(super) fn share(&mut self, work: &Catalogue) -> bool {
        let knows_nothing = self.catalogue.is_empty();
        if !knows_nothing || self.device() != work.device() {
            return false;
        }
        self.catalogue = work.clone();
        for (id, stream) in (0..).map(StreamId).zip(work.streams()) {
            self.set_stream_mask(id, stream.sm_mask);
        }
        if work.has_kernel_masks() {
            for (id, kernel) in (0..).map(KernelId).zip(work.kernels().iter()) {
                self.set_kernel_mask(id, kernel.sm_mask);
            }
        }
        true
    }

    fn set_stream_mask(&mut self, stream: StreamId, mask: Option<SmMask>) {
        let sms = if self.device().gpus() > 1 {
            let process = self.catalogue.process_of(stream).unwrap_or_default();
            let gpu = self.device().sms_of_process(process.0);
            Some(self.sms.iter().copied().filter(|sm| gpu.contains(&u32::from(*sm))).collect())
        } else {
            self.sms_of_mask(mask)
        };
        put_behind(&mut self.stream_sms, stream.0, sms);
    }

    fn set_kernel_mask(&mut self, kernel: KernelId, mask: Option<SmMask>) {
        let sms = self.sms_of_mask(mask);
        put_behind(&mut self.kernel_sms, kernel.0, sms);
    }

    pub(super) fn add_copy(&mut self, copy: Copy) -> Result<CopyId, SubmitError> {
        Ok(self.catalogue.add_copy(copy)?)
    }

    pub(super) fn set_block_time(&mut self, kernel: KernelId, time: BlockTime) -> Result<(), SubmitError> {
        Ok(self.catalogue.set_block_time(kernel, time)?)
    }

    pub(super) fn set_programmatic(&mut self, kernel: KernelId, programmatic: Programmatic) -> Result<(), SubmitError> {
        Ok(self.catalogue.set_programmatic(kernel, programmatic)?)
    }

    pub(super) fn set_programmatic_event(&mut self, event: EventId) -> Result<(), SubmitError> {
        Ok(self.catalogue.set_programmatic_event(event)?)
    }

    pub(super) fn set_clusters(&mut self, kernel: KernelId, clusters: Option<Clusters>) -> Result<(), SubmitError> {
        Ok(self.catalogue.set_clusters(kernel, clusters)?)
    }

    /// Makes the counters of `work` known, and their values, where none are known yet.
    pub(super) fn add_counters(&mut self, work: &Catalogue) -> Result<(), SubmitError> {
        for name in work.counters() {
            self.catalogue.add_counter(Arc::clone(name))?;
        }
        work.values().iter().try_for_each(|value| self.catalogue.add_value(*value).map(drop))?;
        Ok(())
    }

    pub(super) fn set_synchronization(
        &mut self,
        kernel: KernelId,
        stated: Option<&Synchronization>,
    ) -> Result<(), SubmitError> {
        Ok(self.catalogue.set_synchronization(kernel, stated.cloned().unwrap_or_default())?)
    }

    pub(super) fn set_block_times(&mut self, kernel: KernelId, times: Arc<[Duration]>) {
        let index = kernel.index();
        if index >= self.kernels().len() {
            return;
        }
        if index >= self.block_times.len() {
            self.block_times.resize(index + 1, None);
        }
        self.block_times[index] = Some(times);
    }

    /// Times of single blocks, if the kernel has such.
    pub(super) fn block_times(&self, kernel: KernelId) -> Option<&[Duration]> {
        self.block_times.get(kernel.index())?.as_deref()
    }

    /// SMs that a kernel may use in a stream, in the order of preference: its own mask replaces the stream's.
    #[inline]
    pub(super) fn sms_of(&self, kernel: KernelId, stream: StreamId) -> &[u16] {
        let own = self.kernel_sms.get(kernel.index()).and_then(Option::as_deref);
        own.or_else(|| self.stream_sms.get(stream.index())?.as_deref()).unwrap_or(&self.sms)
    }

    fn sms_of_mask(&self, mask: Option<SmMask>) -> Option<Box<[u16]>> {
        let mask = mask?;
        let enabled = |sm: &u16| mask.enables_sm(u32::from(*sm), self.device());
        Some(self.sms.iter().copied().filter(enabled).collect())
    }
}

/// Puts what there is at `place`, which is behind all that have something so far.
fn put_behind<T: Clone>(list: &mut Vec<Option<T>>, place: u32, what: Option<T>) {
    if what.is_some() {
        list.resize(place as usize, None);
        list.push(what);
    }
}
