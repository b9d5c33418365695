//! Lanes for what overlaps in time.

use crate::time::Instant;

/// Lanes, and from when on each is free: what comes in order of its start takes the first lane that is, so that there
/// are no more than overlap at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct FreeLanes(Vec<Instant>);

impl FreeLanes {
    /// The first lane that is free at `from`, which is taken until `to`; a new one if there is none.
    pub(crate) fn take(&mut self, from: Instant, to: Instant) -> usize {
        let free = self.0.iter().position(|free_at| *free_at <= from);
        let lane = free.unwrap_or_else(|| {
            self.0.push(to);
            self.0.len() - 1
        });
        self.0[lane] = to;
        lane
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}
