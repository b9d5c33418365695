//! On which processing unit, and so how fast, ticks pass.

use super::error::Problem;
use super::frequency::Frequency;
use super::model::{AmaltheaModel, ProcessingUnit};
use super::options::AmaltheaOptions;
use crate::spelling::option;

/// The processing unit whose ticks count.
pub(super) struct Clock<'m> {
    pub(super) processing_unit: Option<&'m ProcessingUnit>,
    pub(super) frequency: Option<Frequency>,
    /// What the user should know of the choice.
    pub(super) note: Option<String>,
}

impl AmaltheaModel<'_> {
    /// Why it is unknown how long a tick is.
    pub(super) fn no_frequency(&self, unit: Option<&ProcessingUnit>) -> Problem {
        let what = match unit {
            Some(unit) => format!("the model states no frequency for processing unit {:?}", unit.name),
            None if self.processing_units.is_empty() => "the model has no processing units".to_owned(),
            None => "the model's processing units have different frequencies or features, and none is a GPU".to_owned(),
        };
        let choose = if unit.is_none() && !self.processing_units.is_empty() {
            let names: Vec<&str> = self.processing_units.iter().map(|unit| unit.name.as_str()).collect();
            format!("choose one with {} ({}), or ", option("processing_unit").with("NAME"), names.join(", "))
        } else {
            String::new()
        };
        Problem::general(format!("{what}, so it is unknown how long a tick is")).with_help(format!(
            "{choose}give {}, for example {}",
            option("frequency"),
            option("frequency").with("1.3GHz")
        ))
    }

    /// The processing unit that counts: the user's, or the model's only kind of GPU, or its only kind of all.
    pub(super) fn unit(&self, chosen: &AmaltheaOptions) -> Result<Clock<'_>, Problem> {
        let of = |unit: Option<&'_ ProcessingUnit>| chosen.frequency.or_else(|| unit.and_then(|unit| unit.frequency));
        if let Some(name) = &chosen.processing_unit {
            let by_name = self.processing_units.iter().find(|unit| unit.name == *name);
            let by_definition = || self.processing_units.iter().find(|unit| unit.definition.as_ref() == Some(name));
            let unit = by_name.or_else(by_definition).ok_or_else(|| {
                let names: Vec<&str> = self.processing_units.iter().map(|unit| unit.name.as_str()).collect();
                let problem = Problem::general(format!("no processing unit of this model is called {name:?}"));
                problem.with_help(format!("there are: {}", names.join(", ")))
            })?;
            let is_cpu = unit.kind.as_deref().is_some_and(|kind| kind != "GPU");
            let note = is_cpu.then(|| {
                format!(
                    "processing unit {:?} is no GPU ({}): its ticks are taken for the time of a block on the GPU",
                    unit.name,
                    unit.kind.as_deref().unwrap_or_default()
                )
            });
            return Ok(Clock { processing_unit: Some(unit), frequency: of(Some(unit)), note });
        }
        let is_gpu = |unit: &&ProcessingUnit| unit.kind.as_deref() == Some("GPU");
        if let Some(gpu) = agreed(self.processing_units.iter().filter(is_gpu)) {
            return Ok(Clock { processing_unit: Some(gpu), frequency: of(Some(gpu)), note: None });
        }
        let unit = agreed(self.processing_units.iter());
        let frequency = of(unit);
        let note = unit.zip(frequency).filter(|_| chosen.frequency.is_none()).map(|(unit, frequency)| {
            format!(
                "the model has no processing unit of puType GPU; ticks are taken at {frequency}, as on {:?}",
                unit.name
            )
        });
        Ok(Clock { processing_unit: unit, frequency, note })
    }
}

/// One of several processing units that are alike in all that counts; `None` if they are not, or if there are none.
fn agreed<'m>(mut units: impl Iterator<Item = &'m ProcessingUnit>) -> Option<&'m ProcessingUnit> {
    let first = units.next()?;
    let alike = |unit: &ProcessingUnit| {
        (unit.frequency, &unit.definition, &unit.per_cycle) == (first.frequency, &first.definition, &first.per_cycle)
    };
    units.all(alike).then_some(first)
}
