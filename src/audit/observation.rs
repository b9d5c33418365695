//! What is known of a trace, measured or simulated.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::observed_turns::ObservedTurns;
use crate::device::{BlockShape, Device, Runlists, SmMask};
use crate::logs::{BlockList, LogTime};
use crate::time::Duration;
use crate::workload::{BlockClock, BlockTime, Clusters, GreenContextId, Placement, Programmatic};

/// Everything that the audit looks at.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// What it is called in reports.
    pub title: Arc<str>,
    /// The GPU.
    pub device: Device,
    /// Where the times come from.
    pub(crate) source: TimeSource,
    /// Streams.
    pub streams: Vec<ObservedStream>,
    /// How the contexts of several processes share the GPU.
    pub contexts: ObservedContexts,
    /// On how many SMs at once each process may have blocks, as a client of MPS; none where that limits nobody.
    pub client_sms: Vec<u32>,
    /// Whether SMs may have the numbers that each client of MPS gives them for itself: these tell the SMs of one
    /// process and mask apart, and nothing else.
    pub virtual_sms: bool,
    /// Operations in launch order; those of one stream in their order in the stream.
    pub operations: Vec<ObservedOperation>,
    /// Calls that free memory and waited, in a simulated run; no log shows them.
    pub frees: Vec<ObservedFree>,
    /// Whether operations that became ready at one instant entered their queues in another order than the model's: then
    /// times tell nothing of the order of one instant.
    pub(super) has_chosen_order: bool,
    /// Events that are recorded once the kernel before the record has triggered (PDL), by number.
    pub(super) programmatic_events: BTreeSet<u32>,
    /// Why kernels or blocks are missing that ran as well; then nobody can tell what should not have waited.
    pub incomplete: Option<String>,
}

/// Where times come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeSource {
    /// A GPU's clock for blocks, the host's for launches, both with noise.
    Measured,
    /// One exact clock.
    Simulated {
        /// The policy by which blocks were placed.
        placement: Placement,
        /// The run was ended at this instant \[ns\]; `None`: it ran to its end.
        horizon_ns: Option<LogTime>,
    },
}

/// How the contexts of several processes share the GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObservedContexts {
    /// All streams are of one context: there is one process, or all are clients of MPS.
    One,
    /// They take turns (T1), and nobody saw when.
    Unseen,
    /// They took these turns.
    Seen(ObservedTurns),
}

/// A call that frees memory and waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedFree {
    /// The process, by number.
    pub process: usize,
    /// The host thread, by number.
    pub thread: usize,
    /// Whether its thread may have to wait for a core before the call returns.
    pub shares_core: bool,
    /// When it was called \[ns\].
    pub from_ns: LogTime,
    /// When it returned \[ns\]; `None`: the run ended before.
    pub to_ns: Option<LogTime>,
}

/// Who has EE queues beside those that all others of a context share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum QueueOwner {
    /// A green context.
    Green(GreenContextId),
    /// The process of this number, a client of MPS that may use a part of the SMs.
    Client(usize),
}

/// A stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedStream {
    /// Name in reports.
    pub name: Arc<str>,
    /// The process that it is of, by number.
    pub process: usize,
    /// Whether it is the NULL stream of its process.
    pub is_null: bool,
    /// Priority, 0 the lowest; a log does not say it.
    pub priority: Option<i32>,
    /// Whether N1 and N2 hold for it against the NULL stream of its process.
    pub blocking: bool,
    /// Its green context, by number, which has queues of its own.
    pub green_context: Option<GreenContextId>,
    /// Work queues that only the streams of that green context share; `None`: it takes channels as all others.
    pub work_queues: Option<u32>,
}

/// A kernel launch, copy, memset, record or wait.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedOperation {
    /// Name in reports.
    pub name: Arc<str>,
    /// Its stream, by number.
    pub stream: usize,
    /// Which log and which kernel of it this is, by position; `None`: it is in no log.
    pub origin: Option<(usize, usize)>,
    /// The host thread that launched it, by number: its launches come one after another.
    pub thread: usize,
    /// The process that launched it, if known: each has a clock of its own.
    pub process: Option<u64>,
    /// When the call began \[ns\]: nothing happens before that.
    pub called_ns: LogTime,
    /// Between which times it took its place in the order of launches \[ns\].
    pub launched_ns: [LogTime; 2],
    /// Whether these are times on the GPU's clock although the others of the run were measured: nobody saw the launch,
    /// which came by its first block at the latest.
    pub is_launch_on_gpu_clock: bool,
    /// What it does.
    pub work: ObservedWork,
}

/// What an operation does.
#[derive(Debug, Clone, PartialEq)]
pub enum ObservedWork {
    /// A kernel.
    Kernel(ObservedKernel),
    /// A copy.
    Copy(ObservedCopy),
    /// A memset: takes no time and no engine.
    Memset,
    /// The event of this number is recorded.
    Record(u32),
    /// What comes after it in its stream waits for the last record of that event launched before it.
    Wait(u32),
}

/// A kernel launch.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedKernel {
    /// Blocks that it has.
    pub grid: u32,
    /// What one block needs.
    pub shape: BlockShape,
    /// SMs that it must not use: its own mask, or else its stream's.
    pub sm_mask: Option<SmMask>,
    /// How long its blocks should take; `None`: nobody says.
    pub duration: Option<BlockTime>,
    /// How long each of them should take, by number, which counts before [`Self::duration`]; empty: nobody says.
    pub block_times: Arc<[Duration]>,
    /// On which clock that is.
    pub clock: BlockClock,
    /// What it has to do with programmatic dependent launch; nothing where nobody says.
    pub programmatic: Programmatic,
    /// How its blocks are grouped into clusters; `None`: they are not, or nobody says.
    pub clusters: Option<Clusters>,
    /// When the host saw it complete \[ns\], on the host's clock.
    pub synchronized_ns: Option<LogTime>,
    /// Its blocks, in the order of their numbers.
    pub blocks: Arc<BlockList>,
}

/// A copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedCopy {
    /// The copy engine that serves it.
    pub engine: u32,
    /// How long it should take \[ns\]; `None`: nobody says.
    pub duration_ns: Option<i64>,
    /// Start and end \[ns\]; `None`: it has not run, or nobody saw.
    pub times_ns: Option<[LogTime; 2]>,
}

impl Observation {
    /// Whether kernels may begin, or blocks end, at the very instant at which the kernel before triggers or ends (PDL).
    /// Then nobody knows in which order things happened at that instant.
    pub(super) fn may_trigger_at_once(&self) -> bool {
        let latencies = [self.device.pdl_trigger_latency, self.device.pdl_wait_latency];
        latencies.contains(&Duration::ZERO) && self.has_dependent_launches()
    }

    /// Whether some kernel is launched programmatically (PDL).
    pub(super) fn has_dependent_launches(&self) -> bool {
        let mut kernels = self.operations.iter().filter_map(|operation| operation.kernel());
        kernels.any(|kernel| kernel.programmatic.is_dependent)
    }

    /// Whether it is a simulated run that was ended before `at`.
    pub(super) fn is_cut_before(&self, at: LogTime) -> bool {
        matches!(self.source, TimeSource::Simulated { horizon_ns: Some(horizon), .. } if at > horizon)
    }

    /// The context of an operation, by number: what runs at one time, and shares queues and SMs.
    pub(super) fn context_of(&self, operation: usize) -> usize {
        match &self.contexts {
            ObservedContexts::One => 0,
            ObservedContexts::Unseen | ObservedContexts::Seen(_) => {
                let stream = self.operations.get(operation).and_then(|operation| self.streams.get(operation.stream));
                stream.map_or(0, |stream| stream.process)
            }
        }
    }

    /// Whether two operations wait in the EE queues of one context, and of one owner there.
    pub(super) fn share_queues(&self, one: usize, other: usize) -> bool {
        self.context_of(one) == self.context_of(other) && self.queue_owner_of(one) == self.queue_owner_of(other)
    }

    /// Whose EE queues of its context an operation waits in.
    pub(super) fn queue_owner_of(&self, operation: usize) -> Option<QueueOwner> {
        let operation = self.operations.get(operation)?;
        self.queue_owner(self.streams.get(operation.stream)?)
    }

    fn queue_owner(&self, stream: &ObservedStream) -> Option<QueueOwner> {
        let is_limited = self.client_sms.get(stream.process).is_some_and(|&sms| sms < self.device.sms);
        let client = is_limited.then_some(QueueOwner::Client(stream.process));
        stream.green_context.map(QueueOwner::Green).or(client)
    }

    /// The green context of an operation, by number.
    pub(super) fn green_context_of(&self, operation: usize) -> Option<GreenContextId> {
        let operation = self.operations.get(operation)?;
        self.streams.get(operation.stream)?.green_context
    }

    /// Whether masks keep kernels from SMs whose numbers are not known.
    pub(super) fn has_masked_virtual_sms(&self) -> bool {
        let is_masked =
            |operation: &ObservedOperation| operation.kernel().is_some_and(|kernel| kernel.sm_mask.is_some());
        self.virtual_sms && self.operations.iter().any(is_masked)
    }

    /// Who has EE queues, in a context.
    pub(super) fn queue_owners(&self) -> BTreeSet<Option<QueueOwner>> {
        self.streams.iter().map(|stream| self.queue_owner(stream)).collect()
    }

    /// Whether copies run in the turns of their contexts only (T5).
    pub(super) fn copies_run_in_turns(&self) -> bool {
        self.device.time_slicing.runlists == Runlists::Shared
    }

    /// Whether something runs in the turns of its context only (T1, T5).
    pub(super) fn runs_in_turns(&self, work: &ObservedWork) -> bool {
        match work {
            ObservedWork::Kernel(_) => true,
            ObservedWork::Copy(_) => self.copies_run_in_turns(),
            ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_) => false,
        }
    }

    /// How many contexts there are.
    pub(super) fn context_count(&self) -> usize {
        match &self.contexts {
            ObservedContexts::One => 1,
            ObservedContexts::Unseen => self.process_count(),
            ObservedContexts::Seen(turns) => self.process_count().max(turns.levels.len()),
        }
    }

    /// How many processes there are.
    pub(super) fn process_count(&self) -> usize {
        self.streams.iter().map(|stream| stream.process + 1).max().unwrap_or(1)
    }

    /// Whether a stream is the NULL stream of its process.
    pub(super) fn is_null(&self, stream: usize) -> bool {
        self.streams.get(stream).is_some_and(|stream| stream.is_null)
    }
}

impl ObservedOperation {
    /// The kernel, if it is one.
    pub fn kernel(&self) -> Option<&ObservedKernel> {
        match &self.work {
            ObservedWork::Kernel(kernel) => Some(kernel),
            _ => None,
        }
    }
}

impl ObservedKernel {
    /// How long the block of this number should take; `None`: nobody says.
    pub(super) fn stated_time(&self, block: usize) -> Option<BlockTime> {
        self.block_times.get(block).copied().map(BlockTime::fixed).or(self.duration)
    }

    /// Whether all its blocks were seen.
    pub(super) fn is_whole(&self) -> bool {
        self.blocks.len() >= self.grid as usize
    }
}
