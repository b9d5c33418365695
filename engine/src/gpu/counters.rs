//! What counters hold while a run goes on.

use crate::workload::{CounterId, CounterValue};

/// The values of all counters. One that nobody has changed is 0.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counters {
    values: Vec<u64>,
    /// How often one of them was changed.
    changes: u64,
}

impl Counters {
    /// How often one of them was changed: who has seen so many has nothing new to see.
    #[inline]
    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether a counter is not below a value.
    pub(super) fn has_reached(&self, wanted: CounterValue) -> bool {
        self.values.get(wanted.counter.index()).copied().unwrap_or(0) >= wanted.value
    }

    /// Blocks signal.
    pub(super) fn add(&mut self, counter: CounterId, by: u64) {
        let value = self.value_mut(counter);
        *value = value.saturating_add(by);
    }

    /// A stream or a host sets a counter.
    pub(super) fn write(&mut self, written: CounterValue) {
        *self.value_mut(written.counter) = written.value;
    }

    fn value_mut(&mut self, counter: CounterId) -> &mut u64 {
        self.changes += 1;
        if counter.index() >= self.values.len() {
            self.values.resize(counter.index() + 1, 0);
        }
        &mut self.values[counter.index()]
    }

    /// By number, as far as they were changed.
    pub(super) fn values(&self) -> &[u64] {
        &self.values
    }

    /// Whether nobody has changed one: then they make no difference between two states.
    pub(super) fn are_untouched(&self) -> bool {
        self.values.is_empty()
    }

    /// All are 0 again.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
