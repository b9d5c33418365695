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

/// Finds what breaks one of the rules.
type Check = fn(&Case<'_>, &mut Vec<Finding>);

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
    // Each looks at all blocks again, so they do so at once; what they find is put together in a fixed order.
    let by = |checks: &[Check]| {
        let mut found = Vec::new();
        for check in checks {
            check(&case, &mut found);
        }
        found
    };
    let binds = case.channels_bind();
    let ((alone, (placement, placed)), (queued, conserved)) = rayon::join(
        || {
            rayon::join(
                || by(&[ready::check, resources::check, |case, found| links::check(case.observation, found)]),
                || {
                    let mut found = Vec::new();
                    (placement::check(&case, &mut found), found)
                },
            )
        },
        || {
            rayon::join(
                || if binds { Vec::new() } else { by(&[queues::check, copies::check]) },
                || if binds || observation.incomplete.is_some() { Vec::new() } else { by(&[conservation::check]) },
            )
        },
    );
    if binds {
        notes.push("streams share hardware channels: queue order and work conservation were not checked".to_owned());
    } else {
        if let Some(why) = &observation.incomplete {
            notes.push(format!("work conservation was not checked: {why}"));
        }
        if observation.contexts == ObservedContexts::Unseen {
            notes.push(
                "benchmarks ran in several processes, whose contexts take turns (T1) that no log shows: queues and SMs \
                 were checked for each process by itself, and work conservation while it was the only one with work"
                    .to_owned(),
            );
        }
    }
    findings.extend(alone.into_iter().chain(queued).chain(conserved).chain(placed));
    findings.sort_by(|one, other| {
        (one.at_ns, one.rule, &one.kernel, one.block).cmp(&(other.at_ns, other.rule, &other.kernel, other.block))
    });
    let kernels = || observation.operations.iter().filter_map(|operation| operation.kernel());
    let checked = Checked { kernels: kernels().count(), blocks: kernels().map(|kernel| kernel.blocks.len()).sum() };
    Audit { findings, checked, placement, notes }
}
