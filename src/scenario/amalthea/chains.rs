//! Event chains as chains of a scenario.

use std::collections::BTreeSet;

use super::activate::{Activations, Sequence};
use super::event_chains::LATENCY;
use super::model::AmaltheaModel;
use super::options::AmaltheaOptions;
use crate::scenario::chain::{Chain, ChainLink, ChainMeasure};
use crate::scenario::{Scenario, ScenarioBuilder};

impl AmaltheaModel<'_> {
    /// Adds the chains whose runnables are all launched, each as the job of a stream.
    pub(super) fn add_chains(
        &self,
        sequences: &[Sequence],
        activations: &Activations<'_, '_>,
        chosen: &AmaltheaOptions,
        builder: &mut ScenarioBuilder<'_>,
    ) {
        let launched: BTreeSet<usize> = sequences.iter().flat_map(|one| one.runnables.iter().copied()).collect();
        let link = |name: &String| {
            let is_it = |one: &Sequence| match one.runnables[..] {
                [index] => self.runnables.get(index).is_some_and(|runnable| runnable.name == *name),
                _ => false,
            };
            let found = (0..).zip(sequences).find(|(_, one)| is_it(one));
            let (thread, one) = found.ok_or_else(|| format!("{name:?} is not launched as a job of its own"))?;
            let task = one.runnables.first().and_then(|&index| activations.only_task(index));
            let rest = task.and_then(|task| self.rest_of(self.tasks.get(task)?, chosen, &launched, 1));
            rest.map_or(Ok(ChainLink::whole(thread)), |rest| Err(format!("of the task of {name:?}, {rest}")))
        };
        for limit in &self.chains {
            let links = limit.runnables.iter().map(link).collect::<Result<Vec<_>, String>>();
            match links {
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

    /// How many latency constraints are not chains of `scenario`, which was made of the model.
    pub(super) fn unjudged_chains(&self, scenario: &Scenario) -> u64 {
        let unread = self.skipped.get(LATENCY).copied().unwrap_or_default();
        unread + self.chains.len().saturating_sub(scenario.chains.len()) as u64
    }
}
