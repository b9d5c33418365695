//! Registers of SMs on which kernels meet whose warps take unlike numbers of them.
//!
//! As long as all warps take the same, an [`Sm`](crate::gpu::backend::sm::Sm) has so many registers as its places for
//! them, and subtraction is enough. From the first kernel on whose warps take another number, its warps are told apart.

use super::SmBackend;
use crate::canonical::Canonical;
use crate::device::{BlockDemand, Device, RegisterFile, ResidentWarps};
use crate::trace::Rule;

/// Which warps the kernels that have come have.
#[derive(Debug, Clone)]
pub(in crate::gpu::backend) struct Registers {
    file: RegisterFile,
    /// What each warp takes that takes any, as long as that is the same for all; 0 before one has come.
    alike: u32,
    /// From then on: the warps of each SM.
    resident: Option<Vec<ResidentWarps>>,
}

impl Registers {
    pub(in crate::gpu::backend) fn new(device: &Device) -> Self {
        Self { file: RegisterFile::of(device), alike: 0, resident: None }
    }

    /// Nothing has come.
    pub(in crate::gpu::backend) fn clear(&mut self) {
        (self.alike, self.resident) = (0, None);
    }

    /// Blocks have been given to an SM.
    #[inline]
    pub(in crate::gpu::backend) fn take(&mut self, sm: u16, demand: &BlockDemand, blocks: u32) {
        if let Some(resident) = &mut self.resident {
            resident[usize::from(sm)].add(demand.registers_per_warp(), demand.warps * blocks);
        }
    }

    /// They have left it.
    #[inline]
    pub(in crate::gpu::backend) fn give_back(&mut self, sm: u16, demand: &BlockDemand, blocks: u32) {
        if let Some(resident) = &mut self.resident {
            resident[usize::from(sm)].remove(demand.registers_per_warp(), demand.warps * blocks);
        }
    }

    pub(in crate::gpu::backend) fn write_state(&self, to: &mut Canonical) {
        to.number(self.alike);
        to.optional(self.resident.as_ref(), |to, resident| to.list(resident, Canonical::value));
    }
}

impl SmBackend {
    /// A kernel comes that has such blocks.
    pub(in crate::gpu::backend) fn expect(&mut self, demand: &BlockDemand) {
        let Registers { file, alike, resident } = &mut self.registers;
        let own = demand.registers_per_warp();
        if own == 0 || own == *alike || resident.is_some() {
            return;
        }
        let before = std::mem::replace(alike, own);
        if before == 0 {
            let all = file.places(own) * own;
            self.sms.iter_mut().for_each(|sm| sm.registers = all);
            return;
        }
        let all = file.places(before) * before;
        let told_apart = self.sms.iter_mut().map(|sm| {
            let taken = all - sm.registers;
            sm.registers = file.usable() - taken;
            let mut warps = ResidentWarps::default();
            warps.add(before, taken / before);
            warps
        });
        *resident = Some(told_apart.collect());
    }

    /// R1: how many further blocks fit on an SM.
    #[inline]
    pub(in crate::gpu::backend) fn room(&self, sm: u16, demand: &BlockDemand) -> u32 {
        let room = self.sms[usize::from(sm)].room(demand);
        match &self.registers.resident {
            Some(resident) if room > 0 => {
                let by_registers = self.registers.file.room(&resident[usize::from(sm)], demand);
                by_registers.map_or(room, |by_registers| by_registers.min(room))
            }
            _ => room,
        }
    }

    /// The first rule by which not even one block fits on an SM.
    pub(in crate::gpu::backend) fn refusal(&self, sm: u16, demand: &BlockDemand) -> Option<Rule> {
        let by_amounts = self.sms[usize::from(sm)].refusal(demand);
        by_amounts.or_else(|| (self.room(sm, demand) == 0).then_some(Rule::Registers))
    }
}
