//! Numbers of operations among those of their kind, by which copies and the like are told apart.

use std::mem::{Discriminant, discriminant};
use std::sync::OnceLock;

use super::operation::OperationRecord;
use crate::workload::OperationKind;

/// How many operations there were of each kind.
#[derive(Debug, Clone, Default)]
pub(super) struct KindCounts(Vec<(Discriminant<OperationKind>, u32)>);

impl KindCounts {
    /// How many of its kind were counted before this one.
    pub(super) fn count(&mut self, record: &OperationRecord) -> u32 {
        let kind = discriminant(&record.kind);
        let known = self.0.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            self.0.push((kind, 0));
            self.0.len() - 1
        });
        let count = &mut self.0[known].1;
        *count += 1;
        *count - 1
    }
}

/// For each operation its number, counted when the first is asked for: most runs are never asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    known: OnceLock<Vec<u32>>,
    /// Operations of the run that come before those of the record.
    before: KindCounts,
}

/// They follow from the operations.
impl PartialEq for Numbers {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Numbers {}

impl Numbers {
    /// Counts on from those that come before the record.
    pub(super) fn after(before: KindCounts) -> Self {
        Self { known: OnceLock::new(), before }
    }

    /// Counts anew.
    pub(super) fn forget(&mut self) {
        self.known = OnceLock::new();
    }

    /// How many of the same kind come before number `operation` of these.
    pub(super) fn of(&self, operations: &[OperationRecord], operation: u32) -> u32 {
        let count = || {
            let mut counts = self.before.clone();
            operations.iter().map(|record| counts.count(record)).collect()
        };
        self.known.get_or_init(count).get(operation as usize).copied().unwrap_or(operation)
    }
}
