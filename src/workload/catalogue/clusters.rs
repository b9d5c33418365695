//! Kernels of a catalogue whose blocks come in clusters.

use std::sync::Arc;

use super::{Catalogue, CheckedKernel, WorkloadError};
use crate::workload::{Clusters, KernelId, StreamId};

impl CheckedKernel {
    /// How its blocks are grouped into clusters, if they are.
    pub fn clusters(&self) -> Option<Clusters> {
        self.0.clusters
    }
}

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
        if known.clusters() == clusters {
            return Ok(());
        }
        self.has_clusters |= clusters.is_some();
        if let Some(checked) = Arc::make_mut(&mut self.kernels).get_mut(kernel.index()) {
            Arc::make_mut(&mut checked.0).clusters = clusters;
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
    pub(crate) fn has_clusters(&self) -> bool {
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
