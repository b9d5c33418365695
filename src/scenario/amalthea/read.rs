//! Reading a model as a whole.

use std::collections::{BTreeMap, HashMap};

use super::error::{AmaltheaError, Problem};
use super::mapping::Mapping;
use super::model::AmaltheaModel;
use super::{hardware, requirements, software, stimuli, xml};

impl<'t> AmaltheaModel<'t> {
    /// Reads a model; `file` is its name in errors.
    ///
    /// # Errors
    /// [`AmaltheaError`] with the position of what is wrong: no XML, no AMALTHEA, or numbers that cannot be. Types
    /// that gpusched does not know are no error; they are counted in [`AmaltheaModel::skipped`].
    pub fn parse(file: &'t str, text: &'t str) -> Result<Self, AmaltheaError> {
        read(file, text).map_err(|problem| AmaltheaError::new(file, text, problem))
    }

    /// Whether a text looks like XML rather than JSON.
    pub(crate) fn is_likely(text: &str) -> bool {
        text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
    }

    /// A problem with its place in this model's text.
    pub(super) fn error(&self, problem: Problem) -> AmaltheaError {
        AmaltheaError::new(self.file, self.text, problem)
    }
}

fn read<'t>(file: &'t str, text: &'t str) -> Result<AmaltheaModel<'t>, Problem> {
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
    let stimuli = stimuli::read(root, &mut skipped)?;
    let (requirements, chains) = requirements::read(root, &mut skipped)?;
    let mut processing_units = Vec::new();
    for model in xml::children_named(root, "hwModel") {
        processing_units.extend(hardware::read(model)?);
    }
    for unit in processing_units.iter().filter(|unit| unit.frequency.is_none()) {
        notes.push(format!("the model states no frequency above 0 for processing unit {:?}", unit.name));
    }
    if runnables.is_empty() {
        notes.push("the model has no runnables".to_owned());
    }
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
