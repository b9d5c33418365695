//! One audit from beginning to end.

use serde::Serialize;

use super::case::Case;
use super::conservation;
use super::copies;
use super::facts::facts;
use super::finding::Finding;
use super::links;
use super::observation::{Observation, ObservedContexts};
use super::options::Tolerances;
use super::placement::{self, PlacementStatistic};
use super::queues;
use super::ready;
use super::resources;
use super::times;

/// The result of an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// What breaks a rule, by time.
    pub findings: Vec<Finding>,
    /// How much was looked at.
    pub checked: Checked,
    /// How many blocks went where the model would have put them.
    pub placement: PlacementStatistic,
    /// What could not be checked, and why.
    pub notes: Vec<String>,
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Checked {
    /// Kernel launches.
    pub kernels: usize,
    /// Blocks.
    pub blocks: usize,
}

/// Checks an observation against every rule. The tolerances are those for measured times; simulated ones are exact.
#[must_use]
pub fn audit(observation: &Observation, tolerances: &Tolerances) -> Audit {
    let (mut notes, mut findings) = (Vec::new(), Vec::new());
    times::check(observation, &mut findings);
    let facts = facts(observation);
    let apart = times::check_clocks(observation, &facts, tolerances, &mut findings);
    let mut tolerances = *tolerances;
    if apart > tolerances.across_clocks_ns {
        tolerances.across_clocks_ns = apart;
        notes.push(format!(
            "the clocks are apart by {} at least, so everything that compares them was checked with that tolerance",
            super::finding::length(apart)
        ));
    }
    let case = Case::with_facts(observation, facts, &tolerances);
    ready::check(&case, &mut findings);
    resources::check(&case, &mut findings);
    links::check(observation, &mut findings);
    if case.channels_bind() {
        notes.push("streams share hardware channels: queue order and work conservation were not checked".to_owned());
    } else {
        queues::check(&case, &mut findings);
        copies::check(&case, &mut findings);
        if let Some(why) = &observation.incomplete {
            notes.push(format!("work conservation was not checked: {why}"));
        } else {
            conservation::check(&case, &mut findings);
        }
        if observation.contexts == ObservedContexts::Unseen {
            notes.push(
                "benchmarks ran in several processes, whose contexts take turns (T1) that no log shows: queues and SMs \
                 were checked for each process by itself, and work conservation while it was the only one with work"
                    .to_owned(),
            );
        }
    }
    let placement = placement::check(&case, &mut findings);
    findings.sort_by(|one, other| {
        (one.at_ns, one.rule, &one.kernel, one.block).cmp(&(other.at_ns, other.rule, &other.kernel, other.block))
    });
    let kernels = || observation.operations.iter().filter_map(|operation| operation.kernel());
    let checked = Checked { kernels: kernels().count(), blocks: kernels().map(|kernel| kernel.blocks.len()).sum() };
    Audit { findings, checked, placement, notes }
}
