//! Which threads wait for what others have submitted: in a stream, under N1 and N2, for an event, or as hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::program::couple;
use crate::limits::count_turn;
use crate::scenario::{HostThread, Scenario, Step};
use crate::workload::{EventId, OperationKind, StreamId};

/// Who submits what.
struct Submitters<'a> {
    scenario: &'a Scenario,
    /// By stream: the threads that submit to it.
    of_stream: Vec<Vec<usize>>,
    /// By event: the threads that record it.
    of_event: BTreeMap<EventId, Vec<usize>>,
    /// Streams with submissions, those that are a NULL stream apart.
    null: Vec<StreamId>,
    others: Vec<StreamId>,
}

/// The streams that a thread submits to.
fn streams_of(thread: &HostThread) -> BTreeSet<StreamId> {
    thread.steps.iter().filter_map(|step| step.submission()).map(|(_, stream)| stream).collect()
}

impl<'a> Submitters<'a> {
    fn of(scenario: &'a Scenario) -> Self {
        let mut of_stream = vec![Vec::new(); scenario.streams().len()];
        let mut of_event: BTreeMap<EventId, Vec<usize>> = BTreeMap::new();
        for (number, thread) in scenario.threads.iter().enumerate() {
            for stream in streams_of(thread) {
                of_stream[stream.index()].push(number);
            }
            for (kind, _) in thread.steps.iter().filter_map(|step| step.submission()) {
                if let OperationKind::Record(event) = kind {
                    of_event.entry(event).or_default().push(number);
                }
            }
        }
        let used = (0..).map(StreamId).zip(&of_stream).filter(|(_, threads)| !threads.is_empty());
        let (null, others) =
            used.map(|(stream, _)| stream).partition(|&stream| scenario.catalogue.is_null_stream(stream));
        Self { scenario, of_stream, of_event, null, others }
    }

    /// The other threads, some of them several times, for an operation of which something of a thread may wait once
    /// they have submitted it.
    fn awaited_by(&self, number: usize) -> impl Iterator<Item = usize> {
        let thread = &self.scenario.threads[number];
        let own = streams_of(thread);
        let mut streams = own.clone();
        for &stream in &own {
            let opposite = if self.scenario.catalogue.is_null_stream(stream) { &self.others } else { &self.null };
            streams.extend(opposite.iter().filter(|other| couple(self.scenario, stream, **other)));
        }
        let mut events = BTreeSet::new();
        for step in &thread.steps {
            match *step {
                Step::SynchronizeStream(stream) => _ = streams.insert(stream),
                step if step.waits_for_device() => {
                    let is_own = |stream: &&StreamId| self.scenario.streams()[stream.index()].process == thread.process;
                    streams.extend(self.null.iter().chain(&self.others).filter(is_own));
                }
                Step::Wait(event, _) | Step::SynchronizeEvent(event) => _ = events.insert(event),
                _ => {}
            }
        }
        let of_streams = streams.into_iter().flat_map(|stream| &self.of_stream[stream.index()]);
        let of_events = events.into_iter().filter_map(|event| self.of_event.get(&event)).flatten();
        of_streams.chain(of_events).copied().filter(move |&other| other != number)
    }
}

/// Threads by the tasks that they do jobs of: for each task, those whose operations its own may wait for, directly or
/// by what these wait for. `None`: for none of another thread, those of its own task included.
pub(in crate::analysis) fn reached(scenario: &Scenario, tasks: &[Vec<usize>]) -> Vec<Option<Vec<usize>>> {
    let submitters = Submitters::of(scenario);
    let mut task_of = vec![0; scenario.threads.len()];
    for (task, threads) in tasks.iter().enumerate() {
        for &thread in threads {
            task_of[thread] = task;
        }
    }
    let direct = |threads: &Vec<usize>| -> Vec<usize> {
        let mut found = vec![false; tasks.len()];
        let awaited = threads.iter().flat_map(|&thread| submitters.awaited_by(thread));
        awaited.for_each(|thread| found[task_of[thread]] = true);
        (0..tasks.len()).filter(|&task| found[task]).collect()
    };
    let direct: Vec<Vec<usize>> = tasks.iter().map(direct).collect();
    let mut all: Vec<Vec<usize>> = Vec::with_capacity(tasks.len());
    for one in 0..tasks.len() {
        let mut found = vec![false; tasks.len()];
        let mut open = vec![one];
        while let Some(next) = open.pop() {
            count_turn();
            for &other in &direct[next] {
                if std::mem::replace(&mut found[other], true) {
                    continue;
                }
                match all.get(other) {
                    // What those before reach is known.
                    Some(reached) => reached.iter().for_each(|&task| found[task] = true),
                    None => open.push(other),
                }
            }
        }
        all.push((0..tasks.len()).filter(|&task| found[task]).collect());
    }
    let others = |(one, reached): (usize, Vec<usize>)| {
        let is_alone = reached.is_empty();
        let others = reached.into_iter().filter(|&other| other != one).collect();
        (!is_alone).then_some(others)
    };
    all.into_iter().enumerate().map(others).collect()
}
