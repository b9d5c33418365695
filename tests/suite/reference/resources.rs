//! What a block takes and what an SM has left.

use gpusched::device::{BlockShape, Device};

/// What one block takes from its SM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) warps: u64,
    pub(crate) shared: u64,
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
        Self { warps, shared, registers: warps * registers_per_warp(shape, device) }
    }
}

/// A warp's registers come out of one sub-partition, which holds a whole number of such warps; each of those is charged
/// its even share of the sub-partition.
fn registers_per_warp(shape: &BlockShape, device: &Device) -> u64 {
    if shape.registers_per_thread == 0 {
        return 0;
    }
    let allocation = &device.register_allocation;
    let asked = u64::from(shape.registers_per_thread) * u64::from(device.warp_size);
    let asked = round_up(asked, u64::from(allocation.unit_per_warp));
    let partition = u64::from(device.per_sm.registers) / u64::from(allocation.sub_partitions);
    let warps_in_it = partition / asked;
    partition / warps_in_it
}

fn round_up(value: u64, unit: u64) -> u64 {
    let rest = value % unit;
    if rest == 0 { value } else { value + unit - rest }
}

/// What an SM has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Free {
    pub(crate) warps: u64,
    pub(crate) slots: u64,
    pub(crate) shared: u64,
    pub(crate) registers: u64,
}

impl Free {
    pub(crate) fn empty_sm(device: &Device) -> Self {
        let by_threads = device.per_sm.threads / device.warp_size;
        Self {
            warps: u64::from(by_threads.min(device.per_sm.warps)),
            slots: u64::from(device.per_sm.blocks),
            shared: u64::from(device.per_sm.shared_memory_bytes),
            registers: u64::from(device.per_sm.registers),
        }
    }

    /// What is left after a block of that need; `None` if it does not fit.
    pub(crate) fn take(self, need: &Need) -> Option<Self> {
        Some(Self {
            warps: self.warps.checked_sub(need.warps)?,
            slots: self.slots.checked_sub(1)?,
            shared: self.shared.checked_sub(need.shared)?,
            registers: self.registers.checked_sub(need.registers)?,
        })
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
        let mut left = *self;
        let mut blocks = 0;
        while let Some(less) = left.take(need) {
            left = less;
            blocks += 1;
        }
        blocks
    }
}
