//! What a profile says of a GPU.

use crate::device::ComputeCapability;

/// Limits of one GPU; `None`: the file does not say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct GpuProperties {
    /// Name of the board.
    pub name: String,
    /// Compute capability.
    pub compute_capability: Option<ComputeCapability>,
    /// SMs.
    pub sms: Option<u32>,
    /// Threads per warp.
    pub warp_size: Option<u32>,
    /// Threads of one SM.
    pub threads_per_sm: Option<u32>,
    /// Block slots of one SM.
    pub blocks_per_sm: Option<u32>,
    /// Threads of one block at most.
    pub threads_per_block: Option<u32>,
    /// Registers of one SM.
    pub registers_per_sm: Option<u32>,
    /// Registers of one block at most.
    pub registers_per_block: Option<u32>,
    /// Shared memory of one SM \[bytes\].
    pub shared_memory_per_sm: Option<u32>,
    /// Shared memory of one block at most, with opt-in \[bytes\].
    pub shared_memory_per_block: Option<u32>,
    /// Memory of the GPU \[bytes\].
    pub memory_bytes: Option<u64>,
    /// The clock that its SMs reach \[Hz\].
    pub clock_hz: Option<u64>,
    /// How fast its memory is read or written \[bytes/s\].
    pub memory_bytes_per_s: Option<u64>,
    /// Copy engines.
    pub copy_engines: Option<u32>,
}
