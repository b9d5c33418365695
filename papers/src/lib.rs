//! Campaigns of many runs or random inputs, replays and studies of [gpusched](https://docs.rs/gpusched), with their
//! tables and pictures.
//!
//! It needs `gpusched-core`, `gpusched-systems` and `gpusched-imports`. `gpusched` re-exports its modules under
//! their names: use that.

// Tests beside the code share samples with the suite, which names the library so.
#[cfg(test)]
extern crate self as gpusched;

#[cfg(test)]
#[path = "../../tests/suite/campaign.rs"]
mod campaign;

use gpusched_core::{analysis, broken_bound, draw, formats, run, scenario, sorted, statistics};
use gpusched_engine::{device, effort, gpu, json, limits, named, proven, spelling, time, trace, words, workload};
use gpusched_imports::{input, profile};
use gpusched_systems::{applications, tasks, warps};

/// Hosts of scenarios and of the three systems.
mod hosts {
    pub(crate) use gpusched_core::hosts::*;
    pub(crate) use gpusched_systems::hosts::*;
}

pub mod experiments;
pub mod pictures;
pub mod tables;
