//! Contexts that take turns: rules T1 to T5, and T6 by `runlist`.
//!
//! The order within an instant is the usual one (see `simulation`): completions, then the host, then blocks are
//! assigned. Before that it is decided which context has the turn, and only its blocks are assigned:
//!
//! - A turn ends when its context has neither blocks nor anything that waits for SMs, nor a kernel that had reached the
//!   GPU and is held by a gap alone (T2), or when its slice is over and another context has work. Alone, a context goes
//!   on without an end; its slices are counted on all the same, so a context that comes waits at most one slice.
//! - The next turn is that of the next context on the runlist that has work (T1, T6). It begins when the switch is over
//!   (T3), which costs nothing if the context is the one that had the last turn, or nobody had one.
//! - In the instant at which a slice is over no block of its context is assigned any more.

mod rounds;

use super::runlist::Runlist;
use super::traded_copies::TradedCopies;
use crate::device::{CopySharing, Preemption};
use crate::gpu::backend::{Backend, BackendContext, ReadyOperation, SmBackend};
use crate::gpu::calendar::{Calendar, Event};
use crate::gpu::host::{GpuOptions, RunError};
use crate::proven::Proven;
use crate::time::{Duration, Instant};
use crate::trace::{NewTurn, Observer, TraceFull, TurnEnd};
use crate::workload::{Catalogue, InterleaveLevel, OperationId, OperationKind, ProcessId, TurnTaking};

/// The contexts of several processes, and whose turn it is.
#[derive(Debug, Clone)]
pub(super) struct TimeSliced {
    contexts: Vec<Context>,
    runlist: Runlist,
    turn: Turn,
    /// Since when it lasts only until blocks have run to their ends (T4).
    runs_out_since: Option<Instant>,
    /// A turn has begun with blocks whose timers had run out: they end before anything else of it, in another round of
    /// this instant.
    timers_end_first: bool,
    /// Who had the last turn: nothing has to be switched for it.
    loaded: Option<usize>,
    /// How many contexts have work and may have a turn.
    working: usize,
    switch_cost: Duration,
    preemption: Preemption,
    may_skip_rounds: bool,
    copies: Copies,
    /// Places in the calendar: what completes next in the context whose turn it is, and what its turn comes to.
    places: (u32, u32),
}

#[derive(Debug, Clone)]
struct Context {
    backend: SmBackend,
    /// What is going to complete in it; stands still while it is not its turn.
    calendar: Calendar,
    /// Since when it stands still.
    stands_since: Instant,
    time_slice: Duration,
    /// Whether it is on the runlist.
    runnable: bool,
    /// Whether it is, and has work.
    works: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nobody's.
    Nobody,
    /// That of this context begins when the switch is over.
    Begins(usize),
    /// Its slice ends at `until`, and counts while `contended`: another context has work.
    Of { context: usize, until: Instant, contended: bool },
}

/// Where copies run (T5).
#[derive(Debug, Clone)]
enum Copies {
    /// In the turns of their contexts.
    InTurn,
    /// On engines that go on, each of which contexts share by turns.
    Traded(TradedCopies),
    /// On engines that go on, whose links all copies share: a backend that has no kernels.
    Linked(Box<SmBackend>),
}

impl TimeSliced {
    /// Idle, with contexts for all processes.
    pub(super) fn new(catalogue: &Catalogue, taking: &TurnTaking, options: &GpuOptions) -> Self {
        let (device, processes) = (catalogue.device(), catalogue.processes());
        let context = |&time_slice: &Duration| Context {
            backend: SmBackend::new(device, options),
            calendar: Calendar::new(),
            stands_since: Instant::ZERO,
            time_slice,
            runnable: true,
            works: false,
        };
        let levels: Vec<InterleaveLevel> = processes.iter().map(|process| process.level).collect();
        let engines = device.copy.engines;
        Self {
            contexts: taking.time_slices.iter().map(context).collect(),
            runlist: Runlist::new(&levels),
            turn: Turn::Nobody,
            runs_out_since: None,
            timers_end_first: false,
            loaded: None,
            working: 0,
            switch_cost: taking.switch_cost,
            preemption: device.time_slicing.preemption,
            may_skip_rounds: options.skip_cycles,
            copies: match (taking.copies_run_in_turn, device.copy.sharing) {
                (true, _) => Copies::InTurn,
                (false, CopySharing::OneAtATime) => {
                    Copies::Traded(TradedCopies::new(engines, processes.len(), device.time_slicing.copy_time_slice))
                }
                (false, CopySharing::SharedLink) => Copies::Linked(Box::new(SmBackend::new(device, options))),
            },
            places: (engines, engines + 1),
        }
    }

    /// Lets a context act, with its own calendar.
    fn within<O: Observer, T>(
        &mut self,
        number: usize,
        context: &mut BackendContext<'_, O>,
        act: impl FnOnce(&mut SmBackend, &mut BackendContext<'_, O>) -> T,
    ) -> T {
        let Context { backend, calendar, .. } = &mut self.contexts[number];
        calendar.count_on_from(context.calendar);
        let BackendContext { now, horizon, catalogue, ref mut observer, ref mut counters, .. } = *context;
        let (observer, counters) = (&mut **observer, &mut **counters);
        let mut inner = BackendContext { now, horizon, catalogue, calendar, counters, observer };
        let done = act(backend, &mut inner);
        context.calendar.count_on_from(calendar);
        done
    }

    /// Enters in the calendar of the GPU what completes next in the context whose turn it is.
    fn announce<O>(&self, number: usize, context: &mut BackendContext<'_, O>) {
        let next = self.contexts[number].calendar.next_completion();
        context.calendar.move_to(self.places.0, Event::Context, next);
    }

    /// Keeps account of who has work.
    fn note_work(&mut self, number: usize) {
        let context = &mut self.contexts[number];
        let works = context.runnable && context.backend.has_work();
        if works != context.works {
            context.works = works;
            self.working = if works { self.working + 1 } else { self.working - 1 };
        }
    }

    /// A slice limits the turn only while another context has work. If none had until now and the slice has run out,
    /// its end is moved forward by whole slices, to the first end that is not before `now`.
    fn look_around(&mut self, now: Instant) {
        let Turn::Of { context, until, contended } = &mut self.turn else { return };
        let Context { time_slice, works, .. } = self.contexts[*context];
        let others = self.working > usize::from(works);
        if others && !*contended && *until < now {
            let over = now.since(*until).as_ns().div_ceil(time_slice.as_ns().max(1));
            *until = time_slice.checked_mul(over).map_or(Instant::MAX, |slices| until.saturating_add(slices));
        }
        *contended = others;
    }

    /// Why the context whose turn it is must not go on.
    fn must_yield<O>(&self, BackendContext { now, calendar, .. }: &BackendContext<'_, O>) -> Option<TurnEnd> {
        let Turn::Of { context, until, contended } = self.turn else { return None };
        let Context { backend, runnable, .. } = &self.contexts[context];
        // A context that is in a gap keeps its turn, and gets none.
        if !backend.has_work() && !calendar.keeps_turn(process(context)) {
            Some(TurnEnd::NoWork)
        } else if !runnable {
            Some(TurnEnd::TakenOff)
        } else if contended && until <= *now {
            Some(TurnEnd::TimeSlice)
        } else {
            None
        }
    }

    /// T1: the next context that has work gets a turn, if nobody has one. Says whether its turn has begun.
    fn give_turn<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<bool, TraceFull> {
        if self.turn != Turn::Nobody || self.working == 0 {
            return Ok(false);
        }
        let Some((place, number)) = self.runlist.peek(|number| self.contexts[number].works) else { return Ok(false) };
        self.runlist.go_on_behind(place);
        // T3.
        let same = self.loaded.is_none_or(|loaded| loaded == number);
        let start = context.now.saturating_add(if same { Duration::ZERO } else { self.switch_cost });
        context.observer.turn_begins(&NewTurn { process: process(number), switch_from: context.now, start })?;
        if start > context.now {
            self.turn = Turn::Begins(number);
            context.calendar.move_to(self.places.1, Event::Turn, Some((start, 0)));
            return Ok(false);
        }
        self.begin_turn(number, context);
        Ok(true)
    }

    fn begin_turn<O>(&mut self, number: usize, context: &mut BackendContext<'_, O>) {
        let Context { backend, calendar, stands_since, time_slice, .. } = &mut self.contexts[number];
        calendar.stand_still(*stands_since, context.now);
        backend.resume(context.now);
        let until = context.now.saturating_add(*time_slice);
        self.turn = Turn::Of { context: number, until, contended: false };
        self.loaded = Some(number);
        self.announce(number, context);
    }

    /// The turn ends, or takes what is new again.
    fn has_run_out<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) {
        if let Some(since) = self.runs_out_since.take() {
            context.observer.turn_ran_out(since, context.now);
        }
    }

    fn end_turn<O: Observer>(&mut self, number: usize, why: TurnEnd, context: &mut BackendContext<'_, O>) {
        self.has_run_out(context);
        context.observer.turn_ends(context.now, why);
        let ended = &mut self.contexts[number];
        ended.stands_since = context.now;
        ended.backend.suspend(context.now);
        self.turn = Turn::Nobody;
        context.calendar.move_to(self.places.0, Event::Context, None);
        context.calendar.move_to(self.places.1, Event::Turn, None);
    }

    /// T2, T4: ends the turn that must not go on, if it is over at once.
    fn yield_turn<O: Observer>(&mut self, why: TurnEnd, context: &mut BackendContext<'_, O>) -> Result<(), TraceFull> {
        let Turn::Of { context: number, .. } = self.turn else { return Ok(()) };
        let next = self.runlist.peek(|number| self.contexts[number].works);
        if let Some((place, _)) = next.filter(|&(_, next)| why == TurnEnd::TimeSlice && next == number) {
            // Its level gives it the next turn, too.
            self.runlist.go_on_behind(place);
            self.has_run_out(context);
            context.observer.turn_ends(context.now, why);
            let now = context.now;
            context.observer.turn_begins(&NewTurn { process: process(number), switch_from: now, start: now })?;
            self.begin_again(number, context);
            return Ok(());
        }
        if self.preemption == Preemption::BlockEnd && self.contexts[number].backend.has_blocks() {
            // They run to their ends, the last of which is looked at like this.
            context.calendar.move_to(self.places.1, Event::Turn, None);
            self.runs_out_since.get_or_insert(context.now);
            self.within(number, context, SmBackend::note_none_blocked);
            return Ok(());
        }
        self.end_turn(number, why, context);
        Ok(())
    }

    fn begin_again<O>(&mut self, number: usize, context: &mut BackendContext<'_, O>) {
        let until = context.now.saturating_add(self.contexts[number].time_slice);
        self.turn = Turn::Of { context: number, until, contended: true };
        self.look_again(context);
    }

    /// Whether nothing can happen any more but that contexts take turns: all that they have waits for others.
    fn stands_still<O: Observer>(&self, context: &BackendContext<'_, O>) -> bool {
        let has_nothing_to_do = |one: &Context| {
            let is_idle = || one.backend.is_idle_until_event() && one.backend.waits_in_vain(context);
            one.calendar.next_completion().is_none() && (!one.works || is_idle())
        };
        context.calendar.next().is_none() && self.contexts.iter().all(has_nothing_to_do)
    }

    /// Another round at this instant, in which blocks are assigned.
    fn look_again<O>(&self, context: &mut BackendContext<'_, O>) {
        context.calendar.move_to(self.places.1, Event::Turn, Some((context.now, 0)));
    }

    /// Takes a context off the runlist, or puts it back.
    pub(super) fn set_runnable(&mut self, process: ProcessId, runnable: bool) {
        let number = process.index();
        if let Some(context) = self.contexts.get_mut(number) {
            context.runnable = runnable;
            self.note_work(number);
        }
    }
}

impl Backend for TimeSliced {
    fn enter<O: Observer>(&mut self, ready: ReadyOperation, context: &mut BackendContext<'_, O>) {
        let process = context.catalogue.streams()[ready.stream.index()].process;
        let number = process.index();
        match (&mut self.copies, ready.kind) {
            (Copies::Traded(engines), OperationKind::Copy(copy)) => {
                let engine = context.catalogue.copies()[copy.index()].engine();
                engines.push(engine, number, ready.operation, copy);
            }
            (Copies::Linked(backend), OperationKind::Copy(_)) => backend.enter(ready, context),
            _ => {
                self.within(number, context, |backend, inner| backend.enter(ready, inner));
                self.note_work(number);
            }
        }
    }

    fn complete<O: Observer>(&mut self, event: Event, context: &mut BackendContext<'_, O>) -> Option<OperationId> {
        match (event, self.turn) {
            (Event::Context, Turn::Of { context: number, .. }) => {
                let event = self.contexts[number].calendar.pop_completion(context.now)?;
                let completed = self.within(number, context, |backend, inner| backend.complete(event, inner));
                self.note_work(number);
                self.announce(number, context);
                completed
            }
            (Event::Turn, Turn::Begins(number)) => {
                self.begin_turn(number, context);
                None
            }
            // A slice is over: it is seen when all of this instant has happened. Nothing else is entered here.
            (
                Event::Turn | Event::Context | Event::Wave(_) | Event::TimedWave(_) | Event::Point(_) | Event::Freed,
                _,
            ) => None,
            (Event::Copy(engine), _) => match &mut self.copies {
                Copies::InTurn => None,
                Copies::Traded(engines) => engines.complete(engine, context),
                Copies::Linked(backend) => backend.complete(event, context),
            },
        }
    }

    fn dispatch<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<Option<OperationId>, RunError> {
        match &mut self.copies {
            Copies::InTurn => {}
            Copies::Traded(engines) => engines.start(context)?,
            // It has no kernel.
            Copies::Linked(backend) => drop(backend.dispatch(context)?),
        }
        self.look_around(context.now);
        if let Some(why) = self.must_yield(context) {
            self.yield_turn(why, context)?;
        }
        let has_begun = self.give_turn(context)?;
        self.look_around(context.now);
        let Turn::Of { context: number, .. } = self.turn else { return Ok(None) };
        let is_due = || self.contexts[number].calendar.next_completion().is_some_and(|(at, _)| at <= context.now);
        self.timers_end_first |= has_begun && is_due();
        if self.timers_end_first {
            return Ok(None);
        }
        let dispatched = if self.must_yield(context).is_some() {
            self.within(number, context, SmBackend::run_out)?;
            None
        } else {
            self.within(number, context, Backend::dispatch)?
        };
        self.announce(number, context);
        Ok(dispatched)
    }

    fn finish_instant<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), RunError> {
        let timers_end_first = std::mem::take(&mut self.timers_end_first);
        self.look_around(context.now);
        // A host may have taken a context off the runlist since.
        if let Some(why) = self.must_yield(context) {
            self.yield_turn(why, context)?;
            if self.give_turn(context)? {
                self.look_again(context);
            }
            return Ok(());
        }
        if self.give_turn(context)? {
            self.look_again(context);
            return Ok(());
        }
        let Turn::Of { context: number, until, contended } = self.turn else { return Ok(()) };
        if timers_end_first {
            // Nothing was assigned, so it is not known what repeats.
            return Ok(());
        }
        self.has_run_out(context);
        context.calendar.move_to(self.places.1, Event::Turn, None);
        if contended && self.stands_still(context) {
            return Ok(());
        }
        context.calendar.move_to(self.places.1, Event::Turn, contended.then_some((until, 0)));
        // Whatever else happens on the GPU ends what may be skipped in this context.
        let other = context.calendar.next_besides(self.places.0).unwrap_or(Instant::MAX);
        if other > context.now {
            let horizon = context.horizon.min(Instant::from_ns(other.as_ns() - 1));
            self.within(number, context, |backend, inner| {
                inner.horizon = horizon;
                backend.finish_instant(inner)
            })?;
            self.announce(number, context);
        }
        self.skip_rounds(context)
    }

    fn close<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), TraceFull> {
        self.has_run_out(context);
        (0..self.contexts.len()).try_for_each(|number| self.within(number, context, Backend::close))
    }

    fn clear(&mut self) {
        for context in &mut self.contexts {
            context.backend.clear();
            context.calendar.clear();
            context.stands_since = Instant::ZERO;
            (context.runnable, context.works) = (true, false);
        }
        self.runlist.clear();
        self.turn = Turn::Nobody;
        self.runs_out_since = None;
        self.timers_end_first = false;
        self.loaded = None;
        self.working = 0;
        match &mut self.copies {
            Copies::InTurn => {}
            Copies::Traded(engines) => engines.clear(),
            Copies::Linked(backend) => backend.clear(),
        }
    }
}

fn process(number: usize) -> ProcessId {
    ProcessId(u32::try_from(number).proven("contexts are numbered as processes are, with 32 bits"))
}
