//! The data of Figures 3 to 6 of DATE 2014 (GPU-EvR).
//!
//! `random_injection` is behind Figures 3 (requirements met), 4 (total violation) and 5 (utilization and power),
//! `per_period` behind Figure 6; both are computed as rows of a study. Each point is the mean over many seeded
//! samples, with its spread. A [variation](crate::applications::Variation) changes how parallel the applications are
//! and how much work they bring, to see on which of the two the result depends.

use serde::Serialize;

use crate::applications::Outcome;
use crate::hosts::Scheduler;
use crate::hosts::gpu_evr::EvrRules;
use crate::proven::OrMost;
use crate::statistics::{Measure, Moments, Statistic};
use crate::time::NS_PER_SECOND;

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

/// One scheduler at one number of applications.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepPoint {
    /// Name of the scheduler.
    pub scheduler: String,
    /// Whether the applications' numbers were made up.
    pub synthetic: bool,
    /// Applications injected: in all, or per period.
    pub applications: u32,
    /// Samples.
    pub samples: u32,
    /// Requirements met: in all, or per period.
    pub met: Statistic,
    /// Total violation \[s\].
    pub violation_s: Statistic,
    /// Share of SM time in which SMs ran blocks.
    pub utilization: Statistic,
    /// Mean power of the board \[W\].
    pub mean_power_w: Statistic,
    /// Mean of the applications' own powers \[W\].
    pub application_power_w: Statistic,
    /// Energy for each application \[J\].
    pub energy_per_application_j: Statistic,
}

impl SweepPoint {
    /// The point of these outcomes; met and violations are divided by `periods`.
    pub fn of(scheduler: String, synthetic: bool, applications: u32, periods: u32, outcomes: &[Outcome]) -> Self {
        let mut tally = PointTally::default();
        for outcome in outcomes {
            tally.add(PointTally::quantities(outcome), periods);
        }
        tally.point(scheduler, synthetic, applications)
    }
}

/// Sums up samples of a point that come one by one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct PointTally {
    moments: [Moments; 6],
}

impl PointTally {
    /// What is summed up of an outcome, of all periods together.
    pub(crate) fn quantities(outcome: &Outcome) -> [f64; 6] {
        [
            outcome.met as f64,
            outcome.total_violation_ns.as_ns() as f64,
            outcome.utilization,
            outcome.mean_power_w,
            outcome.mean_application_power_w,
            outcome.energy_per_application_j,
        ]
    }

    /// Adds the quantities of an outcome; met and violations are divided by `periods`.
    pub(crate) fn add(&mut self, quantities: [f64; 6], periods: u32) {
        let periods = f64::from(periods.max(1));
        let [met, violation_ns, utilization, mean_power, application_power, energy] = quantities;
        let values = [
            met / periods,
            violation_ns / NS_PER_SECOND as f64 / periods,
            utilization,
            mean_power,
            application_power,
            energy,
        ];
        self.moments.iter_mut().zip(values).for_each(|(moments, value)| moments.add(value));
    }

    /// What came out, under the names that a point has for it.
    pub(crate) fn measures(&self) -> Vec<(&'static str, Measure)> {
        let names =
            ["met", "violation_s", "utilization", "mean_power_w", "application_power_w", "energy_per_application_j"];
        names.into_iter().zip(self.moments.map(|moments| moments.measure())).collect()
    }

    pub(crate) fn point(&self, scheduler: String, synthetic: bool, applications: u32) -> SweepPoint {
        let [met, violation_s, utilization, mean_power_w, application_power_w, energy_per_application_j] =
            self.moments.map(|moments| moments.statistic());
        SweepPoint {
            scheduler,
            synthetic,
            applications,
            samples: u32::try_from(self.moments[0].count()).or_most(),
            met,
            violation_s,
            utilization,
            mean_power_w,
            application_power_w,
            energy_per_application_j,
        }
    }
}

/// GPU-EvR against one other scheduler at one number of applications.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[doc(hidden)]
pub struct Ratio {
    /// The other scheduler.
    pub baseline: String,
    /// Applications injected.
    pub applications: u32,
    /// Mean number of requirements met, divided by the other's; the paper: up to 6.4.
    pub met: Option<f64>,
    /// Mean total violation, divided by the other's.
    pub violation: Option<f64>,
    /// Mean board power, divided by the other's.
    pub mean_power: Option<f64>,
    /// Mean of the applications' own powers, divided by the other's; the paper: down to 0.8.
    pub application_power: Option<f64>,
    /// Energy for each application, divided by the other's.
    pub energy: Option<f64>,
}

/// The points of `scheduler` against all others, where the other's mean is not 0.
#[doc(hidden)]
pub fn ratios(points: &[SweepPoint], scheduler: &str) -> Vec<Ratio> {
    let by = |mine: Statistic, other: Statistic| (other.mean > 0.0).then(|| mine.mean / other.mean);
    let own =
        |applications| points.iter().find(|point| point.scheduler == scheduler && point.applications == applications);
    points
        .iter()
        .filter(|point| point.scheduler != scheduler)
        .filter_map(|other| {
            let mine = own(other.applications)?;
            Some(Ratio {
                baseline: other.scheduler.clone(),
                applications: other.applications,
                met: by(mine.met, other.met),
                violation: by(mine.violation_s, other.violation_s),
                mean_power: by(mine.mean_power_w, other.mean_power_w),
                application_power: by(mine.application_power_w, other.application_power_w),
                energy: by(mine.energy_per_application_j, other.energy_per_application_j),
            })
        })
        .collect()
}
