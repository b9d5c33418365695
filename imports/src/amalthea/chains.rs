//! Event chains as chains of a scenario.

use std::collections::BTreeSet;

use super::activations::{Activations, Sequence};
use super::model::AmaltheaModel;
use super::options::AmaltheaOptions;
use super::tasks_on_cores::TasksOnCores;
use super::timing::LATENCY;
use crate::limits::count_turn;
use crate::scenario::{Chain, ChainLink, ChainMeasure, LinkOperation, Scenario, ScenarioBuilder};

impl AmaltheaModel<'_> {
    /// Adds the chains whose runnables are all launched, each as the job of a stream.
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
        let link = |name: &String| {
            let is_it = |one: &Sequence| match one.runnables[..] {
                [index] => self.runnables.get(index).is_some_and(|runnable| runnable.name == *name),
                _ => false,
            };
            let found = alone.iter().find(|(_, one)| is_it(one));
            let (thread, one) = found.ok_or_else(|| format!("{name:?} is not launched as a job of its own"))?;
            let task = one.runnables.first().and_then(|&index| activations.only_task(index));
            let rest = task.and_then(|task| self.rest_of(self.tasks.get(task)?, chosen, &launched, 1));
            rest.map_or(Ok(ChainLink::whole(*thread)), |rest| Err(format!("of the task of {name:?}, {rest}")))
        };
        let links = |names: &[String]| -> Result<Vec<ChainLink>, String> {
            let mut links = Vec::new();
            let mut rest = names;
            while let Some(first) = rest.first() {
                count_turn();
                let (one, number) = match self.link_of_host(rest, on_cores, &launched)? {
                    Some(found) => found,
                    None => (link(first)?, 1),
                };
                links.push(one);
                rest = &rest[number..];
            }
            Ok(links)
        };
        for limit in &self.chains {
            match links(&limit.runnables) {
                Ok(links) => {
                    let of = |measure| (limit.measure == measure).then_some(limit.limit);
                    let [reaction_time, data_age] = ChainMeasure::ALL.map(of);
                    builder.add_chain(Chain { name: limit.name.as_str().into(), links, reaction_time, data_age });
                    if reaction_time.is_some() {
                        builder.note(format!(
                            "the reaction time of {:?} counts from an event just after a start of its first runnable, \
                             which the next start is the first to know of",
                            limit.name
                        ));
                    }
                }
                Err(why) => builder.note(format!("{LATENCY} {:?} is not judged: {why}", limit.name)),
            }
        }
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

    /// How many latency constraints are not chains of `scenario`, which was made of the model.
    pub(super) fn unjudged_chains(&self, scenario: &Scenario) -> u64 {
        let unread = self.skipped.get(LATENCY).copied().unwrap_or_default();
        unread + self.chains.len().saturating_sub(scenario.chains.len()) as u64
    }
}
