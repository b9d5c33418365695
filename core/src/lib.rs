//! What [gpusched](https://docs.rs/gpusched) says of a GPU: scenarios, their runs, analyses, audits, tables and
//! pictures.
//!
//! It needs the simulated GPU of `gpusched-engine` alone, and knows neither the three other systems, nor formats of
//! others, nor studies. `gpusched` gives its rooms again under their names: use that.

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
pub mod replay;
pub mod run;
pub mod scenario;
#[doc(hidden)]
pub mod sorted;
pub mod statistics;
pub mod tables;
