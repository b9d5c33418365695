//! The host threads of a scenario.

use std::collections::BTreeMap;

use gpusched::scenario::{BarrierId, HostThread, Step};
use gpusched::workload::{OperationKind, ValueId};

use super::adversary::Adversary;
use super::gpu::ReferenceGpu;
use super::outcome::ReferenceIteration;

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Sleeps(u64),
    Awaits(Vec<usize>),
    /// It looks at memory until a counter is not below a value.
    AwaitsValue(ValueId),
    AtBarrier(BarrierId),
    /// It waits until a job of another thread ends.
    AwaitsEnd,
    /// Its call waits until another thread of its process has freed memory (H2).
    Held,
    /// It could go on if it had its core.
    WantsCore,
    /// It has so much work left.
    Works(u64),
    Runs,
    Ended,
}

/// Where in its program a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    /// Before an iteration that may have to wait for its period.
    Between,
    /// Before an iteration whose release has come.
    Released,
    /// After the barrier before an iteration.
    Synchronized,
    Step(usize),
}

struct Thread<'a> {
    spec: &'a HostThread,
    state: State,
    point: Point,
    iteration: u64,
    /// How often the steps before each `Repeat` have been done.
    done: Vec<u64>,
    last: Option<usize>,
    span: usize,
    /// When its iteration arrived.
    arrival: u64,
}

impl Thread<'_> {
    /// Whether it comes to no barrier any more, also after what is looked at of what has no end.
    fn has_left(&self) -> bool {
        self.state == State::Ended && !self.spec.is_cut
    }

    /// Whether an iteration must not start at `start` any more.
    fn time_is_over(&self, start: u64) -> bool {
        self.spec.time_limit.is_some_and(|limit| start - self.spec.release.as_ns() >= limit.as_ns())
    }
}

pub(super) struct Threads<'a> {
    all: Vec<Thread<'a>>,
    /// Who has each core, and until when that is told of.
    holders: BTreeMap<u32, usize>,
    /// Who frees memory and waits for the GPU, by process.
    frees: BTreeMap<usize, usize>,
    now: u64,
    pub(super) iterations: Vec<ReferenceIteration>,
    /// How many iterations had ended of the one that releases a thread, one after the other, when the turn began.
    ended: Vec<u64>,
}

impl<'a> Threads<'a> {
    pub(super) fn new(specs: &'a [HostThread]) -> Self {
        let first = |spec: &HostThread| if spec.triggered_by.is_some() { 0 } else { spec.release.as_ns() };
        let thread = |spec: &'a HostThread| Thread {
            spec,
            state: State::Sleeps(first(spec)),
            point: Point::Between,
            iteration: 0,
            done: vec![0; spec.steps.len()],
            last: None,
            span: 0,
            arrival: spec.release.as_ns(),
        };
        let threads = specs.iter().map(thread).collect();
        Self {
            all: threads,
            holders: BTreeMap::new(),
            frees: BTreeMap::new(),
            now: 0,
            iterations: Vec::new(),
            ended: Vec::new(),
        }
    }

    pub(super) fn next_wake(&self) -> Option<u64> {
        let works = self.holders.values().filter_map(|&holder| match self.all[holder].state {
            State::Works(left) => Some(self.now + left),
            _ => None,
        });
        let sleeps = self.all.iter().filter_map(|thread| match thread.state {
            State::Sleeps(until) => Some(until),
            _ => None,
        });
        sleeps.chain(works).min()
    }

    /// Whether one of them has not ended.
    pub(super) fn one_waits(&self) -> bool {
        self.all.iter().any(|thread| thread.state != State::Ended)
    }

    /// Whether one may go on, or has work to account for.
    pub(super) fn one_may_run(&self, gpu: &ReferenceGpu<'_>) -> bool {
        self.now < gpu.now || (0..self.all.len()).any(|index| self.may_run(index, gpu))
    }

    /// Lets the threads that may run do so in declaration order, again and again until all of them wait. A barrier that
    /// opens meanwhile is left by all in the next turn.
    pub(super) fn act(&mut self, gpu: &mut ReferenceGpu<'_>) {
        for &holder in self.holders.values() {
            if let State::Works(left) = &mut self.all[holder].state {
                *left -= gpu.now - self.now;
            }
        }
        self.now = gpu.now;
        loop {
            let mut turn: Vec<usize> = (0..self.all.len()).filter(|&index| self.may_run(index, gpu)).collect();
            if turn.is_empty() || gpu.is_given_up() {
                return;
            }
            if let Some(adversary) = &mut gpu.adversary {
                adversary.order(&mut turn);
            }
            self.ended = (0..self.all.len()).map(|index| self.ended_of(index, gpu)).collect();
            for &index in &turn {
                let is_done = self.all[index].state == State::Works(0);
                if self.all[index].spec.core.is_some() && !is_done {
                    self.all[index].state = State::WantsCore;
                }
            }
            for index in turn {
                match self.all[index].spec.core {
                    Some(share) => self.run_core(share.core, gpu),
                    None => self.let_run(index, gpu),
                }
            }
        }
    }

    fn let_run(&mut self, index: usize, gpu: &mut ReferenceGpu<'_>) {
        // H1: a call that frees memory returns when its thread goes on.
        self.frees.retain(|_, holder| *holder != index);
        self.all[index].state = State::Runs;
        self.run(index, gpu);
        self.open_barriers();
    }

    /// Lets threads of a core go on: first who has done its work just now, then the most urgent one that wants the
    /// core, until that has work to do or spins.
    fn run_core(&mut self, core: u32, gpu: &mut ReferenceGpu<'_>) {
        loop {
            let own = |index: &usize| self.all[*index].spec.core.is_some_and(|share| share.core == core);
            let all: Vec<usize> = (0..self.all.len()).filter(own).collect();
            if let Some(&done) = all.iter().find(|&&index| self.all[index].state == State::Works(0)) {
                self.let_run(done, gpu);
                continue;
            }
            let wants = |index: &&usize| match self.all[**index].state {
                State::WantsCore | State::Works(_) => true,
                // What has been awaited for long enough shows in the next turn.
                State::Awaits(_) | State::Held => self.all[**index].spec.core.is_some_and(|share| share.spins),
                _ => false,
            };
            let priority = |index: &&usize| self.all[**index].spec.core.map(|share| share.priority);
            let Some(&first) = all.iter().filter(wants).min_by_key(priority) else {
                self.holders.remove(&core);
                return;
            };
            self.holders.insert(core, first);
            if self.all[first].state != State::WantsCore {
                return;
            }
            self.let_run(first, gpu);
        }
    }

    fn may_run(&self, index: usize, gpu: &ReferenceGpu<'_>) -> bool {
        match &self.all[index].state {
            State::Runs => true,
            State::Sleeps(until) => *until <= gpu.now,
            State::Awaits(operations) => operations.iter().all(|&operation| gpu.is_finished(operation)),
            State::AwaitsValue(value) => gpu.has_reached(*value),
            State::Works(left) => *left == 0,
            State::Held => self.holder_of(index).is_none(),
            State::AwaitsEnd => self.released(index, gpu).is_some() || self.nothing_releases(index),
            State::AtBarrier(_) | State::WantsCore | State::Ended => false,
        }
    }

    /// When an iteration had ended, with all that it has submitted, if it has.
    fn end_of(&self, (thread, iteration): (usize, u64), gpu: &ReferenceGpu<'_>) -> Option<u64> {
        let is_it = |one: &&ReferenceIteration| (one.thread, one.iteration) == (thread, iteration);
        let host = self.iterations.iter().find(is_it)?.end?;
        let own = gpu.operations.iter().filter(|one| (one.thread, one.iteration) == (thread, iteration));
        own.map(|one| one.finish).try_fold(host, |last, finish| Some(last.max(finish?)))
    }

    /// How many iterations have ended by now of the one that releases a thread.
    fn ended_of(&self, index: usize, gpu: &ReferenceGpu<'_>) -> u64 {
        let Some(trigger) = self.all[index].spec.triggered_by else { return 0 };
        let has_ended = |number: &u64| self.end_of((trigger as usize, *number), gpu).is_some();
        (0..self.iterations.len() as u64).take_while(has_ended).count() as u64
    }

    /// When the next iteration of a thread that another one releases was released: when each iteration of that one, up
    /// to the one of this number, had ended.
    fn released(&self, index: usize, gpu: &ReferenceGpu<'_>) -> Option<u64> {
        let trigger = self.all[index].spec.triggered_by? as usize;
        let ends = (0..=self.all[index].iteration).map(|number| self.end_of((trigger, number), gpu));
        ends.collect::<Option<Vec<u64>>>()?.into_iter().max()
    }

    /// Whether the thread that releases another one has no further jobs.
    fn nothing_releases(&self, index: usize) -> bool {
        let thread = &self.all[index];
        let trigger = thread.spec.triggered_by.map(|trigger| &self.all[trigger as usize]);
        trigger.is_some_and(|trigger| trigger.state == State::Ended && trigger.iteration <= thread.iteration)
    }

    /// H2: who else of its process frees memory.
    fn holder_of(&self, index: usize) -> Option<usize> {
        let holder = self.frees.get(&self.all[index].spec.process.index()).copied();
        holder.filter(|&holder| holder != index)
    }

    /// Lets threads go on whose barrier all others have reached.
    fn open_barriers(&mut self) {
        for index in 0..self.all.len() {
            let State::AtBarrier(barrier) = self.all[index].state else { continue };
            let all_there = self.all.iter().all(|other| {
                let takes_part = other.spec.barriers().any(|id| id == barrier);
                !takes_part || other.has_left() || other.state == State::AtBarrier(barrier)
            });
            if all_there {
                for thread in &mut self.all {
                    if thread.state == State::AtBarrier(barrier) {
                        thread.state = State::Runs;
                    }
                }
            }
        }
    }

    /// Whether a thread that reaches a barrier does not have to wait: no other takes part any more.
    fn is_alone_at(&self, index: usize, barrier: BarrierId) -> bool {
        let takes_part = |other: &Thread<'_>| other.spec.barriers().any(|id| id == barrier);
        (0..self.all.len()).all(|other| other == index || !takes_part(&self.all[other]) || self.all[other].has_left())
    }

    /// Runs a thread until it has to wait, or others come before its next step.
    fn run(&mut self, index: usize, gpu: &mut ReferenceGpu<'_>) {
        while self.all[index].state == State::Runs && !gpu.is_given_up() {
            let has_core = self.all[index].spec.core.is_some();
            if !has_core && gpu.adversary.as_mut().is_some_and(Adversary::others_come_between) {
                return;
            }
            match self.all[index].point {
                Point::Between => self.between(index, gpu),
                Point::Released => {
                    let thread = &mut self.all[index];
                    thread.point = Point::Synchronized;
                    if let Some(barrier) = thread.spec.barrier {
                        self.reach_barrier(index, barrier);
                    }
                }
                Point::Synchronized => {
                    let thread = &mut self.all[index];
                    thread.point = Point::Step(0);
                    thread.span = self.iterations.len();
                    let (iteration, start) = (thread.iteration, gpu.now);
                    let is_first_on_core =
                        iteration == 0 && thread.spec.core.is_some() && thread.spec.barrier.is_none();
                    let is_triggered = thread.spec.triggered_by.is_some();
                    let counts = thread.spec.period.is_some() || is_first_on_core || is_triggered;
                    let released = if counts { thread.arrival } else { start };
                    if let Some(adversary) = &mut gpu.adversary {
                        adversary.note_begun();
                    }
                    self.iterations.push(ReferenceIteration { thread: index, iteration, released, start, end: None });
                }
                Point::Step(step) => self.step(index, step, gpu),
            }
        }
    }

    fn between(&mut self, index: usize, gpu: &ReferenceGpu<'_>) {
        let now = gpu.now;
        if self.all[index].spec.triggered_by.is_some() {
            // What ended in this turn is seen in the next one.
            let is_seen = self.all[index].iteration < self.ended[index];
            let (released, is_over) = (self.released(index, gpu).filter(|_| is_seen), self.nothing_releases(index));
            let thread = &mut self.all[index];
            match released {
                Some(at) => (thread.point, thread.arrival) = (Point::Released, at),
                None => thread.state = if is_over { State::Ended } else { State::AwaitsEnd },
            }
            return;
        }
        let has_ended = |other: u32| self.all[other as usize].state == State::Ended;
        let ends = self.all[index].spec.until.is_some_and(has_ended);
        let thread = &mut self.all[index];
        if thread.spec.iterations.is_some_and(|limit| thread.iteration >= limit) || ends {
            thread.state = State::Ended;
            return;
        }
        thread.point = Point::Released;
        let periods = thread.spec.period.map_or(0, |period| period.as_ns() * thread.iteration);
        let stated = thread.spec.release.as_ns() + periods;
        let stated = (stated, stated);
        let chosen = |adversary: &Adversary| adversary.arrival(index, thread.iteration, stated);
        let Some((arrival, release)) = gpu.adversary.as_ref().map_or(Some(stated), chosen) else {
            thread.state = State::Ended;
            return;
        };
        thread.arrival = arrival;
        if thread.time_is_over(now.max(release)) {
            thread.state = State::Ended;
            return;
        }
        if release > now {
            thread.state = State::Sleeps(release);
        }
    }

    fn reach_barrier(&mut self, index: usize, barrier: BarrierId) {
        if !self.is_alone_at(index, barrier) {
            self.all[index].state = State::AtBarrier(barrier);
        }
    }

    fn step(&mut self, index: usize, step: usize, gpu: &mut ReferenceGpu<'_>) {
        let thread = &mut self.all[index];
        let left = thread.spec.steps.get(step..).unwrap_or_default();
        if left.iter().all(|step| matches!(step, Step::Barrier(_))) {
            // To wait for others is no part of what it does.
            self.iterations[thread.span].end.get_or_insert(gpu.now);
        }
        let Some(what) = thread.spec.steps.get(step) else {
            thread.iteration += 1;
            thread.point = Point::Between;
            return;
        };
        let is_no_call = matches!(
            what,
            Step::Sleep(_)
                | Step::Work(_)
                | Step::Barrier(_)
                | Step::Repeat { .. }
                | Step::AwaitValue(_)
                | Step::SetValue(_)
        );
        let is_call = !is_no_call;
        if is_call && self.holder_of(index).is_some() {
            self.all[index].state = State::Held;
            return;
        }
        let thread = &mut self.all[index];
        thread.point = Point::Step(step + 1);
        let iteration = thread.iteration;
        match *what {
            Step::Launch(kernel, stream) => {
                thread.last = Some(gpu.submit(OperationKind::Kernel(kernel), stream, index, iteration));
            }
            Step::Copy(copy, stream) => {
                thread.last = Some(gpu.submit(OperationKind::Copy(copy), stream, index, iteration));
            }
            Step::Memset(stream) => thread.last = Some(gpu.submit(OperationKind::Memset, stream, index, iteration)),
            Step::Record(event, stream) => {
                thread.last = Some(gpu.submit(OperationKind::Record(event), stream, index, iteration));
            }
            Step::Wait(event, stream) => {
                thread.last = Some(gpu.submit(OperationKind::Wait(event), stream, index, iteration));
            }
            Step::WaitValue(value, stream) => {
                thread.last = Some(gpu.submit(OperationKind::WaitValue(value), stream, index, iteration));
            }
            Step::WriteValue(value, stream) => {
                thread.last = Some(gpu.submit(OperationKind::WriteValue(value), stream, index, iteration));
            }
            Step::AwaitValue(value) if !gpu.has_reached(value) => thread.state = State::AwaitsValue(value),
            Step::Allocate | Step::AwaitValue(_) => {}
            Step::SetValue(value) => gpu.write(value),
            Step::SynchronizeEvent(event) => {
                let record = gpu.last_record(event).into_iter().collect();
                self.wait_for(index, record, gpu);
            }
            Step::AwaitLast => {
                let last = thread.last.into_iter().collect();
                self.wait_for(index, last, gpu);
            }
            Step::SynchronizeStream(stream) => {
                let queued = gpu.streams[stream.index()].iter().copied().collect();
                self.wait_for(index, queued, gpu);
            }
            Step::SynchronizeDevice | Step::Free => {
                let process = thread.spec.process.index();
                let own = (0..gpu.operations.len()).filter(|&operation| gpu.process_of(operation) == process).collect();
                self.wait_for(index, own, gpu);
                if *what == Step::Free && self.all[index].state != State::Runs {
                    self.frees.insert(process, index);
                }
            }
            Step::Sleep(stated) | Step::Work(stated) => {
                let (works, stated) = (matches!(what, Step::Work(_)), stated.as_ns());
                let adversary = gpu.adversary.as_mut().filter(|_| works);
                let time = adversary.map_or(stated, |adversary| adversary.time(index, stated));
                if works && thread.spec.core.is_some() && time > 0 {
                    thread.state = State::Works(time);
                } else if time > 0 {
                    thread.state = State::Sleeps(gpu.now + time);
                }
            }
            Step::Barrier(barrier) => self.reach_barrier(index, barrier),
            Step::Repeat { from, times } => {
                thread.done[step] += 1;
                if thread.done[step] < times {
                    thread.point = Point::Step(from as usize);
                } else {
                    thread.done[step] = 0;
                }
            }
        }
    }

    fn wait_for(&mut self, index: usize, operations: Vec<usize>, gpu: &ReferenceGpu<'_>) {
        if operations.iter().any(|&operation| !gpu.is_finished(operation)) {
            self.all[index].state = State::Awaits(operations);
        }
    }
}
