//! What [gpusched](https://docs.rs/gpusched) says of a GPU: scenarios, their runs, analyses, audits, tables and
//! pictures.
//!
//! It needs the simulated GPU of `gpusched-engine` alone, and knows neither the three other systems, nor formats of
//! others, nor studies. `gpusched` re-exports its modules by their names: use that. What the command's `simulate`,
//! `analyze` and `compare` tell is here, and their pictures:
//!
//! ```
//! use gpusched_core::analysis::compare;
//! use gpusched_core::device::Device;
//! use gpusched_core::hosts::simulate;
//! use gpusched_core::pictures::timeline::{Timeline, TimelineOptions};
//! use gpusched_core::run::Summary;
//! use gpusched_core::scenario::{HostThread, ScenarioBuilder, Step};
//! use gpusched_core::time::{Duration, Instant};
//! use gpusched_core::workload::{Kernel, StreamSpec};
//!
//! let ms = |count: u64| Duration::from_ns(count * 1_000_000);
//! let tx2 = Device::builtin("tx2")?.ok_or("the TX2 is built in")?;
//! let mut builder = ScenarioBuilder::on(&tx2, "scan and search");
//! for (name, blocks, time) in [("scan", 4, ms(3)), ("search", 8, ms(4))] {
//!     let stream = builder.add_stream(StreamSpec::new(name))?;
//!     let kernel = builder.add_kernel(Kernel::new(name, blocks, 1024, time))?;
//!     builder.add_thread(HostThread {
//!         iterations: Some(1),
//!         ..HostThread::periodic(name, ms(20), vec![Step::Launch(kernel, stream)])
//!     });
//! }
//! let scenario = builder.build();
//!
//! // Four blocks fill the GPU, so the search takes it twice after the scan, in the simulation and by the analysis.
//! let comparison = compare(&scenario)?;
//! assert!(comparison.equal && comparison.exact);
//! assert_eq!(comparison.kernels[1].simulated_finish_ns, Some(Instant::from_ns(11_000_000)));
//!
//! let run = simulate(&scenario)?;
//! let (summary, options) = (Summary::of(&run), TimelineOptions::default());
//! assert!(Timeline::new(&summary, &options)?.draw(&summary, &options).to_svg().starts_with("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Tests beside the code share samples with the suite, which names the library so.
#[cfg(test)]
extern crate self as gpusched;

#[cfg(test)]
#[path = "../../tests/suite/campaign.rs"]
#[allow(dead_code, reason = "the suite needs more of it")]
mod campaign;
#[cfg(test)]
#[path = "../../tests/suite/generate.rs"]
#[allow(dead_code, reason = "the suite needs more of it")]
mod generate;

use gpusched_engine::{canonical, named, proven};
#[doc(inline)]
pub use gpusched_engine::{device, effort, gpu, json, limits, spelling, time, trace, words, workload};

pub mod analysis;
pub mod audit;
pub mod broken_bound;
pub mod draw;
pub mod formats;
pub mod hosts;
#[doc(hidden)]
pub mod joined;
pub mod logs;
pub mod pictures;
pub mod printed;
pub mod probe;
pub mod replay;
pub mod run;
pub mod scenario;
#[doc(hidden)]
pub mod sorted;
pub mod statistics;
pub mod tables;
