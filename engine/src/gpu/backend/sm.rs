//! The resources of one SM (rules R1, R2, R3, and registers), and the EE queue of one priority level.

use std::collections::VecDeque;

use crate::canonical::Canonical;
use crate::device::{BlockDemand, Device};
use crate::time::Instant;
use crate::trace::Rule;
use crate::workload::OperationId;

/// What is free on one SM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Sm {
    warps: u32,
    blocks: u32,
    shared_memory_bytes: u32,
    /// So many as warps of kernels that may run here can take, see `Registers`.
    pub(super) registers: u32,
}

impl Sm {
    /// An empty SM.
    pub(super) fn new(device: &Device) -> Self {
        Self {
            warps: device.warps_per_sm(),
            blocks: device.per_sm.blocks,
            shared_memory_bytes: device.per_sm.shared_memory_bytes,
            registers: device.per_sm.registers,
        }
    }

    /// R1: how many further blocks fit, all resources on this one SM.
    #[inline]
    pub(super) fn room(&self, demand: &BlockDemand) -> u32 {
        // Most SMs are full most of the time, and a comparison is cheaper than a division.
        if self.warps < demand.warps || self.blocks == 0 {
            return 0;
        }
        let mut room = (self.warps / demand.warps).min(self.blocks);
        if let Some(fitting) = self.shared_memory_bytes.checked_div(demand.shared_memory_bytes) {
            room = room.min(fitting);
        }
        if let Some(fitting) = self.registers.checked_div(demand.registers) {
            room = room.min(fitting);
        }
        room
    }

    /// The first rule by which not even one block fits.
    pub(super) fn refusal(&self, demand: &BlockDemand) -> Option<Rule> {
        if self.warps < demand.warps || self.blocks == 0 {
            Some(Rule::R2)
        } else if self.shared_memory_bytes < demand.shared_memory_bytes {
            Some(Rule::R3)
        } else if self.registers < demand.registers {
            Some(Rule::Registers)
        } else {
            None
        }
    }

    /// Takes the resources of `blocks` blocks, of which there must be [`Sm::room`].
    pub(super) fn take(&mut self, demand: &BlockDemand, blocks: u32) {
        self.warps -= demand.warps * blocks;
        self.blocks -= blocks;
        self.shared_memory_bytes -= demand.shared_memory_bytes * blocks;
        self.registers -= demand.registers * blocks;
    }

    /// Gives back what [`Sm::take`] took.
    pub(super) fn give_back(&mut self, demand: &BlockDemand, blocks: u32) {
        self.warps += demand.warps * blocks;
        self.blocks += blocks;
        self.shared_memory_bytes += demand.shared_memory_bytes * blocks;
        self.registers += demand.registers * blocks;
    }
}

/// One EE queue, of places in the list of kernels on the GPU. A1: there is one queue for each priority, and a kernel
/// enters the one of its stream's priority.
#[derive(Debug, Clone, Default)]
pub(super) struct EeQueue {
    queue: VecDeque<u32>,
    /// Why the head has unassigned blocks, and since when.
    pub(super) blocked: Option<(OperationId, Rule, Instant)>,
}

impl EeQueue {
    /// As when it was made.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.blocked = None;
    }

    /// Writes the state; which operation is at a place, `operation` says.
    pub(super) fn write_state(&self, to: &mut Canonical, operation: impl Fn(u32) -> OperationId) {
        let Self { queue, blocked } = self;
        to.list(queue, |to, &place| to.operation(operation(place).0));
        to.optional(*blocked, |to, (head, rule, since)| {
            to.operation(head.0);
            to.value(rule);
            to.instant(since);
        });
    }

    /// G2: enters at the end. Says whether it is the head now.
    #[inline]
    pub(super) fn push(&mut self, kernel: u32) -> bool {
        self.queue.push_back(kernel);
        self.queue.len() == 1
    }

    /// X1: the only kernel of this queue whose blocks may be assigned.
    pub(super) fn head(&self) -> Option<u32> {
        self.queue.front().copied()
    }

    /// G3: the head is fully dispatched and leaves. Gives the new head.
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.queue.pop_front();
        self.head()
    }
}
