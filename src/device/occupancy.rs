//! How much of a GPU one kernel fills when it runs alone.

use super::{BlockDemand, BlockShape, DemandError, Device, Resource};
use crate::proven::Proven;

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
