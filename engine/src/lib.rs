//! The simulated GPU of [gpusched](https://docs.rs/gpusched): what its hardware is, what work it is given, by which
//! rules blocks get SMs, and the record of what happened.
//!
//! It needs nothing but a [`Device`](device::Device) and a [`Host`](gpu::Host) that submits work, and knows neither
//! files of scenarios, nor analyses, nor pictures: those are `gpusched`, which gives these modules again under the same
//! names. Depend on `gpusched`, not on this crate: what is hidden from this documentation is for `gpusched` alone, and
//! can change with any version.

// Indexes of 32 bits are cast to usize, and lengths to u64: neither loses anything.
const _: () = assert!(usize::BITS >= u32::BITS && usize::BITS <= u64::BITS);

#[doc(hidden)]
pub mod canonical;
pub mod device;
pub mod effort;
pub mod gpu;
pub mod json;
pub mod limits;
#[doc(hidden)]
pub mod named;
#[doc(hidden)]
pub mod proven;
pub mod spelling;
pub mod time;
pub mod trace;
pub mod words;
pub mod workload;
