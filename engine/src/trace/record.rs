//! What happened, compactly: it grows with events, not with blocks.

use std::collections::BTreeSet;
use std::sync::Arc;

use thiserror::Error;

use super::entries::{
    Block, ContextTurn, CopyPause, NotedWait, Numbers, OperationRecord, Served, Stand, Stretch, Wave, WaveParts,
};
use crate::device::{Device, SmMask};
use crate::time::Instant;
use crate::workload::{
    CheckedKernel, CheckedProcess, CheckedStream, Copy, CounterId, CounterValue, EventId, GreenContext, Items, Kernels,
    OperationId, OperationKind, Part, Placement, ProcessId, StreamId, TurnTaking,
};

/// More waves than 32 bits count, or more turns of contexts than memory should hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the run is too long to record: more than 2^32 waves of blocks, or 2^25 turns of contexts")]
pub struct TraceFull;

/// The record of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    pub(super) sms: u32,
    /// Whether it is what somebody observed elsewhere.
    pub(super) is_observed: bool,
    pub(super) placement: Placement,
    pub(super) seed: u64,
    pub(super) end: Instant,
    pub(super) items: Items,
    /// Number of the first of the operations: of a long run, those before it may have left the record.
    pub(super) first: u32,
    pub(super) operations: Vec<OperationRecord>,
    pub(super) waves: Vec<Wave>,
    /// Those of waves that have several.
    pub(super) parts: Vec<Part>,
    pub(super) stretches: Vec<Stretch>,
    /// Waits that cannot be told from the instants of an operation, sorted by operation once the run is over.
    pub(super) waits: Vec<NotedWait>,
    /// For each operation, where its waits begin in `waits`; filled once the run is over, where there are any.
    pub(super) first_wait: Vec<u32>,
    /// Waits for events, in launch order, and the records that they are for.
    pub(super) awaited: Vec<(OperationId, OperationId)>,
    /// When blocks waited for others while they ran, in the order in which that ended.
    pub(super) stands: Vec<Stand>,
    /// What counters hold at the end, as far as they were changed.
    pub(super) counter_values: Vec<u64>,
    /// The turns of contexts, in order of time; none without several contexts that take turns.
    pub(super) turns: Vec<ContextTurn>,
    /// Times in turns in which nothing began any more, as they lasted only until blocks had run to their ends (T4).
    pub(super) ran_out: Vec<(Instant, Instant)>,
    /// The same by process; filled once the run is over.
    pub(super) served: Vec<Served>,
    /// When copies stood still on engines that contexts share by turns, by copy and time once the run is over.
    pub(super) copy_pauses: Vec<CopyPause>,
    /// For each operation, where its waves begin in `waves_by_operation`; filled once the run is over.
    pub(super) first_wave: Vec<u32>,
    pub(super) waves_by_operation: Vec<u32>,
    /// Of launches with blocks left to begin, of which completed blocks have left a long run: how many had begun then.
    pub(super) begun_before: Vec<(u32, u32)>,
    pub(super) numbers: Numbers,
    /// By choice, the first ones: among how many operations, and which of them came next.
    pub(super) ready_choices: Vec<(u32, u32)>,
}

impl Trace {
    pub(super) fn new(sms: u32, placement: Placement, seed: u64) -> Self {
        Self { sms, placement, seed, ..Self::default() }
    }

    /// SMs of the device.
    pub fn sms(&self) -> u32 {
        self.sms
    }

    /// Whenever several operations that had become ready at one instant might be the next to enter a queue: how many,
    /// and which of them did, from 0. The first 4096 of these choices, which
    /// [`set_ready_order`](crate::gpu::GpuInterface::set_ready_order) states.
    pub fn ready_choices(&self) -> &[(u32, u32)] {
        &self.ready_choices
    }

    /// The policy by which blocks were placed.
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// The last instant at which something happened, or the horizon if the run ended there.
    pub fn end(&self) -> Instant {
        self.end
    }

    /// When a block completed; `None` if the run ended before that, and nothing is known of what came after.
    #[inline]
    pub fn completed(&self, block: &Block) -> Option<Instant> {
        Some(block.end).filter(|&end| end <= self.end)
    }

    /// When the last operation completed; `None` if there was none, or one had not completed when the run ended.
    pub fn makespan(&self) -> Option<Instant> {
        let mut finishes = self.operations.iter().map(OperationRecord::finish);
        let first = finishes.next()??;
        finishes.try_fold(first, |latest, finish| Some(latest.max(finish?)))
    }

    /// All processes; at least one, unless nothing was made known.
    pub fn processes(&self) -> &[CheckedProcess] {
        &self.items.processes
    }

    /// What a process is called; empty if it is not known.
    pub fn process_name(&self, process: ProcessId) -> &str {
        self.processes().get(process.index()).map_or("", |process| &process.name)
    }

    /// What a stream is called; empty if it is not known.
    pub fn stream_name(&self, stream: StreamId) -> &str {
        self.streams().get(stream.index()).map_or("", |stream| &stream.name)
    }

    /// Whether the processes are clients of MPS.
    pub const fn mps(&self) -> bool {
        self.items.mps
    }

    /// How the contexts of several processes take turns, if they do.
    #[doc(hidden)]
    pub const fn turn_taking(&self) -> Option<&TurnTaking> {
        self.items.turn_taking.as_ref()
    }

    /// The green contexts that were made known.
    pub fn green_contexts(&self) -> &[GreenContext] {
        &self.items.green_contexts
    }

    /// All streams; number 0 is the NULL stream of the first process.
    pub fn streams(&self) -> &[CheckedStream] {
        &self.items.streams
    }

    /// Names of all events that were made known.
    pub fn events(&self) -> &[Arc<str>] {
        &self.items.events
    }

    /// All kernels that were made known.
    pub fn kernels(&self) -> &Kernels {
        &self.items.kernels
    }

    /// The mask that holds for a launch: a kernel's own replaces its stream's.
    pub(super) fn mask_of(&self, operation: OperationId) -> Option<SmMask> {
        let own = self.kernel_of(operation).and_then(|kernel| kernel.sm_mask);
        own.or_else(|| {
            let record = self.record(operation)?;
            self.items.streams.get(record.stream.index())?.sm_mask
        })
    }

    /// SMs on which blocks of a launch may run on that device.
    pub(super) fn sms_of<'d>(&self, operation: OperationId, device: &'d Device) -> impl Iterator<Item = u32> + use<'d> {
        let gpu = device.sms_of_process(self.process_of(operation).unwrap_or_default().0);
        device.sms_left_by(self.mask_of(operation)).filter(move |sm| gpu.contains(sm))
    }

    /// All copies that were made known.
    pub fn copies(&self) -> &[Copy] {
        &self.items.copies
    }

    /// All operations, in launch order (G1).
    pub fn operations(&self) -> &[OperationRecord] {
        &self.operations
    }

    /// All operations with their numbers, in launch order.
    pub fn numbered(&self) -> impl Iterator<Item = (OperationId, &OperationRecord)> + Clone {
        (self.first..).map(OperationId).zip(&self.operations)
    }

    /// What is recorded of an operation; `None` if the record does not have it.
    pub fn record(&self, operation: OperationId) -> Option<&OperationRecord> {
        self.operations.get(self.place(operation)?)
    }

    /// The operation that stands at a place of the record, counted from 0, with its number.
    #[doc(hidden)]
    pub fn nth(&self, place: usize) -> Option<(OperationId, &OperationRecord)> {
        let record = self.operations.get(place)?;
        Some((OperationId(self.first + u32::try_from(place).ok()?), record))
    }

    /// Where an operation stands in the record; past its end if it was not launched.
    pub(super) fn place(&self, operation: OperationId) -> Option<usize> {
        operation.0.checked_sub(self.first).map(|place| place as usize)
    }

    /// How many operations of the same kind (kernels, copies, memsets, records, waits) were launched before this one,
    /// in a run that is over.
    pub fn number_of(&self, operation: OperationId) -> u32 {
        self.numbers.of(&self.operations, operation.0)
    }

    /// Events that are recorded once the kernel before the record has triggered (PDL).
    #[doc(hidden)]
    pub fn programmatic_events(&self) -> &BTreeSet<EventId> {
        &self.items.programmatic_events
    }

    /// When blocks waited for others while they ran, in the order in which that ended; last those that still do.
    pub fn stands(&self) -> &[Stand] {
        &self.stands
    }

    /// What a counter holds when the run ends.
    pub fn counter_value(&self, counter: CounterId) -> u64 {
        self.counter_values.get(counter.index()).copied().unwrap_or(0)
    }

    /// Names of the counters, by [`CounterId`].
    pub fn counters(&self) -> &[Arc<str>] {
        &self.items.counters
    }

    /// Values of counters, by [`ValueId`](crate::workload::ValueId).
    pub fn values(&self) -> &[CounterValue] {
        &self.items.values
    }

    /// Number of waves recorded, each one instant at which blocks of one kernel were assigned (stretches once).
    pub fn waves(&self) -> usize {
        self.waves.len()
    }

    /// The record that a wait for an event is for (E2): the last one submitted before it. `None`: there was none, or it
    /// is no wait.
    pub fn awaited_by(&self, wait: OperationId) -> Option<OperationId> {
        let place = self.awaited.binary_search_by_key(&wait, |(wait, _)| *wait).ok()?;
        Some(self.awaited[place].1)
    }

    /// The kernel of a kernel launch; `None` for what is none, and for unknown operations.
    #[inline]
    pub fn kernel_of(&self, operation: OperationId) -> Option<&CheckedKernel> {
        match self.record(operation)?.kind {
            OperationKind::Kernel(kernel) => self.items.kernels.get(kernel.index()),
            _ => None,
        }
    }

    /// The copy that an operation is; `None` for what is none, and for unknown operations.
    pub fn copy_of(&self, operation: OperationId) -> Option<&Copy> {
        match self.record(operation)?.kind {
            OperationKind::Copy(copy) => self.items.copies.get(copy.index()),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn add_parts(&mut self, parts: &[Part]) -> Result<WaveParts, TraceFull> {
        if let [only] = parts {
            return Ok(WaveParts::One(*only));
        }
        let first = u32::try_from(self.parts.len()).map_err(|_| TraceFull)?;
        let count = u16::try_from(parts.len()).map_err(|_| TraceFull)?;
        self.parts.extend_from_slice(parts);
        Ok(WaveParts::Many(first, count))
    }

    #[inline]
    pub(super) fn add_wave(&mut self, wave: Wave) -> Result<(), TraceFull> {
        if u32::try_from(self.waves.len()).is_err() {
            return Err(TraceFull);
        }
        self.waves.push(wave);
        Ok(())
    }

    /// Ends the record at `end` and builds its indexes.
    pub(super) fn index(&mut self, end: Instant) {
        self.end = end;
        self.numbers.forget();
        self.index_waits();
        self.index_turns();
        self.index_copy_pauses();

        // Where each operation's waves end, then, filled from the end, where they begin.
        let operations = self.operations.len();
        self.first_wave.clear();
        self.first_wave.resize(operations + 1, 0);
        for wave in &self.waves {
            self.first_wave[(wave.operation - self.first) as usize] += 1;
        }
        let mut end = 0_u32;
        for first in &mut self.first_wave {
            end += *first;
            *first = end;
        }
        self.waves_by_operation.clear();
        self.waves_by_operation.resize(self.waves.len(), 0);
        let mut index = end;
        for wave in self.waves.iter().rev() {
            index -= 1;
            let first = &mut self.first_wave[(wave.operation - self.first) as usize];
            *first -= 1;
            self.waves_by_operation[*first as usize] = index;
        }
        // Blocks that wait for others are told of as they end.
        for range in self.first_wave.windows(2) {
            let own = &mut self.waves_by_operation[range[0] as usize..range[1] as usize];
            let first_block = |&index: &u32| self.waves[index as usize].first_block;
            if !own.is_sorted_by_key(first_block) {
                own.sort_by_key(first_block);
            }
        }
    }
}
