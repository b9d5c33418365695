//! Barriers: where threads wait for one another.

use std::collections::BTreeSet;

use super::{Position, ProgramHost};
use crate::scenario::BarrierId;

#[derive(Debug, Default)]
pub(super) struct Barrier {
    /// Threads that have not ended.
    pub(super) members: usize,
    pub(super) arrived: BTreeSet<usize>,
}

impl ProgramHost<'_> {
    /// A thread reaches a barrier. Says whether it can go on at once, because no other takes part any more.
    pub(super) fn arrive(&mut self, index: usize, id: BarrierId) -> bool {
        let Some(barrier) = self.barriers.get_mut(&id).filter(|barrier| barrier.members > 1) else { return true };
        barrier.arrived.insert(index);
        if barrier.arrived.len() >= barrier.members {
            self.ready.extend(std::mem::take(&mut barrier.arrived));
        }
        // Even the last one goes on in its turn, after the others that were declared before it.
        false
    }

    /// A thread ends and no longer counts, which may open a barrier for the others; unless only the jobs of one
    /// hyperperiod of it are looked at: it would come to its barriers again, so who waits there does so beyond the run.
    pub(super) fn end(&mut self, index: usize) {
        self.threads[index].position = Position::Ended;
        if self.barriers.is_empty() || self.threads[index].program.is_cut {
            return;
        }
        for id in self.threads[index].program.barriers().collect::<BTreeSet<_>>() {
            let Some(barrier) = self.barriers.get_mut(&id) else { continue };
            barrier.members -= 1;
            if barrier.members > 0 && barrier.arrived.len() >= barrier.members {
                self.ready.extend(std::mem::take(&mut barrier.arrived));
            }
        }
    }
}
