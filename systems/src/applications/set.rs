//! Applications together with the GPU they run on, the built-in sets, random injections, and the power of the board.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use thiserror::Error;

use super::model::{Application, ApplicationError, ExecutionProfile, Injection, Injections, MAX_INJECTIONS};
use crate::device::Device;
use crate::time::{Instant, NS_PER_SECOND};

/// Applications, the GPU they run on, and when they are injected.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationSet {
    /// Name in reports.
    pub name: String,
    /// Whether the numbers were made up rather than measured.
    pub synthetic: bool,
    /// The GPU.
    pub device: Device,
    /// What its SMs are taken to consume.
    #[doc(hidden)]
    pub power: PowerModel,
    /// The applications.
    pub applications: Vec<Application>,
    /// Their profiles on `device`, in the same order.
    pub profiles: Vec<ExecutionProfile>,
    /// What is injected, in order of arrival.
    pub injections: Vec<Injection>,
    /// How to inject where the file says so and states no arrivals.
    pub generator: Option<Injections>,
    /// What a user should know about the input.
    pub notes: Vec<String>,
}

impl ApplicationSet {
    /// The application of an injection, and its profile.
    pub fn of(&self, injection: &Injection) -> Option<(&Application, &ExecutionProfile)> {
        let index = injection.application as usize;
        Some((self.applications.get(index)?, self.profiles.get(index)?))
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

/// Names of the built-in sets.
pub const BUILTIN_SETS: [&str; 3] = ["rodinia-like-k20m", "narrow-k20m", "gpu-evr-figure-1"];

impl ApplicationSet {
    /// The file of a built-in set, a model for a user's own; `None` if there is none of that name.
    pub fn builtin_json(name: &str) -> Option<&'static str> {
        match name {
            "rodinia-like-k20m" => Some(include_str!("data/rodinia-like-k20m.json")),
            "narrow-k20m" => Some(include_str!("data/narrow-k20m.json")),
            "gpu-evr-figure-1" => Some(include_str!("data/gpu-evr-figure-1.json")),
            _ => None,
        }
    }
}

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

/// Power as a constant and a share for each SM that runs blocks. A stated parameter set, not a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PowerModel {
    /// Drawn always \[W\].
    pub idle_w: f64,
    /// Added for every SM on which at least one block runs \[W\].
    pub per_busy_sm_w: f64,
}

impl Default for PowerModel {
    /// For a K20m: 225 W is the board's published maximum (Tesla K20 GPU accelerator board specification, NVIDIA,
    /// 2013). That the whole GPU reaches it with all 13 SMs busy, and that 50 W of it are drawn in the high-performance
    /// state with no SM busy, are assumptions, as is linearity.
    fn default() -> Self {
        Self { idle_w: 50.0, per_busy_sm_w: 175.0 / 13.0 }
    }
}

impl PowerModel {
    /// Mean power over a span \[ns\] in which the SMs together were busy for `busy_ns` \[ns\]; 0 for an empty span.
    pub(crate) fn mean_w(&self, busy_ns: u128, span_ns: u64) -> f64 {
        if span_ns == 0 { 0.0 } else { self.idle_w + self.per_busy_sm_w * (busy_ns as f64 / span_ns as f64) }
    }

    /// Energy over a span, as in [`PowerModel::mean_w`] \[J\].
    pub(crate) fn energy_j(&self, busy_ns: u128, span_ns: u64) -> f64 {
        self.mean_w(busy_ns, span_ns) * (span_ns as f64 / NS_PER_SECOND as f64)
    }
}
