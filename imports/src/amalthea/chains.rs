//! Event chains as chains of a scenario.

use std::collections::BTreeSet;

use super::activations::{Activations, Sequence};
use super::event_chains::{ChainLimit, LATENCY, not_judged};
use super::model::AmaltheaModel;
use super::options::AmaltheaOptions;
use super::tasks_on_cores::TasksOnCores;
use crate::limits::count_turn;
use crate::scenario::{Chain, ChainLink, ChainMeasure, LinkOperation, RequirementOf, Scenario, ScenarioBuilder};

/// What the jobs of a scenario are made of.
struct Jobs<'a, 'm, 't> {
    on_cores: &'a TasksOnCores,
    activations: &'a Activations<'m, 't>,
    chosen: &'a AmaltheaOptions,
    launched: BTreeSet<usize>,
    /// What no host of a task launches, each with its thread.
    alone: Vec<(u32, &'a Sequence)>,
}

impl AmaltheaModel<'_> {
    /// Adds the chains whose tasks or runnables all have jobs of their own.
    pub(super) fn add_chains(
        &self,
        sequences: &[Sequence],
        on_cores: &TasksOnCores,
        activations: &Activations<'_, '_>,
        chosen: &AmaltheaOptions,
        builder: &mut ScenarioBuilder<'_>,
    ) {
        let launched: BTreeSet<usize> = sequences.iter().flat_map(|one| one.runnables.iter().copied()).collect();
        // Those of sequences that no host of a task launches come behind these hosts.
        let alone = sequences.iter().filter(|one| !one.runnables.iter().any(|&runnable| on_cores.submits(runnable)));
        let alone: Vec<(u32, &Sequence)> = (0..).skip(on_cores.hosts.len()).zip(alone).collect();
        let jobs = Jobs { on_cores, activations, chosen, launched, alone };
        for why in &self.chains.unread {
            builder.note(why.clone());
        }
        for limit in &self.chains.limits {
            let links = match limit.of {
                RequirementOf::Process => limit.path.iter().map(|name| self.link_of_task(name, &jobs)).collect(),
                RequirementOf::Runnable => self.links_of_runnables(&limit.path, &jobs),
            };
            match links {
                Ok(links) => {
                    note_measure(limit, &links, on_cores, builder);
                    let of = |measure| (limit.measure == measure).then_some(limit.limit);
                    let [reaction_time, data_age] = ChainMeasure::ALL.map(of);
                    builder.add_chain(Chain { name: limit.name.as_str().into(), links, reaction_time, data_age });
                }
                Err(why) => builder.note(not_judged(&limit.name, &why)),
            }
        }
    }

    /// The jobs of a task as a link.
    fn link_of_task(&self, name: &str, jobs: &Jobs<'_, '_, '_>) -> Result<ChainLink, String> {
        let mut named = self.tasks.iter().enumerate().filter(|(_, task)| task.name == *name);
        let (number, task) = named.next().ok_or_else(|| format!("nothing is read of what task {name:?} does"))?;
        if named.next().is_some() {
            return Err(format!("more than one task is called {name:?}"));
        }
        for (thread, host) in (0..).zip(&jobs.on_cores.hosts) {
            if host.task == number {
                return Ok(ChainLink::whole(thread));
            }
            if host.tasks.contains(&number) {
                return Err(format!("when in a job of another task {name:?} begins or ends is not told"));
            }
        }
        let own = jobs.alone.iter().find(|(_, one)| one.task == Some(number));
        let (thread, one) = own.ok_or_else(|| format!("task {name:?} is not simulated"))?;
        let mut called = jobs.activations.called_by(number).into_iter();
        if !called.all(|runnable| !jobs.launched.contains(&runnable) || one.runnables.contains(&runnable)) {
            return Err(format!("what task {name:?} launches is not one job"));
        }
        let rest = self.rest_of(task, jobs.chosen, &jobs.launched, 1);
        rest.map_or(Ok(ChainLink::whole(*thread)), |rest| Err(format!("of task {name:?}, {rest}")))
    }

    fn links_of_runnables(&self, names: &[String], jobs: &Jobs<'_, '_, '_>) -> Result<Vec<ChainLink>, String> {
        let mut links = Vec::new();
        let mut rest = names;
        while let Some(first) = rest.first() {
            count_turn();
            let (one, number) = match self.link_of_host(rest, jobs.on_cores, &jobs.launched)? {
                Some(found) => found,
                None => (self.link_of_runnable(first, jobs)?, 1),
            };
            links.push(one);
            rest = &rest[number..];
        }
        Ok(links)
    }

    /// The jobs of a runnable that is launched alone as a link.
    fn link_of_runnable(&self, name: &str, jobs: &Jobs<'_, '_, '_>) -> Result<ChainLink, String> {
        let is_it = |one: &Sequence| match one.runnables[..] {
            [index] => self.runnables.get(index).is_some_and(|runnable| runnable.name == *name),
            _ => false,
        };
        let found = jobs.alone.iter().find(|(_, one)| is_it(one));
        let (thread, one) = found.ok_or_else(|| format!("{name:?} is not launched as a job of its own"))?;
        let task = one.runnables.first().and_then(|&index| jobs.activations.only_task(index));
        let rest = task.and_then(|task| self.rest_of(self.tasks.get(task)?, jobs.chosen, &jobs.launched, 1));
        rest.map_or(Ok(ChainLink::whole(*thread)), |rest| Err(format!("of the task of {name:?}, {rest}")))
    }

    /// The first of `names` that one host does one after the other, as a link, and how many these are; `None`: no host
    /// does the first.
    fn link_of_host(
        &self,
        names: &[String],
        on_cores: &TasksOnCores,
        launched: &BTreeSet<usize>,
    ) -> Result<Option<(ChainLink, usize)>, String> {
        let name = |index: &usize| self.runnables.get(*index).map_or("", |runnable| &runnable.name);
        let Some(first) = names.first() else { return Ok(None) };
        let mut doing =
            (0..).zip(&on_cores.hosts).filter(|(_, host)| host.runnables.iter().any(|one| name(one) == first));
        let Some((thread, host)) = doing.next() else { return Ok(None) };
        if doing.next().is_some() || host.runnables.iter().filter(|one| name(one) == first).count() > 1 {
            return Err(format!("{first:?} is done more than once"));
        }
        let from = host.runnables.iter().position(|one| name(one) == first).unwrap_or(0);
        let own = &host.runnables[from..];
        let number = names.iter().zip(own).take_while(|(wanted, one)| *wanted == name(one)).count();
        let last = from + number - 1;
        let operation = |at: usize, is_all: bool| {
            let index = &host.runnables[at];
            match (launched.contains(index), is_all) {
                (true, _) => Ok(Some(LinkOperation::Kernel(name(index).into()))),
                (false, true) => Ok(None),
                (false, false) => {
                    Err(format!("when in a job of its task {:?} begins or ends is not told", name(index)))
                }
            }
        };
        let reads = operation(from, from == 0)?;
        let writes = operation(last, last + 1 == host.runnables.len())?;
        Ok(Some((ChainLink { thread, reads, writes }, number)))
    }

    /// How many latency constraints are not, or not wholly, chains of `scenario`, which was made of the model.
    pub(super) fn unjudged_chains(&self, scenario: &Scenario) -> u64 {
        let unread = self.skipped.get(LATENCY).copied().unwrap_or_default();
        let is_judged = |limit: &&ChainLimit| {
            limit.minimum.is_none() && scenario.chains.iter().any(|chain| *chain.name == *limit.name)
        };
        let unjudged = self.chains.limits.iter().filter(|limit| !is_judged(limit));
        unread + unjudged.count() as u64
    }
}

/// Says in what the measure of a chain is not that of its constraint.
fn note_measure(limit: &ChainLimit, links: &[ChainLink], on_cores: &TasksOnCores, builder: &mut ScenarioBuilder<'_>) {
    let name = &limit.name;
    if limit.measure == ChainMeasure::ReactionTime {
        let first = match limit.of {
            RequirementOf::Process => "task",
            RequirementOf::Runnable => "runnable",
        };
        builder.note(format!(
            "the reaction time of {name:?} counts from an event just after a start of its first {first}, which the \
             next start is the first to know of"
        ));
    }
    let first = links.first().and_then(|link| on_cores.hosts.get(link.thread as usize));
    if limit.is_from_activation && first.is_some_and(|host| host.core.is_some()) {
        builder.note(format!(
            "{name:?} is about the activation of a task: what is found in runs counts from when that first has its \
             core, which may be later, and bounds count from the activation"
        ));
    }
    if let Some(minimum) = limit.minimum {
        builder.note(format!("the minimum of {LATENCY} {name:?} is not judged: {minimum}"));
    }
}
