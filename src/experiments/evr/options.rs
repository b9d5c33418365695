//! What points of curves are sampled with.

use crate::hosts::Scheduler;
use crate::hosts::gpu_evr::EvrRules;

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepOptions {
    /// Samples for each point; each has its own stream of random numbers.
    pub samples: u32,
    /// The seed of all samples.
    pub seed: u64,
    /// The schedulers, each on the same injections.
    pub schedulers: Vec<Scheduler>,
    /// GPU-EvR's rules.
    pub rules: EvrRules,
}

impl Default for SweepOptions {
    fn default() -> Self {
        Self { samples: 200, seed: 0, schedulers: Scheduler::ALL.to_vec(), rules: EvrRules::default() }
    }
}
