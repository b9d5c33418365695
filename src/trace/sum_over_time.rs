//! How much of something is taken over time.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::limits::count_turn;
use crate::time::Instant;

/// A sum over what is there at once, such as the thread slots that blocks take, in one sweep. What begins is added in
/// order of time; the sum after all events of an instant is told when nothing can change it any more. Memory grows with
/// what is there at once.
#[derive(Debug, Clone, Default)]
pub struct SumOverTime {
    taken: u64,
    /// The latest change, not told yet.
    changed_at: Option<Instant>,
    /// What ends when.
    ends: BTreeMap<Instant, u64>,
}

impl SumOverTime {
    /// Takes `amount` for some time, which begins no earlier than those before, and tells what happened before.
    ///
    /// # Errors
    /// Those of `emit`.
    pub fn add<E>(
        &mut self,
        time: Range<Instant>,
        amount: u64,
        mut emit: impl FnMut(Instant, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        if time.is_empty() {
            return Ok(());
        }
        self.end_until(time.start, &mut emit)?;
        self.change(time.start, &mut emit)?;
        self.taken += amount;
        *self.ends.entry(time.end).or_default() += amount;
        Ok(())
    }

    /// What takes `amount` and was to end at `from`, which no later beginning has passed, ends at `to` instead.
    pub fn prolong(&mut self, from: Instant, to: Instant, amount: u64) {
        debug_assert!(self.ends.get(&from).is_some_and(|&ending| ending >= amount), "it has not ended");
        if let Some(ending) = self.ends.get_mut(&from) {
            *ending -= amount;
            if *ending == 0 {
                self.ends.remove(&from);
            }
            *self.ends.entry(to).or_default() += amount;
        }
    }

    /// Tells the rest.
    ///
    /// # Errors
    /// Those of `emit`.
    pub fn finish<E>(mut self, mut emit: impl FnMut(Instant, u64) -> Result<(), E>) -> Result<(), E> {
        self.end_until(Instant::MAX, &mut emit)?;
        self.changed_at.map_or(Ok(()), |at| emit(at, self.taken))
    }

    fn end_until<E>(&mut self, until: Instant, emit: &mut impl FnMut(Instant, u64) -> Result<(), E>) -> Result<(), E> {
        while let Some(first) = self.ends.first_entry().filter(|first| *first.key() <= until) {
            count_turn();
            let (at, amount) = first.remove_entry();
            self.change(at, emit)?;
            self.taken -= amount;
        }
        Ok(())
    }

    /// Tells the latest change if it is over at `at`.
    fn change<E>(&mut self, at: Instant, emit: &mut impl FnMut(Instant, u64) -> Result<(), E>) -> Result<(), E> {
        match self.changed_at.replace(at) {
            Some(before) if before != at => emit(before, self.taken),
            _ => Ok(()),
        }
    }
}
