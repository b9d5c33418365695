//! How much of an SM is taken, told as it changes.

use std::collections::BTreeMap;

use super::event::Span;
use crate::time::Instant;

/// A sum over what is there at once. Spans come in order of their beginnings; a value is told when nothing can change
/// it any more.
#[derive(Default)]
pub(super) struct Occupancy {
    taken: u64,
    /// The latest change, not told yet.
    changed_at: Option<Instant>,
    /// What ends when.
    ends: BTreeMap<Instant, u64>,
}

impl Occupancy {
    /// Takes `amount` for as long as `span`, and tells what happened before.
    pub(super) fn add<E>(
        &mut self,
        span: Span,
        amount: u64,
        mut tell: impl FnMut(Instant, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        if span.from >= span.to {
            return Ok(());
        }
        self.end_until(span.from, &mut tell)?;
        self.change(span.from, &mut tell)?;
        self.taken += amount;
        *self.ends.entry(span.to).or_default() += amount;
        Ok(())
    }

    /// Tells the rest.
    pub(super) fn finish<E>(mut self, mut tell: impl FnMut(Instant, u64) -> Result<(), E>) -> Result<(), E> {
        self.end_until(Instant::MAX, &mut tell)?;
        self.changed_at.map_or(Ok(()), |at| tell(at, self.taken))
    }

    fn end_until<E>(&mut self, until: Instant, tell: &mut impl FnMut(Instant, u64) -> Result<(), E>) -> Result<(), E> {
        while let Some((at, amount)) = self.ends.pop_first() {
            if at > until {
                self.ends.insert(at, amount);
                break;
            }
            self.change(at, tell)?;
            self.taken -= amount;
        }
        Ok(())
    }

    /// Tells the latest change if it is over at `at`.
    fn change<E>(&mut self, at: Instant, tell: &mut impl FnMut(Instant, u64) -> Result<(), E>) -> Result<(), E> {
        match self.changed_at.replace(at) {
            Some(before) if before != at => tell(before, self.taken),
            _ => Ok(()),
        }
    }
}
