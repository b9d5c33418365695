//! How much work an input may ask for, and whether somebody wants it to end.
//!
//! Work is counted and not timed: the same input comes to the same count on every machine and under every load. The
//! caller sets limits and runs the work in [`Effort::within`]. Long loops report each step with [`spend`], and stop
//! when it returns an error: with a partial result or, where there is none to return, by `limits::end_if_stopped`,
//! which unwinds the stack. Work that nobody limits is neither counted nor stopped.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::spelling::option;
use thiserror::Error;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Operations that hosts submit, all simulated runs together.
    Operations,
    /// Instants at which blocks are assigned or complete, all simulated runs together, waves of blocks that start
    /// there, of which several come to one, and turns of contexts that are recorded.
    Blocks,
    /// States, points and jobs that analyses and searches look at.
    States,
    /// Shapes of pictures, and entries of pages and traces.
    Shapes,
    /// Bytes of input, unpacked, and of output.
    Bytes,
}

impl Counted {
    const ALL: [Self; 5] = [Self::Operations, Self::Blocks, Self::States, Self::Shapes, Self::Bytes];

    fn name(self) -> &'static str {
        match self {
            Self::Operations => "simulated operations",
            Self::Blocks => "instants of blocks",
            Self::States => "states of analyses and searches",
            Self::Shapes => "shapes and entries of pictures",
            Self::Bytes => "bytes read and written",
        }
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How much of each may be done for one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// [`Counted::Operations`]
    pub operations: u64,
    /// [`Counted::Blocks`]
    pub blocks: u64,
    /// [`Counted::States`]
    pub states: u64,
    /// [`Counted::Shapes`]
    pub shapes: u64,
    /// [`Counted::Bytes`]
    pub bytes: u64,
}

impl Limits {
    /// No limit.
    pub const NONE: Self =
        Self { operations: u64::MAX, blocks: u64::MAX, states: u64::MAX, shapes: u64::MAX, bytes: u64::MAX };

    /// For services that take files of others: what these allow takes less than ten seconds and a gigabyte on the
    /// slowest machine that is assumed (`SECURITY.md`).
    pub const STRICT: Self =
        Self { operations: 200_000, blocks: 1_000_000, states: 2_000_000, shapes: 200_000, bytes: 64 << 20 };

    fn of(&self, what: Counted) -> u64 {
        match what {
            Counted::Operations => self.operations,
            Counted::Blocks => self.blocks,
            Counted::States => self.states,
            Counted::Shapes => self.shapes,
            Counted::Bytes => self.bytes,
        }
    }
}

/// Where work counts how much of it is done, for whoever looks meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a>(Option<&'a AtomicU64>);

impl<'a> Progress<'a> {
    /// Nobody looks.
    pub const NONE: Self = Self(None);

    /// Work that counts in `done`.
    pub const fn counted_in(done: &'a AtomicU64) -> Self {
        Self(Some(done))
    }

    /// So much more is done.
    #[doc(hidden)]
    pub fn advance(self, amount: u64) {
        if let Some(done) = self.0 {
            done.fetch_add(amount, Ordering::Relaxed);
        }
    }

    /// So much is done in all.
    #[doc(hidden)]
    pub fn reach(self, amount: u64) {
        if let Some(done) = self.0 {
            done.store(amount, Ordering::Relaxed);
        }
    }
}

/// Why work ends before it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EarlyEnd {
    /// Somebody wants it to end.
    #[error("the work was stopped")]
    Stopped,
    /// It is more than the input may ask for.
    #[error("the input asks for more than {most} {what}, which is what {} allows", option("limits").with("strict"))]
    TooMuch {
        /// Of what.
        what: Counted,
        /// How much is allowed.
        most: u64,
    },
}

/// Bounds were left as they were when as much was done as the input may ask for them; what they say is told, and holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "bounds would take more than {most} {}, which is what {} leaves for them: what is told is what is known by then",
    Counted::States,
    option("limits").with("strict")
)]
pub struct PartialBounds {
    /// After so many states, those before the bounds included.
    pub most: u64,
}

/// How far the work on one input may go, and how far it has gone.
#[derive(Debug)]
pub struct Effort {
    limits: Limits,
    spent: [AtomicU64; 5],
    stop: Arc<AtomicBool>,
    keeps_parts: bool,
    /// States after which work that tells what it has did end; 0 if it did not.
    ended: AtomicU64,
}

impl Effort {
    /// Nothing is done yet; once `stop` is set, work ends with what is complete by then.
    pub fn new(limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self { limits, spent: Default::default(), stop, keeps_parts: true, ended: AtomicU64::new(0) }
    }

    /// Work without limits, of which nothing is kept once it is stopped.
    pub fn all_or_nothing() -> Self {
        Self { keeps_parts: false, ..Self::new(Limits::NONE, Arc::default()) }
    }

    /// The same with what is left of the limits of the work on this thread, stopped once `stop` is set.
    pub fn all_or_nothing_until(stop: Arc<AtomicBool>) -> Self {
        let Some(before) = here().0 else { return Self { stop, ..Self::all_or_nothing() } };
        let spent = Counted::ALL.map(|what| before.spent[what as usize].load(Ordering::Relaxed).into());
        Self { keeps_parts: false, spent, ..Self::new(before.limits, stop) }
    }

    /// The work ends from now on.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the work may go on.
    ///
    /// # Errors
    /// [`EarlyEnd`]
    pub fn check(&self) -> Result<(), EarlyEnd> {
        // What is too much is so for good, whoever stops it as well.
        for what in Counted::ALL {
            let most = self.limits.of(what);
            if self.spent[what as usize].load(Ordering::Relaxed) > most {
                return Err(EarlyEnd::TooMuch { what, most });
            }
        }
        if self.stop.load(Ordering::Relaxed) { Err(EarlyEnd::Stopped) } else { Ok(()) }
    }

    /// Whether work on this thread may.
    fn check_here(&self) -> Result<(), EarlyEnd> {
        let may = self.check().and(if PART.get() == Some(Part::Done) { Err(EarlyEnd::Stopped) } else { Ok(()) });
        if IS_UNCUT.get() && may == Err(EarlyEnd::Stopped) { Ok(()) } else { may }
    }

    /// What was not done that could have told more, though all that is told holds.
    ///
    /// # Errors
    /// [`PartialBounds`]
    pub fn check_whole(&self) -> Result<(), PartialBounds> {
        match self.ended.load(Ordering::Relaxed) {
            0 => Ok(()),
            most => Err(PartialBounds { most }),
        }
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Effort>>> = const { RefCell::new(None) };
    /// Of work that tells what it has, which other threads neither share nor see.
    static PART: Cell<Option<Part>> = const { Cell::new(None) };
    /// Whether it is not to be stopped, but for what is too much.
    static IS_UNCUT: Cell<bool> = const { Cell::new(false) };
    /// Steps that are not counted yet, less than [`STEPS_OF_A_STATE`].
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Short steps of an analysis that come to one state.
pub(crate) const STEPS_OF_A_STATE: u64 = 64;

/// How much of the work in part on one thread is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// So many states may still be looked at.
    Left(u64),
    /// More were.
    Done,
}

/// The limits of the work on this thread, if it has any, for the threads that share it.
#[derive(Debug, Clone)]
pub struct Here(Option<Arc<Effort>>);

/// The limits of the work on this thread.
pub fn here() -> Here {
    Here(CURRENT.with_borrow(Clone::clone))
}

impl Here {
    pub(crate) fn of(effort: &Arc<Effort>) -> Self {
        Self(Some(Arc::clone(effort)))
    }

    /// Does some work on another thread within the same limits.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Gives a thread its own limits back, also if the work panics.
        struct Restore(Option<Arc<Effort>>, Option<Part>, u64);
        impl Drop for Restore {
            fn drop(&mut self) {
                // The same on however many threads: what is left over of the steps here is a state.
                let left_over = STEPS.replace(self.2);
                if let (Some(effort), 1..) = (CURRENT.replace(self.0.take()), left_over) {
                    effort.spent[Counted::States as usize].fetch_add(1, Ordering::Relaxed);
                }
                PART.set(self.1);
            }
        }
        let _restore = Restore(CURRENT.replace(self.0.clone()), PART.take(), STEPS.take());
        work()
    }
}

/// Runs work to its end even if a stop is requested; exceeding a limit still ends it. If partial results would be
/// thrown away anyway, a stop ends it as usual.
pub(crate) fn uncut<T>(work: impl FnOnce() -> T) -> T {
    /// Gives a thread back what it was, also if the work panics.
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IS_UNCUT.set(self.0);
        }
    }
    let keeps_parts = CURRENT.with_borrow(|current| current.as_ref().is_some_and(|effort| effort.keeps_parts));
    let _restore = Restore(IS_UNCUT.replace(IS_UNCUT.get() || keeps_parts));
    work()
}

/// Runs work without counting it, to its end even if a stop is requested. If partial results would be thrown away
/// anyway, it is counted and stopped as usual.
pub fn unlimited<T>(work: impl FnOnce() -> T) -> T {
    Here(here().0.filter(|effort| !effort.keeps_parts)).within(work)
}

/// Runs work that can return a partial result. It is told to stop once this thread has used half of the states that
/// were still allowed when it began.
#[doc(hidden)]
pub fn in_part<T>(work: impl FnOnce() -> T) -> T {
    let Some(left) = left(Counted::States).filter(|_| PART.get().is_none()) else { return work() };
    PART.set(Some(Part::Left(left / 2)));
    let done = work();
    if PART.take() == Some(Part::Done) {
        CURRENT.with_borrow(|current| {
            let Some(effort) = current else { return };
            effort.ended.store((effort.limits.states - left.div_ceil(2)).max(1), Ordering::Relaxed);
        });
    }
    done
}

/// Whether the work on this thread is stopped, and nothing of it is kept.
pub(crate) fn is_dropped() -> bool {
    CURRENT.with_borrow(|current| {
        current.as_ref().is_some_and(|effort| !effort.keeps_parts && effort.stop.load(Ordering::Relaxed))
    })
}

/// So much more is done; whether work may go on.
///
/// # Errors
/// [`EarlyEnd`]
pub fn spend(what: Counted, amount: u64) -> Result<(), EarlyEnd> {
    CURRENT.with_borrow(|current| {
        let Some(effort) = current else { return Ok(()) };
        effort.spent[what as usize].fetch_add(amount, Ordering::Relaxed);
        if let (Counted::States, Some(Part::Left(left))) = (what, PART.get()) {
            PART.set(Some(left.checked_sub(amount).map_or(Part::Done, Part::Left)));
        }
        effort.check_here()
    })
}

/// So many more short steps are done; whether work may go on, where that is looked at: at every [`STEPS_OF_A_STATE`]th.
///
/// # Errors
/// [`EarlyEnd`]
#[inline]
pub(crate) fn spend_steps(amount: u64) -> Result<(), EarlyEnd> {
    let steps = STEPS.get() + amount;
    STEPS.set(steps % STEPS_OF_A_STATE);
    if steps < STEPS_OF_A_STATE { Ok(()) } else { spend(Counted::States, steps / STEPS_OF_A_STATE) }
}

/// Whether work may go on.
///
/// # Errors
/// [`EarlyEnd`]
pub fn check() -> Result<(), EarlyEnd> {
    CURRENT.with_borrow(|current| current.as_ref().map_or(Ok(()), |effort| effort.check_here()))
}

/// How much of something may still be done; `None` without a limit.
pub fn left(what: Counted) -> Option<u64> {
    CURRENT.with_borrow(|current| {
        let effort = current.as_ref()?;
        let most = Some(effort.limits.of(what)).filter(|&most| most < u64::MAX)?;
        Some(most.saturating_sub(effort.spent[what as usize].load(Ordering::Relaxed)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_when_more_is_done_than_is_allowed_and_stays_ended() {
        let effort = Arc::new(Effort::new(Limits { states: 10, ..Limits::NONE }, Arc::default()));
        let done = effort.within(|| {
            assert_eq!(left(Counted::Operations), None);
            assert_eq!((spend(Counted::States, 10), left(Counted::States)), (Ok(()), Some(0)));
            let over = Err(EarlyEnd::TooMuch { what: Counted::States, most: 10 });
            assert_eq!((spend(Counted::States, 1), check()), (over, over));
            assert_eq!(unlimited(|| spend(Counted::States, 1)), Ok(()), "nobody counts here");
            assert_eq!(uncut(|| spend(Counted::States, 1)), over, "here somebody does");
            assert_eq!(check(), over);
        });
        assert_eq!(done, Ok(()));
        assert_eq!(spend(Counted::States, 1), Ok(()), "nor outside");
        let said = effort.check().expect_err("it stays so").to_string();
        assert!(said.contains("more than 10 states") && said.contains("\"limits\": \"strict\""), "{said}");
    }

    #[test]
    fn what_tells_what_it_has_is_stopped_after_half_of_the_states_and_the_rest_goes_on() {
        let effort = Arc::new(Effort::new(Limits { states: 10, ..Limits::NONE }, Arc::default()));
        let done = effort.within(|| {
            assert_eq!(in_part(|| spend(Counted::States, 5)), Ok(()));
            assert_eq!(effort.check_whole(), Ok(()));
            // Two of the five that are left.
            let inner = || in_part(|| spend(Counted::States, 1));
            assert_eq!(in_part(|| [inner(), inner(), inner()]), [Ok(()), Ok(()), Err(EarlyEnd::Stopped)]);
            assert_eq!(check(), Ok(()));
            assert_eq!(effort.check_whole(), Err(PartialBounds { most: 7 }));
            let over = Err(EarlyEnd::TooMuch { what: Counted::States, most: 10 });
            assert_eq!(in_part(|| spend(Counted::States, 3)), over);
        });
        assert_eq!(done, Ok(()));
        assert_eq!(in_part(|| 1), 1, "without limits");
    }

    #[test]
    fn steps_come_to_as_many_states_on_however_many_threads() {
        let effort = Arc::new(Effort::new(Limits { states: 1_000, ..Limits::NONE }, Arc::default()));
        let counted = || effort.limits.states - effort.within(|| left(Counted::States)).ok().flatten().unwrap_or(0);
        let steps = || (0..130).try_for_each(|_| spend_steps(1));
        assert_eq!((effort.within(steps), counted()), (Ok(Ok(())), 3), "two, and what is left over");
        assert_eq!((effort.within(|| spend_steps(640)), counted()), (Ok(Ok(())), 13));
        let inner = || (spend_steps(63), here().within(|| spend_steps(1)), spend_steps(1));
        assert_eq!((effort.within(inner), counted()), (Ok((Ok(()), Ok(()), Ok(()))), 15), "each by itself");
    }

    #[test]
    fn other_threads_share_the_limits_that_they_take_along() {
        let stop = Arc::new(AtomicBool::new(false));
        let effort = Arc::new(Effort::new(Limits { blocks: 3, ..Limits::NONE }, Arc::clone(&stop)));
        let here = effort.within(here).expect("it is done");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| here.within(|| spend(Counted::Blocks, 1)));
            }
        });
        assert!(matches!(effort.check(), Err(EarlyEnd::TooMuch { .. })));
        let other = Arc::new(Effort::new(Limits::NONE, stop));
        other.stop();
        assert_eq!(other.within(check), Ok(Err(EarlyEnd::Stopped)));
        assert_eq!(other.within(|| uncut(check)), Ok(Ok(())), "what has to be done is");
    }
}
