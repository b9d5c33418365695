//! Which host threads launch at one instant, and whether an order of threads says in which order everything comes.

use std::collections::BTreeMap;

use crate::analysis::assumptions::launch_dependence;
use crate::joined::Joined;
use crate::run::Run;
use crate::scenario::Scenario;
use crate::time::Instant;
use crate::trace::OperationRecord;
use crate::workload::OperationKind;

/// Threads whose order matters, and what orders of threads leave out.
#[derive(Debug)]
pub(super) struct Ties {
    /// Two threads or more each, by index, ascending: each of a group is tied to another one of it.
    pub(super) groups: Vec<Vec<usize>>,
    /// What may come in an order that no order of threads has.
    pub(super) left_out: Vec<String>,
}

impl Ties {
    /// Of threads that are released together at first, or that launch at one instant in this run.
    pub(super) fn of(run: &Run<'_>) -> Self {
        let scenario: &Scenario = &run.scenario;
        let mut sets = Joined::new(scenario.threads.len());
        let (mut meets_again, mut is_mixed) = (false, false);
        let mut launches: BTreeMap<Instant, Vec<&OperationRecord>> = BTreeMap::new();
        for record in run.trace.operations() {
            launches.entry(record.launched()).or_default().push(record);
        }
        for together in launches.values() {
            let mut threads: Vec<usize> = together.iter().map(|record| record.origin.thread as usize).collect();
            threads.sort_unstable();
            threads.dedup();
            let Some((first, others)) = threads.split_first() else { continue };
            // Orders that are chosen at each instant make one order of all threads if no two of them meet twice, not by
            // way of others either: then these instants and threads are a forest.
            for other in others {
                meets_again |= !sets.join(*first, *other);
            }
            is_mixed |= !others.is_empty() && may_mix(scenario, together);
        }
        let mut released = BTreeMap::new();
        for (thread, program) in scenario.threads.iter().enumerate() {
            let first: &mut usize = released.entry(program.release).or_insert(thread);
            sets.join(*first, thread);
        }
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for thread in 0..scenario.threads.len() {
            groups.entry(sets.of(thread)).or_default().push(thread);
        }
        let groups = groups.into_values().filter(|group| group.len() > 1).collect();
        let mut left_out = Vec::new();
        if meets_again {
            left_out.push(
                "each order is kept throughout a run, and threads that meet again may come in another one".to_owned(),
            );
        }
        if is_mixed {
            left_out.push(
                "what one thread launches at one instant is kept together, and others may come in between".to_owned(),
            );
        }
        if scenario.threads.len() > 1
            && let Some(dependence) = launch_dependence(scenario)
        {
            let thread = dependence.thread;
            left_out
                .push(format!("{thread:?} may launch together with others at instants that this run does not have"));
        }
        Self { groups, left_out }
    }
}

/// Whether it may matter that what threads launch at one instant comes in turns: not if each launches one operation, or
/// kernels and copies into one stream for itself, of which only the first enters a queue.
fn may_mix(scenario: &Scenario, together: &[&OperationRecord]) -> bool {
    let mut stream_of = BTreeMap::new();
    let mut number = BTreeMap::<u32, usize>::new();
    for record in together {
        *number.entry(record.origin.thread).or_default() += 1;
    }
    let is_plain = |record: &OperationRecord| {
        let is_event = matches!(record.kind, OperationKind::Record(_) | OperationKind::Wait(_));
        !is_event && !scenario.catalogue.is_null_stream(record.stream)
    };
    let mut has_own = |record: &&OperationRecord| {
        let own = *stream_of.entry(record.origin.thread).or_insert(record.stream);
        own == record.stream
    };
    let all_have_own = together.iter().all(&mut has_own);
    let mut streams: Vec<_> = stream_of.values().copied().collect();
    streams.sort_unstable();
    streams.dedup();
    let is_shared = streams.len() < stream_of.len();
    let are_several = number.values().any(|number| *number > 1);
    are_several && !(all_have_own && !is_shared && together.iter().all(|record| is_plain(record)))
}
