//! Which threads wait for what others have submitted: in a stream, under N1 and N2, for an event, or as hosts.

use std::collections::BTreeSet;

use super::program::couple;
use crate::scenario::{HostThread, Scenario, Step};
use crate::workload::{OperationKind, StreamId};

fn submissions(thread: &HostThread) -> impl Iterator<Item = (OperationKind, StreamId)> + '_ {
    thread.steps.iter().filter_map(|step| step.submission())
}

/// Whether something of thread `one` may wait for an operation that `other` has submitted before.
fn waits_for(scenario: &Scenario, one: &HostThread, other: &HostThread) -> bool {
    let uses = |stream: StreamId| submissions(other).any(|(_, own)| own == stream);
    let streams: BTreeSet<StreamId> = submissions(one).map(|(_, stream)| stream).collect();
    let in_streams = submissions(other)
        .any(|(_, theirs)| streams.contains(&theirs) || streams.iter().any(|&own| couple(scenario, own, theirs)));
    let records = |event| submissions(other).any(|(kind, _)| kind == OperationKind::Record(event));
    let of_process = || submissions(other).any(|(_, stream)| scenario.streams()[stream.index()].process == one.process);
    in_streams
        || one.steps.iter().any(|step| match *step {
            Step::SynchronizeStream(stream) => uses(stream),
            Step::SynchronizeDevice => of_process(),
            Step::Wait(event, _) | Step::SynchronizeEvent(event) => records(event),
            _ => false,
        })
}

/// Threads by the tasks that they do jobs of: for each task, those whose operations its own may wait for, directly or
/// by what these wait for. `None`: for none of another thread, those of its own task included.
pub(super) fn reached(scenario: &Scenario, tasks: &[Vec<usize>]) -> Vec<Option<Vec<usize>>> {
    let waits = |one: &Vec<usize>, other: &Vec<usize>| {
        let pairs = one.iter().flat_map(|&one| other.iter().map(move |&other| (one, other)));
        pairs
            .filter(|(one, other)| one != other)
            .any(|(one, other)| waits_for(scenario, &scenario.threads[one], &scenario.threads[other]))
    };
    let direct =
        |one: usize| -> Vec<usize> { (0..tasks.len()).filter(|&other| waits(&tasks[one], &tasks[other])).collect() };
    let direct: Vec<Vec<usize>> = (0..tasks.len()).map(direct).collect();
    let reach = |one: usize| {
        let mut found = vec![false; tasks.len()];
        let mut open = direct[one].clone();
        while let Some(next) = open.pop() {
            if !std::mem::replace(&mut found[next], true) {
                open.extend_from_slice(&direct[next]);
            }
        }
        let others = (0..tasks.len()).filter(|&other| other != one && found[other]).collect();
        (!direct[one].is_empty()).then_some(others)
    };
    (0..tasks.len()).map(reach).collect()
}
