//! What the requirements of a model ask of a scenario that was made from it, and how far the scenario's releases are
//! all that the model's stimuli allow.

use std::collections::{BTreeSet, HashMap};

use super::activate::Activations;
use super::copies;
use super::cost::Costs;
use super::error::{AmaltheaError, Problem};
use super::model::{AmaltheaModel, Runnable, Task};
use super::options::{AmaltheaOptions, TickBound};
use super::requirements::{Requirement, RequirementOf};
use super::stimuli::Activation;
use crate::scenario::model::{HostThread, Scenario, Step};
use crate::time::Duration;

/// What a model says of the jobs of a scenario that was made from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelDemands {
    /// All requirements that are read, in document order.
    pub limits: Vec<ResponseLimit>,
    /// Why jobs may be released at other times, or take longer, than the scenario says.
    pub doubts: Vec<ReleaseDoubt>,
    /// How many latency constraints of event chains are not among the chains of the scenario.
    pub unjudged_chains: u64,
}

/// A requirement, and the streams whose jobs have to keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseLimit {
    /// What the model states.
    pub requirement: Requirement,
    /// Streams (of runnables that are launched) of which it speaks; none if nothing of it runs on the GPU.
    pub streams: Vec<String>,
    /// Whether it speaks of a part of these jobs, which ends no later than they do.
    pub is_part: bool,
    /// Why it may be missed although no job of these streams takes longer.
    pub doubt: Option<String>,
}

/// A runnable that is launched, with its number, and the host thread that does it.
type Launched<'a> = (usize, &'a Runnable, &'a HostThread);

/// The host thread that launches each kernel, by the kernel's name.
fn launching_threads(scenario: &Scenario) -> HashMap<&str, &HostThread> {
    let launches = scenario.threads.iter().flat_map(|thread| thread.steps.iter().map(move |step| (thread, step)));
    let kernel = |step: &Step| match step {
        Step::Launch(kernel, _) => scenario.kernels().get(kernel.index()).map(|kernel| &*kernel.name),
        _ => None,
    };
    launches.filter_map(|(thread, step)| Some((kernel(step)?, thread))).collect()
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
        let threads = launching_threads(scenario);
        let launched = self.runnables.iter().enumerate();
        let launched = launched.filter_map(|(index, one)| Some((index, one, *threads.get(one.name.as_str())?)));
        let launched: Vec<Launched<'_>> = launched.collect();
        let activations = Activations::new(self);
        let mut demands = ModelDemands { unjudged_chains: self.unjudged_chains(scenario), ..ModelDemands::default() };
        let mut doubts = BTreeSet::new();
        let mut costs = Costs::new(self, self.unit(chosen)?.processing_unit);
        for &(index, runnable, thread) in &launched {
            let range = costs.cycles(index).ok().flatten();
            if range.is_some_and(|range| range.upper.is_none()) {
                doubts.insert(never(format!("runnable {:?} states no upper bound of its ticks", runnable.name)));
            }
            if runnable.accesses > 0 {
                doubts.insert(never(format!("runnable {:?} accesses labels, which takes no time here", runnable.name)));
            }
            let is_periodic = thread.period.is_some();
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
            if stimulus.activation == Activation::Triggered {
                doubts.insert(within_sporadic(format!(
                    "how long after its release a task triggers stimulus {name:?} is not read"
                )));
            }
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
        launched: &[Launched<'_>],
        activations: &Activations<'_, '_>,
    ) -> ResponseLimit {
        let task = match requirement.of {
            RequirementOf::Process => self.tasks.iter().position(|task| task.name == requirement.target),
            RequirementOf::Runnable => None,
        };
        let is_meant = |(index, runnable, _): &&Launched<'_>| match requirement.of {
            RequirementOf::Process => task.is_some_and(|task| self.is_within(task, *index, activations)),
            RequirementOf::Runnable => runnable.name == requirement.target,
        };
        let meant: Vec<&Launched<'_>> = launched.iter().filter(is_meant).collect();
        let mut streams: Vec<String> = meant.iter().map(|(_, _, thread)| thread.label.to_string()).collect();
        streams.dedup();
        let doubt = match task.and_then(|task| self.tasks.get(task)) {
            Some(task) if !streams.is_empty() => {
                let launched = launched.iter().map(|(index, ..)| *index).collect();
                self.rest_of(task, chosen, &launched, streams.len())
            }
            _ => None,
        };
        let launches =
            |thread: &HostThread| thread.steps.iter().filter(|step| matches!(step, Step::Launch(..))).count();
        let is_part =
            requirement.of == RequirementOf::Runnable && meant.iter().any(|(.., thread)| launches(thread) > 1);
        ResponseLimit { requirement: requirement.clone(), streams, is_part, doubt }
    }

    /// Whether a runnable is launched in the jobs of a task: it calls it, or it triggers the task that does, and waits
    /// for an event.
    fn is_within(&self, task: usize, runnable: usize, activations: &Activations<'_, '_>) -> bool {
        let by = activations.tasks(runnable).0;
        let Some(own) = self.tasks.get(task) else { return false };
        by.contains(&task)
            || own.waits
                && by
                    .iter()
                    .filter_map(|&by| self.tasks.get(by))
                    .flat_map(|by| &by.stimuli)
                    .any(|stimulus| activations.triggering(stimulus).iter().any(|trigger| std::ptr::eq(*trigger, own)))
    }

    /// What a task does besides a single runnable on the GPU with its copies.
    pub(super) fn rest_of(
        &self,
        task: &Task,
        chosen: &AmaltheaOptions,
        launched: &BTreeSet<usize>,
        streams: usize,
    ) -> Option<String> {
        let mut on_gpu = launched.clone();
        if !chosen.without_copies {
            for index in launched {
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
        // Setting an event makes others wait no longer.
        let unread: Vec<&str> = task.unread.iter().map(String::as_str).filter(|kind| *kind != "SetEvent").collect();
        if !unread.is_empty() {
            return Some(format!("what else it does is not read: {}", unread.join(", ")));
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
