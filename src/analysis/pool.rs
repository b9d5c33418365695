//! The resources of several SMs together, and what blocks take of them.

use crate::device::{BlockDemand, Device};

/// Number of resources: warps, block slots, shared memory, registers.
const RESOURCES: usize = 4;

/// What is pooled, or what one block takes of it, in the order warps, block slots, shared memory, registers.
pub(crate) type Pool = [u64; RESOURCES];

/// The resources of so many SMs together.
pub(crate) fn pool(device: &Device, sms: u32) -> Pool {
    let per_sm =
        [device.warps_per_sm(), device.per_sm.blocks, device.per_sm.shared_memory_bytes, device.per_sm.registers];
    per_sm.map(|limit| u64::from(limit) * u64::from(sms))
}

/// What one block takes of them.
pub(crate) fn needs(demand: &BlockDemand) -> Pool {
    [demand.warps, 1, demand.shared_memory_bytes, demand.registers].map(u64::from)
}
