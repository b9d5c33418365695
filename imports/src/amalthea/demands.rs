//! What the requirements of a model ask of a scenario that was made from it, and how far the scenario's releases are
//! all that the model's stimuli allow.

use std::collections::{BTreeSet, HashMap};

use super::activations::Activations;
use super::cost::Costs;
use super::items::UNORDERED;
use super::model::{AmaltheaModel, Runnable, Task};
use super::options::{AmaltheaOptions, TickBound};
use super::software;
use super::tasks_on_cores::{HostPlan, TasksOnCores};
use super::timing::Activation;
use super::xml::{AmaltheaError, Problem};
use crate::scenario::{
    HostThread, ModelDemands, ReleaseDoubt, Requirement, RequirementOf, ResponseLimit, Scenario, Step, who_delays,
};
use crate::time::Duration;

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

/// A doubt about jobs of one host thread, by its label, or of all.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Doubt {
    thread: Option<String>,
    doubt: ReleaseDoubt,
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
        let on_cores = self.hosts_of(chosen, &activations, &costs)?;
        for &(index, runnable, thread) in &launched {
            let label = &thread.label;
            let range = costs.cycles(index).ok().flatten();
            if range.is_some_and(|range| range.upper.is_none()) {
                let what = format!("runnable {:?} states no upper bound of its ticks", runnable.name);
                doubts.insert(never(what).of(label));
            }
            if !runnable.accesses.is_empty() {
                let what = format!("runnable {:?} accesses labels, which takes no time here", runnable.name);
                doubts.insert(never(what).of(label));
            }
            // In which order it works makes no difference to all of it.
            let unread = runnable.unread.iter().map(String::as_str).filter(|kind| *kind != UNORDERED);
            let kinds: Vec<&str> = unread.collect();
            if !kinds.is_empty() {
                let what = format!("what runnable {:?} also does is not read: {}", runnable.name, kinds.join(", "));
                doubts.insert(never(what).of(label));
            }
            if on_cores.submits(index) {
                continue;
            }
            let is_periodic = thread.period.is_some();
            let tasks = activations.tasks(index).0;
            if is_periodic
                || tasks.iter().any(|&task| self.tasks.get(task).is_some_and(|task| !task.stimuli.is_empty()))
            {
                self.add_releases(&tasks, label, &mut doubts);
            } else {
                doubts.insert(never(format!("no stimulus activates runnable {:?}", runnable.name)).of(label));
            }
        }
        doubts.extend(on_cores.doubts.iter().map(|what| never(what.clone()).of_all()));
        for host in &on_cores.hosts {
            let Some(task) = self.tasks.get(host.task) else { continue };
            doubts.extend(host.doubts.iter().map(|what| never(what.clone()).of(&task.name)));
            if task.stimuli.is_empty() {
                doubts.insert(never(format!("no stimulus activates task {:?}", task.name)).of(&task.name));
            }
            self.add_releases(&BTreeSet::from([host.task]), &task.name, &mut doubts);
        }
        if chosen.one_job {
            doubts.insert(never("each runnable is launched once, whatever its stimulus says".to_owned()).of_all());
        }
        if !matches!(chosen.ticks, TickBound::Upper | TickBound::Bounds) {
            doubts.insert(never(format!("block times are {} ones, not the worst", chosen.ticks.name())).of_all());
        }
        let limit = |requirement: &Requirement| {
            let by_host = self.limit_of_hosts(requirement, &on_cores);
            let limit = by_host.unwrap_or_else(|| self.limit(requirement, chosen, &launched, &activations));
            let threads = who_delays(scenario, &limit.streams);
            let is_meant = |doubt: &&Doubt| {
                let is_it = |name: &String| threads.iter().any(|&thread| *scenario.threads[thread].label == **name);
                doubt.thread.as_ref().is_none_or(is_it)
            };
            ResponseLimit { doubts: distinct(doubts.iter().filter(is_meant)), ..limit }
        };
        demands.limits = self.requirements.iter().map(limit).collect();
        demands.doubts = distinct(doubts.iter());
        if !on_cores.hosts.is_empty() {
            let of_cores = |doubt: &&Doubt| {
                let of_host = on_cores.hosts.iter().any(|host| host.doubts.contains(&doubt.doubt.what));
                of_host || on_cores.doubts.contains(&doubt.doubt.what)
            };
            let of_cores: Vec<&Doubt> = doubts.iter().filter(of_cores).collect();
            for thread in &scenario.threads {
                let by = who_delays(scenario, &[thread.label.to_string()]);
                let is_it = |name: &String| by.iter().any(|&thread| *scenario.threads[thread].label == **name);
                let reason = of_cores.iter().find(|doubt| doubt.thread.as_ref().is_none_or(is_it));
                demands.doubtful.extend(reason.map(|doubt| (thread.label.to_string(), doubt.doubt.what.clone())));
            }
        }
        Ok(demands)
    }

    /// What tasks do on their cores, if they run there.
    fn hosts_of(
        &self,
        chosen: &AmaltheaOptions,
        activations: &Activations<'_, '_>,
        costs: &Costs<'_, '_>,
    ) -> Result<TasksOnCores, Problem> {
        if !self.uses_cores(chosen) {
            return Ok(TasksOnCores::default());
        }
        let sequences = self.sequences(&self.chosen(chosen, costs)?, activations);
        Ok(self.tasks_on_cores(chosen, &sequences, activations))
    }

    /// A requirement of which jobs of hosts on cores speak; `None`: none does.
    fn limit_of_hosts(&self, requirement: &Requirement, on_cores: &TasksOnCores) -> Option<ResponseLimit> {
        let is_it = |name: Option<&String>| name == Some(&requirement.target);
        let task = |number: &usize| self.tasks.get(*number).map(|task| &task.name);
        let runnable = |number: &usize| self.runnables.get(*number).map(|runnable| &runnable.name);
        let hosts = on_cores.hosts.iter().filter(|host| match requirement.of {
            RequirementOf::Process => host.tasks.iter().any(|number| is_it(task(number))),
            RequirementOf::Runnable => host.runnables.iter().any(|number| is_it(runnable(number))),
        });
        let hosts: Vec<&HostPlan> = hosts.collect();
        let is_whole = |host: &&HostPlan| requirement.of == RequirementOf::Process && is_it(task(&host.task));
        (!hosts.is_empty()).then(|| ResponseLimit {
            requirement: requirement.clone(),
            streams: hosts.iter().filter_map(|host| task(&host.task).cloned()).collect(),
            is_part: !hosts.iter().all(is_whole),
            doubt: None,
            doubts: Vec::new(),
        })
    }

    /// Adds how the releases of a thread may differ from those of a scenario, by the stimuli of `tasks`.
    fn add_releases(&self, tasks: &BTreeSet<usize>, thread: &str, doubts: &mut BTreeSet<Doubt>) {
        let never = |what| never(what).of(thread);
        let within_sporadic = |what| within_sporadic(what).of(thread);
        let within_jitter = |what| within_jitter(what).of(thread);
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
                doubts.insert(within_jitter(format!("stimulus {name:?} has a jitter of up to {jitter}")));
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
        ResponseLimit { requirement: requirement.clone(), streams, is_part, doubt, doubts: Vec::new() }
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
                let around = software::around(self, *index);
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

/// What they are about left out, each once.
fn distinct<'d>(doubts: impl Iterator<Item = &'d Doubt>) -> Vec<ReleaseDoubt> {
    let all: BTreeSet<&ReleaseDoubt> = doubts.map(|doubt| &doubt.doubt).collect();
    all.into_iter().cloned().collect()
}

/// A doubt that no analysis of releases removes.
fn never(what: String) -> ReleaseDoubt {
    ReleaseDoubt { what, is_within_sporadic: false, is_jitter: false }
}

fn within_sporadic(what: String) -> ReleaseDoubt {
    ReleaseDoubt { what, is_within_sporadic: true, is_jitter: false }
}

fn within_jitter(what: String) -> ReleaseDoubt {
    ReleaseDoubt { is_jitter: true, ..within_sporadic(what) }
}

/// Of whose jobs a doubt is.
trait OfJobs {
    /// Of those of one thread.
    fn of(self, thread: &str) -> Doubt;

    /// Of those of all.
    fn of_all(self) -> Doubt;
}

impl OfJobs for ReleaseDoubt {
    fn of(self, thread: &str) -> Doubt {
        Doubt { thread: Some(thread.to_owned()), doubt: self }
    }

    fn of_all(self) -> Doubt {
        Doubt { thread: None, doubt: self }
    }
}
