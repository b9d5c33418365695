//! A run as it was observed: streams, operations, and when and where their blocks ran, measured or simulated. It is all
//! that the audit knows. `from_logs` and `from_trace` bring logs and simulated runs into this form.

mod from_logs;
mod from_trace;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::device::{BlockShape, Device, Runlists, SmMask};
use crate::logs::{BlockList, LogTime};
use crate::time::Duration;
use crate::workload::{
    BlockClock, BlockTime, Clusters, CounterValue, GreenContextId, InterleaveLevel, Placement, Programmatic,
    Synchronization,
};

/// A run as it was observed: everything that the audit looks at.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedRun {
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
    /// Jobs of threads of which one releases the other, by thread and then number; none of a measured run.
    pub jobs: Vec<ObservedJob>,
    /// Which of these threads release which.
    pub triggers: Vec<ObservedTrigger>,
    /// Whether operations that became ready at one instant entered their queues in another order than the model's: then
    /// times tell nothing of the order of one instant.
    pub(super) has_chosen_order: bool,
    /// Events that are recorded once the kernel before the record has triggered (PDL), by number.
    pub(super) programmatic_events: BTreeSet<u32>,
    /// Events that are recorded once all blocks of that kernel have begun.
    pub(super) launch_completion_events: BTreeSet<u32>,
    /// Counters that no host writes in memory, by number: all that changes them was seen.
    pub(super) known_counters: BTreeSet<u32>,
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

/// A host thread whose jobs the ends of those of another release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedTrigger {
    /// Its name in reports.
    pub name: Arc<str>,
    /// The host thread, by number.
    pub thread: usize,
    /// The other one, by number.
    pub trigger: usize,
    /// Whether it may have to wait, for a core or at a barrier, before a job that has been released begins.
    pub may_wait: bool,
}

/// A job whose end releases one of another thread, or that is released so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedJob {
    /// The host thread, by number.
    pub thread: usize,
    /// Which job of that thread, from 0.
    pub number: u32,
    /// When it was released \[ns\].
    pub released_ns: LogTime,
    /// When its first step began \[ns\].
    pub began_ns: LogTime,
    /// When its host had done its last step \[ns\]; `None`: the run ended before.
    pub host_end_ns: Option<LogTime>,
    /// When that was so and all its operations had completed \[ns\]; `None`: the run ended before.
    pub end_ns: Option<LogTime>,
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
    /// What comes after it in its stream waits for a value of a counter, or a counter is set to it.
    Value(ObservedValue),
}

/// A wait for a value of a counter, or its being written, in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedValue {
    /// Whether it waits.
    pub waits: bool,
    /// Which value of which counter.
    pub value: CounterValue,
    /// When it was over \[ns\]; [`LogTime::MAX`]: never.
    pub finish_ns: LogTime,
}

/// A time in which a block waited at a point of its kernel's synchronization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedStand {
    /// The block, by number.
    pub block: usize,
    /// The point, by number.
    pub point: usize,
    /// Since when \[ns\].
    pub from_ns: LogTime,
    /// Until when \[ns\]; [`LogTime::MAX`]: the run ended before.
    pub to_ns: LogTime,
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
    /// How its blocks depend on others while they run; `None`: they do not, or nobody says.
    pub synchronization: Option<Arc<Synchronization>>,
    /// When its blocks waited so, by block and point.
    pub stands: Vec<ObservedStand>,
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

/// Limits that leave every process all SMs limit nobody.
fn if_limiting(limits: Vec<u32>, device: &Device) -> Vec<u32> {
    if limits.iter().any(|&sms| sms < device.sms) { limits } else { Vec::new() }
}

impl ObservedRun {
    /// All kernels.
    pub(super) fn kernels(&self) -> impl Iterator<Item = &ObservedKernel> {
        self.operations.iter().filter_map(ObservedOperation::kernel)
    }

    /// The stream of an operation.
    pub(super) fn stream_of(&self, operation: &ObservedOperation) -> Option<&ObservedStream> {
        self.streams.get(operation.stream)
    }

    /// Whether nobody says which priority the stream of an operation has.
    pub(super) fn has_unknown_priority(&self, operation: &ObservedOperation) -> bool {
        self.stream_of(operation).is_none_or(|stream| stream.priority.is_none())
    }

    /// Whether times are those of a simulation.
    pub(super) fn is_simulated(&self) -> bool {
        matches!(self.source, TimeSource::Simulated { .. })
    }

    /// The turns that contexts were seen to take.
    pub(super) fn turns(&self) -> Option<&ObservedTurns> {
        match &self.contexts {
            ObservedContexts::Seen(turns) => Some(turns),
            ObservedContexts::One | ObservedContexts::Unseen => None,
        }
    }

    /// Whether kernels may begin, or blocks end, at the very instant at which the kernel before triggers or ends (PDL).
    /// Then nobody knows in which order things happened at that instant.
    pub(super) fn may_trigger_at_once(&self) -> bool {
        let latencies = [self.device.pdl_trigger_latency, self.device.pdl_wait_latency];
        latencies.contains(&Duration::ZERO) && self.has_dependent_launches()
    }

    /// Whether waits for an event may be over before its record is.
    pub(super) fn is_early_event(&self, event: u32) -> bool {
        self.programmatic_events.contains(&event) || self.launch_completion_events.contains(&event)
    }

    /// Whether something waits for others while it runs, so that much may happen in several rounds of one instant.
    pub(super) fn synchronizes(&self) -> bool {
        let on_counter = |operation: &ObservedOperation| matches!(operation.work, ObservedWork::Value(_));
        !self.launch_completion_events.is_empty()
            || self.kernels().any(|kernel| kernel.synchronization.is_some())
            || self.operations.iter().any(on_counter)
    }

    /// Whether some kernel is launched programmatically (PDL).
    pub(super) fn has_dependent_launches(&self) -> bool {
        self.kernels().any(|kernel| kernel.programmatic.is_dependent)
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
                let stream = self.operations.get(operation).and_then(|operation| self.stream_of(operation));
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
        self.queue_owner(self.stream_of(self.operations.get(operation)?)?)
    }

    fn queue_owner(&self, stream: &ObservedStream) -> Option<QueueOwner> {
        let is_limited =
            self.device.gpus() > 1 || self.client_sms.get(stream.process).is_some_and(|&sms| sms < self.device.sms);
        let client = is_limited.then_some(QueueOwner::Client(stream.process));
        stream.green_context.map(QueueOwner::Green).or(client)
    }

    /// The green context of an operation, by number.
    pub(super) fn green_context_of(&self, operation: usize) -> Option<GreenContextId> {
        self.stream_of(self.operations.get(operation)?)?.green_context
    }

    /// Whether masks keep kernels from SMs whose numbers are not known.
    pub(super) fn has_masked_virtual_sms(&self) -> bool {
        self.virtual_sms && self.kernels().any(|kernel| kernel.sm_mask.is_some())
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
            ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_) | ObservedWork::Value(_) => false,
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

/// A turn of a context: the time in which what it has begun goes on (T1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedTurn {
    /// The process whose context it is of, by number.
    pub process: usize,
    /// When it began.
    pub start_ns: LogTime,
    /// When it ended.
    pub end_ns: LogTime,
    /// The run ended in the switch to it.
    pub is_on_its_way: bool,
}

/// How contexts took turns, and how they were to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedTurns {
    /// All turns, in order of time.
    pub turns: Vec<ObservedTurn>,
    /// The run ended then \[ns\].
    pub run_end_ns: LogTime,
    /// T2: how long a turn of each process lasts at most \[ns\].
    pub time_slices_ns: Vec<i64>,
    /// T3: what a switch from one context to another costs \[ns\].
    pub switch_cost_ns: i64,
    /// T6: the level of each process.
    pub levels: Vec<InterleaveLevel>,
    /// A host took contexts off the runlist, or put them back, by itself, which the rules say nothing of.
    pub is_driven_by_host: bool,
}

impl ObservedTurns {
    /// For how long something of a process that began and ended at these times went on. Behind the end of the run all
    /// counts, since what had not ended then is told as if it were its turn from then on.
    pub(super) fn net(&self, process: usize, start: LogTime, end: LogTime) -> i64 {
        let inside: i64 = self.overlapping(process, start, end).map(|(from, to)| to.since(from)).sum();
        inside + end.since(self.run_end_ns.max(start)).max(0)
    }

    /// How long something of a process took that watches a timer, and was due after `worst` at the latest: what it
    /// waited from then on until its turn does not count.
    pub(super) fn on_timer(&self, process: usize, (start, end): (LogTime, LogTime), worst: Duration) -> i64 {
        let due = start.after(worst);
        let first = self.turns.partition_point(|turn| turn.end_ns < due);
        let own = self.turns[first..].iter().find(|turn| turn.process == process && !turn.is_on_its_way);
        let soonest = own.map_or(self.run_end_ns.saturating_add(1), |turn| turn.start_ns).max(due);
        if end > due && end == soonest { due.since(start) } else { end.since(start) }
    }

    /// The parts of a time, up to the end of the run, in which it was the turn of a process.
    fn overlapping(
        &self,
        process: usize,
        start: LogTime,
        end: LogTime,
    ) -> impl Iterator<Item = (LogTime, LogTime)> + '_ {
        let first = self.turns.partition_point(|turn| turn.end_ns <= start);
        let until = end.min(self.run_end_ns);
        let turns = self.turns[first..].iter().take_while(move |turn| turn.start_ns < until);
        let own = turns.filter(move |turn| turn.process == process);
        own.map(move |turn| (turn.start_ns.max(start), turn.end_ns.min(until)))
    }

    /// Whether something of a process that began at `start` could go on just before `at`, or had no length, or could
    /// not have ended since (behind the run's end). A timer may have run out before the turn began.
    pub(super) fn can_end(&self, process: usize, clock: BlockClock, (start, at): (LogTime, LogTime)) -> bool {
        let first = self.turns.partition_point(|turn| turn.end_ns < at);
        let mut turns = self.turns[first..].iter().take_while(|turn| turn.start_ns <= at);
        let goes_on = |turn: &ObservedTurn| {
            let at_once = start == at || clock == BlockClock::Wall;
            turn.process == process && (turn.start_ns < at || at_once && !turn.is_on_its_way)
        };
        at > self.run_end_ns || turns.any(goes_on)
    }

    /// T6: the order of a round.
    pub(super) fn round(&self) -> Vec<usize> {
        let of = |level| (0..).zip(&self.levels).filter(move |&(_, own)| *own == level).map(|(process, _)| process);
        let high: Vec<usize> = of(InterleaveLevel::High).collect();
        let under = |above: &[usize], level| -> Vec<usize> {
            of(level).flat_map(|process| above.iter().copied().chain([process])).collect()
        };
        let medium = under(&high, InterleaveLevel::Medium);
        let low = under(&[&medium[..], &high].concat(), InterleaveLevel::Low);
        [low, medium, high].into_iter().find(|round| !round.is_empty()).unwrap_or_default()
    }
}
