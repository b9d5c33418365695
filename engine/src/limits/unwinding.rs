//! How work is stopped, by a user or a limit, in functions that return no error.
//!
//! The stack is unwound up to who began the work: no function in between has to know of it, and nothing of what was
//! computed is left over. Nobody ends what was not begun by an [`Effort`], so nothing unwinds then.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use thiserror::Error;

use crate::effort::{self, Counted, EarlyEnd, Effort, STEPS_OF_A_STATE};

/// Why work has no result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Unfinished {
    /// It could not go on.
    #[error(transparent)]
    EarlyEnd(#[from] EarlyEnd),
    /// The system has no threads for it.
    #[error("no threads for it: {0}")]
    NoThreads(#[from] ThreadPoolBuildError),
}

/// What the stack is unwound with.
struct Unwinding(EarlyEnd);

impl Effort {
    /// Does some work on this thread within these limits. What it hands to other threads takes them along by
    /// [`effort::here`].
    ///
    /// # Errors
    /// Why the work could not go on, if it was at something that has no result to tell it. A panic goes on here.
    pub fn within<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> Result<T, EarlyEnd> {
        caught(|| effort::Here::of(self).within(work))
    }

    /// Does some work on so many threads (0: one for each core) that are its own, and have ended when this returns:
    /// nothing is left that a process which is forked could wait for in vain. Each of them has a stack of
    /// `stack_bytes`.
    ///
    /// # Errors
    /// [`Unfinished`], once the work has ended. A panic goes on here.
    pub fn on_own_threads<T: Send>(
        self: &Arc<Self>,
        threads: usize,
        stack_bytes: usize,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, Unfinished> {
        let name = |number| format!("gpusched {number}");
        let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(stack_bytes).thread_name(name);
        let here = effort::Here::of(self);
        Ok(caught(|| pool.build_scoped(|thread| here.within(|| thread.run()), |pool| pool.install(work)))??)
    }
}

fn caught<T>(work: impl FnOnce() -> T) -> Result<T, EarlyEnd> {
    // Whatever the work has changed is its own, or it is told of panics.
    catch_unwind(AssertUnwindSafe(work)).or_else(|reason| match reason.downcast::<Unwinding>() {
        Ok(unwinding) => Err(unwinding.0),
        Err(panic) => resume_unwind(panic),
    })
}

fn unwind(over: EarlyEnd) {
    // What is dropped on the way out may look too.
    if !std::thread::panicking() {
        resume_unwind(Box::new(Unwinding(over)));
    }
}

/// Ends the work of this thread here if it is stopped and nothing of it is kept; takes some nanoseconds otherwise.
pub fn end_if_stopped() {
    if effort::is_dropped() {
        unwind(EarlyEnd::Stopped);
    }
}

/// So much more is done; ends the work of this thread here if that is too much, or as [`end_if_stopped`] does.
pub fn count(what: Counted, amount: u64) {
    go_on(effort::spend(what, amount));
}

fn go_on(may: Result<(), EarlyEnd>) {
    match may {
        Err(over @ EarlyEnd::TooMuch { .. }) => unwind(over),
        Err(EarlyEnd::Stopped) => end_if_stopped(),
        Ok(()) => {}
    }
}

/// So many short steps of an analysis are done, as [`count`] does: `STEPS_OF_A_STATE` of them come to one state.
/// A table whose length comes from the numbers of an input is made after it is counted, with a step for each entry.
pub fn count_steps(steps: usize) {
    count(Counted::States, 1 + steps as u64 / STEPS_OF_A_STATE);
}

/// One more short step, as [`count_steps`]: what every turn of a loop takes whose number of turns comes from an input.
/// Takes a nanosecond.
#[inline]
pub fn count_turn() {
    count_turns(1);
}

/// The same of turns that are done at once. Less than those of a state may add nothing to what is counted by now.
#[inline]
pub fn count_turns(turns: usize) {
    if let Err(over) = effort::spend_steps(turns as u64) {
        go_on(Err(over));
    }
}

/// Does work that is counted and not stopped: what has to be done in any case, unless nothing is kept anyway. It ends
/// the work of this thread here if it was too much.
pub fn in_any_case<T>(work: impl FnOnce() -> T) -> T {
    let done = effort::uncut(work);
    count(Counted::States, 0);
    done
}

/// [`end_if_stopped`] every so many times, for loops whose turns take less than that.
#[derive(Debug, Clone, Copy, Default)]
pub struct NowAndThen(u8);

impl NowAndThen {
    /// One more turn.
    #[inline]
    pub fn end_if_stopped(&mut self) {
        self.0 = self.0.wrapping_add(1);
        if self.0 == 0 {
            end_if_stopped();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use rayon::prelude::*;

    use super::*;
    use crate::effort::Limits;

    const STACK: usize = 1 << 20;

    #[test]
    fn work_that_is_stopped_ends_on_all_its_threads() {
        let effort = Arc::new(Effort::all_or_nothing());
        let (begun, has_begun) = channel();
        let all_gone = Arc::new(());
        let held = Arc::clone(&all_gone);
        let own = Arc::clone(&effort);
        let work = std::thread::spawn(move || {
            own.on_own_threads(2, STACK, || {
                (0..2_u32).into_par_iter().for_each(|_| {
                    let _held = Arc::clone(&held);
                    begun.send(()).expect("the test waits");
                    loop {
                        // Also what has to be done in any case is dropped.
                        effort::unlimited(end_if_stopped);
                    }
                });
            })
        });
        for _ in 0..2 {
            has_begun.recv_timeout(Duration::from_mins(1)).expect("both threads begin");
        }
        effort.stop();
        assert!(matches!(work.join().expect("no panic"), Err(Unfinished::EarlyEnd(EarlyEnd::Stopped))));
        // Nothing of it is left on any thread.
        assert_eq!(Arc::strong_count(&all_gone), 1);
    }

    #[test]
    fn work_that_nobody_stops_is_done_and_panics_go_on() {
        let effort = Arc::new(Effort::all_or_nothing());
        let add = || (1..=100_u32).into_par_iter().inspect(|_| end_if_stopped()).sum::<u32>();
        assert_eq!(effort.on_own_threads(2, STACK, add).expect("it is done"), 5050);
        let panics = std::panic::catch_unwind(|| {
            let _ = effort.on_own_threads(1, STACK, || assert_eq!(1, 2, "of the test"));
        });
        assert!(panics.is_err());
        // Here nobody runs anything.
        end_if_stopped();
    }

    #[test]
    fn what_is_too_much_ends_where_there_is_no_result_and_what_is_stopped_goes_on_to_its_parts() {
        let effort = Arc::new(Effort::new(Limits { states: 10, ..Limits::NONE }, Arc::default()));
        effort.stop();
        let ended = effort.within(|| {
            for number in 0.. {
                end_if_stopped();
                assert!(number <= 10, "that is too much");
                count(Counted::States, 1);
            }
        });
        assert_eq!(ended, Err(EarlyEnd::TooMuch { what: Counted::States, most: 10 }));
    }
}
