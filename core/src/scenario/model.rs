//! What a scenario consists of: host threads on a GPU, chains of their jobs, and the published result.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::examiner_logs::ExaminerLogs;
use super::host_calls::HostCalls;
use super::host_thread::HostThread;
use crate::device::{ChannelOrder, CopyDirection, Device};
use crate::limits::count_turn;
use crate::named::named;
use crate::time::{Duration, Instant};
use crate::workload::{
    BlockTime, Catalogue, CheckedCopy, CheckedKernel, CheckedStream, KernelId, Kernels, Placement, StreamId, WorkItems,
    WorkloadError,
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
    /// In which calls its hosts are while they sleep, if it is made of a profile that says so.
    pub calls: Option<Arc<HostCalls>>,
}

impl Scenario {
    /// Whether anything is submitted to the GPU; else hosts work, sleep and meet, and that is all.
    pub(crate) fn uses_gpu(&self) -> bool {
        self.threads.iter().any(HostThread::submits)
    }

    /// From when on jobs are missing of what has no end, as the run has no horizon; `None`: none are.
    pub(crate) fn cut_at(&self) -> Option<Instant> {
        let cut = self.threads.iter().filter(|thread| thread.is_cut && thread.triggered_by.is_none());
        cut.map(|thread| thread.release_of(thread.iterations.unwrap_or(u64::MAX))).min()
    }

    /// The thread by whose own releases the jobs of a thread come: itself, or the one from which on one releases the
    /// other up to it. `None`: there is none.
    pub(crate) fn timed(&self, thread: u32) -> Option<&HostThread> {
        let mut timed = self.threads.get(thread as usize)?;
        for _ in &self.threads {
            let Some(trigger) = timed.triggered_by else { return Some(timed) };
            timed = self.threads.get(trigger as usize)?;
        }
        None
    }

    /// Threads that others release have as many iterations as those by whose releases theirs come.
    pub(super) fn count_triggered(&mut self) {
        for number in 0..self.threads.len() {
            let Some(timed) = u32::try_from(number).ok().and_then(|number| self.timed(number)) else { continue };
            let (iterations, is_cut) = (timed.iterations, timed.is_cut);
            let thread = &mut self.threads[number];
            (thread.iterations, thread.is_cut) = (iterations, is_cut);
        }
    }

    /// Whether a job of what is periodic comes as the run ends, so that it is the first of those that are left out.
    pub(crate) fn comes_at_horizon(&self, thread: u32, released: Instant) -> bool {
        let is_periodic = self.threads.get(thread as usize).is_some_and(|thread| thread.period.is_some());
        is_periodic
            && self.horizon.is_some_and(|horizon| horizon > Duration::ZERO && released == Instant::ZERO + horizon)
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
    #[doc(hidden)]
    pub fn tell_urgency_apart(&mut self) {
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

    /// Names of the events, by [`EventId`](crate::workload::EventId).
    pub fn events(&self) -> &[Arc<str>] {
        self.catalogue.events()
    }

    /// Kernels, by [`KernelId`].
    pub fn kernels(&self) -> &Kernels {
        self.catalogue.kernels()
    }

    /// Copies, by [`CopyId`](crate::workload::CopyId).
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
        self.placement == Placement::Random
            || channels_are_drawn
            || (0..).zip(self.kernels().iter()).any(times_are_drawn)
    }

    /// The times that blocks of a kernel have of their own, and that of all others, if there are others.
    fn stated_block_times(&self, kernel: KernelId) -> Option<(&[Duration], Option<BlockTime>)> {
        let stated = self.kernels().get(kernel.index())?;
        let own = self.own_block_times(kernel);
        Some((own, (own.len() < stated.blocks as usize).then_some(stated.duration)))
    }

    /// How long the longest block of a kernel runs at worst; `None` for an unknown kernel.
    pub fn longest_block_time(&self, kernel: KernelId) -> Option<Duration> {
        let (own, others) = self.stated_block_times(kernel)?;
        own.iter().copied().chain(others.map(|time| time.worst)).max()
    }

    /// How long the shortest block of a kernel runs at best; `None` for an unknown kernel.
    pub fn shortest_block_time(&self, kernel: KernelId) -> Option<Duration> {
        let (own, others) = self.stated_block_times(kernel)?;
        own.iter().copied().chain(others.map(|time| time.best)).min()
    }

    /// Whether the blocks of a kernel may run for different times.
    pub fn block_times_vary(&self, kernel: KernelId) -> bool {
        let Some((own, others)) = self.stated_block_times(kernel) else { return false };
        others.is_some_and(|time| time.varies() || own.iter().any(|own| *own != time.worst))
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

/// Jobs of several threads, each of which reads what one of the thread before it has written last: a cause-effect chain
/// with register communication (`docs/analysis.md`, "Chains").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Name in reports.
    pub name: Arc<str>,
    /// From the thread that samples the world to the one that acts on it.
    pub links: Vec<ChainLink>,
    /// How long it may take at most from an event to the first output that knows of it.
    pub reaction_time: Option<Duration>,
    /// How old what an output is made of may be at most.
    pub data_age: Option<Duration>,
}

/// The jobs of one thread as a part of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainLink {
    /// Index of the host thread.
    pub thread: u32,
    /// A job reads when the first of these operations starts; `None`: when it begins.
    pub reads: Option<LinkOperation>,
    /// A job writes when the last of these operations has completed; `None`: when all of the job is done.
    pub writes: Option<LinkOperation>,
}

/// Operations of a job, by what they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkOperation {
    /// Launches of the kernel of that [title](crate::workload::Kernel::title).
    Kernel(Arc<str>),
    /// Copies that go that way.
    Copy(CopyDirection),
}

named! {
    /// What is asked of a chain.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ChainMeasure: ALL, Serialize {
        /// How long it takes from an event to the first output that knows of it.
        ReactionTime = "reaction time",
        /// How old what an output is made of is when it comes out.
        DataAge = "data age",
    }
}

impl Chain {
    /// What it may come to at most, if anything is stated.
    pub fn limit(&self, measure: ChainMeasure) -> Option<Duration> {
        match measure {
            ChainMeasure::ReactionTime => self.reaction_time,
            ChainMeasure::DataAge => self.data_age,
        }
    }
}

impl ChainLink {
    /// All of a job.
    pub fn whole(thread: u32) -> Self {
        Self { thread, reads: None, writes: None }
    }
}

/// What a paper or a measurement says should come out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Where the numbers come from.
    pub source: String,
    /// How far off a time may be.
    pub tolerance: Duration,
    /// The placement under which it was found.
    pub placement: Placement,
    /// Kernels of which something is known.
    pub kernels: Vec<ExpectedKernel>,
    /// Conditions under which it was found that the user has replaced: the device, the block durations, …
    pub replaced: Vec<&'static str>,
}

/// What is known of one kernel launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedKernel {
    /// The kernel's title.
    pub name: String,
    /// Which of its launches, from 0, in launch order.
    pub iteration: u32,
    /// Where in print the numbers stand, for example `Fig. 3`.
    pub place: Option<String>,
    /// When its first block starts.
    pub first_start: Option<Instant>,
    /// When its last block ends.
    pub finish: Option<Instant>,
    /// Blocks per SM, by SM id; compared only under the placement under which they were found.
    pub blocks_per_sm: Option<Vec<u32>>,
    /// The SM of each block, by its index in the grid, `None` where it is not known; compared as `blocks_per_sm` is.
    pub sm_of_block: Option<Vec<Option<u32>>>,
}

named! {
    /// In which order host threads act that are released, or wake up, at one instant. A simulation takes the order of
    /// declaration in any case; verdicts and bounds hold for what is said here.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum ReleaseOrder: ALL, from_name, Serialize {
        /// In any: what they submit at that instant is mixed in every way that keeps the order of each thread's
        /// program.
        #[default]
        Any = "any",
        /// As they are declared, each with all its submissions of the instant before the next thread's.
        Declared = "declared",
    }
}

impl ReleaseOrder {
    /// Under which order something is found: `under any order`.
    pub const fn condition(self) -> &'static str {
        match self {
            Self::Any => "under any order of simultaneous releases",
            Self::Declared => "under the declared order of simultaneous releases",
        }
    }
}

/// The threads of which anything may delay jobs of those with these labels, themselves among them: all that use the GPU
/// delay one another, all that meet at barriers, and on a core the more urgent ones the others.
pub fn who_delays(scenario: &Scenario, labels: &[String]) -> BTreeSet<usize> {
    let threads = &scenario.threads;
    let uses_gpu =
        |thread: &HostThread| thread.submits() || thread.steps.iter().any(|step| step.waits_for_operations());
    let meets = |thread: &HostThread| thread.barriers().next().is_some();
    let delays = |by: usize, of: usize| {
        let (one, other) = (&threads[by], &threads[of]);
        let on_core = one
            .core
            .zip(other.core)
            .is_some_and(|(one, other)| one.core == other.core && (one.priority, by) < (other.priority, of));
        let releases = other.triggered_by.is_some_and(|trigger| trigger as usize == by);
        releases || on_core || uses_gpu(one) && uses_gpu(other) || meets(one) && meets(other)
    };
    let is_named = |thread: &usize| labels.iter().any(|label| **label == *threads[*thread].label);
    let mut found: BTreeSet<usize> = (0..threads.len()).filter(is_named).collect();
    let mut open: Vec<usize> = found.iter().copied().collect();
    while let Some(of) = open.pop() {
        count_turn();
        let more: Vec<usize> = (0..threads.len()).filter(|by| !found.contains(by) && delays(*by, of)).collect();
        found.extend(&more);
        open.extend(more);
    }
    found
}
