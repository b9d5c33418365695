//! **Segments**: what host threads do in one job, and what each operation and pause of it waits for within the job: the
//! graph of `docs/analysis.md`, "Who waits for whom", as `proofs/hosts.v` has its edges.
//!
//! Claim: the bound by work holds of every operation and call if the chain's sum of `C_o` (1 - `v_o`) is the largest
//! over paths of this graph, in which sleeps and work count their time (Coq: `hosts_hold`). Assumption: hosts wait for
//! segments of their own job only, or for what has to be over when that is released.
//!
//! A host waits for what it has submitted itself by itself, for what others have submitted (which is not told here), or
//! at a barrier, where several threads wait for one another: these do one job together.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::assumptions::sharing_channels;
use crate::analysis::safe_bound::{NullRule, Operation, Work};
use crate::limits::count_turn;
use crate::scenario::{BarrierId, HostThread, Scenario, Step, followed};
use crate::time::Duration;
use crate::workload::{EventId, OperationKind, StreamId};

/// Operations and pauses of one job above which nothing is computed.
const MOST_STEPS: usize = 512;

/// Operations that a pause may wait for before they are put together.
const MOST_GATES: usize = 4;

/// Why a job is not told as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// Too many steps.
    TooLong,
    /// Threads do not come to a barrier equally often in each job.
    Barrier,
}

/// What several threads, or one, do in a job.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) operations: Vec<Operation>,
    /// By thread: whether all that it submits has ended when it ends.
    pub(super) is_closed: Vec<bool>,
    /// By thread: how long it sleeps in all, which it does for just as long as stated.
    pub(super) pauses: Vec<Duration>,
    /// By thread: how long it works in all, at most.
    pub(super) work: Vec<Duration>,
}

/// What the scenario says of an operation.
pub(super) type Describe<'a> = dyn Fn(OperationKind, StreamId) -> Operation + 'a;

/// Whether operations of two streams wait for each other by N1 and N2.
fn couple(scenario: &Scenario, one: StreamId, other: StreamId) -> bool {
    NullRule::of(one, scenario).couples(NullRule::of(other, scenario))
}

/// A thread in the making of a job.
struct Thread {
    number: usize,
    steps: Vec<Step>,
    next: usize,
    /// How many steps its job has: barriers at the very end only wait for others. `None` once it is over.
    own: Option<usize>,
    /// What it has waited for last: all that it submits now waits for that.
    gate: Vec<usize>,
    /// What it submitted last; by stream; records by event.
    last: Option<usize>,
    in_stream: BTreeMap<StreamId, usize>,
    records: BTreeMap<EventId, usize>,
}

struct Maker<'a> {
    scenario: &'a Scenario,
    describe: &'a Describe<'a>,
    program: Program,
}

impl Program {
    /// The job of `threads`, each with its number in the scenario, how long after the job's release it is released, and
    /// how many iterations the job has.
    pub(super) fn new(
        scenario: &Scenario,
        threads: &[(usize, Duration, u64)],
        describe: &Describe<'_>,
    ) -> Result<Self, Unknown> {
        let mut maker = Maker { scenario, describe, program: Self::default() };
        let mut all = Vec::with_capacity(threads.len());
        for (owner, &(number, offset, iterations)) in threads.iter().enumerate() {
            let steps = followed(&scenario.threads[number], iterations).ok_or(Unknown::TooLong)?;
            // As runs have it, a barrier that is repeated is not at the very end.
            let of_others =
                scenario.threads[number].steps.iter().rev().take_while(|step| matches!(step, Step::Barrier(_)));
            let mut thread = Thread {
                number,
                own: Some(steps.len().saturating_sub(of_others.count())),
                steps,
                next: 0,
                gate: Vec::new(),
                last: None,
                in_stream: BTreeMap::new(),
                records: BTreeMap::new(),
            };
            maker.program.is_closed.push(false);
            maker.program.pauses.push(Duration::ZERO);
            maker.program.work.push(Duration::ZERO);
            if scenario.threads[number].core.is_some() {
                // It waits for its core before it does anything.
                maker.pause(&mut thread, owner, Work::Busy(Duration::ZERO));
            }
            if offset > Duration::ZERO {
                maker.pause(&mut thread, owner, Work::Pause(offset));
            }
            all.push(thread);
        }
        maker.run(&mut all)?;
        for (owner, thread) in all.iter().enumerate() {
            maker.program.is_closed[owner] = maker.has_waited_for_all(owner, &thread.gate);
        }
        Ok(maker.program)
    }
}

impl Program {
    /// Whether no operation of a thread that is alone with its channels, given by the streams that were dealt to each,
    /// waits there: whenever all is over that it waits for anyway, so is what kernels and waits ahead of it in its
    /// channel wait for, so that these have entered their EE queues, or completed.
    pub(super) fn passes_channels(&self, sharing: &[Vec<StreamId>]) -> bool {
        let channel =
            |one: &Operation| sharing.iter().position(|streams| streams.iter().any(|of| of.index() == one.stream));
        let channels: Vec<Option<usize>> = self.operations.iter().map(channel).collect();
        let passes = |(number, one): (usize, &Operation)| {
            if channels[number].is_none() || !matches!(one.work, Work::Kernel { .. }) {
                return true;
            }
            let is_over = ancestors(&self.operations, &one.after);
            let is_ahead = |ahead: &usize| channels[*ahead] == channels[number];
            let mut awaited = (0..number).filter(is_ahead).flat_map(|ahead| &self.operations[ahead].after);
            awaited.all(|&before| is_over[before])
        };
        let is_closed = self.is_closed.iter().all(|is_closed| *is_closed);
        is_closed && self.is_closed.len() == 1 && self.operations.iter().enumerate().all(passes)
    }
}

/// By operation of a job: whether it is one of these, or what these wait for.
pub(super) fn ancestors(operations: &[Operation], of: &[usize]) -> Vec<bool> {
    let mut found = vec![false; operations.len()];
    let mut open = of.to_vec();
    while let Some(number) = open.pop() {
        count_turn();
        if !std::mem::replace(&mut found[number], true) {
            open.extend_from_slice(&operations[number].after);
        }
    }
    found
}

/// What an operation waits for in its job, itself included, by number; `None`: all up to it.
pub(super) type Chain = Option<Vec<usize>>;

/// By operation of a job.
pub(super) fn chains(operations: &[Operation]) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::with_capacity(operations.len());
    for (number, operation) in operations.iter().enumerate() {
        let is_all = |before: usize| before + 1 == number && chains[before].is_none();
        if number == 0 || operation.after.iter().any(|&before| is_all(before)) {
            chains.push(None);
            continue;
        }
        let mut on_chain = vec![false; number + 1];
        on_chain[number] = true;
        for &before in &operation.after {
            numbers(&chains, before).for_each(|before| on_chain[before] = true);
        }
        chains.push(Some((0..=number).filter(|&before| on_chain[before]).collect()));
    }
    chains
}

/// The numbers of operation k's chain.
pub(super) fn numbers(chains: &[Chain], k: usize) -> impl Iterator<Item = usize> {
    let all = if chains[k].is_none() { 0..k + 1 } else { 0..0 };
    all.chain(chains[k].iter().flatten().copied())
}

impl Maker<'_> {
    /// Lets threads go on in turn until each has ended.
    fn run(&mut self, threads: &mut [Thread]) -> Result<(), Unknown> {
        let mut at: Vec<Option<BarrierId>> = vec![None; threads.len()];
        loop {
            for (owner, thread) in threads.iter_mut().enumerate() {
                while at[owner].is_none() {
                    count_turn();
                    // Its job may be over when a barrier opens that others came to last.
                    let is_over = thread.own.take_if(|own| *own == thread.next).is_some();
                    let of_others = |&number: &usize| self.program.operations[number].member != owner;
                    if is_over && thread.gate.iter().any(of_others) {
                        self.pause(thread, owner, Work::Pause(Duration::ZERO));
                    }
                    let Some(&step) = thread.steps.get(thread.next) else { break };
                    thread.next += 1;
                    match step {
                        Step::Barrier(barrier) if threads_of(self.scenario, barrier) > 1 => at[owner] = Some(barrier),
                        _ => self.step(thread, owner, step),
                    }
                    if self.program.operations.len() > MOST_STEPS {
                        return Err(Unknown::TooLong);
                    }
                }
            }
            let Some(barrier) = at.iter().flatten().copied().find(|&barrier| {
                let waiting = at.iter().filter(|at| **at == Some(barrier)).count();
                waiting == threads_of(self.scenario, barrier)
            }) else {
                // Somebody waits for one that does not come in this job.
                return if at.iter().all(Option::is_none) { Ok(()) } else { Err(Unknown::Barrier) };
            };
            let together = |owner: &usize| at[*owner] == Some(barrier);
            let waiting: Vec<usize> = (0..threads.len()).filter(together).collect();
            let gates = waiting.iter().flat_map(|&owner| threads[owner].gate.iter().copied()).collect();
            let open = self.add_pause(&threads[waiting[0]], waiting[0], Work::Pause(Duration::ZERO), gates);
            for owner in waiting {
                at[owner] = None;
                threads[owner].gate = vec![open];
            }
        }
    }

    fn step(&mut self, thread: &mut Thread, owner: usize, step: Step) {
        if let Some((kind, stream)) = step.submission() {
            let mut operation = (self.describe)(kind, stream);
            operation.after.clone_from(&thread.gate);
            let before = thread
                .in_stream
                .iter()
                .filter(|(other, _)| **other == stream || couple(self.scenario, stream, **other));
            operation.after.extend(before.map(|(_, before)| *before));
            if let OperationKind::Wait(event) = kind {
                operation.after.extend(self.own_record(thread, event));
            }
            operation.after.sort_unstable();
            operation.after.dedup();
            operation.member = owner;
            let number = self.add(operation);
            if let OperationKind::Record(event) = kind {
                thread.records.insert(event, number);
            }
            thread.in_stream.insert(stream, number);
            thread.last = Some(number);
            return;
        }
        let &HostThread { process, core, .. } = &self.scenario.threads[thread.number];
        let has_core = core.is_some();
        let is_own = |stream: &StreamId| self.scenario.streams()[stream.index()].process == process;
        let awaited: Vec<usize> = match step {
            Step::AwaitLast => thread.last.into_iter().collect(),
            Step::SynchronizeStream(stream) => thread.in_stream.get(&stream).copied().into_iter().collect(),
            step if step.waits_for_device() => {
                thread.in_stream.iter().filter(|(stream, _)| is_own(stream)).map(|(_, last)| *last).collect()
            }
            Step::SynchronizeEvent(event) => self.own_record(thread, event).into_iter().collect(),
            Step::Sleep(time) if time > Duration::ZERO => {
                let pauses = &mut self.program.pauses[owner];
                *pauses = pauses.saturating_add(time);
                self.pause(thread, owner, Work::Pause(time));
                if has_core {
                    self.pause(thread, owner, Work::Busy(Duration::ZERO));
                }
                return;
            }
            // Also one of no length is what a job is made of, which is released late.
            Step::Work(time) => {
                let work = &mut self.program.work[owner];
                *work = work.saturating_add(time);
                return self.pause(thread, owner, Work::Busy(time));
            }
            _ => return,
        };
        thread.gate.extend(awaited);
        thread.gate.sort_unstable();
        thread.gate.dedup();
        // What it waits for may be others' too, or its core, and then the host goes on later than any operation of its
        // own says.
        if has_core {
            self.pause(thread, owner, Work::Busy(Duration::ZERO));
        } else if thread.gate.len() > MOST_GATES || step != Step::AwaitLast {
            self.pause(thread, owner, Work::Pause(Duration::ZERO));
        }
    }

    /// The record that a wait of a thread for an event is for, if it is its own in any case: where others record the
    /// event too, it may be theirs.
    fn own_record(&self, thread: &Thread, event: EventId) -> Option<usize> {
        let records = |step: &Step| step.submission().is_some_and(|(kind, _)| kind == OperationKind::Record(event));
        let others = || self.scenario.threads.iter().enumerate().filter(|(number, _)| *number != thread.number);
        thread.records.get(&event).copied().filter(|_| !others().flat_map(|(_, other)| &other.steps).any(records))
    }

    /// The thread goes on after a pause behind all that it has waited for.
    fn pause(&mut self, thread: &mut Thread, owner: usize, pause: Work) {
        let gate = std::mem::take(&mut thread.gate);
        thread.gate = vec![self.add_pause(thread, owner, pause, gate)];
    }

    fn add_pause(&mut self, thread: &Thread, owner: usize, work: Work, mut after: Vec<usize>) -> usize {
        after.sort_unstable();
        after.dedup();
        let stream = self.scenario.streams().len() + thread.number;
        let context = self.scenario.threads[thread.number].process.index();
        self.add(Operation { stream, level: 0, context, member: owner, work, after })
    }

    fn add(&mut self, operation: Operation) -> usize {
        self.program.operations.push(operation);
        self.program.operations.len() - 1
    }

    fn has_waited_for_all(&self, owner: usize, gate: &[usize]) -> bool {
        let known = ancestors(&self.program.operations, gate);
        self.program.operations.iter().zip(known).all(|(operation, known)| operation.member != owner || known)
    }
}

/// How many threads use a barrier.
pub(super) fn threads_of(scenario: &Scenario, barrier: BarrierId) -> usize {
    scenario.threads.iter().filter(|thread| thread.barriers().any(|own| own == barrier)).count()
}

/// Who submits what.
///
/// Which threads wait for what others have submitted: in a stream, in a channel, under N1 and N2, for an event, or as
/// hosts.
struct Submitters<'a> {
    scenario: &'a Scenario,
    /// By stream: the threads that submit to it.
    of_stream: Vec<Vec<usize>>,
    /// By event: the threads that record it.
    of_event: BTreeMap<EventId, Vec<usize>>,
    /// Streams with submissions, those that are a NULL stream apart.
    null: Vec<StreamId>,
    others: Vec<StreamId>,
    /// By channel: the streams that were dealt to it, where these are several.
    sharing: Vec<Vec<StreamId>>,
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
        Self { scenario, of_stream, of_event, null, others, sharing: sharing_channels(scenario) }
    }

    /// The other threads, some of them several times, for an operation of which something of a thread may wait once
    /// they have submitted it; and itself, if streams of its own share a channel.
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
        // A kernel waits in its channel for what was submitted to that before it.
        let in_channels = self.sharing.iter().flat_map(move |channel| {
            let is_own = channel.iter().filter(|stream| own.contains(stream)).count();
            let threads = channel.iter().flat_map(|stream| &self.of_stream[stream.index()]).copied();
            threads.filter(move |&other| is_own > 1 || is_own == 1 && other != number)
        });
        of_streams.chain(of_events).copied().filter(move |&other| other != number).chain(in_channels)
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
