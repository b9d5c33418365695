//! Formats of others for [gpusched](https://docs.rs/gpusched): AMALTHEA models and profiles of real applications, made
//! scenarios, and what is told of them.
//!
//! It needs `gpusched-core`. `gpusched` re-exports its modules under their names: use that.

// Tests beside the code share samples with the suite, which names the library so.
#[cfg(test)]
extern crate self as gpusched;

#[cfg(test)]
use gpusched_core::hosts;
use gpusched_core::{analysis, formats, joined, logs, run, scenario, sorted, statistics};
use gpusched_engine::{device, effort, json, limits, named, proven, spelling, time, words, workload};

pub mod amalthea;
pub mod input;
pub mod profile;
pub mod tables;
