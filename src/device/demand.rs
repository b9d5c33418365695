//! What one block takes from its SM.

mod registers;

use serde::Serialize;
use thiserror::Error;

use super::Device;
use crate::named::named;
pub(crate) use registers::{RegisterFile, ResidentWarps};

/// What a kernel's author states about one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct BlockShape {
    /// Threads.
    pub threads: u32,
    /// Registers of one thread; 0: registers do not limit this kernel.
    pub registers_per_thread: u32,
    /// Shared memory, static and dynamic together \[bytes\].
    pub shared_memory_bytes: u32,
}

/// What one block takes from its SM once the device's granularities are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct BlockDemand {
    /// Warps; each takes the thread slots of a whole warp.
    pub warps: u32,
    /// Registers: those of its warps, each rounded up to the unit.
    pub registers: u32,
    /// Shared memory, rounded up to its unit, plus what is reserved \[bytes\].
    pub shared_memory_bytes: u32,
}

named! {
    /// A resource of an SM of which a block can find too little.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Resource {
        /// Thread slots (rule R2).
        Threads = "threads",
        /// Block slots (rule R2).
        BlockSlots = "block slots",
        /// Shared memory (rule R3).
        SharedMemory = "bytes of shared memory",
        /// Registers (the RTSS 2017 study expects the same effect as R2 and R3).
        Registers = "registers",
    }
}

/// A block that can never run on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DemandError {
    /// No threads at all.
    #[error("a block needs at least 1 thread")]
    NoThreads,
    /// Over what one block may ask for.
    #[error("a block asks for {asked} {}, and this device allows at most {limit} per block", resource.name())]
    OverBlockLimit {
        /// Of what.
        resource: Resource,
        /// What one block needs.
        asked: u64,
        /// What is allowed.
        limit: u64,
    },
    /// Over what an empty SM has.
    #[error("a block takes {asked} {} of its SM, and an empty SM of this device has {limit}", resource.name())]
    OverEmptySm {
        /// Of what.
        resource: Resource,
        /// What one block takes.
        asked: u64,
        /// What an SM has.
        limit: u64,
    },
}

impl BlockDemand {
    /// Applies the device's granularities to a block (spec: model, section 2).
    ///
    /// Registers: a warp takes `r`, its threads' registers rounded up to the allocation unit. All of them come out of
    /// one sub-partition of `F` registers, which so holds `floor(F / r)` such warps.
    ///
    /// # Errors
    /// [`DemandError`] when such a block can never run.
    pub fn new(shape: &BlockShape, device: &Device) -> Result<Self, DemandError> {
        let over_block = |resource, asked: u64, limit: u32| {
            let limit = u64::from(limit);
            if asked > limit { Err(DemandError::OverBlockLimit { resource, asked, limit }) } else { Ok(()) }
        };
        let over_sm = |resource, asked: u64, limit: u32| match u32::try_from(asked) {
            Ok(fits) if fits <= limit => Ok(fits),
            _ => Err(DemandError::OverEmptySm { resource, asked, limit: u64::from(limit) }),
        };
        if shape.threads == 0 {
            return Err(DemandError::NoThreads);
        }
        over_block(Resource::Threads, u64::from(shape.threads), device.per_block.threads)?;
        let warps = shape.threads.div_ceil(device.warp_size);
        let slots = u64::from(warps) * u64::from(device.warp_size);
        over_sm(Resource::Threads, slots, device.warps_per_sm() * device.warp_size)?;

        let shared = u64::from(shape.shared_memory_bytes);
        over_block(Resource::SharedMemory, shared, device.per_block.shared_memory_bytes)?;
        let allocation = &device.shared_memory_allocation;
        let shared =
            shared.next_multiple_of(u64::from(allocation.unit_bytes)) + u64::from(allocation.reserved_per_block_bytes);
        let shared_memory_bytes = over_sm(Resource::SharedMemory, shared, device.per_sm.shared_memory_bytes)?;

        let per_warp = registers_per_warp(shape, warps, device, over_block)?;
        let most = RegisterFile::of(device).most_of(u32::try_from(per_warp).unwrap_or(u32::MAX));
        let registers = over_sm(Resource::Registers, per_warp * u64::from(warps), most)?;
        Ok(Self { warps, registers, shared_memory_bytes })
    }

    /// Blocks of this kind that one empty SM holds, at least 1.
    pub fn blocks_per_sm(&self, device: &Device) -> u32 {
        self.tightest(device).1
    }

    /// Registers of each of its warps.
    pub fn registers_per_warp(&self) -> u32 {
        self.registers.checked_div(self.warps).unwrap_or(0)
    }

    /// The resource of which an empty SM runs out first, and how many blocks of this kind it holds then.
    pub fn tightest(&self, device: &Device) -> (Resource, u32) {
        let per_sm = &device.per_sm;
        // What a block takes nothing of limits nothing: dividing by 0 gives `None`.
        let others = [
            (Resource::BlockSlots, Some(per_sm.blocks)),
            (Resource::Registers, RegisterFile::of(device).room(&ResidentWarps::default(), self)),
            (Resource::SharedMemory, per_sm.shared_memory_bytes.checked_div(self.shared_memory_bytes)),
        ];
        let threads = (Resource::Threads, device.warps_per_sm() / self.warps);
        others.into_iter().fold(threads, |tightest, (resource, blocks)| match blocks {
            Some(blocks) if blocks < tightest.1 => (resource, blocks),
            _ => tightest,
        })
    }
}

/// Registers that each warp takes, after the per-block limit is checked.
fn registers_per_warp(
    shape: &BlockShape,
    warps: u32,
    device: &Device,
    over_block: impl Fn(Resource, u64, u32) -> Result<(), DemandError>,
) -> Result<u64, DemandError> {
    let allocation = &device.register_allocation;
    let per_warp = (u64::from(shape.registers_per_thread) * u64::from(device.warp_size))
        .next_multiple_of(u64::from(allocation.unit_per_warp));
    let counted_warps = u64::from(warps).next_multiple_of(u64::from(allocation.warps_rounded_to));
    over_block(Resource::Registers, per_warp * counted_warps, device.per_block.registers)?;
    Ok(per_warp)
}
