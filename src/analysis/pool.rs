//! The resources of several SMs together, and what blocks take of them.

use crate::device::{BlockDemand, Device, RegisterFile};

/// Number of resources: warps, block slots, shared memory, registers.
const RESOURCES: usize = 4;

/// What is pooled, or what one block takes of it, in the order warps, block slots, shared memory, registers.
pub(crate) type Pool = [u64; RESOURCES];

/// The resources of so many SMs together, of which blocks take what `needs` says: where all warps that take registers
/// take the same number, as many registers as such warps can take, else all units of them.
pub(crate) fn pool<'a>(device: &Device, sms: u32, needs: impl IntoIterator<Item = &'a Pool>) -> Pool {
    let file = RegisterFile::of(device);
    let registers = match kinds_of_warps(needs).as_slice() {
        [registers] => file.places(*registers) * registers,
        _ => file.usable(),
    };
    let per_sm = [device.warps_per_sm(), device.per_sm.blocks, device.per_sm.shared_memory_bytes, registers];
    per_sm.map(|limit| u64::from(limit) * u64::from(sms))
}

/// What one block takes of them.
pub(crate) fn needs(demand: &BlockDemand) -> Pool {
    [demand.warps, 1, demand.shared_memory_bytes, demand.registers].map(u64::from)
}

/// Registers of each warp of a block.
pub(crate) fn registers_per_warp(needs: &Pool) -> u32 {
    let [warps, .., registers] = needs;
    registers.checked_div(*warps).and_then(|registers| u32::try_from(registers).ok()).unwrap_or(0)
}

/// How many registers a warp takes that takes any, ascending.
pub(crate) fn kinds_of_warps<'a>(needs: impl IntoIterator<Item = &'a Pool>) -> Vec<u32> {
    let mut kinds: Vec<u32> = needs.into_iter().map(registers_per_warp).filter(|registers| *registers > 0).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}
