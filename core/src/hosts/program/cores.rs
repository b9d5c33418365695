//! Cores that host threads share: each thread is bound to one, which the most urgent thread that wants it has, and
//! takes from a less urgent one at any instant.

use std::collections::{BTreeMap, BTreeSet};

use super::to_u32;
use crate::canonical::Canonical;
use crate::gpu::GpuInterface;
use crate::run::CoreSpan;
use crate::scenario::HostThread;
use crate::time::{Duration, Instant};

/// The cores of a run.
#[derive(Debug, Default)]
pub(super) struct Cores {
    shared: Vec<Core>,
    /// By thread: its core, by its place among them, and what it does there. Empty if no thread shares one.
    threads: Vec<Option<OnCore>>,
    /// Threads whose work may be done now.
    due: Vec<usize>,
    /// The token of the wake-up for the first core.
    first_token: u64,
    /// Whether nobody asks who had a core when.
    forgets: bool,
}

#[derive(Debug)]
struct Core {
    /// Its number in the scenario.
    number: u32,
    /// Who wants it, the most urgent first.
    wanted: BTreeSet<(i32, usize)>,
    /// Who has it.
    holder: Option<Holder>,
    /// Who had it when.
    spans: Vec<CoreSpan>,
}

#[derive(Debug, Clone, Copy)]
struct Holder {
    thread: usize,
    iteration: u32,
    /// Since when, but for work that is counted.
    since: Instant,
}

#[derive(Debug, Clone, Copy)]
struct OnCore {
    core: usize,
    priority: i32,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It waits without the core.
    Away,
    /// It goes on as soon as it has the core.
    Acts,
    /// It has so much work left.
    Works(Duration),
    /// It waits and keeps the core.
    Spins,
}

impl Cores {
    pub(super) fn new(threads: &[HostThread]) -> Self {
        let numbers: BTreeSet<u32> = threads.iter().filter_map(|thread| Some(thread.core?.core)).collect();
        let places: BTreeMap<u32, usize> = numbers.iter().copied().zip(0..).collect();
        let on_core = |thread: &HostThread| {
            let share = thread.core?;
            Some(OnCore { core: *places.get(&share.core)?, priority: share.priority, state: State::Away })
        };
        let core = |number| Core { number, wanted: BTreeSet::new(), holder: None, spans: Vec::new() };
        let of_threads = if numbers.is_empty() { Vec::new() } else { threads.iter().map(on_core).collect() };
        Self {
            shared: numbers.into_iter().map(core).collect(),
            threads: of_threads,
            due: Vec::new(),
            first_token: threads.len() as u64,
            forgets: false,
        }
    }

    pub(super) fn are_shared(&self) -> bool {
        !self.shared.is_empty()
    }

    /// The core of a thread, by its place.
    pub(super) fn of(&self, thread: usize) -> Option<usize> {
        Some(self.threads.get(thread)?.as_ref()?.core)
    }

    fn on_core(&mut self, thread: usize) -> Option<&mut OnCore> {
        self.threads.get_mut(thread)?.as_mut()
    }

    /// A thread has waited for long enough at `now`.
    pub(super) fn arrive(&mut self, thread: usize, now: Instant) {
        let Some(core) = self.of(thread) else { return };
        self.pass(core, now);
        let Some(on_core) = self.on_core(thread) else { return };
        if !matches!(on_core.state, State::Works(_)) {
            on_core.state = State::Acts;
            let priority = on_core.priority;
            self.shared[core].wanted.insert((priority, thread));
        }
    }

    /// A thread that acts begins to work; it goes on when that is done.
    pub(super) fn work(&mut self, thread: usize, time: Duration) {
        if let Some(on_core) = self.on_core(thread) {
            on_core.state = State::Works(time);
        }
    }

    /// A thread that acts begins to wait, and keeps the core.
    pub(super) fn spin(&mut self, thread: usize) {
        if let Some(on_core) = self.on_core(thread) {
            on_core.state = State::Spins;
        }
    }

    /// A thread has acted: unless it works or spins, it waits.
    pub(super) fn has_acted(&mut self, thread: usize) {
        let Some(on_core) = self.on_core(thread) else { return };
        if on_core.state == State::Acts {
            on_core.state = State::Away;
            let OnCore { core, priority, .. } = *on_core;
            self.shared[core].wanted.remove(&(priority, thread));
        }
    }

    /// A wake-up: work of a core may be done.
    pub(super) fn wake(&mut self, token: u64) {
        let core = token.checked_sub(self.first_token).and_then(|core| usize::try_from(core).ok());
        let holder = core.and_then(|core| self.shared.get(core)?.holder);
        self.due.extend(holder.map(|holder| holder.thread));
    }

    pub(super) fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The threads whose work may be done now.
    pub(super) fn take_due(&mut self, into: &mut Vec<usize>) {
        into.append(&mut self.due);
    }

    /// Gives a core to the most urgent thread that wants it, but lets one that has done its work act first. Says who
    /// acts now, if anybody does; `iteration` is that in which each thread is.
    pub(super) fn next(
        &mut self,
        core: usize,
        iteration: impl Fn(usize) -> u32,
        gpu: &mut impl GpuInterface,
    ) -> Option<usize> {
        let now = gpu.now();
        self.pass(core, now);
        let holder = self.shared[core].holder.map(|holder| holder.thread);
        if let Some(thread) = holder
            && let Some(on_core) = self.on_core(thread).filter(|one| one.state == State::Works(Duration::ZERO))
        {
            on_core.state = State::Acts;
            return Some(thread);
        }
        let first = self.shared[core].wanted.first().map(|(_, thread)| *thread);
        self.shared[core].holder = first.map(|thread| Holder { thread, iteration: iteration(thread), since: now });
        let thread = first?;
        match self.threads[thread]?.state {
            State::Works(left) => {
                gpu.wake_at(now + left, self.first_token + core as u64);
                None
            }
            State::Acts => Some(thread),
            State::Away | State::Spins => None,
        }
    }

    /// Time has gone on to `now` for who has a core.
    fn pass(&mut self, core: usize, now: Instant) {
        let Some(holder) = self.shared[core].holder.as_mut().filter(|holder| holder.since < now) else { return };
        let Holder { thread, iteration, since } = *holder;
        holder.since = now;
        let Some(on_core) = self.on_core(thread) else { return };
        if let State::Works(left) = &mut on_core.state {
            *left = Duration::from_ns(left.as_ns().saturating_sub(now.since(since).as_ns()));
        }
        let spins = on_core.state == State::Spins;
        if self.forgets {
            return;
        }
        let Core { number, spans, .. } = &mut self.shared[core];
        let span = CoreSpan { core: *number, thread: to_u32(thread), iteration, spins, start: since, end: now };
        match spans.last_mut().filter(|last| last.goes_on_as(&span)) {
            Some(last) => last.end = now,
            None => spans.push(span),
        }
    }

    /// Forgets who had a core when, also from now on.
    pub(super) fn forget_spans(&mut self) {
        self.forgets = true;
        self.shared.iter_mut().for_each(|core| core.spans = Vec::new());
    }

    /// How many bytes it takes to know who had a core when.
    pub(super) fn held_bytes(&self) -> usize {
        self.shared.iter().map(|core| size_of_val(&*core.spans)).sum()
    }

    /// Writes who wants and has which core, and what is left of work, after all events of `now`.
    pub(super) fn write_state(&self, now: Instant, to: &mut Canonical) {
        // Where cores are and what wakes them is given.
        let Self { shared, threads, due, first_token: _, forgets: _ } = self;
        to.list(shared, |to, Core { number: _, wanted, holder, spans: _ }| {
            to.list(wanted, |to, &(_, thread)| to.length(thread));
            // Which iteration it is in, only spans tell.
            to.optional(*holder, |to, Holder { thread, iteration: _, since: _ }| to.length(thread));
        });
        to.list(threads.iter().enumerate(), |to, (thread, on_core)| {
            to.optional(*on_core, |to, OnCore { core, priority: _, state }| {
                let holder = shared[core].holder.filter(|holder| holder.thread == thread);
                let since = holder.map_or(now, |holder| holder.since);
                to.value(std::mem::discriminant(&state));
                if let State::Works(left) = state {
                    to.number(left.as_ns().saturating_sub(now.since(since).as_ns()));
                }
            });
        });
        to.list(due, |to, &thread| to.length(thread));
    }

    /// Who had a core when, in a run that ended at `end`, by core.
    pub(super) fn into_spans(mut self, end: Instant) -> Vec<CoreSpan> {
        (0..self.shared.len()).for_each(|core| self.pass(core, end));
        self.shared.into_iter().flat_map(|core| core.spans).collect()
    }
}
