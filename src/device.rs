//! GPUs as data: limits, allocation granularities, copy engines, and what one block takes from its SM.
//!
//! A [`Device`] is checked when it is made and never changes; a [`DeviceSpec`] is the same, unchecked. Built-in ones
//! are JSON files embedded in the library ([`Device::builtin`]); a user's own has the same form
//! ([`Device::from_json`]). Every number in a built-in file has a source or is marked as an assumption.

mod builtin;
mod compute_capability;
mod demand;
mod gpcs;
mod green;
mod limits;
mod mask;
mod model;
mod occupancy;
mod placement;
mod read;
mod sides;
mod time_slicing;
mod validated;
mod write;

pub use builtin::BUILTIN_NAMES;
pub use compute_capability::{ComputeCapability, SmArchitecture};
pub use demand::{BlockDemand, BlockShape, DemandError, Resource};
pub(crate) use demand::{RegisterFile, ResidentWarps};
pub use gpcs::{Gpcs, SmNumbering};
pub use limits::DeviceError;
pub(crate) use limits::range;
pub use mask::{MaskError, SmMask};
pub use model::{
    ChannelOrder, CopyDirection, CopyEngines, CopySharing, DeviceSpec, PerBlockLimits, PerSmLimits, RegisterAllocation,
    RegisterDealing, SharedMemoryAllocation, SmOrder, SynchronousMemset,
};
pub use occupancy::{KernelOccupancy, OccupancyLimit};
pub use placement::Placement;
pub(crate) use read::device as read_device;
pub(crate) use sides::{Sided, SidesError};
pub use time_slicing::{Preemption, Runlists, TimeSlicing};
pub use validated::Device;

#[cfg(test)]
mod tests;
