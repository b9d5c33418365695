//! What one block takes from its SM, and how much of a GPU a kernel fills when it runs alone.

use serde::Serialize;
use thiserror::Error;

use super::{Device, RegisterDealing};
use crate::named::named;
use crate::proven::Proven;

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

// The register file of an SM, whose warps need not all take the same.

/// What is known of the register file of one SM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterFile {
    sub_partitions: u32,
    /// Registers of one sub-partition.
    size: u32,
    unit: u32,
    dealing: RegisterDealing,
}

/// The warps on an SM, by how many registers one takes: (registers, warps), ascending, none of them without warps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ResidentWarps(Vec<(u32, u32)>);

impl ResidentWarps {
    /// With `warps` warps more that take so many registers each.
    pub fn add(&mut self, registers: u32, warps: u32) {
        if registers == 0 || warps == 0 {
            return;
        }
        match self.0.binary_search_by_key(&registers, |(known, _)| *known) {
            Ok(place) => self.0[place].1 = self.0[place].1.saturating_add(warps),
            Err(place) => self.0.insert(place, (registers, warps)),
        }
    }

    /// Without `warps` of them.
    pub(crate) fn remove(&mut self, registers: u32, warps: u32) {
        if let Ok(place) = self.0.binary_search_by_key(&registers, |(known, _)| *known) {
            self.0[place].1 = self.0[place].1.saturating_sub(warps);
            if self.0[place].1 == 0 {
                self.0.remove(place);
            }
        }
    }

    /// What all take, if `of_warp` says what one of so many registers takes.
    fn sum(&self, of_warp: impl Fn(u32) -> u32) -> u32 {
        self.0.iter().fold(0, |sum, &(registers, warps)| of_warp(registers).saturating_mul(warps).saturating_add(sum))
    }
}

impl RegisterFile {
    /// That of an SM of `device`.
    pub fn of(device: &Device) -> Self {
        let allocation = &device.register_allocation;
        // A device has at least one sub-partition, of at least one register.
        let sub_partitions = allocation.sub_partitions.max(1);
        Self {
            sub_partitions,
            size: device.per_sm.registers / sub_partitions,
            unit: allocation.unit_per_warp.max(1),
            dealing: allocation.dealing,
        }
    }

    /// How many warps it holds that take so many registers each, all out of one sub-partition.
    pub fn places(&self, registers: u32) -> u32 {
        self.size.checked_div(registers).unwrap_or(0) * self.sub_partitions
    }

    /// Registers that warps of so many can take; where there is no place for one, what they would have to come out of.
    pub(crate) fn most_of(&self, registers: u32) -> u32 {
        (self.places(registers) * registers).max(self.size)
    }

    /// Registers that can be taken at all: the units of all sub-partitions.
    pub fn usable(&self) -> u32 {
        self.size / self.unit * self.unit * self.sub_partitions
    }

    /// How many blocks there are registers for beside `resident` warps. `None`: they take none.
    pub fn room(&self, resident: &ResidentWarps, demand: &BlockDemand) -> Option<u32> {
        let (own, warps) = (demand.registers_per_warp(), demand.warps);
        match *resident.0 {
            // As many as there are places for: `floor(F / s)` units are no fewer than `floor(F / r) floor(r / s)`.
            [] if own > 0 => Some(self.places(own) / warps),
            [(registers, taken)] if registers == own && own > 0 => Some(self.places(own).saturating_sub(taken) / warps),
            _ => {
                let room = |pieces: Pieces| self.places(pieces.size).saturating_sub(pieces.taken) / pieces.of_block;
                self.pieces(resident, demand).map(room).min()
            }
        }
    }

    /// How many registers a block lacks beside `resident` warps: the pieces that are missing, times their size.
    pub(crate) fn lack(&self, resident: &ResidentWarps, demand: &BlockDemand) -> u32 {
        let missing = |pieces: &Pieces| (pieces.taken + pieces.of_block).saturating_sub(self.places(pieces.size));
        self.pieces(resident, demand).map(|pieces| missing(&pieces).saturating_mul(pieces.size)).max().unwrap_or(0)
    }

    /// What decides whether there is room for a block beside `resident` warps; nothing if it takes no registers.
    ///
    /// A sub-partition of `F` registers has `floor(F / s)` pieces of `s`, of which a warp of `r` registers takes no
    /// fewer than `floor(r / s)` and spoils no more than `ceil(r / s)`. Dealt at best, there is room unless for some
    /// `s` (the unit, or what a warp takes) pieces are too few; dealt at worst, only where those that no other warp
    /// spoils are enough. Where all warps take the same, both say how many there are places for.
    fn pieces(&self, resident: &ResidentWarps, demand: &BlockDemand) -> impl Iterator<Item = Pieces> {
        let (own, warps) = (demand.registers_per_warp(), demand.warps);
        let is_worst = self.dealing == RegisterDealing::Worst;
        let at_best = move |size: u32| {
            let taken = resident.sum(|other| other / size);
            Pieces { size, taken, of_block: own / size * warps }
        };
        let sizes = resident.0.iter().map(|(size, _)| *size).filter(move |size| *size < own).chain([self.unit, own]);
        let best = sizes.filter(move |_| !is_worst && own > 0).map(at_best);
        let worst = (is_worst && own > 0).then(|| {
            let taken = resident.sum(|other| other.div_ceil(own));
            Pieces { size: own, taken, of_block: warps }
        });
        worst.into_iter().chain(best)
    }
}

/// Equal pieces of the sub-partitions, and how many of them are taken, and a block takes.
struct Pieces {
    size: u32,
    taken: u32,
    of_block: u32,
}

// How much of a GPU one kernel fills when it runs alone.

/// What keeps a kernel that runs alone from having more blocks on an SM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OccupancyLimit {
    /// A resource of the SM.
    Resource(Resource),
    /// The grid: all of its blocks fit at once.
    Grid,
}

impl OccupancyLimit {
    /// Name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resource(Resource::Threads) => "threads",
            Self::Resource(Resource::BlockSlots) => "blocks",
            Self::Resource(Resource::Registers) => "registers",
            Self::Resource(Resource::SharedMemory) => "shared memory",
            Self::Grid => "grid",
        }
    }
}

/// How a kernel that runs alone fills the SMs that it may use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelOccupancy {
    /// Blocks that one SM holds at once; 0 if such a block can never run.
    pub resident_blocks_per_sm: u32,
    /// What keeps it from having more.
    pub limited_by: OccupancyLimit,
    /// How often all SMs are filled until every block has run, if all blocks take the same time; 0 if none can run.
    pub waves: u32,
    /// Blocks of the last wave over the blocks that would fit \[percent\].
    pub last_wave_percent: f64,
    /// Resident threads over the threads that the SMs could hold, in a full wave; of a grid that does not fill one,
    /// over all SMs \[percent\].
    pub occupancy_percent: f64,
}

impl KernelOccupancy {
    /// A kernel of `blocks` blocks on `sms` SMs of `device`.
    pub fn new(shape: &BlockShape, blocks: u32, sms: u32, device: &Device) -> Self {
        let demand = match BlockDemand::new(shape, device) {
            Ok(demand) => demand,
            Err(error) => return Self::never(error),
        };
        let (resource, resident) = demand.tightest(device);
        let room = (u64::from(resident) * u64::from(sms)).max(1);
        let waves = u64::from(blocks).div_ceil(room);
        let last = u64::from(blocks) - waves.saturating_sub(1) * room;
        let on_one_sm = f64::from(resident).min(f64::from(blocks) / f64::from(sms.max(1)));
        Self {
            resident_blocks_per_sm: resident,
            limited_by: if u64::from(blocks) < room {
                OccupancyLimit::Grid
            } else {
                OccupancyLimit::Resource(resource)
            },
            waves: u32::try_from(waves).proven("at most as many waves as blocks"),
            last_wave_percent: 100.0 * last as f64 / room as f64,
            occupancy_percent: 100.0 * on_one_sm * f64::from(shape.threads) / f64::from(device.per_sm.threads),
        }
    }

    const fn never(error: DemandError) -> Self {
        let resource = match error {
            DemandError::NoThreads => Resource::Threads,
            DemandError::OverBlockLimit { resource, .. } | DemandError::OverEmptySm { resource, .. } => resource,
        };
        Self {
            resident_blocks_per_sm: 0,
            limited_by: OccupancyLimit::Resource(resource),
            waves: 0,
            last_wave_percent: 0.0,
            occupancy_percent: 0.0,
        }
    }

    /// Whether a profiler that rounds to whole percent states this occupancy as `recorded` \[percent\]; a half may be
    /// rounded either way.
    pub fn agrees_with(&self, recorded: f64) -> bool {
        (self.occupancy_percent - recorded).abs() <= 0.5 + 1e-6
    }
}
