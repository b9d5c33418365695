//! Whole rounds of turns in which nothing changes, in one step.
//!
//! While nothing of any context completes, nobody comes and no host acts, rounds repeat: each context has its slices
//! and no more happens. How many rounds that are follows from what completes first in each context, on its own clock,
//! and from what happens first on the GPU besides. The turns are told as a round and how often it comes; clocks of
//! contexts move on by what they were served. Nothing that completes is ever inside a skipped round.

use super::{Context, Copies, Preemption, TimeSliced, Turn, process};
use crate::canonical::Canonical;
use crate::gpu::backend::BackendContext;
use crate::gpu::calendar::{Calendar, Event};
use crate::gpu::host::RunError;
use crate::time::{Duration, Instant};
use crate::trace::{ContextTurn, NewTurn, Observer, TurnEnd};

/// Fewer rounds are not worth the step.
const LEAST: u64 = 2;

impl TimeSliced {
    /// Skips as many whole rounds as nothing changes in, where a turn has just begun.
    pub(super) fn skip_rounds<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), RunError> {
        let Turn::Of { context: current, until, contended: true } = self.turn else { return Ok(()) };
        let now = context.now;
        let began = now.checked_add(self.contexts[current].time_slice) == Some(until);
        // A context that is in a gap has no next turn.
        let works = self.contexts[current].works;
        if !began || !works || !self.may_skip_rounds || self.preemption != Preemption::MidBlock {
            return Ok(());
        }
        // Blocks that need not wait any longer go on in the next turn of their context.
        if !self.contexts.iter().all(|own| own.backend.waits_in_vain(context)) {
            return Ok(());
        }
        let Some((round, period)) = self.one_round(current, now) else { return Ok(()) };
        context.calendar.move_to(self.places.1, Event::Turn, None);
        let other = context.calendar.next_besides(self.places.0).unwrap_or(Instant::MAX);
        context.calendar.move_to(self.places.1, Event::Turn, Some((until, 0)));
        let timers = self.contexts.iter().filter_map(|own| own.calendar.next_timer()).min().unwrap_or(Instant::MAX);
        let end = other.min(timers).min(context.horizon.saturating_add(Duration::from_ns(1)));
        // The next round begins before anything else happens.
        let by_time = end.as_ns().saturating_sub(1).saturating_sub(now.as_ns()) / period.as_ns().max(1);
        let mut served = vec![Duration::ZERO; self.contexts.len()];
        for turn in &round {
            served[turn.process.index()] += turn.duration();
        }
        let mut rounds = (0..self.contexts.len()).filter(|&number| self.contexts[number].works).map(|number| {
            let left = self.time_to_completion(number, current, now)?.as_ns();
            left.saturating_sub(1).checked_div(served[number].as_ns())
        });
        let Some(rounds) = rounds.try_fold(by_time, |least, rounds| Some(least.min(rounds?))) else { return Ok(()) };
        if rounds < LEAST {
            return Ok(());
        }
        let Some(resume) = period.checked_mul(rounds).and_then(|skipped| now.checked_add(skipped)) else {
            return Ok(());
        };
        context.observer.rounds(&round, rounds, period)?;
        for (number, served) in served.into_iter().enumerate().filter(|(_, served)| *served > Duration::ZERO) {
            let own = &mut self.contexts[number];
            // The rest of the time it has stood still, as it will be seen when it goes on.
            let since = if number == current { now } else { own.stands_since };
            let all = served.repeated(rounds);
            own.stands_since = since + all;
            own.backend.serve(all, since);
        }
        let last = round.last().map_or(resume, |turn| turn.end);
        let switch = period.as_ns() - last.since(now).as_ns();
        let switch_from = Instant::from_ns(resume.as_ns() - switch);
        context.observer.turn_begins(&NewTurn { process: process(current), switch_from, start: resume })?;
        self.turn = Turn::Begins(current);
        context.calendar.move_to(self.places.0, Event::Context, None);
        context.calendar.move_to(self.places.1, Event::Turn, Some((resume, 0)));
        Ok(())
    }

    /// The turns of one round from now on, if each lasts a whole slice, and how long it is until the same turn comes
    /// again. `None` if some context will assign blocks in its turn.
    fn one_round(&self, current: usize, now: Instant) -> Option<(Vec<ContextTurn>, Duration)> {
        let mut round: Vec<ContextTurn> = Vec::new();
        let (mut at, mut before) = (now, current);
        let others = self.runlist.round().filter(|&number| self.contexts[number].works);
        for number in std::iter::once(current).chain(others) {
            let own = &self.contexts[number];
            if !own.backend.is_idle_until_event() {
                return None;
            }
            let switch = if number == before { Duration::ZERO } else { self.switch_cost };
            let (switch_from, start) = (at, at.checked_add(switch)?);
            let end = start.checked_add(own.time_slice)?;
            round.push(ContextTurn { process: process(number), switch_from, start, end, ended_by: TurnEnd::TimeSlice });
            (at, before) = (end, number);
        }
        // The last is the current one again, with which the next round begins.
        let again = round.pop()?;
        Some((round, again.start.since(now)))
    }

    /// How long a context has to run until something completes in it.
    fn time_to_completion(&self, number: usize, current: usize, now: Instant) -> Option<Duration> {
        let own = &self.contexts[number];
        let (at, _) = own.calendar.next_completion()?;
        Some(at.since(if number == current { now } else { own.stands_since }))
    }
}

// The state of contexts that take turns, for comparison.

impl TimeSliced {
    /// Writes the state with what is in the calendar of the GPU.
    pub(in crate::gpu::contexts) fn write_state(&self, now: Instant, calendar: &Calendar, to: &mut Canonical) {
        let Self {
            contexts,
            runlist,
            turn,
            runs_out_since,
            timers_end_first,
            loaded,
            // How many work is seen from them, and the rest is given.
            working: _,
            switch_cost: _,
            preemption: _,
            may_skip_rounds: _,
            places: _,
            copies,
        } = self;
        runlist.write_state(to);
        to.value((timers_end_first, loaded));
        to.optional(*runs_out_since, Canonical::instant);
        let current = match *turn {
            Turn::Nobody => {
                to.number(0_u64);
                None
            }
            Turn::Begins(number) => {
                to.number(1_u64);
                to.length(number);
                None
            }
            Turn::Of { context, until, contended } => {
                to.number(2_u64);
                to.length(context);
                to.instant(until);
                to.number(contended);
                Some(context)
            }
        };
        to.list(contexts.iter().enumerate(), |to, (number, context)| {
            let Context { backend, calendar, stands_since, time_slice: _, runnable, works } = context;
            to.value((runnable, works));
            // Since when it stands still makes no difference but to what it had come to by then.
            let seen_at = if current == Some(number) { now } else { *stands_since };
            backend.write_state(seen_at, calendar, to);
        });
        match copies {
            Copies::InTurn => calendar.write_state(now, to, Canonical::value),
            Copies::Traded(engines) => {
                engines.write_state(to);
                calendar.write_state(now, to, Canonical::value);
            }
            Copies::Linked(backend) => backend.write_state(now, calendar, to),
        }
    }
}
