//! Changes of a set: longer or shorter applications, of other widths, loads and requirements.

use std::fmt;

use super::{Application, ApplicationError, ApplicationSet, ExecutionProfile, InjectedError, Injections, KernelTimes};
use crate::time::Duration;

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

    /// The set with its applications changed, if anything is; `generator` says how injections are drawn.
    ///
    /// # Errors
    /// [`InjectedError`]
    pub fn varied(&self, set: ApplicationSet, generator: Option<Injections>) -> Result<ApplicationSet, InjectedError> {
        match (*self == Self::default(), generator) {
            (true, _) => Ok(set),
            (false, Some(_)) => Ok(self.apply(&set, Duration::ZERO)?),
            (false, None) => Err(InjectedError::ChangesArrivals),
        }
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
