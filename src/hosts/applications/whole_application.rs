//! Submitting an application as it is, and the kernels and copies of applications as the GPU knows them.

use rustc_hash::FxHashMap;

use crate::applications::{ApplicationSet, Injection};
use crate::device::{CopyDirection, SmMask};
use crate::gpu::{GpuInterface, SubmitError};
use crate::time::Duration;
use crate::workload::{
    BlockClock, BlockTime, Copy, CopyId, Kernel, KernelId, OperationId, OperationKind, Origin, StreamId, StreamSpec,
};

/// Kernels and copies made known to the GPU so far; equal ones are made known once.
#[derive(Debug)]
pub(super) struct Catalogue<'a> {
    pub(super) set: &'a ApplicationSet,
    kernels: FxHashMap<KernelKey, KernelId>,
    copies: FxHashMap<(CopyDirection, u64), CopyId>,
}

/// A grid of `blocks` blocks of kernel `kernel` of application `application`, each running for `block_time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct KernelKey {
    pub(super) application: u32,
    pub(super) kernel: u32,
    pub(super) blocks: u32,
    pub(super) block_time: Duration,
    pub(super) sm_mask: Option<SmMask>,
}

impl<'a> Catalogue<'a> {
    pub(super) fn new(set: &'a ApplicationSet) -> Self {
        Self { set, kernels: FxHashMap::default(), copies: FxHashMap::default() }
    }

    /// The injection of that number. One that is not in the set has no application, and nothing is submitted for it.
    pub(super) fn injection(&self, number: u32) -> Injection {
        const NONE: Injection =
            Injection { application: u32::MAX, arrival: crate::time::Instant::MAX, requirement: Duration::ZERO };
        self.set.injections.get(number as usize).copied().unwrap_or(NONE)
    }

    /// Whether injection `number` copies anything.
    pub(super) fn copies_anything(&self, number: u32) -> bool {
        let found = self.set.of(&self.injection(number));
        found.is_some_and(|(application, _)| application.copy_in_bytes > 0 || application.copy_out_bytes > 0)
    }

    pub(super) fn kernel(&mut self, gpu: &mut impl GpuInterface, key: KernelKey) -> Result<KernelId, SubmitError> {
        if let Some(&known) = self.kernels.get(&key) {
            return Ok(known);
        }
        let application = self.set.applications.get(key.application as usize).ok_or(SubmitError::Unknown)?;
        let kernel = application.kernels.get(key.kernel as usize).ok_or(SubmitError::Unknown)?;
        let id = gpu.add_kernel(Kernel {
            name: kernel.name.clone(),
            title: format!("{}/{}", application.name, kernel.name).into(),
            blocks: key.blocks,
            shape: kernel.shape,
            duration: BlockTime::fixed(key.block_time),
            clock: BlockClock::RunTime,
            sm_mask: key.sm_mask,
        })?;
        self.kernels.insert(key, id);
        Ok(id)
    }

    /// Submits a copy for injection `number`; `None` if there is nothing to copy.
    pub(super) fn submit_copy(
        &mut self,
        gpu: &mut impl GpuInterface,
        number: u32,
        stream: StreamId,
        direction: CopyDirection,
    ) -> Result<Option<OperationId>, SubmitError> {
        let Some((application, _)) = self.set.of(&self.injection(number)) else { return Ok(None) };
        let bytes = match direction {
            CopyDirection::DeviceToHost => application.copy_out_bytes,
            _ => application.copy_in_bytes,
        };
        if bytes == 0 {
            return Ok(None);
        }
        let id = match self.copies.get(&(direction, bytes)) {
            Some(&known) => known,
            None => gpu.add_copy(Copy { direction, bytes: Some(bytes), duration: None })?,
        };
        self.copies.insert((direction, bytes), id);
        gpu.submit(stream, OperationKind::Copy(id), Origin { thread: number, iteration: 0 }).map(Some)
    }

    /// A stream for injection `number`, of the default priority, which the NULL stream does not hold up.
    pub(super) fn add_stream(&self, gpu: &mut impl GpuInterface, number: u32) -> Result<StreamId, SubmitError> {
        let name = self.set.of(&self.injection(number)).map_or("", |(application, _)| &application.name);
        gpu.add_stream(StreamSpec { blocking: false, ..StreamSpec::new(format!("{name} #{number}")) })
    }

    /// Submits everything that injection `number` does, in a stream of its own: copy in, every launch of every kernel
    /// with all its blocks and all SMs, copy out. Gives the last operation.
    pub(super) fn submit_whole(
        &mut self,
        gpu: &mut impl GpuInterface,
        number: u32,
    ) -> Result<Option<OperationId>, SubmitError> {
        let injection = self.injection(number);
        let Some((_, profile)) = self.set.of(&injection) else { return Ok(None) };
        let stream = self.add_stream(gpu, number)?;
        let mut last = self.submit_copy(gpu, number, stream, CopyDirection::HostToDevice)?;
        for (kernel, index) in (0_u32..).zip(0..profile.kernels()) {
            let key = KernelKey {
                application: injection.application,
                kernel,
                blocks: profile.blocks(index),
                block_time: profile.block_time(index, profile.sms()),
                sm_mask: None,
            };
            let id = self.kernel(gpu, key)?;
            for _ in 0..profile.launches(index) {
                let origin = Origin { thread: number, iteration: kernel };
                last = Some(gpu.submit(stream, OperationKind::Kernel(id), origin)?);
            }
        }
        Ok(self.submit_copy(gpu, number, stream, CopyDirection::DeviceToHost)?.or(last))
    }
}
