//! What a record holds of operations, waves, turns and waits: one entry of each.

use std::mem::{Discriminant, discriminant};
use std::sync::OnceLock;

use serde::Serialize;

use super::rule::Rule;
use crate::named::named;
use crate::time::{Duration, Instant};
use crate::workload::{OperationId, OperationKind, Origin, Part, ProcessId, StreamId};

/// One operation and the instants of its life.
///
/// For kernels: launched (G1) <= head of its stream queue <= queued in the EE queue (G2) <= head of the EE queue
/// <= first block assigned <= last block assigned (G3) <= finished (G4). For copies likewise, with C1 to C4.
/// An instant that was not reached before the run ended is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationRecord {
    /// What it is.
    pub kind: OperationKind,
    /// Where it was submitted.
    pub stream: StreamId,
    /// Who submitted it.
    pub origin: Origin,
    /// Counts entries into EE and CE queues.
    pub(super) queue_order: u32,
    pub(super) launched: Instant,
    pub(super) reached_head: Instant,
    pub(super) queued: Instant,
    pub(super) reached_queue_head: Instant,
    pub(super) first_start: Instant,
    pub(super) last_start: Instant,
    pub(super) finish: Instant,
}

/// Stands for "not reached" in the fields of a record.
pub const NEVER: Instant = Instant::MAX;

fn reached(instant: Instant) -> Option<Instant> {
    (instant != NEVER).then_some(instant)
}

impl OperationRecord {
    pub(super) fn new(kind: OperationKind, stream: StreamId, origin: Origin, launched: Instant) -> Self {
        Self {
            kind,
            stream,
            origin,
            queue_order: u32::MAX,
            launched,
            reached_head: NEVER,
            queued: NEVER,
            reached_queue_head: NEVER,
            first_start: NEVER,
            last_start: NEVER,
            finish: NEVER,
        }
    }

    /// The host's call (G1).
    pub fn launched(&self) -> Instant {
        self.launched
    }

    /// It reached the head of its stream queue.
    pub fn reached_head(&self) -> Option<Instant> {
        reached(self.reached_head)
    }

    /// It entered its EE or CE queue (G2, C1).
    pub fn queued(&self) -> Option<Instant> {
        reached(self.queued)
    }

    /// Its place in the order in which operations entered EE and CE queues; meaningless before it is queued.
    pub fn queue_order(&self) -> u32 {
        self.queue_order
    }

    /// It reached the head of its EE queue; copies have none of this.
    pub fn reached_queue_head(&self) -> Option<Instant> {
        reached(self.reached_queue_head)
    }

    /// Its first block was assigned (dispatched), or the copy began.
    pub fn first_start(&self) -> Option<Instant> {
        reached(self.first_start)
    }

    /// Its last block was assigned (fully dispatched, G3), or the copy began (C3).
    pub fn last_start(&self) -> Option<Instant> {
        reached(self.last_start)
    }

    /// All its blocks, or the copy, had completed (G4, C4).
    pub fn finish(&self) -> Option<Instant> {
        reached(self.finish)
    }

    /// Response time: finish minus launch.
    pub fn response(&self) -> Option<Duration> {
        self.finish().map(|finish| finish.since(self.launched))
    }
}

/// Blocks that were assigned together wait while they run (rule `counter`), on their SM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stand {
    /// Their kernel launch.
    pub operation: OperationId,
    /// Number of the first of them.
    pub first_block: u32,
    /// How many.
    pub blocks: u32,
    /// At which point of their kernel's [synchronization](crate::workload::Synchronization::points).
    pub point: u32,
    /// Since when.
    pub from: Instant,
    /// Until when; [`NEVER`]: the run ended before.
    pub to: Instant,
}

impl Stand {
    /// Whether the run ended while they waited.
    pub fn is_open(&self) -> bool {
        self.to == NEVER
    }
}

/// Blocks of one kernel assigned in one go. They end together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wave {
    /// The kernel launch, by operation number.
    pub(super) operation: u32,
    /// Number of its first block (blocks are numbered in the order of assignment).
    pub(super) first_block: u32,
    /// Its parts, which have its blocks.
    pub(super) parts: WaveParts,
    /// The round-robin pointer before the wave.
    pub(super) cursor: u32,
    /// The stretch that it belongs to, or [`NO_STRETCH`].
    pub(super) stretch: u32,
    pub(super) start: Instant,
    pub(super) duration: Duration,
}

/// The parts of a wave. Most have one, which is looked for nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaveParts {
    /// The only one.
    One(Part),
    /// Where they begin in the trace, and how many there are: a device has at most 4,096 SMs.
    Many(u32, u16),
}

impl WaveParts {
    /// The same where so many others were put before those of the trace.
    pub(super) fn behind(self, others: u32) -> Self {
        match self {
            Self::One(_) => self,
            Self::Many(first, count) => Self::Many(first.saturating_add(others), count),
        }
    }
}

/// Marks a wave that happens once.
pub(super) const NO_STRETCH: u32 = u32::MAX;

/// Adjacent waves of one kernel that repeat as a whole: a kernel that fills the GPU repeats itself with the duration
/// of its blocks for a period, and such a stretch is stored once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(super) first_wave: u32,
    /// How many waves make up one cycle.
    pub(super) waves: u32,
    /// How often the cycle happens.
    pub(super) cycles: u32,
    /// From one cycle to the next.
    pub(super) period: Duration,
    /// Blocks of one cycle.
    pub(super) blocks: u32,
}

/// One block, as the trace's iterators expand it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Number within its kernel, in the order of assignment, from 0.
    pub index: u32,
    /// The SM it ran on.
    pub sm: u16,
    /// When it was assigned.
    pub start: Instant,
    /// When it completes; past the end of a run that was ended before ([`Trace::completed`](super::Trace::completed)).
    pub end: Instant,
}

/// A turn that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewTurn {
    /// The process whose context it is of.
    pub process: ProcessId,
    /// When the switch to it began; `start` if there is none.
    pub switch_from: Instant,
    /// When blocks of it may run.
    pub start: Instant,
}

named! {
    /// Why a turn ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum TurnEnd {
        /// Its slice was over and another context had work (T2).
        TimeSlice = "time slice",
        /// Its context had no resident block and none to assign (T2).
        NoWork = "no work",
        /// Its context was taken off the runlist.
        TakenOff = "taken off the runlist",
        RunEnded = "end of the run",
    }
}

/// A turn of a context: the time in which blocks of it, and of no other, run (T1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextTurn {
    /// The process whose context it is of.
    pub process: ProcessId,
    /// When the switch to it began, in which no block ran (T3); `start` if there was none.
    pub switch_from: Instant,
    /// When it began; the end of the run if that came before.
    pub start: Instant,
    /// When it ended.
    pub end: Instant,
    /// Why it ended.
    pub ended_by: TurnEnd,
}

impl ContextTurn {
    /// How long it lasted.
    pub fn duration(&self) -> Duration {
        self.end.since(self.start)
    }

    /// How long the switch to it took.
    pub fn switch(&self) -> Duration {
        self.start.since(self.switch_from)
    }
}

/// The turns of one process, in order of time: from when to when, and how long all before them lasted together.
pub(super) type Served = Vec<(Instant, Instant, Duration)>;

/// A time in which a copy stood still as its engine served another context: which, from when to when.
pub(super) type CopyPause = (OperationId, Instant, Instant);

/// A time during which an operation waited, and the rule that held it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The rule.
    pub rule: Rule,
    /// From.
    pub from: Instant,
    /// Until; the end of the run for what still waited then.
    pub to: Instant,
}

impl Wait {
    /// How long.
    pub fn duration(&self) -> Duration {
        self.to.since(self.from)
    }
}

/// A wait in the record, with the operation that waited: 24 bytes, where a [`Wait`] beside a number takes 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotedWait {
    pub(super) operation: u32,
    pub(super) rule: Rule,
    pub(super) from: Instant,
    pub(super) to: Instant,
}

impl NotedWait {
    /// Without the operation.
    pub(super) fn wait(&self) -> Wait {
        Wait { rule: self.rule, from: self.from, to: self.to }
    }
}

// Numbers of operations among those of their kind, by which copies and the like are told apart.

/// How many operations there were of each kind.
#[derive(Debug, Clone, Default)]
pub(super) struct KindCounts(Vec<(Discriminant<OperationKind>, u32)>);

impl KindCounts {
    /// How many of its kind were counted before this one.
    pub(super) fn count(&mut self, record: &OperationRecord) -> u32 {
        let kind = discriminant(&record.kind);
        let known = self.0.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            self.0.push((kind, 0));
            self.0.len() - 1
        });
        let count = &mut self.0[known].1;
        *count += 1;
        *count - 1
    }
}

/// For each operation its number, counted when the first is asked for: most runs are never asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    known: OnceLock<Vec<u32>>,
    /// Operations of the run that come before those of the record.
    before: KindCounts,
}

/// They follow from the operations.
impl PartialEq for Numbers {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Numbers {}

impl Numbers {
    /// Counts on from those that come before the record.
    pub(super) fn after(before: KindCounts) -> Self {
        Self { known: OnceLock::new(), before }
    }

    /// Counts anew.
    pub(super) fn forget(&mut self) {
        self.known = OnceLock::new();
    }

    /// How many of the same kind come before number `operation` of these.
    pub(super) fn of(&self, operations: &[OperationRecord], operation: u32) -> u32 {
        let count = || {
            let mut counts = self.before.clone();
            operations.iter().map(|record| counts.count(record)).collect()
        };
        self.known.get_or_init(count).get(operation as usize).copied().unwrap_or(operation)
    }
}
