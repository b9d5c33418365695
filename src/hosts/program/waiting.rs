//! Which threads wait for which operation.

use std::collections::VecDeque;

use crate::canonical::Canonical;
use crate::workload::OperationId;

/// For each operation that threads wait for, the last of them. Numbers of operations ascend and most complete in about
/// that order, so a window over them does what a map would, without hashing.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The operation of the first entry; all before it have completed.
    first: u32,
    threads: VecDeque<u32>,
}

/// Stands for no thread.
const NOBODY: u32 = u32::MAX;

impl Waiting {
    /// `thread` waits for an operation that has not completed. Gives the thread that waited for it last, until now.
    pub(super) fn insert(&mut self, operation: OperationId, thread: u32) -> Option<u32> {
        debug_assert!(operation.0 >= self.first, "who waits for a completed operation is never told");
        let index = operation.0.saturating_sub(self.first) as usize;
        if index >= self.threads.len() {
            self.threads.resize(index + 1, NOBODY);
        }
        let before = std::mem::replace(&mut self.threads[index], thread);
        (before != NOBODY).then_some(before)
    }

    /// Writes the state.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        let Self { first, threads } = self;
        let waiting = (*first..).zip(threads).filter(|(_, thread)| **thread != NOBODY);
        to.list(waiting, |to, (operation, &thread)| {
            to.operation(operation);
            to.number(thread);
        });
    }

    /// An operation has completed, and with it all before number `completed_in_a_row`. Gives the thread that waited for
    /// it last.
    pub(super) fn remove(&mut self, operation: OperationId, completed_in_a_row: usize) -> Option<u32> {
        let index = operation.0.checked_sub(self.first);
        let entry = index.and_then(|index| self.threads.get_mut(index as usize));
        let last = entry.map_or(NOBODY, |entry| std::mem::replace(entry, NOBODY));
        // Several operations complete at one instant before the host is told of the first of them.
        while (self.first as usize) < completed_in_a_row && self.threads.front().is_some_and(|&first| first == NOBODY) {
            self.threads.pop_front();
            self.first += 1;
        }
        if self.threads.is_empty() {
            self.first = self.first.max(u32::try_from(completed_in_a_row).unwrap_or(self.first));
        }
        (last != NOBODY).then_some(last)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_window_over_operations_does_what_a_map_does(steps in prop::collection::vec((0_u32..12, 0_u32..5), 0..60)) {
            let (mut window, mut map) = (Waiting::default(), BTreeMap::new());
            let mut completed = Vec::new();
            let mut submitted = 0;
            for (choice, thread) in steps {
                let open: Vec<u32> = (0..submitted).filter(|operation| !completed.contains(operation)).collect();
                let one = open.get(choice as usize % open.len().max(1)).copied();
                match one {
                    Some(operation) if choice % 3 == 0 => {
                        completed.push(operation);
                        let in_a_row = (0..=submitted).find(|next| !completed.contains(next)).unwrap_or(submitted);
                        let last = window.remove(OperationId(operation), in_a_row as usize);
                        prop_assert_eq!(last, map.remove(&operation));
                    }
                    Some(operation) if choice % 3 == 1 => {
                        prop_assert_eq!(window.insert(OperationId(operation), thread), map.insert(operation, thread));
                    }
                    _ => submitted += 1,
                }
            }
        }
    }
}
