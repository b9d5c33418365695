//! A GPU whose kernels are placed on one merged SM the moment they enter the EE queue.
//!
//! Kernels leave the one EE queue in the order in which they enter it, so when a kernel enters, everything that
//! decides its finish is known. The host threads of a scenario run in front of this as they do in front of the
//! simulated GPU, stream queues and rules G1, G2, G4, N1 and N2 included; there is only one priority.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::merged_resources::{MergedResources, PooledKernel};
use super::merged_sm::{MergedKernel, MergedSm};
use super::task::TimeOverflow;
use crate::gpu::{Phase, SubmitError};
use crate::hosts::Target;
use crate::time::{Duration, Instant};
use crate::workload::{OperationId, OperationKind, Origin, StreamId};

/// What the blocks of all kernels run on.
#[derive(Debug, Clone)]
pub(super) enum Merged {
    /// Equal blocks.
    Slots(MergedSm),
    /// Blocks that differ, or SM masks.
    Resources(MergedResources),
}

/// An analysed operation; an instant that was not reached is `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Analysed {
    pub(super) kind: OperationKind,
    pub(super) stream: StreamId,
    pub(super) origin: Origin,
    pub(super) launched: Instant,
    /// When it entered the EE or CE queue: the release r of the analysis.
    pub(super) queued: Option<Instant>,
    /// When it is analysed to finish.
    pub(super) finish: Option<Instant>,
    complete: bool,
}

#[derive(Debug, Clone, Default)]
struct Stream {
    queue: VecDeque<u32>,
    blocking: bool,
    /// The head has entered its EE or CE queue.
    advanced: bool,
}

/// What the kernels and copies of a scenario take, by their ids.
#[derive(Debug)]
pub(super) struct Costs {
    /// The release is set when a kernel enters the EE queue.
    pub(super) kernels: Vec<PooledKernel>,
    /// How long a copy takes, and its engine.
    pub(super) copies: Vec<(Duration, usize)>,
    pub(super) max_operations: u32,
}

/// The merged GPU.
#[derive(Debug)]
pub(super) struct MergedGpu<'a> {
    costs: &'a Costs,
    merged: Merged,
    now: Instant,
    /// (when, phase, order within the phase, operation or token).
    calendar: BinaryHeap<Reverse<(Instant, Phase, u64, u64)>>,
    sequence: u64,
    streams: Vec<Stream>,
    blocking_streams: Vec<StreamId>,
    /// When each copy engine has done what it has.
    engines: Vec<Instant>,
    pub(super) operations: Vec<Analysed>,
    /// Operations in the order in which they entered the EE queue.
    pub(super) ee_order: Vec<u32>,
    pub(super) completed: Vec<OperationId>,
    completed_in_a_row: usize,
    overflow: bool,
}

impl<'a> MergedGpu<'a> {
    /// An idle one. `blocking` says of each stream whether N1 and N2 hold for it.
    pub(super) fn new(costs: &'a Costs, merged: Merged, blocking: impl Iterator<Item = bool>, engines: u32) -> Self {
        let streams: Vec<Stream> = blocking.map(|blocking| Stream { blocking, ..Stream::default() }).collect();
        let numbered = (0..).map(StreamId).zip(&streams).skip(1);
        Self {
            costs,
            merged,
            now: Instant::ZERO,
            calendar: BinaryHeap::new(),
            sequence: 0,
            blocking_streams: numbered.filter(|(_, stream)| stream.blocking).map(|(id, _)| id).collect(),
            streams,
            engines: vec![Instant::ZERO; engines as usize],
            operations: Vec::new(),
            ee_order: Vec::new(),
            completed: Vec::new(),
            completed_in_a_row: 0,
            overflow: false,
        }
    }

    /// Goes on to the next instant at which something happens, not after `horizon`, and applies its completions.
    pub(super) fn next_instant(&mut self, horizon: Instant) -> Result<bool, TimeOverflow> {
        if self.overflow {
            return Err(TimeOverflow);
        }
        let Some(&Reverse((at, ..))) = self.calendar.peek() else { return Ok(false) };
        if at > horizon {
            return Ok(false);
        }
        self.now = at;
        while let Some(operation) = self.pop(Phase::Completion) {
            let mut affected = Vec::new();
            // Only operation numbers are entered with this phase.
            self.complete(u32::try_from(operation).unwrap_or(u32::MAX), &mut affected);
            self.promote(affected);
        }
        Ok(true)
    }

    /// The next host thread that asked to be woken now.
    pub(super) fn next_wake(&mut self) -> Option<u64> {
        self.pop(Phase::Host)
    }

    fn pop(&mut self, phase: Phase) -> Option<u64> {
        let &Reverse((at, next, _, what)) = self.calendar.peek()?;
        if (at, next) != (self.now, phase) {
            return None;
        }
        self.calendar.pop();
        Some(what)
    }

    /// G4, C4.
    fn complete(&mut self, operation: u32, affected: &mut Vec<StreamId>) {
        let Some(record) = self.operations.get_mut(operation as usize) else { return };
        record.complete = true;
        let id = record.stream;
        while self.operations.get(self.completed_in_a_row).is_some_and(|record| record.complete) {
            self.completed_in_a_row += 1;
        }
        self.completed.push(OperationId(operation));
        let stream = &mut self.streams[id.0 as usize];
        stream.queue.pop_front();
        stream.advanced = false;
        affected.push(id);
        if id == StreamId::NULL {
            affected.extend_from_slice(&self.blocking_streams);
        } else if stream.blocking {
            affected.push(StreamId::NULL);
        }
    }

    /// G2, N1, N2: heads that may advance enter their queues in launch order.
    fn promote(&mut self, mut affected: Vec<StreamId>) {
        let mut ready = Vec::new();
        while let Some(id) = affected.pop() {
            let stream = &self.streams[id.0 as usize];
            let Some(&head) = stream.queue.front() else { continue };
            if stream.advanced || !self.may_advance(id, head) {
                continue;
            }
            self.streams[id.0 as usize].advanced = true;
            if self.operations[head as usize].kind == OperationKind::Memset {
                self.operations[head as usize].queued = Some(self.now);
                self.operations[head as usize].finish = Some(self.now);
                self.complete(head, &mut affected);
            } else {
                ready.push(head);
            }
        }
        ready.sort_unstable();
        for operation in ready {
            self.enter(operation);
        }
    }

    fn may_advance(&self, id: StreamId, head: u32) -> bool {
        let passed = |other: StreamId| self.streams[other.0 as usize].queue.front().is_none_or(|first| *first > head);
        if id == StreamId::NULL {
            self.blocking_streams.iter().all(|other| passed(*other))
        } else {
            !self.streams[id.0 as usize].blocking || passed(StreamId::NULL)
        }
    }

    /// Places a kernel or a copy; its completion is known at once.
    fn enter(&mut self, operation: u32) {
        let finish = match self.operations[operation as usize].kind {
            OperationKind::Kernel(kernel) => {
                self.ee_order.push(operation);
                let cost = PooledKernel { release: self.now, ..self.costs.kernels[kernel.0 as usize] };
                self.place(&cost)
            }
            OperationKind::Copy(copy) => {
                let (duration, engine) = self.costs.copies[copy.0 as usize];
                let start = self.now.max(self.engines[engine]);
                let finish = start.checked_add(duration);
                self.engines[engine] = finish.unwrap_or(start);
                finish
            }
            OperationKind::Memset => Some(self.now),
        };
        let record = &mut self.operations[operation as usize];
        record.queued = Some(self.now);
        record.finish = finish;
        match finish {
            Some(finish) => {
                self.sequence += 1;
                self.calendar.push(Reverse((finish, Phase::Completion, self.sequence, u64::from(operation))));
            }
            None => self.overflow = true,
        }
    }

    fn place(&mut self, cost: &PooledKernel) -> Option<Instant> {
        let placed = match &mut self.merged {
            Merged::Slots(sm) => {
                sm.place(&MergedKernel { release: cost.release, block_time: cost.block_time, blocks: cost.blocks })
            }
            Merged::Resources(sm) => sm.place(cost),
        };
        placed.ok()
    }
}

impl Target for MergedGpu<'_> {
    fn now(&self) -> Instant {
        self.now
    }

    fn wake_at(&mut self, at: Instant, token: u64) {
        self.calendar.push(Reverse((at.max(self.now), Phase::Host, token, token)));
    }

    fn submit(&mut self, stream: StreamId, kind: OperationKind, origin: Origin) -> Result<OperationId, SubmitError> {
        let number = u32::try_from(self.operations.len()).unwrap_or(u32::MAX);
        if number >= self.costs.max_operations {
            return Err(SubmitError::TooManyOperations { most: self.costs.max_operations });
        }
        let known = match kind {
            OperationKind::Kernel(kernel) => (kernel.0 as usize) < self.costs.kernels.len(),
            OperationKind::Copy(copy) => (copy.0 as usize) < self.costs.copies.len(),
            OperationKind::Memset => true,
        };
        let queue = self.streams.get_mut(stream.0 as usize).filter(|_| known).ok_or(SubmitError::Unknown)?;
        queue.queue.push_back(number);
        let is_head = queue.queue.len() == 1;
        let (launched, complete) = (self.now, false);
        self.operations.push(Analysed { kind, stream, origin, launched, queued: None, finish: None, complete });
        if is_head {
            self.promote(vec![stream]);
        }
        Ok(OperationId(number))
    }

    fn is_complete(&self, operation: OperationId) -> bool {
        self.operations.get(operation.0 as usize).is_none_or(|record| record.complete)
    }

    fn last_in(&self, stream: StreamId) -> Option<OperationId> {
        self.streams.get(stream.0 as usize)?.queue.back().copied().map(OperationId)
    }

    fn submitted(&self) -> usize {
        self.operations.len()
    }

    fn completed_in_a_row(&self) -> usize {
        self.completed_in_a_row
    }
}
