//! Profiles of real applications, as PyTorch's profiler (Kineto), Nsight Systems and nvprof record them.
//!
//! Every reader makes a [`GpuProfile`]: the GPUs, what ran on them and when, and the host's calls. From there on nobody
//! knows formats: [`GpuProfile::import`] makes a scenario of it, with block times estimated from what ran alone.

mod block_times;
mod builder;
mod call;
mod copy_times;
mod device;
mod error;
mod gpu;
mod import;
mod import_options;
mod kernel_medians;
mod kineto;
mod latency;
mod model;
#[cfg(feature = "nsight")]
mod nsight;
mod nvprof;
mod programs;
mod read;
mod rescale;
mod short_name;
#[cfg(not(feature = "nsight"))]
mod without_nsight;

pub(crate) use block_times::BlockTimeSource;
pub(crate) use call::CallKind;
pub use error::GpuProfileError;
pub use import::Import;
pub(crate) use import::ImportedStream;
pub use import_options::{Collectives, ImportOptions, Launches, Rescale};
pub(crate) use kernel_medians::Learned;
pub use kernel_medians::ToldBy;
pub(crate) use latency::{CLOCKS_NS, UsualDelays};
pub use model::GpuProfile;
pub(crate) use model::{HostCall, ProfileFormat, ProfiledKernel, ProfiledOperation, ProfiledStream, SyncKind};
pub(crate) use programs::UNSEEN;
pub(crate) use read::uncompressed;
pub(crate) use short_name::short_name;

#[cfg(test)]
mod tests;
