//! Work that somebody else calls off, wherever it is.
//!
//! Loops that may last look whether they are to end. If so, the stack is unwound up to who began the work: no function
//! in between has to know of it, and nothing of what was computed is left over. Nobody calls off what was not begun by
//! [`CallOff::run`], so nothing unwinds then.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use thiserror::Error;

thread_local! {
    /// What the work of this thread looks at.
    static CALLED_OFF: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Calls off the work that it runs. Copies are of the same work.
#[derive(Debug, Clone, Default)]
pub struct CallOff(Arc<AtomicBool>);

/// Why work has no result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Unfinished {
    /// Somebody called it off.
    #[error("it was called off")]
    CalledOff,
    /// The system has no threads for it.
    #[error("no threads for it: {0}")]
    NoThreads(#[from] ThreadPoolBuildError),
}

/// What the stack is unwound with.
struct Unwinding;

impl CallOff {
    /// From now on.
    pub fn call_off(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// What is set once the work is called off, for functions that take such a flag and keep what they have.
    #[must_use]
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// Does `work` on so many threads (0: one for each core) that are its own, and have ended when this returns:
    /// nothing is left that a process which is forked could wait for in vain. Each of them has a stack of
    /// `stack_bytes`.
    ///
    /// # Errors
    /// [`Unfinished`], once the work has ended. A panic goes on here.
    pub fn run<T: Send>(
        &self,
        threads: usize,
        stack_bytes: usize,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, Unfinished> {
        let name = |number| format!("gpusched {number}");
        let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(stack_bytes).thread_name(name);
        let all = || {
            pool.build_scoped(
                |thread| {
                    CALLED_OFF.set(Some(Arc::clone(&self.0)));
                    thread.run();
                },
                |pool| pool.install(work),
            )
        };
        // Whatever the work has changed is its own, or it is told of panics.
        match catch_unwind(AssertUnwindSafe(all)) {
            Ok(done) => Ok(done?),
            Err(reason) if reason.is::<Unwinding>() => Err(Unfinished::CalledOff),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Ends the work of this thread here if it is called off; takes some nanoseconds otherwise.
pub fn look() {
    let is_called_off = CALLED_OFF.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)));
    // What is dropped on the way out may look too.
    if is_called_off && !std::thread::panicking() {
        resume_unwind(Box::new(Unwinding));
    }
}

/// [`look`] every so many times, for loops whose turns take less than that.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NowAndThen(u8);

impl NowAndThen {
    /// One more turn.
    #[inline]
    pub(crate) fn look(&mut self) {
        self.0 = self.0.wrapping_add(1);
        if self.0 == 0 {
            look();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use rayon::prelude::*;

    use super::*;

    const STACK: usize = 1 << 20;

    #[test]
    fn work_that_is_called_off_ends_on_all_its_threads() {
        let call_off = CallOff::default();
        let (begun, has_begun) = channel();
        let all_gone = Arc::new(());
        let held = Arc::clone(&all_gone);
        let own = call_off.clone();
        let work = std::thread::spawn(move || {
            own.run(2, STACK, || {
                (0..2_u32).into_par_iter().for_each(|_| {
                    let _held = Arc::clone(&held);
                    begun.send(()).expect("the test waits");
                    loop {
                        look();
                    }
                });
            })
        });
        for _ in 0..2 {
            has_begun.recv_timeout(Duration::from_mins(1)).expect("both threads begin");
        }
        call_off.call_off();
        assert!(matches!(work.join().expect("no panic"), Err(Unfinished::CalledOff)));
        // Nothing of it is left on any thread.
        assert_eq!(Arc::strong_count(&all_gone), 1);
    }

    #[test]
    fn work_that_nobody_calls_off_is_done_and_panics_go_on() {
        let sum = CallOff::default().run(2, STACK, || (1..=100_u32).into_par_iter().inspect(|_| look()).sum::<u32>());
        assert_eq!(sum.expect("it is done"), 5050);
        let panics = std::panic::catch_unwind(|| {
            let _ = CallOff::default().run(1, STACK, || assert_eq!(1, 2, "of the test"));
        });
        assert!(panics.is_err());
        // Here nobody runs anything.
        look();
    }
}
