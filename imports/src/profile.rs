//! Profiles of real applications, as PyTorch's profiler (Kineto), Nsight Systems and nvprof record them.
//!
//! Every reader makes a [`GpuProfile`]: the GPUs, what ran on them and when, and the host's calls. From there on nobody
//! knows formats: [`GpuProfile::import`] makes a scenario of it, with block times estimated from what ran alone.

mod audit;
mod builder;
mod device;
mod durations;
mod formats;
mod gpu_profile;
mod host_threads;
mod import;
mod kernel_medians;
mod kineto;
#[cfg(feature = "nsight")]
mod nsight;
mod nvprof;
mod rescale;
mod submissions;
#[cfg(test)]
mod tests;

use crate::named::named;
use crate::time::Duration;

pub(crate) use audit::{JudgedStart, ProfileAudit, StartVerdict, TELLING_WAVES, audit_profile};
#[doc(hidden)]
pub use durations::{BlockTimeSource, EstimatedBlockTime};
pub(crate) use formats::uncompressed;
#[doc(hidden)]
pub use gpu_profile::{
    CallKind, HostCall, LaunchType, ProfileFormat, ProfiledKernel, ProfiledKind, ProfiledOperation, ProfiledStream,
    SyncKind, short_name,
};
pub use gpu_profile::{GpuProfile, GpuProfileError};
#[doc(hidden)]
pub use host_threads::UNSEEN;
pub use import::Import;
pub(crate) use import::ImportedStream;
pub use kernel_medians::ToldBy;
#[doc(hidden)]
pub use kernel_medians::{KernelMedians, Learned};
pub(crate) use submissions::{CLOCKS_NS, UsualDelays};

named! {
    /// When the operations of a profile are submitted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Launches: ALL, from_name {
        /// By host threads that take the recorded time between calls and wait where they waited: they go on later if
        /// the GPU is later (closed loop).
        #[default]
        Host = "host",
        /// At the recorded times, whatever the GPU does (open loop).
        Recorded = "recorded",
    }
}

named! {
    /// For how long kernels run whose names are those of collectives (NCCL, NVSHMEM): they wait for other GPUs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Collectives: ALL, from_name {
        /// Each for as long as it did.
        #[default]
        Recorded = "recorded",
        /// As other kernels: each that overlapped others for as long as the same one by the median.
        Model = "model",
    }
}

named! {
    /// For how long kernels run on another GPU than the recorded one: a roofline with one roof. No profile states what
    /// limits a kernel, so the user says it, or names are asked.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Rescale: ALL, from_name {
        /// Each block for as long as recorded.
        #[default]
        None = "none",
        /// By what the SM computes that has most blocks: blocks of an SM, clock, 32-bit operations a clock.
        Compute = "compute",
        /// By the bandwidth of the memory, whatever SMs there are.
        Memory = "memory",
        /// Each kernel by what its name says limits it; what has no such name, or fewer blocks than SMs, is not
        /// rescaled.
        ByName = "by-name",
    }
}

/// Which part of a profile to take, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportOptions {
    /// The GPU; `None`: the one that runs most kernels.
    pub gpu: Option<u32>,
    /// Leave out what starts earlier than this after the GPU's first operation.
    pub from: Option<Duration>,
    /// Leave out what starts at or after this.
    pub to: Option<Duration>,
    /// When operations are submitted.
    pub launches: Launches,
    /// For how long collectives run.
    pub collectives: Collectives,
    /// For how long kernels run on another GPU than the recorded one.
    pub rescale: Rescale,
    /// For how long kernels run that overlap others.
    pub kernel_times: ToldBy,
}
