//! The data of Figures 3 to 6 of DATE 2014 (GPU-EvR).
//!
//! `random_injection` is behind Figures 3 (requirements met), 4 (total violation) and 5 (utilization and power),
//! `per_period` behind Figure 6; both are computed as rows of a study. Each point is the mean over many seeded
//! samples, with its spread. A [`Variation`] changes how parallel the applications are and how much work they bring, to
//! see on which of the two the result depends.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

use crate::applications::{
    Application, ApplicationError, ApplicationSet, ExecutionProfile, Injections, KernelTimes, Outcome,
};
use crate::hosts::Scheduler;
use crate::hosts::gpu_evr::EvrRules;
use crate::proven::OrMost;
use crate::statistics::{Moments, Statistic};
use crate::time::{Duration, NS_PER_SECOND};

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
pub(crate) struct Ratio {
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
pub(crate) fn ratios(points: &[SweepPoint], scheduler: &str) -> Vec<Ratio> {
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

/// How to change a set of applications.
///
/// What is not stated stays as it is, and requirements keep their ratio to the execution time on the whole GPU, E(A,
/// `P_tot`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variation {
    /// Divide every grid into so many launches, one after the other: the work stays, the parallelism goes. 1: as it is.
    pub narrow: u32,
    /// Scale block times so that the [`load`] becomes so many percent. `None`: as they are.
    pub load_percent: Option<u32>,
    /// Replace every launch by as many as it takes rounds on the whole GPU, each of which just fills so many SMs (all,
    /// if there are no more): E(A, P) stays the same for P = `P_tot`, and more SMs than these do not help.
    pub saturation_sms: Option<u32>,
    /// Scale block times so that each E(A, `P_tot`) becomes this.
    pub execution: Option<Duration>,
    /// Require so many percent of E(A, `P_tot`), instead of the stated requirements.
    pub tightness_percent: Option<u32>,
}

impl Default for Variation {
    fn default() -> Self {
        Self { narrow: 1, load_percent: None, saturation_sms: None, execution: None, tightness_percent: None }
    }
}

impl fmt::Display for Variation {
    /// What is changed, each part after a comma; nothing if nothing is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.narrow > 1 {
            write!(f, ", grids in {} launches", self.narrow)?;
        }
        if let Some(sms) = self.saturation_sms {
            write!(f, ", each filling {sms} SMs")?;
        }
        if let Some(percent) = self.load_percent {
            write!(f, ", load {percent} %")?;
        }
        if let Some(time) = self.execution {
            write!(f, ", E = {time}")?;
        }
        if let Some(percent) = self.tightness_percent {
            write!(f, ", T_req = {percent} % of E")?;
        }
        Ok(())
    }
}

/// The mean of E(A, `P_tot`) over the applications, divided by the mean delay between injections: above 1, a scheduler
/// of one application at a time falls behind without end.
pub fn load(set: &ApplicationSet, mean_gap: Duration) -> f64 {
    let total: u64 = set.profiles.iter().map(|profile| profile.execution(profile.sms()).as_ns()).sum();
    total as f64 / set.profiles.len().max(1) as f64 / mean_gap.as_ns().max(1) as f64
}

impl Variation {
    /// The changed set, for injections with a mean delay of `mean_gap`. It has no injections yet.
    ///
    /// # Errors
    /// [`ApplicationError`] if an application becomes too long, or has too many launches.
    pub fn apply(&self, set: &ApplicationSet, mean_gap: Duration) -> Result<ApplicationSet, ApplicationError> {
        let mut changed = set.clone();
        changed.name = format!("{}{self}", set.name);
        changed.injections.clear();
        for application in &mut changed.applications {
            for kernel in &mut application.kernels {
                let pieces = self.narrow.clamp(1, kernel.blocks);
                kernel.blocks = kernel.blocks.div_ceil(pieces);
                kernel.launches = kernel.launches.checked_mul(pieces).ok_or(ApplicationError::TooManyLaunches)?;
            }
        }
        changed.reprofile()?;
        if let Some(sms) = self.saturation_sms {
            saturate(&mut changed, sms)?;
            changed.reprofile()?;
        }
        if let Some(time) = self.execution {
            // As with the load below.
            for _ in 0..2 {
                for (application, profile) in changed.applications.iter_mut().zip(&changed.profiles) {
                    scale(application, time.as_ns() as f64 / execution_ns(profile).max(1.0));
                }
                changed.reprofile()?;
            }
        }
        if let Some(percent) = self.load_percent {
            // Copies do not scale, so one step comes near and the second nearer.
            for _ in 0..2 {
                let factor = f64::from(percent) / 100.0 / load(&changed, mean_gap).max(f64::MIN_POSITIVE);
                changed.applications.iter_mut().for_each(|application| scale(application, factor));
                changed.reprofile()?;
            }
        }
        let profiles = set.profiles.iter().zip(&changed.profiles);
        for ((application, old), (before, after)) in
            changed.applications.iter_mut().zip(&set.applications).zip(profiles)
        {
            application.requirements = if let Some(percent) = self.tightness_percent {
                vec![times(after.execution(after.sms()), f64::from(percent) / 100.0)]
            } else {
                let stretch = execution_ns(after) / execution_ns(before).max(1.0);
                old.requirements.iter().map(|&time| times(time, stretch)).collect()
            };
        }
        Ok(changed)
    }
}

impl ApplicationSet {
    /// Computes the profiles anew after the applications were changed.
    ///
    /// # Errors
    /// [`ApplicationError`] of the first application that has none.
    pub fn reprofile(&mut self) -> Result<(), ApplicationError> {
        let device = &self.device;
        self.profiles = self
            .applications
            .iter()
            .map(|application| ExecutionProfile::new(application, device))
            .collect::<Result<_, _>>()?;
        Ok(())
    }
}

/// Makes every launch fill just `sms` SMs, by [`Variation::saturation_sms`].
fn saturate(set: &mut ApplicationSet, sms: u32) -> Result<(), ApplicationError> {
    for (application, profile) in set.applications.iter_mut().zip(&set.profiles) {
        let width = sms.clamp(1, profile.sms());
        for (k, kernel) in application.kernels.iter_mut().enumerate() {
            let at_once = |sms: u32| profile.blocks_per_sm(k).saturating_mul(sms).max(1);
            let pieces = kernel.blocks.div_ceil(at_once(profile.sms()));
            kernel.launches = kernel.launches.checked_mul(pieces).ok_or(ApplicationError::TooManyLaunches)?;
            kernel.blocks = at_once(width);
            kernel.times = KernelTimes::Fixed(profile.block_time(k, profile.sms()));
        }
    }
    Ok(())
}

fn execution_ns(profile: &ExecutionProfile) -> f64 {
    profile.execution(profile.sms()).as_ns() as f64
}

fn scale(application: &mut Application, factor: f64) {
    for kernel in &mut application.kernels {
        match &mut kernel.times {
            KernelTimes::Fixed(time) => *time = times(*time, factor),
            KernelTimes::Table(table) => table.values_mut().for_each(|time| *time = times(*time, factor)),
        }
    }
}

/// Rounded to whole nanoseconds, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and nothing is negative"
)]
fn times(time: Duration, factor: f64) -> Duration {
    Duration::from_ns(((time.as_ns() as f64 * factor).round() as u64).max(1))
}

/// Why there is nothing to run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InjectedError {
    /// The requirements of stated arrivals would not fit the changed applications.
    #[error(
        "this file states arrivals, whose requirements stay: to change its applications, draw injections (inject or \
         per-period)"
    )]
    ChangesArrivals,
    /// Nothing can be drawn anew.
    #[error("samples draw injections anew, and this file states arrivals: draw injections (inject or per-period)")]
    SamplesArrivals,
    /// No application is ever started.
    #[error(
        "nothing is injected: give the applications \"arrivals\", the file an \"injection\", or draw some (inject)"
    )]
    Nothing,
    /// The changes cannot be made, or the injections not drawn.
    #[error(transparent)]
    Application(#[from] ApplicationError),
}

impl ApplicationSet {
    /// The set with its applications changed, if anything is; `generator` says how injections are drawn.
    ///
    /// # Errors
    /// [`InjectedError`]
    pub fn varied(self, variation: &Variation, generator: Option<Injections>) -> Result<Self, InjectedError> {
        match (*variation == Variation::default(), generator) {
            (true, _) => Ok(self),
            (false, Some(_)) => Ok(variation.apply(&self, Duration::ZERO)?),
            (false, None) => Err(InjectedError::ChangesArrivals),
        }
    }

    /// The set with injections, drawn if `generator` says how, and otherwise as stated.
    ///
    /// # Errors
    /// [`InjectedError`]
    pub fn injected(mut self, generator: Option<Injections>, seed: u64) -> Result<Self, InjectedError> {
        if let Some(generator) = generator {
            self.injections = generator.draw(&self, seed, 0)?;
        }
        if self.injections.is_empty() { Err(InjectedError::Nothing) } else { Ok(self) }
    }
}
