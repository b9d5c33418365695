//! Running many seeded samples, whose results do not depend on the number of threads.

use rayon::prelude::*;
use thiserror::Error;

use super::points::SweepPoint;
use crate::applications::{ApplicationSet, GenerateError, Injections, Outcome};
use crate::hosts::gpu_evr::EvrRules;
use crate::hosts::{ScheduleError, Scheduler, UsageDetail, usage_of_applications};
use crate::time::Duration;

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

/// Why a figure cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SweepError {
    /// Nothing can be injected.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The applications cannot be run.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

/// Figures 3 to 5: `counts` applications, each up to `gap` after the one before.
///
/// # Errors
/// [`SweepError`]
pub fn random_injection(
    set: &ApplicationSet,
    counts: &[u32],
    gap: Duration,
    options: &SweepOptions,
) -> Result<Vec<SweepPoint>, SweepError> {
    points(set, counts, 1, options, |count| Injections::Random { count, gap })
}

/// Figure 6: `counts` applications in each of `periods` periods; met and violations are per period.
///
/// # Errors
/// [`SweepError`]
pub fn per_period(
    set: &ApplicationSet,
    counts: &[u32],
    period: Duration,
    periods: u32,
    options: &SweepOptions,
) -> Result<Vec<SweepPoint>, SweepError> {
    points(set, counts, periods, options, |count| Injections::PerPeriod { count, period, periods })
}

fn points(
    set: &ApplicationSet,
    counts: &[u32],
    periods: u32,
    options: &SweepOptions,
    injections: impl Fn(u32) -> Injections,
) -> Result<Vec<SweepPoint>, SweepError> {
    let mut found = Vec::with_capacity(counts.len() * options.schedulers.len());
    for &count in counts {
        for (scheduler, outcomes) in sweep(set, injections(count), options)? {
            found.push(SweepPoint::of(scheduler.name().to_owned(), set.synthetic, count, periods, &outcomes));
        }
    }
    Ok(found)
}

/// Runs every sample of one kind of injections under every scheduler; outcomes are in the order of the samples.
///
/// Samples run in parallel on the current rayon thread pool.
///
/// # Errors
/// [`SweepError`]
pub fn sweep(
    set: &ApplicationSet,
    injections: Injections,
    options: &SweepOptions,
) -> Result<Vec<(Scheduler, Vec<Outcome>)>, SweepError> {
    let samples: Vec<Vec<Outcome>> = (0..u64::from(options.samples))
        .into_par_iter()
        .map(|sample| {
            let mut own = set.clone();
            own.injections = injections.draw(set, options.seed, sample)?;
            let run = |&scheduler| {
                let usage = usage_of_applications(&own, scheduler, options.rules, UsageDetail::Totals)?;
                Ok(Outcome::of_usage(&own, scheduler.name(), usage))
            };
            options.schedulers.iter().map(run).collect::<Result<Vec<_>, SweepError>>()
        })
        .collect::<Result<_, SweepError>>()?;
    let mut by_scheduler: Vec<(Scheduler, Vec<Outcome>)> =
        options.schedulers.iter().map(|&scheduler| (scheduler, Vec::new())).collect();
    for sample in samples {
        for (outcome, (_, outcomes)) in sample.into_iter().zip(&mut by_scheduler) {
            outcomes.push(outcome);
        }
    }
    Ok(by_scheduler)
}
