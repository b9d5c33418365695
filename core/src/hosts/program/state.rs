//! The state of host threads, for comparison, and how far it may be moved on.

use super::{Barrier, Position, ProgramHost, Thread};
use crate::canonical::Canonical;
use crate::gpu::{Backend, Gpu, GpuInterface};
use crate::run::IterationSpan;
use crate::time::{Duration, Instant};
use crate::trace::Observer;

/// Iterations have numbers of 32 bits.
const MOST_ITERATIONS: u64 = u32::MAX as u64;

impl ProgramHost<'_> {
    /// Writes when threads come again, which differs between most states.
    pub(super) fn write_releases(&self, gpu: &impl GpuInterface, to: &mut Canonical) {
        to.list(&self.threads, |to, thread| {
            let release = thread.program.release_of(thread.iteration);
            match thread.position {
                Position::Ended => {}
                _ if thread.program.counts_from_release(thread.iteration + thread.skipped) => to.instant(release),
                // It is asked for only whether it has come.
                _ => to.instant(release.max(gpu.now())),
            }
        });
    }

    /// Writes all of the state that makes a difference to what comes, but for releases and for when threads end.
    pub(super) fn write_state<B: Backend, O: Observer>(&self, gpu: &Gpu<B, O>, to: &mut Canonical) {
        let Self {
            threads,
            releases,
            ready,
            // Room to work in.
            turn: _,
            waiting_for,
            waiting_for_device,
            awaiting_values,
            frees,
            barriers,
            cores,
            triggers,
            // What was observed.
            spans: _,
            // Counted anew at each instant.
            idle_steps: _,
            idle_since: _,
            quiet_steps,
            order,
            // What was skipped before tells only when threads end.
            skipped: _,
            progress: _,
            now_and_then: _,
            most_expected: _,
            unknown: _,
        } = self;
        if order.is_some() || !ready.is_empty() || !awaiting_values.is_empty() || triggers.are_some() {
            // It depends on how many kernels were launched before; or this is in the midst of an instant; or a counter
            // decides, which may grow without an end; or jobs release others, which may be more and more.
            to.is_like_no_other();
        }
        cores.write_state(gpu.now(), to);
        to.list(threads, |to, thread| {
            let Thread {
                program: _,
                // Releases tell of it what comes; how many come is asked when it is moved on.
                iteration: _,
                skipped: _,
                position,
                last,
                // Where launches have an order.
                launches: _,
                // What was observed.
                released: _,
                span: _,
                also_waiting,
                repeated,
            } = thread;
            to.value((position, also_waiting, repeated));
            to.optional(last.filter(|last| !gpu.is_complete(*last)), |to, last| to.operation(last.0));
        });
        releases.write_state(to);
        waiting_for.write_state(to);
        waiting_for_device.write_state(gpu, to);
        frees.write_state(to);
        to.list(barriers.values(), |to, Barrier { members, arrived }| to.value((members, arrived)));
        to.number(*quiet_steps);
    }

    /// What is held of iterations, cores and calls: roughly how many bytes.
    pub(super) fn held_bytes(&self) -> usize {
        size_of_val(&*self.spans) + self.cores.held_bytes() + self.frees.held_bytes()
    }

    /// Forgets who had a core when and which calls were held, also from now on.
    pub(super) fn forget_observed(&mut self) {
        self.cores.forget_spans();
        self.frees.forget_calls();
    }

    /// The thread that began the fewest iterations of those that go on for more than `step` others, and their number.
    pub(super) fn slowest(&self, step: u64) -> Option<(usize, u64)> {
        let goes_on = |thread: &Thread<'_>| {
            let last = thread.iteration.saturating_add(thread.skipped).saturating_add(step);
            thread.position != Position::Ended && thread.program.iterations.is_none_or(|most| most > last)
        };
        let going = self.threads.iter().enumerate().filter(|(_, thread)| goes_on(thread));
        going.map(|(index, thread)| (index, thread.iteration)).min_by_key(|&(_, iteration)| iteration)
    }

    /// Whether a thread has come to an iteration, or has ended.
    pub(super) fn has_reached(&self, (thread, iteration): (usize, u64)) -> bool {
        let thread = &self.threads[thread];
        thread.iteration >= iteration || thread.position == Position::Ended
    }

    /// Whether another thread has ended with which this one does.
    pub(super) fn other_has_ended(&self, thread: usize) -> bool {
        let other = self.threads[thread].program.until.and_then(|other| self.threads.get(other as usize));
        other.is_some_and(|other| other.position == Position::Ended)
    }

    /// In which iteration a thread is, unless it has ended.
    pub(super) fn iteration_of(&self, thread: usize) -> Option<u64> {
        let thread = self.threads.get(thread).filter(|thread| thread.position != Position::Ended)?;
        Some(thread.iteration)
    }

    /// In which iteration each thread is.
    pub(super) fn iterations(&self) -> Vec<u64> {
        self.threads.iter().map(|thread| thread.iteration).collect()
    }

    /// How often what happened in `period`, since threads were at the iterations `since`, may come again before a
    /// thread ends.
    pub(super) fn most_repeats(&self, since: &[u64], period: Duration, now: Instant) -> u64 {
        let most = |(thread, since): (&Thread<'_>, &u64)| {
            let Thread { program, iteration, skipped, .. } = thread;
            // Without an iteration in between nothing asks whether it ends.
            let each = iteration - since;
            let most = MOST_ITERATIONS.min(program.iterations.unwrap_or(u64::MAX));
            let by_number = most.saturating_sub(1).saturating_sub(iteration + skipped).checked_div(each)?;
            let begins = program.release_of(*iteration).max(now);
            let elapsed = begins.since(Instant::ZERO + program.release).saturating_add(self.skipped);
            let by_time = program.time_limit.map_or(u64::MAX, |limit| {
                limit.as_ns().saturating_sub(1).saturating_sub(elapsed.as_ns()) / period.as_ns().max(1)
            });
            Some(by_number.min(by_time))
        };
        self.threads.iter().zip(since).filter_map(most).min().unwrap_or(u64::MAX)
    }

    /// What happened in `period`, since threads were at the iterations `since`, has come `times` times again.
    pub(super) fn skip(&mut self, since: &[u64], period: Duration, times: u64) {
        for (thread, since) in self.threads.iter_mut().zip(since) {
            thread.skipped += (thread.iteration - since) * times;
        }
        self.skipped = self.skipped.saturating_add(period.repeated(times));
    }

    /// Writes the iterations that have not left, counted back from that in which their thread is.
    pub(super) fn write_spans(&self, to: &mut Canonical) {
        to.list(&self.spans, |to, &IterationSpan { thread, iteration, released, start, end }| {
            to.number(thread);
            to.number(self.threads[thread as usize].iteration.wrapping_sub(iteration.into()));
            to.instant(released);
            to.instant(start);
            to.instant(end);
        });
    }

    /// How many iterations of each thread were skipped.
    pub(super) fn skipped_iterations(&self) -> impl Iterator<Item = u64> + '_ {
        self.threads.iter().map(|thread| thread.skipped)
    }
}
