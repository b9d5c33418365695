//! Which process each stream is of: as the user says, or where the model states time slices, each task its own.

use std::collections::BTreeMap;

use super::activate::Sequence;
use super::error::Problem;
use super::model::AmaltheaModel;
use super::options::AmaltheaOptions;
use crate::scenario::ScenarioBuilder;
use crate::spelling::option;
use crate::words::did_you_mean;
use crate::workload::{ProcessId, ProcessSpec};

impl AmaltheaModel<'_> {
    /// The process of each sequence. A process has the least of the time slices that the model states for its tasks.
    pub(super) fn processes(
        &self,
        sequences: &[Sequence],
        chosen: &AmaltheaOptions,
        builder: &mut ScenarioBuilder<'_>,
    ) -> Result<Vec<ProcessId>, Problem> {
        let task = |sequence: &Sequence| sequence.task.and_then(|task| self.tasks.get(task));
        let task_name = |sequence: &Sequence| task(sequence).map_or("", |task| task.name.as_str()).to_owned();
        let names =
            || sequences.iter().flat_map(|one| [task_name(one), one.label.clone()]).filter(|name| !name.is_empty());
        if let Some(unknown) = chosen.processes.keys().find(|key| !names().any(|name| name == **key)) {
            let all: Vec<String> = names().collect();
            let near = did_you_mean(unknown, all.iter().map(String::as_str));
            let what = format!("{}: nothing of a task called {unknown:?} is launched{near}", option("process"));
            return Err(Problem::general(what));
        }
        let slice = |sequence: &Sequence| self.mapping.time_slice(&task(sequence)?.name);
        let with_slices = sequences.iter().any(|sequence| slice(sequence).is_some());
        if chosen.processes.is_empty() && !with_slices {
            return Ok(vec![ProcessId::FIRST; sequences.len()]);
        }
        let name_of = |sequence: &Sequence| {
            let stated = chosen.processes.get(&task_name(sequence)).or_else(|| chosen.processes.get(&sequence.label));
            stated.cloned().unwrap_or_else(|| sequence.label.clone())
        };
        let mut specs: Vec<ProcessSpec> = Vec::new();
        for sequence in sequences {
            let (name, slice) = (name_of(sequence), slice(sequence));
            match specs.iter_mut().find(|known| *known.name == *name) {
                Some(known) => known.time_slice = known.time_slice.into_iter().chain(slice).min(),
                None => specs.push(ProcessSpec { time_slice: slice, ..ProcessSpec::new(name) }),
            }
        }
        if with_slices {
            builder.note(format!(
                "the model states time slices of tasks, so these are processes whose contexts take turns; {} runs them as \
                 threads of one",
                option("as_threads")
            ));
        }
        let mut known = BTreeMap::new();
        for spec in specs {
            let name = spec.name.to_string();
            let added =
                builder.add_process(spec).map_err(|error| Problem::general(format!("process {name:?}: {error}")))?;
            known.insert(name, added);
        }
        Ok(sequences
            .iter()
            .map(|sequence| known.get(&name_of(sequence)).copied().unwrap_or(ProcessId::FIRST))
            .collect())
    }
}
