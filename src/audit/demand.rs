//! What a block takes from its SM, and what an SM has: the audit's own account.

use super::finding::AuditRule;
use crate::device::{BlockShape, Device};

/// The resources of an SM that are counted, in the order of [`Amounts`].
pub(super) const RESOURCES: [(AuditRule, &str); 4] = [
    (AuditRule::R2, "threads"),
    (AuditRule::R2, "block slots"),
    (AuditRule::R3, "bytes of shared memory"),
    (AuditRule::Registers, "registers"),
];

/// Threads (whole warps), block slots, shared memory \[bytes\], registers.
pub(super) type Amounts = [i64; 4];

/// What an empty SM has.
pub(super) fn capacity(device: &Device) -> Amounts {
    let sm = &device.per_sm;
    let warp = i64::from(device.warp_size);
    let threads = (i64::from(sm.threads) / warp).min(i64::from(sm.warps)) * warp;
    [threads, i64::from(sm.blocks), i64::from(sm.shared_memory_bytes), i64::from(sm.registers)]
}

/// What a block takes.
pub(super) fn taken(shape: &BlockShape, device: &Device) -> Amounts {
    let warp = i64::from(device.warp_size);
    let warps = (i64::from(shape.threads) + warp - 1) / warp;
    let unit = i64::from(device.shared_memory_allocation.unit_bytes.max(1));
    let shared = (i64::from(shape.shared_memory_bytes) + unit - 1) / unit * unit
        + i64::from(device.shared_memory_allocation.reserved_per_block_bytes);
    [warps * warp, 1, shared, warps * registers_of_warp(shape, device)]
}

/// A sub-partition of the register file holds a whole number of warps, which share it out among them.
fn registers_of_warp(shape: &BlockShape, device: &Device) -> i64 {
    if shape.registers_per_thread == 0 {
        return 0;
    }
    let unit = i64::from(device.register_allocation.unit_per_warp.max(1));
    let asked = i64::from(shape.registers_per_thread) * i64::from(device.warp_size);
    let rounded = (asked + unit - 1) / unit * unit;
    let partition = i64::from(device.per_sm.registers / device.register_allocation.sub_partitions.max(1));
    match partition / rounded {
        0 => i64::from(device.per_sm.registers) + 1,
        warps => partition / warps,
    }
}

/// How many such blocks fit into what is free.
pub(super) fn room(free: &Amounts, taken: &Amounts) -> i64 {
    let each = free.iter().zip(taken).filter(|(_, taken)| **taken > 0);
    each.map(|(free, taken)| free.max(&0) / taken).min().unwrap_or(0)
}

/// Whether one such block fits into what is free.
pub(super) fn fits(free: &Amounts, taken: &Amounts) -> bool {
    free.iter().zip(taken).all(|(free, taken)| *taken <= 0 || free >= taken)
}

/// Takes (or with -1 gives back) `sign` times the amounts of one block.
pub(super) fn change(free: &mut Amounts, taken: &Amounts, sign: i64) {
    for (free, taken) in free.iter_mut().zip(taken) {
        *free -= sign * taken;
    }
}
