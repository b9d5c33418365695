//! Who of a workload may use which SMs: green contexts, static partitions of MPS, and clusters of one GPC.

use std::sync::Arc;

use super::{Catalogue, CheckedKernel, WorkloadError};
use crate::device::SmMask;
use crate::workload::{
    Clusters, GreenContext, GreenContextId, KernelId, MpsPercentage, ProcessId, SmSplit, StreamId, StreamSpec,
};

// The green contexts of a catalogue.

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
    #[doc(hidden)]
    pub fn work_queues_of(&self, stream: StreamId) -> Option<(GreenContextId, u32)> {
        let green = self.streams.get(stream.index())?.green_context?;
        let queues = self.green_contexts.get(green.index())?.work_queues?;
        Some((green, queues))
    }

    /// The same, with green contexts whose streams take channels as all others.
    #[doc(hidden)]
    pub fn without_work_queues(&self) -> Self {
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
        self.check_cooperative(kernel, stream)?;
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
    #[doc(hidden)]
    pub fn without_green_contexts(&self) -> Self {
        let mut plain = self.clone();
        plain.splits.clear();
        plain.green_contexts.clear();
        for stream in Arc::make_mut(&mut plain.streams) {
            stream.spec.green_context = None;
        }
        plain
    }
}

// Static SM partitions of MPS: SMs that only one client has.

impl Catalogue {
    /// Whether a process has SMs of its own as a client of MPS.
    #[doc(hidden)]
    pub fn has_partition(&self, process: ProcessId) -> bool {
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
    #[doc(hidden)]
    pub fn without_client_limits(&self) -> Self {
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

// Kernels of a catalogue whose blocks come in clusters.

impl Catalogue {
    /// Groups the blocks of a kernel into clusters, or no longer. An unknown kernel is passed over.
    ///
    /// # Errors
    /// [`WorkloadError`] if the device has no such clusters, or the grid cannot be divided into them.
    pub fn set_clusters(&mut self, kernel: KernelId, clusters: Option<Clusters>) -> Result<(), WorkloadError> {
        let Some(known) = self.kernels.get(kernel.index()) else { return Ok(()) };
        // Clusters of one block are none.
        let clusters = clusters.filter(|clusters| clusters.size != 1 || clusters.fallback.is_some());
        clusters.map_or(Ok(()), |clusters| self.check_size(clusters, known.blocks))?;
        if clusters.is_some() && known.is_cooperative() {
            return Err(WorkloadError::CooperativeClusters);
        }
        if known.clusters() == clusters {
            return Ok(());
        }
        self.has_clusters |= clusters.is_some();
        if let Some(checked) = Arc::make_mut(&mut self.kernels).get_mut(kernel.index()) {
            checked.grid_mut().clusters = clusters;
        }
        Ok(())
    }

    fn check_size(&self, Clusters { size, fallback }: Clusters, blocks: u32) -> Result<(), WorkloadError> {
        if !self.device.has_clusters() {
            return Err(WorkloadError::NoClusters);
        }
        let most = self.device.cluster_groups().iter().map(Vec::len).max().unwrap_or(0);
        let most = u32::try_from(most).map_or(Clusters::MOST, |most| most.min(Clusters::MOST));
        if most == 0 {
            return Err(WorkloadError::NoGpcsForClusters);
        }
        if size == 0 || size > most {
            return Err(WorkloadError::ClusterSize { size, most });
        }
        if !blocks.is_multiple_of(size) {
            return Err(WorkloadError::ClustersOfGrid { size, blocks });
        }
        match fallback {
            Some(fallback) if fallback == 0 || fallback >= size || !size.is_multiple_of(fallback) => {
                Err(WorkloadError::ClusterFallback { size, fallback })
            }
            _ => Ok(()),
        }
    }

    /// Whether blocks of a kernel come in clusters.
    #[doc(hidden)]
    pub fn has_clusters(&self) -> bool {
        self.has_clusters && self.kernels.iter().any(|kernel| kernel.clusters().is_some())
    }

    /// Whether a cluster of the kernel can ever run in a stream.
    pub(super) fn check_clusters(&self, kernel: KernelId, stream: StreamId) -> Result<(), WorkloadError> {
        let clusters = self.kernels.get(kernel.index()).filter(|_| self.has_clusters).and_then(CheckedKernel::clusters);
        let Some(clusters) = clusters else { return Ok(()) };
        let process = self.streams.get(stream.index()).map(|stream| stream.process);
        if process.is_some_and(|process| self.sms_at_once(process) < self.device.sms) {
            return Err(WorkloadError::ClustersOfClient);
        }
        let mask = self.mask(kernel, stream);
        let is_left = |sm: &&u32| mask.is_none_or(|mask| mask.enables_sm(**sm, &self.device));
        let size = clusters.least();
        let fits = |sms: &Vec<u32>| sms.iter().filter(is_left).take(size as usize).count() == size as usize;
        if self.device.cluster_groups().iter().any(fits) { Ok(()) } else { Err(WorkloadError::ClusterMasked { size }) }
    }
}
