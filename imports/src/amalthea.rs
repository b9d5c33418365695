//! AMALTHEA models (`.amxmi`) of Eclipse APP4MC, as in Paredes Zevallos, "AMALTHEA-based GPU Response Time Analysis for
//! NVIDIA's Jetson TX2", master's thesis, FH Dortmund, 2019.
//!
//! [`AmaltheaModel`] is what gpusched reads of a model, whatever the schema version says: every form of ticks of
//! versions 0.8 to 1.x is accepted in any file. [`AmaltheaModel::scenario`] launches runnables as kernels:
//!
//! - a runnable with a grid size is one kernel in a stream of its own, launched whenever the stimulus of its task says,
//!   or else once at t = 0; response-time limits of its task and its own are its deadline;
//! - its ticks, at the frequency of a processing unit, are the time of one block;
//! - copy runnables around it are copies before and after it in its stream (Sec. 1.4 of the thesis).
//!
//! `docs/amalthea.md` is the guide.

mod activations;
mod allocation;
mod build;
mod chains;
mod cost;
mod demands;
mod event_chains;
mod hardware;
mod items;
mod mapping;
mod model;
mod options;
mod quantities;
mod software;
mod tasks_on_cores;
mod timing;
mod xml;

use std::collections::{BTreeMap, HashMap};

use mapping::Mapping;
use xml::Problem;

pub use crate::scenario::{ModelDemands, RequirementOf};
pub(crate) use hardware::ProcessingUnit;
pub(crate) use items::TickEntry;
pub use model::AmaltheaModel;
pub(crate) use model::Runnable;
pub use options::{AmaltheaOptions, TickBound};
pub use quantities::Frequency;
pub(crate) use quantities::{TickRange, Ticks};
pub(crate) use timing::{Activation, Stimulus};
pub use xml::AmaltheaError;

impl<'t> AmaltheaModel<'t> {
    /// Reads a model; `file` is its name in errors.
    ///
    /// # Errors
    /// [`AmaltheaError`] with the position of what is wrong: no XML, no AMALTHEA, or numbers that cannot be. Types
    /// that gpusched does not know are no error; they are counted in [`AmaltheaModel::skipped`].
    pub fn parse(file: &'t str, text: &'t str) -> Result<Self, AmaltheaError> {
        read_model(file, text).map_err(|problem| AmaltheaError::new(file, text, problem))
    }

    /// Whether a text looks like XML rather than JSON.
    pub(crate) fn is_likely(text: &str) -> bool {
        text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
    }

    /// A problem with its place in this model's text.
    fn error(&self, problem: Problem) -> AmaltheaError {
        AmaltheaError::new(self.file, self.text, problem)
    }
}

fn read_model<'t>(file: &'t str, text: &'t str) -> Result<AmaltheaModel<'t>, Problem> {
    let document = xml::parse(text)?;
    let (root, version) = xml::root(&document)?;
    let models: Vec<_> = xml::children_named(root, "swModel").collect();
    let mut skipped = BTreeMap::new();
    let mut notes = Vec::new();
    let mapping = Mapping::read(root, &mut skipped)?;
    let runnables = software::runnables(&models, &mapping, &mut skipped)?;
    let mut indices: HashMap<&str, usize> = HashMap::with_capacity(runnables.len());
    for (index, runnable) in runnables.iter().enumerate() {
        if indices.insert(&runnable.name, index).is_some() {
            notes.push(format!("more than one runnable is called {:?}", runnable.name));
        }
    }
    let tasks = software::tasks(&models, &indices, &mut skipped)?;
    let stimuli = timing::read_stimuli(root, &mut skipped)?;
    let (requirements, chains) = timing::read_constraints(root, &mut skipped)?;
    let mut processing_units = Vec::new();
    for model in xml::children_named(root, "hwModel") {
        processing_units.extend(hardware::read_units(model)?);
    }
    for unit in processing_units.iter().filter(|unit| unit.frequency.is_none()) {
        notes.push(format!("the model states no frequency above 0 for processing unit {:?}", unit.name));
    }
    if runnables.is_empty() {
        notes.push("the model has no runnables".to_owned());
    }
    notes.extend(chains.unread.iter().cloned());
    notes.sort();
    notes.dedup();
    let version = version.to_owned();
    Ok(AmaltheaModel {
        file,
        text,
        version,
        runnables,
        processing_units,
        tasks,
        stimuli,
        requirements,
        chains,
        mapping,
        skipped,
        notes,
    })
}
