//! The state of the GPU, and how a host submits work to it.

use std::collections::VecDeque;
use std::sync::Arc;

use thiserror::Error;

use super::calendar::{Calendar, Event, Phase};
use super::copy_engine::CopyEngine;
use super::ee_queue::EeQueue;
use super::operation::{NEVER, OperationRecord};
use super::simulation::GpuEvent;
use super::sm::Sm;
use super::stream_queue::StreamQueue;
use super::stretch::Running;
use super::trace::Trace;
use super::wave::Part;
use crate::device::{BlockDemand, CopyEngines, Device, SmMask};
use crate::time::{Duration, Instant};
use crate::workload::{
    BlockTime, CheckedCopy, CheckedKernel, CheckedStream, Copy, CopyId, Kernel, KernelId, OperationId, OperationKind,
    Origin, Placement, StreamId, StreamSpec, WorkloadError,
};

/// How to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GpuOptions {
    /// Which SM gets the next block.
    pub placement: Placement,
    /// For random placement and for varying durations.
    pub seed: u64,
    /// Nothing happens after this instant; [`Instant::MAX`]: no limit.
    pub horizon: Instant,
    /// Operations that a run may submit at most, so that a scenario that does not end cannot fill the memory.
    pub max_operations: u32,
    /// Tell the host of every completed block ([`GpuEvent::BlocksCompleted`]), not only of whole operations.
    pub report_blocks: bool,
    /// Take whole cycles of a kernel that fills the GPU in one step. The result is the same either way.
    pub skip_cycles: bool,
}

/// About 10 GB of trace.
const DEFAULT_MAX_OPERATIONS: u32 = 50_000_000;

impl Default for GpuOptions {
    fn default() -> Self {
        Self {
            placement: Placement::default(),
            seed: 0,
            horizon: Instant::MAX,
            max_operations: DEFAULT_MAX_OPERATIONS,
            report_blocks: false,
            skip_cycles: true,
        }
    }
}

/// Why the GPU does not take something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// A stream, kernel or copy that the device does not take.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A stream, kernel or copy that was never made known.
    #[error("no such stream, kernel or copy")]
    Unknown,
    /// More operations than the run may submit.
    #[error("the scenario submits more than {most} operations")]
    TooManyOperations {
        /// The limit.
        most: u32,
    },
    /// The host goes on and on at one instant without submitting anything.
    #[error("a host thread goes through more than {most} steps at {at} without submitting anything: time stands still")]
    HostStandsStill {
        /// The instant.
        at: Instant,
        /// The limit.
        most: u32,
    },
}

/// The simulated GPU. A [`Host`](super::Host) makes streams, kernels and copies known and submits operations;
/// [`Simulation`](super::Simulation) lets time pass.
#[derive(Debug, Clone)]
pub struct Gpu {
    device: Device,
    pub(super) options: GpuOptions,
    pub(super) now: Instant,
    pub(super) calendar: Calendar,
    sequence: u64,
    pub(super) streams: Vec<StreamQueue>,
    pub(super) blocking_streams: Vec<StreamId>,
    pub(super) ee_queues: Vec<EeQueue>,
    pub(super) copy_engines: Vec<CopyEngine>,
    pub(super) copy_durations: Vec<Duration>,
    pub(super) sms: Vec<Sm>,
    demands: Vec<BlockDemand>,
    /// Block times of kernels whose blocks have one each.
    pub(super) block_times: Vec<Option<Arc<[Duration]>>>,
    /// SMs left by a kernel's own mask, in the order of preference.
    kernel_sms: Vec<Option<Vec<u16>>>,
    /// `None`: no limit.
    pub(super) free_channels: Option<u32>,
    /// Kernels that need a channel, and since when.
    pub(super) channel_queue: VecDeque<(u32, Instant)>,
    /// The round-robin pointer: the SM after the last one used.
    pub(super) cursor: u32,
    /// See `skip_cycles`.
    pub(super) skip_attempt: (u32, u32),
    /// Operations up to the first that has not completed.
    completed_in_a_row: u32,
    /// Entries into EE and CE queues so far, at most one per operation.
    pub(super) queue_entries: u32,
    pub(super) events: Vec<GpuEvent>,
    pub(super) trace: Trace,
    pub(super) scratch_ready: Vec<u32>,
    pub(super) scratch_streams: Vec<StreamId>,
    pub(super) scratch_held: Vec<StreamId>,
    pub(super) scratch_parts: Vec<Part>,
    pub(super) scratch_running: Vec<Running>,
}

impl Gpu {
    /// An idle GPU at t = 0 whose only stream is the NULL stream.
    #[must_use]
    pub fn new(device: &Device, options: GpuOptions) -> Self {
        let mut gpu = Self {
            device: device.clone(),
            options,
            now: Instant::ZERO,
            calendar: Calendar::new(),
            sequence: 0,
            streams: Vec::new(),
            blocking_streams: Vec::new(),
            ee_queues: device.priorities().map(|_| EeQueue::default()).collect(),
            copy_engines: (0..device.copy.engines).map(|_| CopyEngine::default()).collect(),
            copy_durations: Vec::new(),
            sms: vec![Sm::new(device); device.sms as usize],
            demands: Vec::new(),
            block_times: Vec::new(),
            kernel_sms: Vec::new(),
            free_channels: device.channels,
            channel_queue: VecDeque::new(),
            cursor: 0,
            skip_attempt: (u32::MAX, 0),
            completed_in_a_row: 0,
            queue_entries: 0,
            events: Vec::new(),
            trace: Trace::new(device.sms, options.placement, options.seed),
            scratch_ready: Vec::new(),
            scratch_streams: Vec::new(),
            scratch_held: Vec::new(),
            scratch_parts: Vec::new(),
            scratch_running: Vec::new(),
        };
        let lowest = gpu.ee_queues.len() - 1;
        let sms = gpu.sms_left_by(None);
        gpu.streams.push(StreamQueue::new(StreamSpec::new("NULL"), lowest, sms));
        gpu.trace.streams.push(StreamSpec::new("NULL"));
        gpu
    }

    /// Makes room in the record for `launches` kernel launches of one wave each, so that it need not be moved as it
    /// grows. More may come. Without any of this, growing takes a sixth of a run of short jobs.
    pub fn reserve(&mut self, launches: usize) {
        self.trace.reserve(launches);
    }

    /// Back to an idle GPU at t = 0. Streams stay; kernels, copies and the trace are forgotten, and their memory is
    /// used again. For campaigns of many short runs, in which making a GPU would cost more than running it.
    pub fn reset(&mut self) {
        self.rewind();
        self.copy_durations.clear();
        self.demands.clear();
        self.block_times.clear();
        self.kernel_sms.clear();
        self.trace.forget_work();
    }

    /// As [`Gpu::reset`], but kernels and copies stay too.
    pub fn rewind(&mut self) {
        self.now = Instant::ZERO;
        self.calendar.clear();
        self.sequence = 0;
        self.streams.iter_mut().for_each(StreamQueue::clear);
        self.ee_queues.iter_mut().for_each(EeQueue::clear);
        self.copy_engines.iter_mut().for_each(CopyEngine::clear);
        let empty = Sm::new(&self.device);
        self.sms.fill(empty);
        self.free_channels = self.device.channels;
        self.channel_queue.clear();
        self.cursor = 0;
        self.skip_attempt = (u32::MAX, 0);
        self.completed_in_a_row = 0;
        self.queue_entries = 0;
        self.events.clear();
        self.trace.clear();
        self.scratch_ready.clear();
        self.scratch_streams.clear();
        self.scratch_held.clear();
        self.scratch_parts.clear();
        self.scratch_running.clear();
    }

    /// The record of the run.
    pub(super) fn into_trace(self) -> Trace {
        self.trace
    }

    /// The device that is simulated.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The present instant.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Creates a stream.
    ///
    /// # Errors
    /// [`SubmitError`] if the device lacks its priority or its mask leaves no SM.
    pub fn add_stream(&mut self, spec: StreamSpec) -> Result<StreamId, SubmitError> {
        let level = CheckedStream::new(spec.clone(), &self.device)?.level();
        let id = StreamId(u32::try_from(self.streams.len()).map_err(|_| WorkloadError::TooMany)?);
        let sms = self.sms_left_by(spec.sm_mask);
        if spec.blocking {
            self.blocking_streams.push(id);
        }
        self.trace.streams.push(spec.clone());
        self.streams.push(StreamQueue::new(spec, level, sms));
        Ok(id)
    }

    /// Makes a kernel known, so that it can be launched.
    ///
    /// # Errors
    /// [`SubmitError`] if one of its blocks can never run.
    pub fn add_kernel(&mut self, kernel: Kernel) -> Result<KernelId, SubmitError> {
        let kernel = CheckedKernel::new(kernel, &self.device)?;
        let id = KernelId(u32::try_from(self.trace.kernels.len()).map_err(|_| WorkloadError::TooMany)?);
        self.demands.push(kernel.demand());
        self.block_times.push(None);
        self.kernel_sms.push(kernel.sm_mask.map(|mask| self.sms_left_by(Some(mask))));
        self.trace.kernels.push(kernel.into());
        Ok(id)
    }

    /// Changes how long blocks of a kernel run, if best is not above worst. An unknown kernel is passed over.
    pub fn set_block_time(&mut self, kernel: KernelId, time: BlockTime) {
        if let Some(known) = self.trace.kernels.get_mut(kernel.0 as usize).filter(|_| time.best <= time.worst) {
            known.duration = time;
        }
    }

    /// Gives each block of a kernel a time of its own, such as one that was measured; blocks past the end of the list
    /// take the kernel's. An unknown kernel is passed over.
    pub fn set_block_times(&mut self, kernel: KernelId, times: Arc<[Duration]>) {
        if let Some(place) = self.block_times.get_mut(kernel.0 as usize) {
            *place = Some(times);
        }
    }

    /// Makes a copy known, so that it can be submitted.
    ///
    /// # Errors
    /// [`SubmitError::CopyTooLong`] if its duration cannot be represented.
    pub fn add_copy(&mut self, copy: Copy) -> Result<CopyId, SubmitError> {
        let duration = CheckedCopy::new(copy, &self.device)?.time();
        let id = CopyId(u32::try_from(self.trace.copies.len()).map_err(|_| WorkloadError::TooMany)?);
        self.copy_durations.push(duration);
        self.trace.copies.push(copy);
        Ok(id)
    }

    /// G1: submits an operation to a stream, at the present instant.
    ///
    /// # Errors
    /// [`SubmitError::Unknown`] or [`SubmitError::TooManyOperations`].
    pub fn submit(
        &mut self,
        stream: StreamId,
        kind: OperationKind,
        origin: Origin,
    ) -> Result<OperationId, SubmitError> {
        let number = u32::try_from(self.trace.operations.len()).unwrap_or(u32::MAX);
        if number >= self.options.max_operations {
            return Err(SubmitError::TooManyOperations { most: self.options.max_operations });
        }
        let queue = self.streams.get_mut(stream.0 as usize).ok_or(SubmitError::Unknown)?;
        let blocks = match kind {
            OperationKind::Kernel(kernel) => {
                let blocks = self.trace.kernels.get(kernel.0 as usize).ok_or(SubmitError::Unknown)?.blocks;
                queue.undispatched_kernels += 1;
                blocks
            }
            OperationKind::Copy(copy) if copy.0 as usize >= self.trace.copies.len() => {
                return Err(SubmitError::Unknown);
            }
            _ => 0,
        };
        let mut record = OperationRecord::new(kind, stream, origin, blocks, self.now);
        let is_head = queue.push(number);
        record.reached_head = if is_head { self.now } else { NEVER };
        self.trace.operations.push(record);
        if is_head {
            let mut affected = std::mem::take(&mut self.scratch_streams);
            affected.push(stream);
            self.promote(affected);
        }
        Ok(OperationId(number))
    }

    /// Asks for the host to be woken at `at` (at the present instant if that has passed). A second call with the same
    /// token moves the first.
    pub fn wake_at(&mut self, at: Instant, token: u64) {
        self.calendar.push(Event::Wake(token), at.max(self.now), Phase::Host, token);
    }

    /// Whether an operation has completed. An unknown one counts as completed.
    #[must_use]
    pub fn is_complete(&self, operation: OperationId) -> bool {
        self.trace.operations.get(operation.0 as usize).is_none_or(|record| record.finish != NEVER)
    }

    /// The operation submitted last to `stream`, if it has not completed.
    #[must_use]
    pub fn last_in(&self, stream: StreamId) -> Option<OperationId> {
        self.streams.get(stream.0 as usize)?.last().map(OperationId)
    }

    /// Operations submitted so far.
    #[must_use]
    pub fn submitted(&self) -> usize {
        self.trace.operations.len()
    }

    /// How many operations, in launch order, have completed before the first that has not.
    #[must_use]
    pub fn completed_in_a_row(&self) -> usize {
        self.completed_in_a_row as usize
    }

    /// Moves on [`Gpu::completed_in_a_row`], over every operation once in a run.
    pub(super) fn count_completed(&mut self) {
        while self.trace.operations.get(self.completed_in_a_row()).is_some_and(|record| record.finish != NEVER) {
            self.completed_in_a_row += 1;
        }
    }

    /// What has happened so far.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Counts assignments: the order in which completions of one instant are applied.
    pub(super) fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    pub(super) fn demand_of(&self, operation: u32) -> BlockDemand {
        match self.trace.operations[operation as usize].kind {
            OperationKind::Kernel(kernel) => self.demands[kernel.0 as usize],
            _ => BlockDemand { warps: 0, registers: 0, shared_memory_bytes: 0 },
        }
    }

    /// SMs that a kernel launch may use: a kernel's own mask replaces its stream's.
    pub(super) fn sms_of(&self, operation: u32) -> &[u16] {
        let record = &self.trace.operations[operation as usize];
        let own = match record.kind {
            OperationKind::Kernel(kernel) => self.kernel_sms[kernel.0 as usize].as_deref(),
            _ => None,
        };
        own.unwrap_or(&self.streams[record.stream.0 as usize].sms)
    }

    pub(super) fn copy_engine_of(&self, copy: CopyId) -> usize {
        let copies: &CopyEngines = &self.device.copy;
        copies.engine_for(self.trace.copies[copy.0 as usize].direction) as usize
    }

    /// SMs that a mask leaves: in the device's order of preference for most-room, by number for the other policies.
    fn sms_left_by(&self, mask: Option<SmMask>) -> Vec<u16> {
        let ids = match self.options.placement {
            Placement::MostRoom => self.device.sm_order.ids(self.device.sms),
            _ => (0..self.device.sms).collect(),
        };
        ids.into_iter()
            .filter(|&sm| mask.is_none_or(|mask| mask.enables_sm(sm, &self.device)))
            // A device has at most 4,096 SMs, which its reader checks.
            .filter_map(|sm| u16::try_from(sm).ok())
            .collect()
    }
}
