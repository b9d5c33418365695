//! What a scenario consists of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::chain::Chain;
use super::deadline::Deadline;
use super::examiner_logs::ExaminerLogs;
use super::expected::Expected;
use super::release_order::ReleaseOrder;
use crate::device::{ChannelOrder, Device, SynchronousMemset};
use crate::time::{Duration, Instant};
use crate::workload::{
    Catalogue, CheckedCopy, CheckedKernel, CheckedStream, CopyId, EventId, KernelId, OperationKind, Placement,
    ProcessId, StreamId, WorkItems, WorkloadError,
};

/// A set of host threads, the operations that they submit to streams, and the GPU that they share.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Name in reports.
    pub name: String,
    /// The GPU, and the streams, kernels and copies that it takes.
    pub catalogue: Catalogue,
    /// Which SM gets the next block.
    pub placement: Placement,
    /// For random placement and varying durations.
    pub seed: u64,
    /// Nothing happens after this time; `None`: until all is done.
    pub horizon: Option<Duration>,
    /// Block times of single kernels, block by block, in place of those that the kernel states.
    pub block_times: BTreeMap<KernelId, Arc<[Duration]>>,
    /// Host threads, in declaration order.
    pub threads: Vec<HostThread>,
    /// What its numbers are taken for that nobody guarantees: verdicts are proven under these only.
    pub assumptions: Vec<String>,
    /// Which of their jobs hand data to one another.
    pub chains: Vec<Chain>,
    /// For which order of simultaneous releases verdicts are to hold.
    pub release_order: ReleaseOrder,
    /// In which order operations that become ready at one instant enter their queues in a simulation, choice by choice
    /// ([`set_ready_order`](crate::gpu::GpuInterface::set_ready_order)).
    pub ready_order: Arc<[u32]>,
    /// What the reader of the file wants its user to know.
    pub notes: Vec<String>,
    /// The published result, if the file carries one.
    pub expected: Option<Expected>,
    /// How the examiner would write its logs, if the scenario is one of its.
    pub examiner: Option<Arc<ExaminerLogs>>,
}

impl Scenario {
    /// From when on jobs are missing of what has no end, as the run has no horizon; `None`: none are.
    pub(crate) fn cut_at(&self) -> Option<Instant> {
        let cut = self.threads.iter().filter(|thread| thread.is_cut);
        cut.map(|thread| thread.release_of(thread.iterations.unwrap_or(u64::MAX))).min()
    }

    /// Until when a run of it is known to be one of what it describes: until its horizon, or from when on jobs are
    /// missing. What comes later may be different, as more may be released; `None`: nothing is missing.
    pub(crate) fn known_until(&self) -> Option<Instant> {
        self.horizon.map(|horizon| Instant::ZERO + horizon).or_else(|| self.cut_at())
    }

    /// Why jobs may come at other times than those of a run, each reason once; `None`: they do not.
    pub fn unsure_releases(&self) -> Option<String> {
        let reasons: BTreeSet<&str> = self.threads.iter().filter_map(|thread| thread.unsure.as_deref()).collect();
        (!reasons.is_empty()).then(|| reasons.into_iter().collect::<Vec<_>>().join(", "))
    }

    /// Of threads that are equally urgent on their core the first one declared goes first: all of that core get
    /// priorities that say so, with which a file can be read.
    pub(crate) fn tell_urgency_apart(&mut self) {
        let mut by_core: BTreeMap<u32, Vec<(i32, usize)>> = BTreeMap::new();
        for (thread, share) in self.threads.iter().enumerate().filter_map(|(at, thread)| Some((at, thread.core?))) {
            by_core.entry(share.core).or_default().push((share.priority, thread));
        }
        for mut all in by_core.into_values() {
            all.sort_unstable();
            let has_equal = all.windows(2).any(|pair| pair[0].0 == pair[1].0);
            for (priority, (_, thread)) in (0..).zip(all).filter(|_| has_equal) {
                if let Some(share) = &mut self.threads[thread].core {
                    share.priority = priority;
                }
            }
        }
    }

    /// The GPU.
    pub const fn device(&self) -> &Device {
        self.catalogue.device()
    }

    /// By thread: its place among all threads by name, which does not depend on where they are declared unless two have
    /// the same.
    pub fn thread_ranks(&self) -> Vec<usize> {
        let mut by_name: Vec<usize> = (0..self.threads.len()).collect();
        crate::sorted::sort_by_key(&mut by_name, |&thread| &*self.threads[thread].label);
        let mut ranks = vec![0; by_name.len()];
        for (rank, thread) in by_name.into_iter().enumerate() {
            ranks[thread] = rank;
        }
        ranks
    }

    /// Whether several processes share the GPU, as clients of MPS or by turns.
    pub fn has_processes(&self) -> bool {
        self.catalogue.processes().len() > 1
    }

    /// A thread that makes CUDA calls, and another of its process that frees memory and so may hold these calls (H2).
    pub fn held_by_frees(&self) -> Option<(&HostThread, &HostThread)> {
        let frees = self.threads.iter().filter(|thread| thread.frees());
        let calls = |thread: &&HostThread| thread.steps.iter().any(|step| step.is_cuda_call());
        let mut pairs = frees.filter_map(|by| {
            let is_held = |other: &&HostThread| !std::ptr::eq(*other, by) && other.process == by.process;
            Some((self.threads.iter().filter(is_held).find(calls)?, by))
        });
        pairs.next()
    }

    /// A stream as reports number them: its place behind the first, or -1 for the NULL stream of any process.
    pub fn stream_number(&self, stream: StreamId) -> i64 {
        if self.catalogue.is_null_stream(stream) { -1 } else { i64::from(stream.0) - 1 }
    }

    /// Streams, by [`StreamId`]; number 0 is the NULL stream of the first process.
    pub fn streams(&self) -> &[CheckedStream] {
        self.catalogue.streams()
    }

    /// Names of the events, by [`EventId`].
    pub fn events(&self) -> &[Arc<str>] {
        self.catalogue.events()
    }

    /// Kernels, by [`KernelId`].
    pub fn kernels(&self) -> &[CheckedKernel] {
        self.catalogue.kernels()
    }

    /// Copies, by [`CopyId`].
    pub fn copies(&self) -> &[CheckedCopy] {
        self.catalogue.copies()
    }

    /// Whether runs with another seed may be other runs: something is drawn.
    pub fn depends_on_seed(&self) -> bool {
        let times_are_drawn = |(number, kernel): (u32, &CheckedKernel)| {
            kernel.duration.varies() && self.own_block_times(KernelId(number)).len() < kernel.blocks as usize
        };
        let device = self.device();
        let channels_are_drawn = device.channels.is_some() && device.channel_order == ChannelOrder::Random;
        self.placement == Placement::Random || channels_are_drawn || (0..).zip(self.kernels()).any(times_are_drawn)
    }

    /// How long the longest block of a kernel runs at worst; `None` for an unknown kernel.
    pub fn longest_block_time(&self, kernel: KernelId) -> Option<Duration> {
        let stated = self.kernels().get(kernel.index())?;
        let own = self.own_block_times(kernel);
        let all_have_their_own = own.len() >= stated.blocks as usize;
        own.iter().copied().chain((!all_have_their_own).then_some(stated.duration.worst)).max()
    }

    /// How long the shortest block of a kernel runs at best; `None` for an unknown kernel.
    pub fn shortest_block_time(&self, kernel: KernelId) -> Option<Duration> {
        let stated = self.kernels().get(kernel.index())?;
        let own = self.own_block_times(kernel);
        let all_have_their_own = own.len() >= stated.blocks as usize;
        own.iter().copied().chain((!all_have_their_own).then_some(stated.duration.best)).min()
    }

    /// Whether the blocks of a kernel may run for different times.
    pub fn block_times_vary(&self, kernel: KernelId) -> bool {
        let own = self.own_block_times(kernel);
        let Some(stated) = self.kernels().get(kernel.index()) else { return false };
        let all_have_their_own = own.len() >= stated.blocks as usize;
        !all_have_their_own && (stated.duration.varies() || own.iter().any(|time| *time != stated.duration.worst))
            || own.windows(2).any(|pair| pair[0] != pair[1])
    }

    /// Says how the blocks of a kernel take work items, which gives them their times.
    ///
    /// # Errors
    /// As [`Catalogue::set_work_items`].
    pub(super) fn set_work_items(&mut self, kernel: KernelId, items: WorkItems) -> Result<(), WorkloadError> {
        let times = self.catalogue.set_work_items(kernel, Some(items))?;
        match times {
            Some(times) => _ = self.block_times.insert(kernel, times),
            None if matches!(items, WorkItems::Loop { .. }) => _ = self.block_times.remove(&kernel),
            None => {}
        }
        Ok(())
    }

    /// Times of single blocks; those past the end of the list take what the kernel states.
    pub(crate) fn own_block_times(&self, kernel: KernelId) -> &[Duration] {
        let blocks = self.kernels().get(kernel.index()).map_or(0, |kernel| kernel.blocks as usize);
        let own = self.block_times.get(&kernel).map_or(&[][..], |times| times);
        &own[..own.len().min(blocks)]
    }
}

/// Threads that wait for one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BarrierId(pub u32);

/// A host thread: it repeats its steps until one of its limits is reached.
///
/// The first iteration starts at `release`; the next when the previous one has ended, but with a `period` not before
/// `release` plus that many periods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostThread {
    /// Name in reports (the examiner's `label`).
    pub label: Arc<str>,
    /// The process that it is of, in whose streams it submits.
    pub process: ProcessId,
    /// When its first iteration starts, after t = 0.
    pub release: Duration,
    /// Iterations at most; `None`: no limit.
    pub iterations: Option<u64>,
    /// Whether these are only those of one hyperperiod of what has no end, as a run without a horizon has it.
    pub is_cut: bool,
    /// No iteration starts once this much time has passed since `release`; `None`: no limit.
    pub time_limit: Option<Duration>,
    /// The number of another thread: no iteration starts once that one has ended.
    pub until: Option<u32>,
    /// From one iteration's release to the next.
    pub period: Option<Duration>,
    /// How much later than its arrival, every period, an iteration may be released at most. Runs have none; bounds over
    /// all phasings do ([`sporadic_bounds`](crate::analysis::sporadic_bounds)).
    pub jitter: Duration,
    /// Why it is not known when iterations are released, even but for the jitter: a model's stimulus may do it at other
    /// times, or is not read. Nothing is proven by the releases that are stated then.
    pub unsure: Option<Arc<str>>,
    /// By when an iteration should have finished, with all its steps and operations, counted from its release; without
    /// a period from its beginning, after its barrier.
    pub deadline: Deadline,
    /// Where it waits before every iteration.
    pub barrier: Option<BarrierId>,
    /// The core that it shares with others; `None`: it has one for itself.
    pub core: Option<CoreShare>,
    /// One iteration.
    pub steps: Vec<Step>,
}

/// How a host thread has a core: partitioned, preemptive, with fixed priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreShare {
    /// The core.
    pub core: u32,
    /// A smaller number is more urgent; of equal ones the thread that is declared first.
    pub priority: i32,
    /// Whether it keeps the core while it waits for operations, as `cudaDeviceScheduleSpin` has it. Else it gives it
    /// up.
    pub spins: bool,
}

impl CoreShare {
    /// The greatest number that a core may have.
    pub(crate) const MOST_CORE: u32 = 1023;
}

impl HostThread {
    /// Whether it frees memory, as one of its steps.
    pub(crate) fn frees(&self) -> bool {
        self.steps.contains(&Step::Free)
    }

    /// The jitter of a thread of which it is not known how late its iterations may be released: longer than any for
    /// which there are bounds.
    pub const UNKNOWN_JITTER: Duration = Duration::from_ns(1 << 62);

    /// A thread of the first process that takes its steps once, `release` after t = 0.
    pub fn once(label: impl Into<Arc<str>>, release: Duration, steps: Vec<Step>) -> Self {
        Self {
            label: label.into(),
            process: ProcessId::FIRST,
            release,
            iterations: Some(1),
            is_cut: false,
            time_limit: None,
            until: None,
            period: None,
            jitter: Duration::ZERO,
            unsure: None,
            deadline: Deadline::Period,
            barrier: None,
            core: None,
            steps,
        }
    }

    /// A thread of the first process that takes its steps every `period`, from t = 0 and without end; its jobs are due
    /// when the next is released.
    pub fn periodic(label: impl Into<Arc<str>>, period: Duration, steps: Vec<Step>) -> Self {
        Self { iterations: None, period: Some(period), ..Self::once(label, Duration::ZERO, steps) }
    }
}

/// One step of a host thread. Host code takes no time but for [`Step::Work`]; a thread waits only where a step says so,
/// and where others have its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Launch a kernel, without waiting.
    Launch(KernelId, StreamId),
    /// Submit a copy, without waiting.
    Copy(CopyId, StreamId),
    /// Submit a memset, without waiting.
    Memset(StreamId),
    /// Record an event in a stream, without waiting.
    Record(EventId, StreamId),
    /// Let what is submitted to a stream from now on wait for an event; the host itself does not wait.
    Wait(EventId, StreamId),
    /// Wait until the operation that this thread submitted last has completed.
    AwaitLast,
    /// Wait until everything submitted to a stream so far has completed.
    SynchronizeStream(StreamId),
    /// Wait until everything that its process has submitted to the GPU so far has completed.
    SynchronizeDevice,
    /// Wait until the last record of an event submitted so far has completed; not at all if there is none.
    SynchronizeEvent(EventId),
    /// Free memory (`cudaFree`, `cudaFreeHost`): wait until everything that its process has submitted so far has
    /// completed (H1), and hold the CUDA calls of the other threads of its process until then (H2).
    Free,
    /// Allocate memory (`cudaMalloc`, `cudaMallocHost`): a CUDA call that waits for nothing but a [`Step::Free`] of
    /// another thread of its process (H2).
    Allocate,
    /// Sleep.
    Sleep(Duration),
    /// Work on the CPU: a run takes all of this time of the thread's core, bounds hold for any time up to it.
    Work(Duration),
    /// Wait for all other threads of the barrier that have not ended.
    Barrier(BarrierId),
    /// Go back to step number `from` until the steps in between have been done `times` times.
    Repeat {
        /// The first of the repeated steps.
        from: usize,
        /// How often in all, at least 1.
        times: u64,
    },
}

impl Step {
    /// H3: what a memset does that is called synchronously: it goes to the NULL stream of its process, and on some
    /// devices its caller waits for it.
    pub(crate) fn synchronous_memset(null: StreamId, device: &Device) -> impl Iterator<Item = Self> {
        let waits = device.synchronous_memset == SynchronousMemset::CallerWaits;
        [Self::Memset(null)].into_iter().chain(waits.then_some(Self::AwaitLast))
    }

    /// What this step submits to the GPU, and to which stream; `None`: it submits nothing.
    pub const fn submission(self) -> Option<(OperationKind, StreamId)> {
        match self {
            Self::Launch(kernel, stream) => Some((OperationKind::Kernel(kernel), stream)),
            Self::Copy(copy, stream) => Some((OperationKind::Copy(copy), stream)),
            Self::Memset(stream) => Some((OperationKind::Memset, stream)),
            Self::Record(event, stream) => Some((OperationKind::Record(event), stream)),
            Self::Wait(event, stream) => Some((OperationKind::Wait(event), stream)),
            Self::AwaitLast
            | Self::SynchronizeStream(_)
            | Self::SynchronizeDevice
            | Self::SynchronizeEvent(_)
            | Self::Free
            | Self::Allocate
            | Self::Sleep(_)
            | Self::Work(_)
            | Self::Barrier(_)
            | Self::Repeat { .. } => None,
        }
    }

    /// The call of CUDA that it is, by its key in a scenario file; empty: it is none.
    pub(crate) const fn call_name(self) -> &'static str {
        match self {
            Self::Launch(..) => "launch",
            Self::Copy(..) => "copy",
            Self::Memset(_) => "memset",
            Self::Record(..) => "record",
            Self::Wait(..) => "wait",
            Self::AwaitLast | Self::SynchronizeStream(_) | Self::SynchronizeDevice => "synchronize",
            Self::SynchronizeEvent(_) => "synchronize_event",
            Self::Free => "free",
            Self::Allocate => "malloc",
            Self::Sleep(_) | Self::Work(_) | Self::Barrier(_) | Self::Repeat { .. } => "",
        }
    }

    /// Whether the host waits here for what it, or another host, has submitted.
    pub const fn waits_for_operations(self) -> bool {
        self.waits_for_device()
            || matches!(self, Self::AwaitLast | Self::SynchronizeStream(_) | Self::SynchronizeEvent(_))
    }

    /// Whether the host waits here for everything that its process has submitted.
    pub const fn waits_for_device(self) -> bool {
        matches!(self, Self::SynchronizeDevice | Self::Free)
    }

    /// Whether this step is a call of CUDA, which a [`Step::Free`] of another thread of the process holds (H2).
    pub const fn is_cuda_call(self) -> bool {
        !self.call_name().is_empty()
    }
}

impl HostThread {
    /// The time from a job's release to its deadline; `None`: its jobs have none.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline.with_period(self.period)
    }

    /// Whether iteration number `iteration` counts from when it is released, and not from when it begins: with a
    /// period, or if it has to wait for its core.
    pub(crate) fn counts_from_release(&self, iteration: u64) -> bool {
        self.period.is_some() || iteration == 0 && self.core.is_some() && self.barrier.is_none()
    }

    /// When iteration number `iteration` is released; every iteration of a thread without a period counts from the
    /// thread's own release.
    pub fn release_of(&self, iteration: u64) -> Instant {
        let first = Instant::ZERO + self.release;
        let Some(period) = self.period else { return first };
        period.checked_mul(iteration).map_or(Instant::MAX, |passed| first + passed)
    }

    /// Iterations at most, also of what goes on after the run; `None`: no limit.
    pub(crate) fn iterations_in_all(&self) -> Option<u64> {
        self.iterations.filter(|_| !self.is_cut)
    }

    /// The streams to which it launches kernels, each as often as it is launched to.
    pub(crate) fn launched_to(&self) -> impl Iterator<Item = StreamId> {
        self.steps.iter().filter_map(|step| if let Step::Launch(_, stream) = *step { Some(stream) } else { None })
    }

    /// The same thread in a scenario that has threads of these numbers, in this order.
    pub(crate) fn placed(&self, threads: &[usize]) -> Self {
        let place = |other: u32| threads.iter().position(|&thread| thread == other as usize);
        let until = self.until.and_then(place).and_then(|place| u32::try_from(place).ok());
        Self { until, ..self.clone() }
    }

    /// Whether it may end before it has done all its iterations: at a time, or with another thread.
    pub fn may_end_early(&self) -> bool {
        self.time_limit.is_some() || self.until.is_some()
    }

    /// Whether no iteration ever begins: none is asked for, or there is no time for one.
    pub fn never_runs(&self) -> bool {
        self.iterations == Some(0) || self.time_limit == Some(Duration::ZERO)
    }

    /// Whether the steps before `step` are all that an iteration does, but for barriers at its end, where it waits for
    /// others.
    pub(crate) fn is_at_end(&self, step: usize) -> bool {
        let waits_at_end = self.steps.iter().rev().take_while(|step| matches!(step, Step::Barrier(_))).count();
        step + waits_at_end == self.steps.len()
    }

    /// Whether an iteration submits anything to the GPU.
    pub fn submits(&self) -> bool {
        self.steps.iter().any(|step| step.submission().is_some())
    }

    /// Whether it works on the CPU, or shares a core on which others do: how long a step takes is then not stated.
    pub fn works(&self) -> bool {
        self.core.is_some() || self.steps.iter().any(|step| matches!(step, Step::Work(_)))
    }

    /// Whether its iterations are jobs: they submit something, work, or state a deadline.
    pub fn does_jobs(&self) -> bool {
        self.submits() || self.works() || matches!(self.deadline, Deadline::After(_))
    }

    /// How many operations it submits, where nothing ends it early and no step repeats others; 0 if it goes on without
    /// end.
    pub fn submissions(&self) -> u64 {
        let in_one = self.steps.iter().filter(|step| step.submission().is_some()).count() as u64;
        self.iterations.map_or(0, |iterations| iterations.saturating_mul(in_one))
    }

    /// The stream to which it submits first.
    pub(crate) fn first_stream(&self) -> Option<StreamId> {
        self.steps.iter().find_map(|step| step.submission()).map(|(_, stream)| stream)
    }

    /// The barriers that this thread takes part in.
    pub fn barriers(&self) -> impl Iterator<Item = BarrierId> + '_ {
        self.barrier.into_iter().chain(self.steps.iter().filter_map(|step| match step {
            Step::Barrier(barrier) => Some(*barrier),
            _ => None,
        }))
    }
}
