//! Three published systems for [gpusched](https://docs.rs/gpusched): their theory, runs on the simulated GPU, tables
//! and pictures.
//!
//! It needs `gpusched-core`. `gpusched` re-exports its modules under their names: use that.

// Tests beside the code share samples with the suite, which names the library so.
#[cfg(test)]
extern crate self as gpusched;

use gpusched_core::{broken_bound, draw, formats, sorted, statistics};
use gpusched_engine::{device, effort, gpu, json, limits, named, proven, spelling, time, trace, words, workload};

pub mod applications;
pub mod hosts;
pub mod pictures;
pub mod tables;
pub mod tasks;
pub mod warps;
