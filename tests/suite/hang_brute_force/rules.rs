//! All states of a small group by the rules alone: every block by itself, on any SM with room, hosts and streams step
//! by step in any order, and blocks assigned once all that happens at an instant has happened.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::groups::{COUNTERS, Group, Point, SHARED_MEMORY, Step, THREADS};

/// An operation that was submitted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Operation {
    thread: usize,
    step: usize,
    /// What has not ended and has to first.
    after: Vec<usize>,
    has_entered: bool,
    has_ended: bool,
    /// SM and points passed, of blocks that run.
    running: Vec<(usize, usize)>,
    begun: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Host {
    step: usize,
    /// In a call that waits for these.
    awaits: Option<Vec<usize>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    hosts: Vec<Host>,
    /// In order of submission.
    operations: Vec<Operation>,
    /// By owner and priority, the most urgent first: operations with blocks left.
    queues: Vec<[Vec<usize>; 2]>,
    counters: [u32; 3],
    /// Whether blocks are being assigned, which goes on until none has room.
    assigns: bool,
}

/// What came of all states, or of as many as were asked for.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Kernels, and waits of streams, that stand still in some state, with their streams, by name.
    pub(super) stuck: BTreeSet<(String, String)>,
    /// Whether there are more states.
    pub(super) is_cut: bool,
}

/// Looks at so many states at most.
pub(super) fn explore(group: &Group, most: usize) -> Found {
    let mut found = Found::default();
    let mut seen: FxHashSet<State> = FxHashSet::default();
    let mut open = vec![State {
        hosts: vec![Host::default(); group.threads.len()],
        operations: Vec::new(),
        queues: vec![<[Vec<usize>; 2]>::default(); 3],
        counters: [0; 3],
        assigns: false,
    }];
    while let Some(state) = open.pop() {
        if seen.contains(&state) {
            continue;
        }
        if seen.len() >= most {
            found.is_cut = true;
            return found;
        }
        let next = group.next(&state);
        if next.is_empty() {
            group.note_stuck(&state, &mut found);
        }
        seen.insert(state);
        open.extend(next);
    }
    found
}

impl Group {
    fn step_of(&self, operation: &Operation) -> Step {
        self.threads[operation.thread].steps[operation.step]
    }

    /// What `analyze --progress` calls it, and its stream.
    fn names(&self, step: Step) -> Option<(String, String)> {
        match step {
            Step::Launch(kernel, stream) => Some((format!("k{kernel}"), self.stream_name(stream))),
            Step::WaitValue(counter, value, stream) => {
                Some((format!("wait_value {} {value}", COUNTERS[counter]), self.stream_name(stream)))
            }
            _ => None,
        }
    }

    fn note_stuck(&self, state: &State, found: &mut Found) {
        for operation in state.operations.iter().filter(|operation| !operation.has_ended) {
            found.stuck.extend(self.names(self.step_of(operation)));
        }
        for (host, thread) in state.hosts.iter().zip(&self.threads) {
            for step in &thread.steps[host.step..] {
                found.stuck.extend(self.names(*step));
            }
        }
    }

    fn next(&self, state: &State) -> Vec<State> {
        let mut assigned = self.assigned(state);
        if state.assigns && !assigned.is_empty() {
            return assigned;
        }
        let mut calm = state.clone();
        calm.assigns = false;
        for number in 0..state.hosts.len() {
            assigned.extend(self.acted(&calm, number));
        }
        for (number, operation) in calm.operations.iter().enumerate().filter(|(_, operation)| !operation.has_ended) {
            if !operation.after.is_empty() {
                continue;
            }
            if !operation.has_entered {
                assigned.extend(self.begun(&calm, number));
            }
            for block in 0..operation.running.len() {
                if block == 0 || operation.running[block] != operation.running[block - 1] {
                    assigned.extend(self.passed(&calm, number, block));
                }
            }
        }
        assigned
    }

    /// A host's next step.
    fn acted(&self, state: &State, number: usize) -> Option<State> {
        let thread = &self.threads[number];
        let host = &state.hosts[number];
        let step = *thread.steps.get(host.step)?;
        let mut next = state.clone();
        if let Some(awaited) = &host.awaits {
            if !awaited.is_empty() {
                return None;
            }
            next.hosts[number] = Host { step: host.step + 1, awaits: None };
            return Some(next);
        }
        let open = |of: &dyn Fn(Step) -> bool| -> Vec<usize> {
            let all = state.operations.iter().enumerate().filter(|(_, operation)| !operation.has_ended);
            all.filter(|(_, operation)| of(self.step_of(operation))).map(|(number, _)| number).collect()
        };
        match step {
            Step::SetValue(counter, value) => next.counters[counter] = value,
            Step::AwaitValue(counter, value) => {
                if state.counters[counter] < value {
                    return None;
                }
            }
            Step::SynchronizeStream(stream) => {
                next.hosts[number].awaits = Some(open(&|step| step.stream() == Some(stream)));
                return Some(next);
            }
            Step::SynchronizeDevice => {
                let all = open(&|step| step.stream().is_some_and(|on| self.streams[on].process == thread.process));
                next.hosts[number].awaits = Some(all);
                return Some(next);
            }
            Step::SynchronizeEvent(event) => {
                next.hosts[number].awaits = Some(self.last_record(state, event).into_iter().collect());
                return Some(next);
            }
            _ => {
                let stream = step.stream()?;
                let (own, process) = (&self.streams[stream], self.streams[stream].process);
                let mut after = open(&|other| {
                    other.stream().is_some_and(|on| {
                        let other = &self.streams[on];
                        let by_null = other.is_blocking && own.is_blocking && other.is_null != own.is_null;
                        on == stream || by_null && other.process == process
                    })
                });
                if let Step::Wait(event, _) = step {
                    after.extend(self.last_record(state, event));
                }
                after.sort_unstable();
                after.dedup();
                next.operations.push(Operation {
                    thread: number,
                    step: host.step,
                    after,
                    has_entered: false,
                    has_ended: false,
                    running: Vec::new(),
                    begun: 0,
                });
            }
        }
        next.hosts[number].step += 1;
        Some(next)
    }

    /// The record of an event that was submitted last, if it has not completed.
    fn last_record(&self, state: &State, event: usize) -> Option<usize> {
        let records = |operation: &Operation| matches!(self.step_of(operation), Step::Record(of, _) if of == event);
        let last = state.operations.iter().rposition(records)?;
        (!state.operations[last].has_ended).then_some(last)
    }

    /// An operation's turn has come.
    fn begun(&self, state: &State, number: usize) -> Option<State> {
        let mut next = state.clone();
        match self.step_of(&state.operations[number]) {
            Step::Launch(_, stream) => {
                let own = &self.streams[stream];
                next.operations[number].has_entered = true;
                next.queues[own.owner][usize::from(own.priority == 0)].push(number);
                return Some(next);
            }
            Step::WaitValue(counter, value, _) if state.counters[counter] < value => return None,
            Step::WriteValue(counter, value, _) => next.counters[counter] = value,
            _ => {}
        }
        end(&mut next, number);
        Some(next)
    }

    /// A block passes its next point, or ends.
    fn passed(&self, state: &State, number: usize, block: usize) -> Option<State> {
        let operation = &state.operations[number];
        let Step::Launch(kernel, _) = self.step_of(operation) else { return None };
        let kernel = &self.kernels[kernel];
        let (_, place) = operation.running[block];
        let mut next = state.clone();
        match kernel.points.get(place) {
            Some(Point::Signal(counter)) => next.counters[*counter] += 1,
            Some(Point::Await(counter, value)) if state.counters[*counter] < *value => return None,
            Some(Point::Await(..)) => {}
            Some(Point::GridSync) => {
                // Whoever is not there yet has not begun or is on its way.
                let all_come =
                    operation.begun == kernel.blocks && operation.running.iter().all(|(_, other)| *other >= place);
                if !all_come {
                    return None;
                }
            }
            None => {
                if kernel.until.is_some_and(|counter| state.counters[counter] < 1) {
                    return None;
                }
                let own = &mut next.operations[number];
                own.running.remove(block);
                if own.running.is_empty() && own.begun == kernel.blocks {
                    end(&mut next, number);
                }
                return Some(next);
            }
        }
        let own = &mut next.operations[number];
        own.running[block].1 += 1;
        own.running.sort_unstable();
        Some(next)
    }

    fn has_room(&self, state: &State, kernel: usize, sm: usize) -> bool {
        let own = &self.kernels[kernel];
        let (mut threads, mut memory) = (own.threads, own.shared_memory);
        for operation in &state.operations {
            let Step::Launch(other, _) = self.step_of(operation) else { continue };
            let there = operation.running.iter().filter(|(on, _)| *on == sm).count();
            let there = u32::try_from(there).unwrap_or(u32::MAX);
            threads += there * self.kernels[other].threads;
            memory += there * self.kernels[other].shared_memory;
        }
        threads <= THREADS && memory <= SHARED_MEMORY
    }

    /// The next block, or all of a cooperative launch, of each owner's first launch of its most urgent queue.
    fn assigned(&self, state: &State) -> Vec<State> {
        let mut all = Vec::new();
        for (owner, queues) in state.queues.iter().enumerate() {
            let Some((level, head)) = (0..2).find_map(|level| Some((level, *queues[level].first()?))) else { continue };
            let Step::Launch(kernel, stream) = self.step_of(&state.operations[head]) else { continue };
            let at_once = if self.kernels[kernel].is_cooperative { self.kernels[kernel].blocks } else { 1 };
            if at_once == 1 && !self.streams[stream].sms.iter().any(|sm| self.has_room(state, kernel, *sm)) {
                continue;
            }
            let mut these = vec![state.clone()];
            for _ in 0..at_once {
                let mut more = Vec::new();
                for state in &these {
                    for &sm in self.streams[stream].sms.iter().filter(|sm| self.has_room(state, kernel, **sm)) {
                        let mut next = state.clone();
                        let own = &mut next.operations[head];
                        own.running.push((sm, 0));
                        own.running.sort_unstable();
                        own.begun += 1;
                        if own.begun == self.kernels[kernel].blocks {
                            next.queues[owner][level].remove(0);
                        }
                        next.assigns = true;
                        more.push(next);
                    }
                }
                these = more;
            }
            all.extend(these);
        }
        all
    }
}

/// An operation has ended.
fn end(state: &mut State, number: usize) {
    state.operations[number].has_ended = true;
    for operation in &mut state.operations {
        operation.after.retain(|other| *other != number);
    }
    for host in &mut state.hosts {
        if let Some(awaited) = &mut host.awaits {
            awaited.retain(|other| *other != number);
        }
    }
}
