//! What the requirements of a model ask of a scenario that was made from it, and how far the scenario's releases are
//! all that the model's stimuli allow.

use std::collections::BTreeSet;

use super::activate::Activations;
use super::copies;
use super::cost::Costs;
use super::error::{AmaltheaError, Problem};
use super::model::{AmaltheaModel, Runnable, Task};
use super::options::{AmaltheaOptions, TickBound};
use super::requirements::{Requirement, RequirementOf};
use super::stimuli::Activation;
use crate::scenario::model::Scenario;
use crate::time::Duration;

/// What a model says of the jobs of a scenario that was made from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelDemands {
    /// All requirements that are read, in document order.
    pub limits: Vec<ResponseLimit>,
    /// Why jobs may be released at other times, or take longer, than the scenario says.
    pub doubts: Vec<ReleaseDoubt>,
}

/// A requirement, and the streams whose jobs have to keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseLimit {
    /// What the model states.
    pub requirement: Requirement,
    /// Streams (runnables that are launched) of which it speaks; none if nothing of it runs on the GPU.
    pub streams: Vec<String>,
    /// Why it may be missed although no job of these streams takes longer.
    pub doubt: Option<String>,
}

/// Why the jobs of a scenario are not all that the model allows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReleaseDoubt {
    /// In words.
    pub what: String,
    /// Whether periods and jitters cover it, so that an analysis of all phasings has no such doubt.
    pub is_within_sporadic: bool,
}

impl AmaltheaModel<'_> {
    /// What the model asks of `scenario`, which [`AmaltheaModel::scenario`] made of it with the same options.
    ///
    /// # Errors
    /// [`AmaltheaError`] if nothing says which processing unit counts.
    pub fn demands(&self, chosen: &AmaltheaOptions, scenario: &Scenario) -> Result<ModelDemands, AmaltheaError> {
        self.demands_of(chosen, scenario).map_err(|problem| self.error(problem))
    }

    fn demands_of(&self, chosen: &AmaltheaOptions, scenario: &Scenario) -> Result<ModelDemands, Problem> {
        let names: BTreeSet<&str> = scenario.threads.iter().map(|thread| &*thread.label).collect();
        let is_launched = |(_, runnable): &(usize, &Runnable)| names.contains(runnable.name.as_str());
        let launched: Vec<(usize, &Runnable)> = self.runnables.iter().enumerate().filter(is_launched).collect();
        let activations = Activations::new(self);
        let mut demands = ModelDemands::default();
        let mut doubts = BTreeSet::new();
        let mut costs = Costs::new(self, self.unit(chosen)?.processing_unit);
        for &(index, runnable) in &launched {
            let range = costs.cycles(index).ok().flatten();
            if range.is_some_and(|range| range.upper.is_none()) {
                doubts.insert(never(format!("runnable {:?} states no upper bound of its ticks", runnable.name)));
            }
            let thread = scenario.threads.iter().find(|thread| *thread.label == *runnable.name);
            let is_periodic = thread.is_some_and(|thread| thread.period.is_some());
            let tasks = activations.tasks(index).0;
            if is_periodic
                || tasks.iter().any(|&task| self.tasks.get(task).is_some_and(|task| !task.stimuli.is_empty()))
            {
                self.add_releases(&tasks, &mut doubts);
            } else {
                doubts.insert(never(format!("no stimulus activates runnable {:?}", runnable.name)));
            }
        }
        if chosen.one_job {
            doubts.insert(never("each runnable is launched once, whatever its stimulus says".to_owned()));
        }
        if !matches!(chosen.ticks, TickBound::Upper | TickBound::Bounds) {
            doubts.insert(never(format!("block times are {} ones, not the worst", chosen.ticks.name())));
        }
        demands.doubts = doubts.into_iter().collect();
        let limit = |requirement| self.limit(requirement, chosen, &launched, &activations);
        demands.limits = self.requirements.iter().map(limit).collect();
        Ok(demands)
    }

    /// Adds how the releases of a runnable may differ from those of a scenario, by the stimuli of `tasks`.
    fn add_releases(&self, tasks: &BTreeSet<usize>, doubts: &mut BTreeSet<ReleaseDoubt>) {
        let tasks = tasks.iter().filter_map(|&task| self.tasks.get(task));
        for name in tasks.flat_map(|task| &task.stimuli) {
            let Some(stimulus) = self.stimuli.iter().find(|stimulus| stimulus.name == *name) else {
                doubts.insert(never(format!("stimulus {name:?} is not read")));
                continue;
            };
            if stimulus.is_moved {
                doubts.insert(never(format!("what moves the activations of stimulus {name:?} is not read")));
            }
            if let Activation::Sporadic { shortest_ns, longest_ns, .. } = stimulus.activation
                && longest_ns != Some(shortest_ns)
            {
                doubts.insert(within_sporadic(format!("stimulus {name:?} is sporadic")));
            }
            if let Some(jitter) = stimulus.jitter_ns.filter(|jitter| *jitter > Duration::ZERO) {
                doubts.insert(within_sporadic(format!("stimulus {name:?} has a jitter of up to {jitter}")));
            }
        }
    }

    fn limit(
        &self,
        requirement: &Requirement,
        chosen: &AmaltheaOptions,
        launched: &[(usize, &Runnable)],
        activations: &Activations<'_, '_>,
    ) -> ResponseLimit {
        let task = match requirement.of {
            RequirementOf::Process => self.tasks.iter().position(|task| task.name == requirement.target),
            RequirementOf::Runnable => None,
        };
        let is_meant = |(index, runnable): &&(usize, &Runnable)| match requirement.of {
            RequirementOf::Process => task.is_some_and(|task| activations.tasks(*index).0.contains(&task)),
            RequirementOf::Runnable => runnable.name == requirement.target,
        };
        let streams: Vec<String> =
            launched.iter().filter(is_meant).map(|(_, runnable)| runnable.name.clone()).collect();
        let doubt = match task.and_then(|task| self.tasks.get(task)) {
            Some(task) if !streams.is_empty() => self.rest_of(task, chosen, launched, streams.len()),
            _ => None,
        };
        ResponseLimit { requirement: requirement.clone(), streams, doubt }
    }

    /// What a task does besides a single runnable on the GPU with its copies.
    fn rest_of(
        &self,
        task: &Task,
        chosen: &AmaltheaOptions,
        launched: &[(usize, &Runnable)],
        streams: usize,
    ) -> Option<String> {
        let mut on_gpu: BTreeSet<usize> = launched.iter().map(|(index, _)| *index).collect();
        if !chosen.without_copies {
            for (index, _) in launched {
                let around = copies::around(self, *index);
                on_gpu.extend(around.before.into_iter().chain(around.after));
            }
        }
        let called = task.calls.iter().filter(|&call| !on_gpu.contains(call));
        let names: Vec<&str> =
            called.filter_map(|&call| self.runnables.get(call)).map(|one| one.name.as_str()).collect();
        if !names.is_empty() {
            return Some(format!("its other runnables take no time here: {}", names.join(", ")));
        }
        (streams > 1).then(|| "its runnables are launched together, not one after another".to_owned())
    }
}

/// A doubt that no analysis of releases removes.
fn never(what: String) -> ReleaseDoubt {
    ReleaseDoubt { what, is_within_sporadic: false }
}

fn within_sporadic(what: String) -> ReleaseDoubt {
    ReleaseDoubt { what, is_within_sporadic: true }
}
