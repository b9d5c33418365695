//! The resources of one SM: rules R1, R2, R3, and registers.

use crate::device::{BlockDemand, Device};
use crate::trace::Rule;

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
