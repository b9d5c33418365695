//! Applications with timing requirements under GPU-EvR and the schedulers it is compared with.

use gpusched::applications::InjectedError;
use gpusched::applications::{ApplicationSet, Injections, Outcome, Variation};
use gpusched::experiments::evr::SweepOptions;
use gpusched::experiments::study::sample_applications;
use gpusched::hosts::gpu_evr::EvrRules;
use gpusched::hosts::{Scheduler, UsageDetail};
use gpusched::tables::{OutcomeDocument, PointDocument};
use gpusched::time::Duration;
use gpusched::words::with_causes;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::document::Document;
use crate::errors::Failure;
use crate::given::Given;
use crate::options::{named, pairs, time};
use crate::work::on_all_cores;

/// What is asked of a set of applications.
#[derive(Debug)]
struct Asked {
    schedulers: Vec<Scheduler>,
    device: Option<Given>,
    seed: u64,
    inject: Option<u32>,
    gap: Option<Duration>,
    per_period: Option<u32>,
    period: Option<Duration>,
    periods: Option<u32>,
    variation: Variation,
    samples: u32,
    rules: EvrRules,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            schedulers: Scheduler::ALL.to_vec(),
            device: None,
            seed: 0,
            inject: None,
            gap: None,
            per_period: None,
            period: None,
            periods: None,
            variation: Variation::default(),
            samples: 1,
            rules: EvrRules::default(),
        }
    }
}

/// A whole number from 1.
fn count(key: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    match value.extract()? {
        0 => Err(PyValueError::new_err(format!("{key}: expected a whole number from 1"))),
        count => Ok(count),
    }
}

impl Asked {
    fn new(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut asked = Self::default();
        for (key, value) in given.into_iter().flatten().filter(|(_, value)| !value.is_none()) {
            asked.set(key.extract::<String>()?.as_str(), &value)?;
        }
        asked.refuse_together().map_or(Ok(asked), |text| Err(PyValueError::new_err(text)))
    }

    fn set(&mut self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match key {
            "schedulers" => {
                let names = Scheduler::ALL.map(Scheduler::name);
                let schedulers = value.try_iter()?.map(|one| named(&one?, Scheduler::from_name, &names));
                let schedulers: Vec<Scheduler> = schedulers.collect::<PyResult<_>>()?;
                if !schedulers.is_empty() {
                    self.schedulers = schedulers;
                }
            }
            "device" => self.device = Some(Given::new(value)?),
            "seed" => self.seed = value.extract()?,
            "inject" => self.inject = Some(value.extract()?),
            "gap" => self.gap = Some(time(value)?),
            "per_period" => self.per_period = Some(value.extract()?),
            "period" => self.period = Some(time(value)?),
            "periods" => self.periods = Some(value.extract()?),
            "saturation_sms" => self.variation.saturation_sms = Some(count(key, value)?),
            "execution" => self.variation.execution = Some(time(value)?),
            "tightness_percent" => self.variation.tightness_percent = Some(count(key, value)?),
            "samples" => self.samples = count(key, value)?,
            "rules" => {
                for (rule, value) in pairs(value, |value| value.extract::<String>())? {
                    let wrong = |error: &dyn std::error::Error| format!("rules: {rule}: {}", with_causes(error));
                    self.rules.set(&rule, &value).map_err(|error| PyValueError::new_err(wrong(&error)))?;
                }
            }
            _ => return Err(PyTypeError::new_err(format!("there is no option {key:?}"))),
        }
        Ok(())
    }

    /// Why what was said does not go together.
    fn refuse_together(&self) -> Option<&'static str> {
        let of_periods = self.period.is_some() || self.periods.is_some();
        [
            (self.inject.is_some() && self.per_period.is_some(), "inject and per_period: leave out one of them"),
            (self.gap.is_some() && self.inject.is_none(), "gap is for inject"),
            (of_periods && self.per_period.is_none(), "period and periods are for per_period"),
        ]
        .into_iter()
        .find_map(|(is_wrong, text)| is_wrong.then_some(text))
    }

    /// How to draw injections, if that is said.
    fn injections(&self) -> Option<Injections> {
        let gap = self.gap.unwrap_or(Duration::from_ns(500_000_000));
        let period = self.period.unwrap_or(Duration::from_ns(1_000_000_000));
        let periods = self.periods.unwrap_or(10);
        let random = self.inject.map(|count| Injections::Random { count, gap });
        random.or(self.per_period.map(|count| Injections::PerPeriod { count, period, periods }))
    }
}

/// A set of applications: the name of a built-in one, a file, or a dict.
fn read(given: Given, builtin: Option<&str>, device: Option<Given>) -> Result<ApplicationSet, Failure> {
    let device = device.map(Given::device).transpose()?;
    if let Some((name, text)) = builtin.and_then(|name| Some((name, ApplicationSet::builtin_json(name)?))) {
        return Ok(ApplicationSet::from_json(name, text, device)?);
    }
    let (name, text) = given.text()?;
    Ok(ApplicationSet::from_json(&name, &text, device)?)
}

/// Runs applications under schedulers.
#[pyfunction]
#[pyo3(signature = (applications, **options))]
pub(crate) fn evr(
    py: Python<'_>,
    applications: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Document> {
    let (given, mut asked) = (Given::new(applications)?, Asked::new(options)?);
    let name = applications.cast::<PyString>().ok().map(ToString::to_string);
    on_all_cores(py, move || {
        let set = read(given, name.as_deref(), asked.device.take())?;
        for scheduler in &asked.schedulers {
            scheduler.check(&set.device).map_err(|error| Failure::input(&error))?;
        }
        let failed = |error: InjectedError| Failure::input(&error);
        let generator = asked.injections().or(set.generator);
        let set = asked.variation.varied(set, generator).map_err(failed)?;
        if asked.samples > 1 {
            return sampled(&set, generator.ok_or(InjectedError::SamplesArrivals).map_err(failed)?, asked);
        }
        run(&set.injected(generator, asked.seed).map_err(failed)?, &asked)
    })
}

fn run(set: &ApplicationSet, asked: &Asked) -> Result<Document, Failure> {
    let outcome = |&scheduler: &Scheduler| {
        let usage = scheduler.usage(set, asked.rules, UsageDetail::ALL_SMS_OVER_TIME);
        let failed = |error| Failure::Simulation(format!("under {scheduler}: {}", with_causes(&error)));
        Ok(Outcome::of_usage(set, scheduler.name(), usage.map_err(failed)?))
    };
    let outcomes: Vec<Outcome> = asked.schedulers.iter().map(outcome).collect::<Result<_, Failure>>()?;
    Document::new(&OutcomeDocument { set, seed: asked.seed, outcomes: &outcomes }, set.notes.clone())
}

fn sampled(set: &ApplicationSet, injections: Injections, asked: Asked) -> Result<Document, Failure> {
    let Asked { samples, seed, schedulers, rules, .. } = asked;
    let options = SweepOptions { samples, seed, schedulers, rules };
    let points = sample_applications(set, injections, &options, &mut |_| ())?;
    Document::new(&PointDocument { set, seed, points: &points }, set.notes.clone())
}
