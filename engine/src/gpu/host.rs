//! Hosts: what they see of a GPU, how it simulates, and why it refuses something.

use std::sync::Arc;

use thiserror::Error;

use crate::device::Device;
use crate::effort::EarlyEnd;
use crate::time::{Duration, Instant};
use crate::trace::TraceFull;
use crate::workload::{
    Catalogue, Copy, CopyId, EventId, Kernel, KernelId, OperationId, OperationKind, Origin, Placement, ProcessId,
    ProcessSharing, ProcessSpec, StreamId, StreamSpec, ValueId, WorkloadError,
};

/// The side of a GPU that a host sees: the simulated one or an analysis in its place, whatever observes it. The same
/// host runs in front of each, so that no two readings of a program can differ.
pub trait GpuInterface {
    /// The device.
    fn device(&self) -> &Device;

    /// The present instant.
    fn now(&self) -> Instant;

    /// Makes all processes, streams, events, kernels and copies of `work` known, behind those that are known already;
    /// its first process is the one that always exists. Where nothing is known and the device is the same, nothing is
    /// copied.
    ///
    /// # Errors
    /// [`SubmitError::Workload`] if the device does not take one of them, and [`SubmitError::SeveralProcesses`] if both
    /// sides have several processes.
    fn register_work(&mut self, work: &Catalogue) -> Result<(), SubmitError>;

    /// Gives each block of a kernel a time of its own, such as one that was measured; blocks past the end of the list
    /// take the kernel's. An unknown kernel is passed over.
    fn set_block_times(&mut self, kernel: KernelId, times: Arc<[Duration]>);

    /// States in which order operations enter their EE or CE queues that become ready at one instant, which no rule
    /// says. Whenever several may be the next to enter one queue, the next number of the list says which of them does:
    /// from 0, in the order in which they became ready, those of one end in launch order; a number that is too large is
    /// divided by how many they are, and the remainder counts. Behind the end of the list each is 0.
    fn set_ready_order(&mut self, choices: Arc<[u32]>);

    /// Changes how the contexts of several processes share the GPU. Before anything is submitted.
    ///
    /// # Errors
    /// [`SubmitError::Workload`] if a switch costs more than a time slice.
    fn set_sharing(&mut self, sharing: ProcessSharing) -> Result<(), SubmitError>;

    /// Makes a process known, with a context and a NULL stream of its own, beside the one that always exists. Before
    /// anything is submitted.
    ///
    /// # Errors
    /// [`SubmitError::Workload`] if the device does not take its time slice.
    fn add_process(&mut self, spec: ProcessSpec) -> Result<ProcessId, SubmitError>;

    /// The NULL stream of a process; `None` for one that was not added.
    fn null_stream(&self, process: ProcessId) -> Option<StreamId>;

    /// Takes the context of a process off the runlist, or puts it back to its place there. One that is taken off loses
    /// its turn at this instant, as by a preemption (T4), and gets none until it is put back. What that costs the host
    /// is the host's matter. Without several contexts that take turns it has no effect.
    fn set_runnable(&mut self, process: ProcessId, runnable: bool);

    /// Creates a stream.
    ///
    /// # Errors
    /// [`SubmitError`] if the device lacks its priority, its mask leaves no SM or its process is not known.
    fn add_stream(&mut self, spec: StreamSpec) -> Result<StreamId, SubmitError>;

    /// Makes a kernel known, so that it can be launched.
    ///
    /// # Errors
    /// [`SubmitError`] if one of its blocks can never run.
    fn add_kernel(&mut self, kernel: Kernel) -> Result<KernelId, SubmitError>;

    /// Makes a copy known, so that it can be submitted.
    ///
    /// # Errors
    /// [`SubmitError::Workload`] if its duration cannot be represented.
    fn add_copy(&mut self, copy: Copy) -> Result<CopyId, SubmitError>;

    /// Creates an event, which nothing has recorded yet.
    ///
    /// # Errors
    /// [`SubmitError::Workload`] if there are too many.
    fn add_event(&mut self, name: Arc<str>) -> Result<EventId, SubmitError>;

    /// Says that about `launches` kernels of one wave each will be launched, so that a record need not be moved as it
    /// grows. More may come. Without any of this, growing takes a sixth of a run of short jobs.
    fn reserve(&mut self, launches: usize);

    /// G1: submits an operation to a stream, at the present instant.
    ///
    /// # Errors
    /// [`SubmitError::Unknown`] or [`SubmitError::TooManyOperations`].
    fn submit(&mut self, stream: StreamId, kind: OperationKind, origin: Origin) -> Result<OperationId, SubmitError>;

    /// Asks for the host to be woken at `at` (at the present instant if that has passed). A second call with the same
    /// token moves the first.
    fn wake_at(&mut self, at: Instant, token: u64);

    /// Whether a counter is not below a value; an unknown one is not.
    fn has_reached(&self, value: ValueId) -> bool;

    /// The host sets a counter to a value. What waits for it goes on at this instant.
    fn write_value(&mut self, value: ValueId);

    /// Whether an operation has completed. An unknown one counts as completed.
    fn is_complete(&self, operation: OperationId) -> bool;

    /// The operation submitted last to `stream`, if it has not completed.
    fn last_in(&self, stream: StreamId) -> Option<OperationId>;

    /// The last record of `event` that was submitted, if it has not completed.
    fn last_record(&self, event: EventId) -> Option<OperationId>;

    /// Operations submitted so far.
    fn submitted(&self) -> usize;

    /// How many operations, in launch order, have completed before the first that has not.
    fn completed_in_a_row(&self) -> usize;
}

/// What the GPU tells its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpuEvent {
    /// An operation has completed and left its stream queue (G4, C4).
    Completed(OperationId),
    /// All blocks of a kernel are assigned (G3).
    FullyDispatched(OperationId),
}

/// Whoever decides when work is submitted: the examiner's threads, a scheduler, a run-time framework.
///
/// At each instant at which something happens the simulation calls [`Host::on_event`] for everything that happened,
/// [`Host::on_wake`] for the wake-ups that were asked for with [`GpuInterface::wake_at`], and then [`Host::act`], which
/// may submit operations. A host that needs no errors of its own has [`RunError`] for its [`Host::Error`].
///
/// ```
/// # use gpusched_engine as gpusched;
/// use gpusched::device::Device;
/// use gpusched::gpu::{GpuInterface, GpuOptions, Host, RunError, Simulated};
/// use gpusched::time::{Duration, Instant};
/// use gpusched::workload::{Kernel, OperationKind, Origin, StreamId};
///
/// /// Launches one kernel every millisecond, five times.
/// struct Ticker {
///     launches: u64,
/// }
///
/// impl Host for Ticker {
///     type Error = RunError;
///
///     fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
///         gpu.wake_at(Instant::ZERO, 0);
///         Ok(())
///     }
///
///     fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
///         while self.launches < 5 && gpu.now().as_ns() >= self.launches * 1_000_000 {
///             let kernel = gpu.add_kernel(Kernel::new("K", 4, 1024, Duration::from_ns(400_000)))?;
///             gpu.submit(StreamId::NULL, OperationKind::Kernel(kernel), Origin::default())?;
///             self.launches += 1;
///             gpu.wake_at(Instant::from_ns(self.launches * 1_000_000), 0);
///         }
///         Ok(())
///     }
/// }
///
/// let tx2 = Device::builtin("tx2")?.unwrap();
/// let trace = Simulated::of(&tx2, GpuOptions::default(), Ticker { launches: 0 })?.trace;
/// assert_eq!(trace.operations()[4].finish(), Some(Instant::from_ns(4_400_000)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Host {
    /// Why this host cannot go on, the GPU's own errors included.
    type Error: From<RunError>;

    /// Called once at t = 0: create streams, ask to be woken.
    ///
    /// # Errors
    /// The host's own, or whatever the GPU refuses.
    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), Self::Error> {
        let _ = gpu;
        Ok(())
    }

    /// Something happened on the GPU.
    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        let _ = (event, gpu);
    }

    /// The instant has come for which [`GpuInterface::wake_at`] was called with this token. Tokens of one instant
    /// come in ascending order.
    fn on_wake(&mut self, token: u64) {
        let _ = token;
    }

    /// Act at the present instant until there is nothing left to do.
    ///
    /// # Errors
    /// The host's own, or whatever the GPU refuses.
    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), Self::Error>;
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is left to happen.
    Done,
    /// The horizon came first.
    Horizon,
    /// It was [stopped](crate::effort::EarlyEnd::Stopped), and is complete up to its end.
    Cut,
}

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
    /// Take whole cycles of a kernel that fills the GPU in one step. The result is the same either way.
    pub skip_cycles: bool,
    /// A run that is [stopped](crate::effort::EarlyEnd::Stopped) ends there as at a horizon; else that is an error.
    pub may_be_cut: bool,
    /// Record which blocks ran where, and what operations waited for. A record without these tells when each operation
    /// was launched, began and ended all the same.
    pub keeps_details: bool,
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
            skip_cycles: true,
            may_be_cut: false,
            keeps_details: true,
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
    /// A stream, event, kernel or copy that was never made known.
    #[error("no such stream, event, kernel or copy")]
    Unknown,
    /// Processes of two catalogues, of which nobody says which is which.
    #[error("several processes are made known beside others")]
    SeveralProcesses,
    /// The run was stopped, or is more work than its input may ask for.
    #[error(transparent)]
    EarlyEnd(#[from] EarlyEnd),
    /// More operations than the run may submit.
    #[error("the scenario submits more than {most} operations")]
    TooManyOperations {
        /// The limit.
        most: u32,
    },
}

/// Why a run cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The GPU refused what the host submitted.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// An operation would end after the end of representable time.
    #[error("operation {} would end after 2^64 ns", operation.0)]
    TimeOverflow {
        /// The operation.
        operation: OperationId,
    },
    /// The run goes on until 2^64 ns, the end of representable time, which stands for "never".
    #[error("the run goes on until 2^64 ns, the end of representable time")]
    EndOfTime,
    /// More steps at one instant than a scenario that makes progress can have.
    #[error("more than {MAX_ROUNDS} rounds of zero-length operations at {at}: time does not go on")]
    NoProgress {
        /// The instant.
        at: Instant,
    },
    /// The record has no room left.
    #[error(transparent)]
    TraceFull(#[from] TraceFull),
}

/// Rounds at one instant after which a run is given up.
pub(super) const MAX_ROUNDS: u64 = 100_000_000;
