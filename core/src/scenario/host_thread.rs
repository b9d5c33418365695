//! Host threads: who submits work to the GPU, step by step, and by when each job should have finished.

use std::sync::Arc;

use crate::device::{Device, SynchronousMemset};
use crate::json::{Node, Object, Problem};
use crate::limits::count_turn;
use crate::time::{Duration, Instant};
use crate::workload::{CopyId, EventId, KernelId, OperationKind, ProcessId, StreamId, ValueId};

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
    /// The number of another thread: each end of one of its jobs releases the next iteration, so that there are as many
    /// as jobs of that one. Such a thread has no release, period or jitter of its own.
    pub triggered_by: Option<u32>,
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
    #[doc(hidden)]
    pub const MOST_CORE: u32 = 1023;
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
            triggered_by: None,
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
    /// Let what is submitted to a stream from now on wait until a counter is not below a value; the host itself does
    /// not wait.
    WaitValue(ValueId, StreamId),
    /// Set a counter to a value in a stream, without waiting.
    WriteValue(ValueId, StreamId),
    /// Wait until a counter is not below a value, which the host reads in memory.
    AwaitValue(ValueId),
    /// Set a counter to a value, in memory.
    SetValue(ValueId),
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
        from: u32,
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
            Self::WaitValue(value, stream) => Some((OperationKind::WaitValue(value), stream)),
            Self::WriteValue(value, stream) => Some((OperationKind::WriteValue(value), stream)),
            Self::AwaitValue(_)
            | Self::SetValue(_)
            | Self::AwaitLast
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
            Self::WaitValue(..) => "wait_value",
            Self::WriteValue(..) => "write_value",
            Self::AwaitLast | Self::SynchronizeStream(_) | Self::SynchronizeDevice => "synchronize",
            Self::SynchronizeEvent(_) => "synchronize_event",
            Self::Free => "free",
            Self::Allocate => "malloc",
            // To read and write memory is none.
            Self::Sleep(_)
            | Self::Work(_)
            | Self::Barrier(_)
            | Self::Repeat { .. }
            | Self::AwaitValue(_)
            | Self::SetValue(_) => "",
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
    /// period, or if it has to wait for its core; one that another thread releases is not stated.
    pub(crate) fn counts_from_release(&self, iteration: u64) -> bool {
        let has_to_wait = self.core.is_some() && self.barrier.is_none() && self.triggered_by.is_none();
        self.period.is_some() || iteration == 0 && has_to_wait
    }

    /// When iteration number `iteration` is released, unless another thread does that; every iteration of a thread
    /// without a period counts from the thread's own release.
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
        let of_thread = |other: Option<u32>| other.and_then(place).and_then(|place| u32::try_from(place).ok());
        let (until, triggered_by) = (of_thread(self.until), of_thread(self.triggered_by));
        Self { until, triggered_by, ..self.clone() }
    }

    /// Whether it may end before it has done all its iterations: at a time, or with another thread, also with one that
    /// releases them.
    pub fn may_end_early(&self) -> bool {
        self.time_limit.is_some() || self.until.is_some() || self.triggered_by.is_some()
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

/// By when each job should have finished, counted from its release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Deadline {
    /// After its period; never where there is no period. So it is where nothing is said.
    #[default]
    Period,
    /// After this time.
    After(Duration),
    /// Never, also with a period.
    Never,
}

impl Deadline {
    /// How [`Never`](Self::Never) is written.
    pub const NEVER: &str = "none";

    /// Out of `40 ms`, or `none`.
    ///
    /// # Errors
    /// What was expected instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == Self::NEVER {
            return Ok(Self::Never);
        }
        match Duration::parse(text) {
            Ok(Duration::ZERO) => Err(format!("expected a time above zero, or {:?}", Self::NEVER)),
            Ok(time) => Ok(Self::After(time)),
            Err(error) => Err(format!("{error}; or {:?} for no deadline", Self::NEVER)),
        }
    }

    /// Out of a time above zero, or `"none"`.
    pub(crate) fn read(node: Node<'_>) -> Result<Self, Problem> {
        if node.string().is_ok_and(|text| text == Self::NEVER) {
            return Ok(Self::Never);
        }
        match node.time()? {
            Duration::ZERO => Err(node.expected("a time of at least 1 ns, or \"none\"")),
            time => Ok(Self::After(time)),
        }
    }

    pub(super) fn of(entry: &mut Object<'_>) -> Result<Self, Problem> {
        Ok(entry.optional("deadline")?.map(Self::read).transpose()?.unwrap_or_default())
    }

    /// The time from a job's release to its deadline, of what has this period; `None`: the job has no deadline.
    pub fn with_period(self, period: Option<Duration>) -> Option<Duration> {
        match self {
            Self::Period => period.filter(|period| *period > Duration::ZERO),
            Self::After(time) => Some(time),
            Self::Never => None,
        }
    }
}

impl From<Option<Duration>> for Deadline {
    /// A time, or never.
    fn from(time: Option<Duration>) -> Self {
        time.map_or(Self::Never, Self::After)
    }
}

/// Steps of a program that are followed, those of repeated ones as often as they are.
const MOST_FOLLOWED: usize = 1 << 16;

/// The steps of so many iterations, repeated ones as often as they are. `None`: too many.
pub(crate) fn followed(thread: &HostThread, iterations: u64) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    if iterations > MOST_FOLLOWED as u64 {
        return None;
    }
    for _ in 0..iterations {
        // Without a period a job counts from when it has passed the barrier.
        steps.extend(thread.barrier.filter(|_| thread.period.is_some()).map(Step::Barrier));
        let mut done = vec![0_u64; thread.steps.len()];
        let mut next = 0;
        while let Some(step) = thread.steps.get(next) {
            count_turn();
            next += 1;
            if let Step::Repeat { from, times } = *step {
                done[next - 1] += 1;
                if done[next - 1] < times {
                    next = (from as usize).min(next - 1);
                } else {
                    done[next - 1] = 0;
                }
            } else {
                steps.push(*step);
            }
            if steps.len() > MOST_FOLLOWED || done.iter().any(|&done| done > MOST_FOLLOWED as u64) {
                return None;
            }
        }
    }
    Some(steps)
}
