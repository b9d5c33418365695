//! Putting a scenario together from what its device takes.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::endless::{self, Endless, limit_jobs};
use super::host_thread::{BarrierId, HostThread};
use super::known_kernels::KnownKernels;
use super::model::{Chain, ReleaseOrder, Scenario};
use super::options::{BlockDurations, ReadOptions, Timing};
use crate::device::{Device, SmMask};
use crate::spelling::option;
use crate::time::Duration;
use crate::workload::{
    Catalogue, CheckedKernel, Clusters, Copy, CopyId, CounterId, CounterValue, EventId, GreenContextId, Kernel,
    KernelId, Kernels, Placement, ProcessId, ProcessSharing, ProcessSpec, Programmatic, SmSplit, StreamId, StreamSpec,
    Synchronization, ValueId, WorkItems, WorkloadError,
};

/// A scenario in the making. Whatever is added is checked against the device here, where its place in the input is
/// known.
#[derive(Debug)]
pub struct ScenarioBuilder<'a> {
    options: &'a ReadOptions,
    durations: BlockDurations<'a>,
    timing: Timing<'a>,
    scenario: Scenario,
    kernels: KnownKernels,
    barriers: u32,
    /// Whether a process was asked for: then the one that always exists is the first that was.
    has_process: bool,
}

/// What a reader is given if the user says nothing beside the file.
static NOTHING_BESIDE: LazyLock<ReadOptions> = LazyLock::new(ReadOptions::default);

impl ScenarioBuilder<'static> {
    /// An empty scenario on `device`, for programs that put one together without a file.
    pub fn on(device: &Device, name: impl Into<String>) -> Self {
        Self::new(name.into(), device.clone(), &NOTHING_BESIDE)
    }
}

impl<'a> ScenarioBuilder<'a> {
    /// An empty scenario on `device`, unless the options name another.
    pub fn new(name: String, device: Device, options: &'a ReadOptions) -> Self {
        let device = options.device_for(device);
        let placement = options.placement.unwrap_or(device.placement);
        let scenario = Scenario {
            name,
            catalogue: Catalogue::new(device),
            placement,
            seed: options.seed.unwrap_or(0),
            horizon: options.horizon,
            block_times: BTreeMap::new(),
            threads: Vec::new(),
            chains: Vec::new(),
            release_order: ReleaseOrder::default(),
            assumptions: Vec::new(),
            ready_order: Arc::default(),
            notes: Vec::new(),
            expected: None,
            examiner: None,
            calls: None,
        };
        let durations = BlockDurations::new(options);
        let (timing, kernels) = (Timing::new(options), KnownKernels::default());
        Self { options, durations, timing, scenario, kernels, barriers: 0, has_process: false }
    }

    /// Has it run on several GPUs like its device, one for each of these names, as processes that share nothing. Before
    /// anything is added.
    ///
    /// # Errors
    /// [`WorkloadError::ManyGpus`] if these have too many SMs.
    pub fn on_gpus(&mut self, names: Vec<Arc<str>>) -> Result<(), WorkloadError> {
        let gpus = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let device = self.device().times(gpus).map_err(|_| WorkloadError::ManyGpus { gpus })?;
        if self.scenario.placement.goes_by_gpcs() {
            self.scenario.placement = device.placement;
        }
        let mut catalogue = Catalogue::new(device);
        catalogue.set_sharing(ProcessSharing { mps: true, switch_cost: None })?;
        self.scenario.catalogue = catalogue;
        self.has_process = true;
        for (number, name) in (0..).zip(names) {
            let process = ProcessSpec::new(name);
            match number {
                0 => self.scenario.catalogue.set_process(ProcessId::FIRST, process)?,
                _ => drop(self.scenario.catalogue.add_process(process)?),
            }
        }
        Ok(())
    }

    /// The device that it will run on.
    pub fn device(&self) -> &Device {
        self.scenario.device()
    }

    /// Which SM gets the next block.
    pub(super) fn placement(&self) -> Placement {
        self.scenario.placement
    }

    /// The kernels so far, by [`KernelId`].
    pub(super) fn kernels(&self) -> &Kernels {
        self.scenario.kernels()
    }

    /// What the user said beside the file.
    pub fn options(&self) -> &'a ReadOptions {
        self.options
    }

    /// Sets what the file says of placement, seed and horizon; the user's options win.
    pub fn settings(&mut self, placement: Option<Placement>, seed: Option<u64>, horizon: Option<Duration>) {
        let placement = self.options.placement.or(placement);
        self.scenario.placement = placement.unwrap_or(self.device().placement);
        self.scenario.seed = self.options.seed.or(seed).unwrap_or(0);
        self.scenario.horizon = self.options.horizon.or(horizon);
    }

    /// Sets for which order of simultaneous releases verdicts are to hold.
    pub fn set_release_order(&mut self, order: ReleaseOrder) {
        self.scenario.release_order = order;
    }

    /// Sets in which order operations that become ready at one instant enter their queues.
    pub fn set_ready_order(&mut self, choices: Vec<u32>) {
        self.scenario.ready_order = choices.into();
    }

    /// Sets how processes share the GPU; the user's options win.
    ///
    /// # Errors
    /// [`WorkloadError::SwitchCost`] if a switch costs more than a time slice.
    pub fn set_sharing(&mut self, stated: ProcessSharing) -> Result<(), WorkloadError> {
        let switch_cost = self.options.switch_cost.or(stated.switch_cost);
        self.scenario.catalogue.set_sharing(ProcessSharing { mps: stated.mps || self.options.mps, switch_cost })
    }

    /// Whether processes are clients of MPS.
    pub fn has_mps(&self) -> bool {
        self.scenario.catalogue.sharing().mps
    }

    /// Adds a process; the first is the one that always exists. Where the user wants threads of one process, it is that
    /// one, always.
    ///
    /// # Errors
    /// [`WorkloadError`] if the device does not take its time slice.
    pub fn add_process(&mut self, mut process: ProcessSpec) -> Result<ProcessId, WorkloadError> {
        let is_another = std::mem::replace(&mut self.has_process, true);
        if self.options.as_threads {
            return Ok(ProcessId::FIRST);
        }
        process.time_slice = self.options.time_slice.or(process.time_slice);
        if is_another {
            return self.scenario.catalogue.add_process(process);
        }
        self.scenario.catalogue.set_process(ProcessId::FIRST, process).map(|()| ProcessId::FIRST)
    }

    /// The NULL stream of a process; `None` for one that was not added.
    pub fn null_stream(&self, process: ProcessId) -> Option<StreamId> {
        self.scenario.catalogue.null_stream(process)
    }

    /// As [`null_stream`](Self::null_stream), for readers, which ask only of processes that they have added.
    #[expect(
        clippy::expect_used,
        reason = "a process that was added is never taken away, and the first is always there"
    )]
    pub(super) fn null_stream_of_added(&self, process: ProcessId) -> StreamId {
        self.null_stream(process).expect("the reader has added this process to this builder")
    }

    /// The process of a stream; `None` for an unknown one.
    pub fn process_of(&self, stream: StreamId) -> Option<ProcessId> {
        self.scenario.catalogue.process_of(stream)
    }

    /// Makes the green contexts of a split; gives the first. Says so where a number of SMs was rounded, and where one
    /// of them has SMs in common with one of another split.
    ///
    /// # Errors
    /// [`WorkloadError`] if there are not so many SMs, the device has no green contexts, or there are several
    /// processes.
    pub fn add_split(&mut self, split: SmSplit) -> Result<GreenContextId, WorkloadError> {
        let (asked, of) = (split.sms, split.of);
        let first = self.scenario.catalogue.add_split(split)?;
        let catalogue = &self.scenario.catalogue;
        let (device, contexts) = (catalogue.device(), catalogue.green_contexts());
        let (earlier, made) = contexts.split_at(first.index());
        let mut notes = Vec::new();
        if let (Some(group), Some(rounding)) = (made.first(), device.split_rounding())
            && rounding.round(asked) != asked
        {
            notes.push(format!(
                "green context {:?} has {} SMs, not {asked}: {} splits off multiples of {}",
                group.name, group.sms, device.name, rounding.multiple
            ));
        }
        for (one, number) in earlier.iter().zip(0..) {
            if of == Some(GreenContextId(number)) {
                continue;
            }
            for other in made {
                let common = one.common_sms(other, device);
                let is_within =
                    of.is_some_and(|of| contexts.get(of.index()).is_some_and(|of| one.contains(of, device)));
                if common > 0 && !is_within {
                    notes.push(format!(
                        "green contexts {:?} and {:?} have {common} SMs in common: each split begins anew",
                        one.name, other.name
                    ));
                }
            }
        }
        for note in notes {
            self.note(note);
        }
        Ok(first)
    }

    /// Adds a stream.
    ///
    /// # Errors
    /// [`WorkloadError`] if the device does not have such a stream.
    pub fn add_stream(&mut self, stream: StreamSpec) -> Result<StreamId, WorkloadError> {
        let on_mask = self.note_on_mask("stream", &stream.name, stream.sm_mask);
        let added = self.scenario.catalogue.add_stream(stream)?;
        if let Some(note) = on_mask {
            self.note(note);
        }
        Ok(added)
    }

    /// Adds an event.
    ///
    /// # Errors
    /// [`WorkloadError::TooMany`].
    pub fn add_event(&mut self, name: impl Into<Arc<str>>) -> Result<EventId, WorkloadError> {
        self.scenario.catalogue.add_event(name.into())
    }

    /// Adds a counter, which is 0 when a run begins.
    ///
    /// # Errors
    /// [`WorkloadError::TooMany`].
    pub fn add_counter(&mut self, name: impl Into<Arc<str>>) -> Result<CounterId, WorkloadError> {
        self.scenario.catalogue.add_counter(name.into())
    }

    /// Adds a value of a counter, for steps that wait for it or write it.
    ///
    /// # Errors
    /// [`WorkloadError`] if the counter is not known.
    pub fn add_value(&mut self, value: CounterValue) -> Result<ValueId, WorkloadError> {
        self.scenario.catalogue.add_value(value)
    }

    /// Says how blocks of a kernel depend on others while they run.
    ///
    /// # Errors
    /// As [`Catalogue::set_synchronization`].
    pub fn set_synchronization(&mut self, kernel: KernelId, stated: Synchronization) -> Result<(), WorkloadError> {
        self.scenario.catalogue.set_synchronization(kernel, stated)
    }

    /// Has an event recorded once all blocks of the kernel right before the record have begun.
    ///
    /// # Errors
    /// As [`Catalogue::set_launch_completion_event`].
    pub fn set_launch_completion_event(&mut self, event: EventId) -> Result<(), WorkloadError> {
        self.scenario.catalogue.set_launch_completion_event(event)
    }

    /// Adds a kernel, after the user's variation is applied to its block time.
    ///
    /// # Errors
    /// [`WorkloadError`] if one of its blocks could never run.
    pub fn add_kernel(&mut self, mut kernel: Kernel) -> Result<KernelId, WorkloadError> {
        kernel.duration = self.options.vary(kernel.duration).ok_or(WorkloadError::BlockTimeTooLong)?;
        let on_mask = self.note_on_mask("kernel", &kernel.name, kernel.sm_mask);
        let added = match self.kernels.find(&kernel, self.scenario.kernels()) {
            Ok(known) => self.scenario.catalogue.add_again(known)?,
            Err(unknown) => {
                let like = self.kernels.of_same_grid(&kernel, self.scenario.kernels());
                let checked = CheckedKernel::beside(like, kernel, self.scenario.device())?;
                let added = self.scenario.catalogue.add_checked(checked)?;
                self.kernels.add(unknown, added.0);
                added
            }
        };
        if let Some(note) = on_mask {
            self.note(note);
        }
        Ok(added)
    }

    /// The name of the kernel that is likely to be added next, as kernels that come again do in the same order.
    pub(super) fn next_kernel_name(&self) -> Option<&Arc<str>> {
        self.kernels.next_name(self.scenario.kernels())
    }

    /// What to say of a mask: it keeps no SM of this device free, or nobody knows which ones.
    fn note_on_mask(&self, what: &str, name: &str, mask: Option<SmMask>) -> Option<String> {
        let (mask, device) = (mask?, self.device());
        if mask.leaves_all(device) {
            let (sms, device) = (device.sms, &device.name);
            return Some(format!("the SM mask {mask} of {what} {name:?} removes none of the {sms} SMs of {device}"));
        }
        device.masks_by_units().then(|| {
            format!(
                "bits of an SM mask count as TPCs in the order of their SMs, which is assumed for {}: from compute \
                 capability 9.0 on they are units on the chip, disabled ones included (libsmctrl)",
                device.name
            )
        })
    }

    /// Says what a kernel has to do with programmatic dependent launch.
    ///
    /// # Errors
    /// [`WorkloadError::NoProgrammaticLaunch`] if the device has none.
    pub fn set_programmatic(&mut self, kernel: KernelId, programmatic: Programmatic) -> Result<(), WorkloadError> {
        self.scenario.catalogue.set_programmatic(kernel, programmatic)
    }

    /// Has an event recorded once the kernel right before the record has triggered.
    ///
    /// # Errors
    /// As [`Catalogue::set_programmatic_event`].
    pub(super) fn set_programmatic_event(&mut self, event: EventId) -> Result<(), WorkloadError> {
        self.scenario.catalogue.set_programmatic_event(event)
    }

    /// Groups the blocks of a kernel into clusters, or no longer.
    ///
    /// # Errors
    /// [`WorkloadError`] if the device has no such clusters, or the grid cannot be divided into them.
    pub fn set_clusters(&mut self, kernel: KernelId, clusters: Option<Clusters>) -> Result<(), WorkloadError> {
        self.scenario.catalogue.set_clusters(kernel, clusters)
    }

    /// A graph launches a kernel.
    pub(super) fn note_graph_node(&mut self, kernel: KernelId) {
        self.scenario.catalogue.note_graph_node(kernel);
    }

    /// Says how the blocks of a kernel take work items.
    ///
    /// # Errors
    /// As [`Catalogue::set_work_items`].
    pub(super) fn set_work_items(&mut self, kernel: KernelId, items: WorkItems) -> Result<(), WorkloadError> {
        self.scenario.set_work_items(kernel, items)
    }

    /// The same kernel, launched with the attribute of programmatic dependent launch. An unknown one gives itself.
    ///
    /// # Errors
    /// As [`Self::set_programmatic`].
    pub(super) fn add_dependent(&mut self, kernel: KernelId) -> Result<KernelId, WorkloadError> {
        let Some(known) = self.scenario.kernels().get(kernel.index()).cloned() else { return Ok(kernel) };
        let programmatic = Programmatic { is_dependent: true, ..known.programmatic() };
        let id = self.scenario.catalogue.add_checked(known)?;
        self.scenario.catalogue.set_programmatic(id, programmatic)?;
        if let Some(times) = self.scenario.block_times.get(&kernel).cloned() {
            self.set_block_times(id, times);
        }
        Ok(id)
    }

    /// Gives each block of a kernel a time of its own; blocks past the end of the list take the kernel's.
    pub fn set_block_times(&mut self, kernel: KernelId, times: Arc<[Duration]>) {
        self.scenario.block_times.insert(kernel, times);
    }

    /// Adds a copy.
    ///
    /// # Errors
    /// [`WorkloadError::CopyTooLong`].
    pub fn add_copy(&mut self, copy: Copy) -> Result<CopyId, WorkloadError> {
        self.scenario.catalogue.add_copy(copy)
    }

    /// A barrier that no thread uses yet.
    pub fn new_barrier(&mut self) -> BarrierId {
        self.barriers += 1;
        BarrierId(self.barriers - 1)
    }

    /// The block time that the user has given for a kernel that goes by any of `names`.
    pub fn given_block_duration(&mut self, names: &[&str]) -> Option<Duration> {
        self.durations.find(names)
    }

    /// A block time that the user has given and that no kernel needed.
    pub fn unused_block_duration(&self) -> Option<&'a str> {
        self.durations.unused()
    }

    /// What is wrong with the periods and deadlines that the user has given: one names no stream or host.
    pub fn unused_timing(&self) -> Option<String> {
        let (key, name) = self.timing.unused()?;
        Some(format!("{}: {}", option(key), self.scenario.no_thread_named(name.to_owned())))
    }

    /// Makes room for so many more host threads, with a stream and a kernel each: without it, room doubles as it runs
    /// out, and the old and the new one are there at once.
    pub fn reserve(&mut self, threads: usize) {
        self.scenario.threads.reserve(threads);
        self.scenario.catalogue.reserve(threads);
        self.kernels.reserve(threads);
    }

    /// Reports progress to [`ReadOptions::progress`]: the input is read up to this offset \[bytes\].
    pub fn has_read(&self, before: usize) {
        if let Some(progress) = &self.options.progress {
            progress.0(before as u64);
        }
    }

    /// Adds a host thread, with the user's period and deadline for it.
    pub fn add_thread(&mut self, mut thread: HostThread) {
        self.timing.apply(&mut thread);
        self.scenario.threads.push(thread);
    }

    /// The threads from number `first` on, but for that of number `other`, end when that one has ended, as soon as they
    /// would start another iteration.
    pub(super) fn end_threads_with(&mut self, first: usize, other: u32) {
        for (number, thread) in (0..).zip(&mut self.scenario.threads).skip(first) {
            thread.until = Some(other).filter(|other| *other != number);
        }
    }

    /// Says that the ends of the jobs of thread number `trigger` release those of thread number `thread`, which has no
    /// release, period or jitter of its own. Both are there.
    pub fn set_trigger(&mut self, thread: usize, trigger: u32) {
        if let Some(thread) = self.scenario.threads.get_mut(thread) {
            thread.triggered_by = Some(trigger);
        }
    }

    /// Adds a chain of threads that are there.
    pub fn add_chain(&mut self, chain: Chain) {
        self.scenario.chains.push(chain);
    }

    /// What is known of the scenario so far.
    pub fn so_far(&self) -> &Scenario {
        &self.scenario
    }

    /// The threads added so far.
    pub fn threads(&self) -> &[HostThread] {
        &self.scenario.threads
    }

    /// Says what its numbers are taken for, with every verdict that is proven.
    #[doc(hidden)]
    pub fn assume(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.scenario.assumptions.contains(&what) {
            self.scenario.assumptions.push(what);
        }
    }

    /// Tells the user something about the input that is not an error.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.scenario.notes.contains(&note) {
            self.scenario.notes.push(note);
        }
    }

    /// Without a horizon, what is periodic without end is released for one hyperperiod. To be called when all threads
    /// are added.
    ///
    /// # Errors
    /// The number of a thread that has too many jobs then, and [`Endless::ManyJobs`].
    #[doc(hidden)]
    pub fn limit_jobs(&mut self) -> Result<(), (usize, Endless)> {
        limit_jobs(&mut self.scenario)
    }

    /// What the user asked of processes, and that changes nothing here.
    fn note_sharing_without_effect(&mut self) {
        let catalogue = &self.scenario.catalogue;
        let (options, takes_turns) = (self.options, catalogue.is_time_sliced());
        let why = match (options.as_threads && self.has_process, catalogue.processes().len() > 1) {
            (true, _) => "processes run as threads of one, as asked for",
            (false, true) if self.device().gpus() > 1 => "each process has a GPU of its own",
            (false, true) => "clients of MPS share one context",
            (false, false) => "there is one process",
        };
        let without_effect = [
            ("time_slice", options.time_slice.is_some() && !takes_turns),
            ("switch_cost", options.switch_cost.is_some() && !takes_turns),
            // Of a single client MPS takes the percentage, if it was asked for as a process.
            ("mps", options.mps && (!self.has_process || self.device().gpus() > 1)),
        ];
        for (key, _) in without_effect.into_iter().filter(|&(_, is_without)| is_without) {
            self.note(format!("{} has no effect: {why}", option(key)));
        }
    }

    /// What is assumed of clients of MPS of which one may use a part of the SMs.
    fn note_clients(&mut self) {
        let catalogue = &self.scenario.catalogue;
        let several = catalogue.processes().len();
        let is_limited = (0..).map(ProcessId).take(several).any(|process| catalogue.is_limited_client(process));
        if several == 1 || self.device().gpus() > 1 || !is_limited || catalogue.has_partition(ProcessId::FIRST) {
            return;
        }
        self.note(if catalogue.clients_are_disjoint() {
            "the shares of the clients of MPS add up to no more SMs than there are: each is taken to have SMs of its own"
        } else {
            "the shares of the clients of MPS add up to more SMs than there are, so that they may share some: whose blocks \
             come first there is assumed, by priority and then by launch"
        });
    }

    /// The finished scenario, if all of its threads come to an end.
    ///
    /// # Errors
    /// The number of the first thread that could never end, and why.
    #[doc(hidden)]
    pub fn build_ending(self) -> Result<Scenario, (usize, Endless)> {
        let scenario = self.build();
        for (index, thread) in scenario.threads.iter().enumerate() {
            endless::check_end(&scenario, thread).map_err(|why| (index, why))?;
        }
        Ok(scenario)
    }

    /// The finished scenario.
    pub fn build(mut self) -> Scenario {
        self.note_sharing_without_effect();
        self.note_clients();
        self.scenario.count_triggered();
        // Nothing is added any more, and of hundreds of thousands the room for more is a third.
        self.scenario.threads.shrink_to_fit();
        self.scenario.catalogue.shrink_to_fit();
        self.scenario
    }
}
