//! Seeded generators of injections.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::error::ApplicationError;
use super::injection::{Injection, Injections, MAX_INJECTIONS};
use super::set::ApplicationSet;
use crate::time::Instant;

impl Injections {
    /// Draws injections for `set`, in order of arrival.
    ///
    /// Sample `sample` of `seed` is stream number `sample` of the ChaCha8 generator, so that any sample can be drawn
    /// alone.
    ///
    /// # Errors
    /// [`ApplicationError`] if there are too many, or one comes too late.
    pub fn draw(&self, set: &ApplicationSet, seed: u64, sample: u64) -> Result<Vec<Injection>, ApplicationError> {
        if self.total() > u64::from(MAX_INJECTIONS) {
            return Err(ApplicationError::TooManyInjections);
        }
        if self.latest_ns() > 1 << 63 {
            return Err(ApplicationError::InjectedTooLate);
        }
        let applications = u32::try_from(set.applications.len()).map_err(|_| ApplicationError::TooManyInjections)?;
        if applications == 0 {
            return Err(ApplicationError::NoApplications);
        }
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        numbers.set_stream(sample);
        let pick = |arrival: u64, numbers: &mut ChaCha8Rng| {
            let application = numbers.random_range(0..applications);
            let requirements = &set.applications[application as usize].requirements;
            let requirement = requirements[numbers.random_range(0..requirements.len())];
            Injection { application, arrival: Instant::from_ns(arrival), requirement }
        };
        let mut drawn = Vec::new();
        match *self {
            Self::Random { count, gap } => {
                let mut at = 0;
                for index in 0..count {
                    if index > 0 {
                        at += numbers.random_range(0..=gap.as_ns());
                    }
                    drawn.push(pick(at, &mut numbers));
                }
            }
            Self::PerPeriod { count, period, periods } => {
                for index in 0..u64::from(periods) {
                    let begin = period.as_ns() * index;
                    for _ in 0..count {
                        let within = numbers.random_range(0..period.as_ns().max(1));
                        drawn.push(pick(begin + within, &mut numbers));
                    }
                }
                crate::sorted::sort_by_key(&mut drawn, |injection| injection.arrival);
            }
        }
        Ok(drawn)
    }
}
