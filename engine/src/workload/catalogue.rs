//! Streams, kernels and copies that a device takes.

mod kernels;
mod processes;
mod sm_shares;
mod synchronization;

pub use kernels::{CheckedKernel, Grid, Kernels, NamedGrid};
pub(crate) use processes::channel_of;
pub use processes::{ChannelId, dealt_channels};

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use super::{
    BlockTime, CheckedProcess, Clusters, Copy, CopyId, CounterValue, EventId, GreenContext, Kernel, KernelId,
    NULL_STREAM, ProcessId, ProcessSharing, ProcessSpec, Programmatic, SmSplit, StreamId, StreamSpec, Synchronization,
    TurnTaking, WorkItems, WorkloadError,
};
use crate::device::{Device, SmMask};
use crate::time::Duration;

/// A stream whose priority the device has and whose mask leaves an SM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedStream {
    spec: StreamSpec,
    level: usize,
}

impl CheckedStream {
    /// Checks a stream.
    ///
    /// # Errors
    /// [`WorkloadError`] if the device does not have such a stream.
    pub fn new(spec: StreamSpec, device: &Device) -> Result<Self, WorkloadError> {
        let level = device.priorities().position(|priority| priority == spec.priority);
        let highest = || device.priorities().next().unwrap_or(0);
        let level = level.ok_or_else(|| WorkloadError::Priority { priority: spec.priority, highest: highest() })?;
        check_mask(spec.sm_mask, device)?;
        Ok(Self { spec, level })
    }

    /// The NULL stream: the lowest priority and all SMs, which every device has.
    pub fn null(device: &Device) -> Self {
        // Levels are few, and there is at least one.
        Self { spec: StreamSpec::new(NULL_STREAM), level: device.priorities().count() - 1 }
    }

    /// Which of the device's priorities it has: 0 is the highest.
    pub const fn level(&self) -> usize {
        self.level
    }
}

impl Deref for CheckedStream {
    type Target = StreamSpec;

    fn deref(&self) -> &StreamSpec {
        &self.spec
    }
}

/// A copy whose duration can be represented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedCopy {
    copy: Copy,
    duration: Duration,
    engine: usize,
}

impl CheckedCopy {
    /// Checks a copy.
    ///
    /// # Errors
    /// [`WorkloadError::CopyOfNoLength`] and [`WorkloadError::CopyTooLong`].
    pub fn new(copy: Copy, device: &Device) -> Result<Self, WorkloadError> {
        if copy.bytes.is_none() && copy.duration.is_none() {
            return Err(WorkloadError::CopyOfNoLength);
        }
        let duration = copy.time_on(&device.copy).ok_or(WorkloadError::CopyTooLong)?;
        Ok(Self { copy, duration, engine: device.copy.engine_for(copy.direction) as usize })
    }

    /// How long it holds its copy engine: its own duration, or by the device's bandwidth and latency.
    pub const fn time(&self) -> Duration {
        self.duration
    }

    /// The copy engine that serves it.
    pub const fn engine(&self) -> usize {
        self.engine
    }
}

impl Deref for CheckedCopy {
    type Target = Copy;

    fn deref(&self) -> &Copy {
        &self.copy
    }
}

fn check_mask(mask: Option<SmMask>, device: &Device) -> Result<(), WorkloadError> {
    match mask.filter(|mask| mask.leaves_none(device)) {
        Some(mask) => Err(WorkloadError::MaskLeavesNoSm { mask, sms: device.sms }),
        None => Ok(()),
    }
}

/// A device with its events, and with the processes, streams, kernels and copies that were checked against it. Stream 0
/// is the NULL stream of process 0, which always exists.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    device: Device,
    /// Never empty.
    processes: Vec<CheckedProcess>,
    sharing: ProcessSharing,
    /// Splits, and the green contexts that they made.
    splits: Vec<SmSplit>,
    green_contexts: Vec<GreenContext>,
    /// As kernels, shared by a scenario, the GPU that runs it and its trace until one of them changes them.
    streams: Arc<Vec<CheckedStream>>,
    /// Their names.
    events: Vec<Arc<str>>,
    /// Those that are recorded once the kernel before the record has triggered (PDL).
    programmatic_events: BTreeSet<EventId>,
    /// Those that are recorded once all blocks of that kernel have begun.
    launch_completion_events: BTreeSet<EventId>,
    kernels: Arc<Kernels>,
    /// Whether one of them has a mask: mostly none does, and there may be millions to ask.
    has_kernel_masks: bool,
    /// Whether one of them may come in clusters, likewise.
    has_clusters: bool,
    /// Names of the counters.
    counters: Vec<Arc<str>>,
    /// What streams and hosts wait for or write.
    values: Vec<CounterValue>,
    /// Whether a kernel may have a synchronization, likewise.
    synchronizes: bool,
    /// Kernels that graphs launch, whose edges say when they begin.
    graph_nodes: BTreeSet<KernelId>,
    copies: Vec<CheckedCopy>,
}

/// What a catalogue names, as plain data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Items {
    /// Processes, by [`ProcessId`].
    pub processes: Vec<CheckedProcess>,
    /// Whether they are clients of MPS.
    pub mps: bool,
    /// By process, the first one that shares its EE queues.
    pub(crate) queue_contexts: Vec<ProcessId>,
    /// How their contexts take turns, if they do.
    pub(crate) turn_taking: Option<TurnTaking>,
    /// Green contexts, by [`GreenContextId`](super::GreenContextId).
    pub green_contexts: Vec<GreenContext>,
    /// Streams, by [`StreamId`].
    pub streams: Arc<Vec<CheckedStream>>,
    /// Names of the events, by [`EventId`].
    pub events: Vec<Arc<str>>,
    /// Those that are recorded once the kernel before the record has triggered (PDL).
    pub(crate) programmatic_events: BTreeSet<EventId>,
    /// Names of the counters, by [`CounterId`](super::CounterId).
    pub counters: Vec<Arc<str>>,
    /// Values of counters, by [`ValueId`](super::ValueId).
    pub values: Vec<CounterValue>,
    /// Kernels, by [`KernelId`].
    pub kernels: Arc<Kernels>,
    /// Copies, by [`CopyId`].
    pub copies: Vec<Copy>,
}

impl Catalogue {
    /// A device with one process and its NULL stream.
    pub fn new(device: Device) -> Self {
        let streams = Arc::new(vec![CheckedStream::null(&device)]);
        let first = CheckedProcess { spec: ProcessSpec::new("process 0"), null: StreamId::NULL };
        Self {
            device,
            processes: vec![first],
            sharing: ProcessSharing::default(),
            splits: Vec::new(),
            green_contexts: Vec::new(),
            streams,
            events: Vec::new(),
            programmatic_events: BTreeSet::new(),
            launch_completion_events: BTreeSet::new(),
            kernels: Arc::default(),
            has_kernel_masks: false,
            has_clusters: false,
            counters: Vec::new(),
            values: Vec::new(),
            synchronizes: false,
            graph_nodes: BTreeSet::new(),
            copies: Vec::new(),
        }
    }

    /// The same streams, kernels and copies, checked against another device.
    ///
    /// # Errors
    /// [`WorkloadError`] if that device does not take one of them.
    pub fn on(&self, device: Device) -> Result<Self, WorkloadError> {
        let (events, counters, values) = (self.events.clone(), self.counters.clone(), self.values.clone());
        // The same number of GPUs of that kind.
        let gpus = self.device.gpus();
        let device = if gpus > 1 { device.times(gpus).map_err(|_| WorkloadError::ManyGpus { gpus })? } else { device };
        let mut other = Self { events, counters, values, ..Self::new(device) };
        other.sharing = self.sharing;
        other.processes.clone_from(&self.processes);
        other.check_processes()?;
        for split in &self.splits {
            other.add_split(split.clone())?;
        }
        for stream in &self.streams[1..] {
            let mut spec = stream.spec.clone();
            // Its SMs on this device.
            let has_partition = self.processes[spec.process.index()].sms.is_some();
            spec.sm_mask = spec.sm_mask.filter(|_| spec.green_context.is_none() && !has_partition);
            other.add_stream(spec)?;
        }
        other.place_partitions()?;
        for kernel in self.kernels().iter() {
            let id = other.add_kernel(kernel.into())?;
            other.set_programmatic(id, kernel.programmatic())?;
            other.set_clusters(id, kernel.clusters())?;
            other.set_work_items(id, kernel.work_items())?;
            other.set_synchronization(id, kernel.synchronization().cloned().unwrap_or_default())?;
        }
        for copy in &self.copies {
            other.add_copy(copy.copy)?;
        }
        for event in &self.programmatic_events {
            other.set_programmatic_event(*event)?;
        }
        other.launch_completion_events.clone_from(&self.launch_completion_events);
        other.graph_nodes.clone_from(&self.graph_nodes);
        Ok(other)
    }

    /// Makes room for so many more streams, with a kernel each.
    #[doc(hidden)]
    pub fn reserve(&mut self, streams: usize) {
        Arc::make_mut(&mut self.streams).reserve(streams);
        Arc::make_mut(&mut self.kernels).reserve(streams);
    }

    /// Gives back the room that was made for more.
    #[doc(hidden)]
    pub fn shrink_to_fit(&mut self) {
        Arc::make_mut(&mut self.streams).shrink_to_fit();
        Arc::make_mut(&mut self.kernels).shrink_to_fit();
        self.copies.shrink_to_fit();
    }

    /// The device.
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// Streams, by [`StreamId`].
    pub fn streams(&self) -> &[CheckedStream] {
        &self.streams
    }

    /// Names of the events, by [`EventId`].
    pub fn events(&self) -> &[Arc<str>] {
        &self.events
    }

    /// Kernels, by [`KernelId`].
    pub fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// Copies, by [`CopyId`].
    pub fn copies(&self) -> &[CheckedCopy] {
        &self.copies
    }

    /// Adds a stream.
    ///
    /// # Errors
    /// [`WorkloadError`] if the device does not have such a stream, or its process is not known.
    pub fn add_stream(&mut self, mut spec: StreamSpec) -> Result<StreamId, WorkloadError> {
        if spec.process.index() >= self.processes.len() {
            return Err(WorkloadError::NoProcess);
        }
        let id = StreamId(next(self.streams.len())?);
        self.take_green_context(&mut spec)?;
        self.take_partition(&mut spec)?;
        self.check_gpu(spec.sm_mask.is_some())?;
        let checked = CheckedStream::new(spec, &self.device)?;
        Arc::make_mut(&mut self.streams).push(checked);
        Ok(id)
    }

    /// Makes another stream of one that is known, the NULL stream aside. An unknown stream is passed over.
    ///
    /// # Errors
    /// [`WorkloadError`] if the device does not have such a stream.
    pub fn set_stream(&mut self, stream: StreamId, mut spec: StreamSpec) -> Result<(), WorkloadError> {
        self.take_green_context(&mut spec)?;
        self.take_partition(&mut spec)?;
        self.check_gpu(spec.sm_mask.is_some())?;
        let checked = CheckedStream::new(spec, &self.device)?;
        let is_null = self.is_null_stream(stream);
        if !is_null && let Some(known) = Arc::make_mut(&mut self.streams).get_mut(stream.index()) {
            *known = checked;
        }
        Ok(())
    }

    /// Adds an event.
    ///
    /// # Errors
    /// [`WorkloadError::TooMany`].
    pub fn add_event(&mut self, name: Arc<str>) -> Result<EventId, WorkloadError> {
        let id = EventId(next(self.events.len())?);
        self.events.push(name);
        Ok(id)
    }

    /// Adds a kernel.
    ///
    /// # Errors
    /// [`WorkloadError`] if one of its blocks can never run.
    pub fn add_kernel(&mut self, kernel: Kernel) -> Result<KernelId, WorkloadError> {
        self.add_checked(CheckedKernel::new(kernel, &self.device)?)
    }

    /// Adds a kernel that was checked against the same device.
    #[doc(hidden)]
    pub fn add_checked(&mut self, kernel: CheckedKernel) -> Result<KernelId, WorkloadError> {
        self.check_gpu(kernel.sm_mask.is_some())?;
        let id = KernelId(next(self.kernels.len())?);
        self.has_kernel_masks |= kernel.sm_mask.is_some();
        self.has_clusters |= kernel.clusters().is_some();
        self.synchronizes |= kernel.synchronization().is_some();
        Arc::make_mut(&mut self.kernels).push(kernel)?;
        Ok(id)
    }

    /// Adds a kernel that is the same as a known one, and is stored once with it. An unknown one is passed over.
    ///
    /// # Errors
    /// [`WorkloadError::TooMany`].
    #[doc(hidden)]
    pub fn add_again(&mut self, known: KernelId) -> Result<KernelId, WorkloadError> {
        let id = KernelId(next(self.kernels.len())?);
        Arc::make_mut(&mut self.kernels).push_again(known.index());
        Ok(id)
    }

    /// Adds a copy.
    ///
    /// # Errors
    /// [`WorkloadError::CopyTooLong`].
    pub fn add_copy(&mut self, copy: Copy) -> Result<CopyId, WorkloadError> {
        self.check_gpu(true)?;
        let id = CopyId(next(self.copies.len())?);
        self.copies.push(CheckedCopy::new(copy, &self.device)?);
        Ok(id)
    }

    /// What of a workload is simulated on one GPU only.
    fn check_gpu(&self, is_of_one: bool) -> Result<(), WorkloadError> {
        if is_of_one && self.device.gpus() > 1 { Err(WorkloadError::OnSeveralGpus) } else { Ok(()) }
    }

    /// Changes how long blocks of a kernel run, if best is not above worst. An unknown kernel is passed over.
    ///
    /// # Errors
    /// [`WorkloadError::BlockTime`] if best is above worst.
    pub fn set_block_time(&mut self, kernel: KernelId, time: BlockTime) -> Result<(), WorkloadError> {
        Arc::make_mut(&mut self.kernels).get_mut(kernel.index()).map_or(Ok(()), |kernel| kernel.set_block_time(time))
    }

    /// Gives the grid of a kernel, whose blocks come in no clusters, so many blocks. An unknown kernel is passed over.
    ///
    /// # Errors
    /// [`WorkloadError::EmptyGrid`] and [`WorkloadError::GridTooLong`].
    #[doc(hidden)]
    pub fn set_blocks(&mut self, kernel: KernelId, blocks: u32) -> Result<(), WorkloadError> {
        match blocks {
            0 => return Err(WorkloadError::EmptyGrid),
            1..=MOST_BLOCKS => {}
            _ => return Err(WorkloadError::GridTooLong),
        }
        if let Some(checked) = Arc::make_mut(&mut self.kernels).get_mut(kernel.index()) {
            checked.grid_mut().blocks = blocks;
        }
        Ok(())
    }

    /// Says how the blocks of a kernel take work items, and in which time each of them then runs, where these differ.
    /// An unknown kernel is passed over.
    ///
    /// # Errors
    /// [`WorkloadError`] if there are too few of them or they take too long, or the device cannot cancel blocks.
    #[doc(hidden)]
    pub fn set_work_items(
        &mut self,
        kernel: KernelId,
        work_items: Option<WorkItems>,
    ) -> Result<Option<Arc<[Duration]>>, WorkloadError> {
        let known =
            self.kernels.get(kernel.index()).filter(|known| work_items.is_some() || known.work_items().is_some());
        let Some(blocks) = known.map(|known| known.blocks) else { return Ok(None) };
        if work_items == Some(WorkItems::TryCancel) && !self.device.has_launch_control() {
            return Err(WorkloadError::NoTryCancel);
        }
        let times = work_items.map_or(Ok(None), |items| items.block_times(blocks))?;
        let Some(checked) = Arc::make_mut(&mut self.kernels).get_mut(kernel.index()) else { return Ok(None) };
        checked.grid_mut().work_items = work_items;
        let Some((time, each)) = times else { return Ok(None) };
        checked.set_block_time(time)?;
        Ok(each)
    }

    /// A graph launches a kernel: its edges say when it begins.
    #[doc(hidden)]
    pub fn note_graph_node(&mut self, kernel: KernelId) {
        self.graph_nodes.insert(kernel);
    }

    /// Whether a graph launches a kernel.
    #[doc(hidden)]
    pub fn is_graph_node(&self, kernel: KernelId) -> bool {
        self.graph_nodes.contains(&kernel)
    }

    /// Says what a kernel has to do with programmatic dependent launch. An unknown kernel is passed over.
    ///
    /// # Errors
    /// [`WorkloadError::NoProgrammaticLaunch`] if it has, and the device is older than that.
    pub fn set_programmatic(&mut self, kernel: KernelId, programmatic: Programmatic) -> Result<(), WorkloadError> {
        let known = self.kernels.get(kernel.index()).map(CheckedKernel::programmatic);
        if known.is_none_or(|known| known == programmatic) {
            return Ok(());
        }
        if programmatic != Programmatic::NONE && !self.device.has_programmatic_launch() {
            return Err(WorkloadError::NoProgrammaticLaunch);
        }
        if let Some(checked) = Arc::make_mut(&mut self.kernels).get_mut(kernel.index()) {
            checked.grid_mut().programmatic = programmatic;
        }
        Ok(())
    }

    /// Has an event recorded once the kernel right before the record has triggered, as a programmatic edge of a CUDA
    /// graph is: kernels with the attribute of programmatic dependent launch begin behind a wait for it, and their
    /// blocks stand at their wait until that kernel has ended.
    ///
    /// # Errors
    /// [`WorkloadError::NoProgrammaticLaunch`] if the device has none, and [`WorkloadError::TwoRecords`] if the event
    /// is recorded at launch completion.
    pub fn set_programmatic_event(&mut self, event: EventId) -> Result<(), WorkloadError> {
        if !self.device.has_programmatic_launch() {
            return Err(WorkloadError::NoProgrammaticLaunch);
        }
        if self.is_launch_completion_event(event) {
            return Err(WorkloadError::TwoRecords);
        }
        self.programmatic_events.insert(event);
        Ok(())
    }

    /// Whether an event is recorded once the kernel before the record has triggered.
    pub fn is_programmatic_event(&self, event: EventId) -> bool {
        self.programmatic_events.contains(&event)
    }

    /// Whether a kernel is launched with the attribute of programmatic dependent launch, or an event is recorded before
    /// the kernel before it has ended.
    #[doc(hidden)]
    pub fn has_programmatic_launches(&self) -> bool {
        !(self.programmatic_events.is_empty() && self.launch_completion_events.is_empty())
            || self.kernels.iter().any(|kernel| kernel.programmatic().is_dependent)
    }

    /// Forgets kernels and copies; their memory is used again, unless somebody else knows them too.
    pub(crate) fn forget_work(&mut self) {
        match Arc::get_mut(&mut self.kernels) {
            Some(own) => own.clear(),
            None => self.kernels = Arc::default(),
        }
        self.has_kernel_masks = false;
        self.has_clusters = false;
        self.synchronizes = false;
        self.copies.clear();
    }

    /// Whether nothing was added to the device.
    pub(crate) fn is_empty(&self) -> bool {
        self.streams.len() == 1
            && self.splits.is_empty()
            && self.events.is_empty()
            && self.counters.is_empty()
            && self.kernels.is_empty()
            && self.copies.is_empty()
    }

    /// Streams, events, kernels and copies, for a trace.
    #[doc(hidden)]
    pub fn into_items(self) -> Items {
        let (turn_taking, queue_contexts) = (self.turn_taking(), self.queue_contexts());
        let Self { processes, sharing, green_contexts, streams, kernels, .. } = self;
        let (events, programmatic_events) = (self.events, self.programmatic_events);
        let (counters, values) = (self.counters, self.values);
        let copies = self.copies.into_iter().map(|copy| copy.copy).collect();
        let mps = sharing.mps;
        Items {
            processes,
            mps,
            queue_contexts,
            turn_taking,
            green_contexts,
            streams,
            events,
            programmatic_events,
            counters,
            values,
            kernels,
            copies,
        }
    }

    /// Changes how long a copy holds its engine. An unknown copy is passed over.
    pub fn set_copy_time(&mut self, copy: CopyId, time: Duration) {
        if let Some(checked) = self.copies.get_mut(copy.index()) {
            checked.copy.duration = Some(time);
            checked.duration = time;
        }
    }

    /// The same device, streams and events, without kernels and copies.
    pub fn without_work(&self) -> Self {
        Self {
            device: self.device.clone(),
            processes: self.processes.clone(),
            sharing: self.sharing,
            splits: self.splits.clone(),
            green_contexts: self.green_contexts.clone(),
            streams: Arc::clone(&self.streams),
            events: self.events.clone(),
            programmatic_events: self.programmatic_events.clone(),
            launch_completion_events: self.launch_completion_events.clone(),
            kernels: Arc::default(),
            has_kernel_masks: false,
            has_clusters: false,
            counters: self.counters.clone(),
            values: self.values.clone(),
            synchronizes: false,
            graph_nodes: BTreeSet::new(),
            copies: Vec::new(),
        }
    }

    /// Whether one of the kernels has a mask of its own.
    pub(crate) const fn has_kernel_masks(&self) -> bool {
        self.has_kernel_masks
    }

    /// The mask that holds for a kernel in a stream: a kernel's own replaces its stream's.
    pub fn mask(&self, kernel: KernelId, stream: StreamId) -> Option<SmMask> {
        let own = self.kernels.get(kernel.index()).filter(|_| self.has_kernel_masks);
        let own = own.and_then(|kernel| kernel.sm_mask);
        own.or_else(|| self.streams.get(stream.index())?.sm_mask)
    }

    /// SMs that a kernel may use in a stream, in the order of their numbers.
    pub fn sms(&self, kernel: KernelId, stream: StreamId) -> impl Iterator<Item = u32> {
        let gpu = self.device.sms_of_process(self.process_of(stream).unwrap_or_default().0);
        self.device.sms_left_by(self.mask(kernel, stream)).filter(move |sm| gpu.contains(sm))
    }
}

/// The longest grid along x, which CUDA has since compute capability 3.0.
const MOST_BLOCKS: u32 = 2_147_483_647;

/// The number of what is added to `known` others.
fn next(known: usize) -> Result<u32, WorkloadError> {
    u32::try_from(known).map_err(|_| WorkloadError::TooMany)
}
