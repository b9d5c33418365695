//! What a block takes and what an SM has left.

use std::collections::BTreeSet;

use gpusched::device::{BlockShape, Device, RegisterDealing};

/// What one block takes from its SM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) warps: u64,
    pub(crate) shared: u64,
    /// Of each warp.
    pub(crate) registers: u64,
}

impl Need {
    pub(crate) fn of(shape: &BlockShape, device: &Device) -> Self {
        let mut warps = 0;
        while warps * u64::from(device.warp_size) < u64::from(shape.threads) {
            warps += 1;
        }
        let unit = u64::from(device.shared_memory_allocation.unit_bytes);
        let reserved = u64::from(device.shared_memory_allocation.reserved_per_block_bytes);
        let shared = round_up(u64::from(shape.shared_memory_bytes), unit) + reserved;
        let asked = u64::from(shape.registers_per_thread) * u64::from(device.warp_size);
        let registers = round_up(asked, u64::from(device.register_allocation.unit_per_warp));
        Self { warps, shared, registers }
    }
}

fn round_up(value: u64, unit: u64) -> u64 {
    let rest = value % unit;
    if rest == 0 { value } else { value + unit - rest }
}

/// What an SM has left, and what its warps have of its registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Free {
    pub(crate) warps: u64,
    pub(crate) slots: u64,
    pub(crate) shared: u64,
    /// Of each warp that is there.
    resident: Vec<u64>,
    file: RegisterFile,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct RegisterFile {
    parts: u64,
    part: u64,
    unit: u64,
    dealing: RegisterDealing,
}

impl Free {
    pub(crate) fn empty_sm(device: &Device) -> Self {
        let by_threads = device.per_sm.threads / device.warp_size;
        let allocation = &device.register_allocation;
        let parts = u64::from(allocation.sub_partitions);
        Self {
            warps: u64::from(by_threads.min(device.per_sm.warps)),
            slots: u64::from(device.per_sm.blocks),
            shared: u64::from(device.per_sm.shared_memory_bytes),
            resident: Vec::new(),
            file: RegisterFile {
                parts,
                part: u64::from(device.per_sm.registers) / parts,
                unit: u64::from(allocation.unit_per_warp),
                dealing: allocation.dealing,
            },
        }
    }

    /// What is left after a block of that need; `None` if it does not fit.
    pub(crate) fn take(&self, need: &Need) -> Option<Self> {
        (self.fits_threads_and_shared(need) && self.lacking_registers(need) == 0).then(|| self.with(need))
    }

    /// With a block that is there.
    pub(crate) fn with(&self, need: &Need) -> Self {
        let mut left = self.clone();
        left.warps = self.warps.saturating_sub(need.warps);
        left.slots = self.slots.saturating_sub(1);
        left.shared = self.shared.saturating_sub(need.shared);
        if need.registers > 0 {
            left.resident.extend((0..need.warps).map(|_| need.registers));
        }
        left
    }

    /// A warp's registers come out of one part. Cut into pieces of the same size, a part has a whole number of them,
    /// and so has each warp; at best those are what it takes, at worst it breaks into one more. What is missing for
    /// some size, times that size.
    pub(crate) fn lacking_registers(&self, need: &Need) -> u64 {
        if need.registers == 0 {
            return 0;
        }
        let all: Vec<u64> = self.resident.iter().copied().chain((0..need.warps).map(|_| need.registers)).collect();
        let lacking = |size: u64, taken: u64| size * taken.saturating_sub(self.file.parts * (self.file.part / size));
        match self.file.dealing {
            RegisterDealing::Best => {
                let sizes = self.resident.iter().copied().chain([need.registers, self.file.unit]);
                // Of pieces that are larger than the new warps those take none.
                let sizes: BTreeSet<u64> = sizes.filter(|size| *size <= need.registers).collect();
                sizes.into_iter().map(|size| lacking(size, all.iter().map(|warp| warp / size).sum())).max().unwrap_or(0)
            }
            RegisterDealing::Worst => {
                let size = need.registers;
                lacking(size, all.iter().map(|warp| warp.div_ceil(size)).sum())
            }
        }
    }

    pub(crate) fn fits(&self, need: &Need) -> bool {
        self.take(need).is_some()
    }

    /// Enough warps and a block slot (R2).
    pub(crate) fn fits_threads(&self, need: &Need) -> bool {
        self.warps >= need.warps && self.slots >= 1
    }

    /// R2 and enough shared memory (R3).
    pub(crate) fn fits_threads_and_shared(&self, need: &Need) -> bool {
        self.fits_threads(need) && self.shared >= need.shared
    }

    /// How many blocks of that need it could hold, by putting them there one by one.
    pub(crate) fn room(&self, need: &Need) -> u64 {
        let mut left = self.clone();
        let mut blocks = 0;
        while let Some(less) = left.take(need) {
            left = less;
            blocks += 1;
        }
        blocks
    }
}
