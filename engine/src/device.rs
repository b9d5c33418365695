//! GPUs as data: limits, allocation granularities, copy engines, and what one block takes from its SM.
//!
//! A [`Device`] is checked when it is made and never changes; a [`DeviceSpec`] is the same, unchecked. Built-in ones
//! are JSON files embedded in the library ([`Device::builtin`]); a user's own has the same form
//! ([`Device::from_json`]). Every number in a built-in file has a source or is marked as an assumption.

mod block_demand;
mod builtin;
mod compute_capability;
mod file;
mod limits;
mod properties;
mod sm_masks;
mod spec;
mod validated;

pub use block_demand::{BlockDemand, BlockShape, DemandError, KernelOccupancy, OccupancyLimit, Resource};
#[doc(hidden)]
pub use block_demand::{RegisterFile, ResidentWarps};
pub use builtin::BUILTIN_NAMES;
pub use compute_capability::ComputeCapability;
use compute_capability::SmArchitecture;
#[doc(hidden)]
pub use file::device as read_device;
pub use limits::DeviceError;
#[doc(hidden)]
pub use limits::{Sided, SidesError, range};
#[doc(hidden)]
pub use properties::GpuProperties;
#[doc(hidden)]
pub use sm_masks::SplitRounding;
pub use sm_masks::{MaskError, SmMask};
pub use spec::{
    ChannelOrder, CopyDirection, CopyEngines, CopySharing, DeviceSpec, Gpcs, PerBlockLimits, PerSmLimits, Placement,
    Preemption, RegisterAllocation, RegisterDealing, Runlists, SharedMemoryAllocation, SmNumbering, SmOrder,
    SynchronousMemset, TimeSlicing,
};
pub use validated::Device;

#[cfg(test)]
mod tests;
