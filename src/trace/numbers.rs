//! Numbers of operations among those of their kind, by which copies and the like are told apart.

use std::mem::discriminant;
use std::sync::OnceLock;

use super::operation::OperationRecord;

/// For each operation its number, counted when the first is asked for: most runs are never asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers(OnceLock<Vec<u32>>);

/// They follow from the operations.
impl PartialEq for Numbers {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Numbers {}

impl Numbers {
    /// How many of the same kind come before number `operation` of these.
    pub(super) fn of(&self, operations: &[OperationRecord], operation: u32) -> u32 {
        let count = || {
            let mut counts = Vec::new();
            let number = |record: &OperationRecord| {
                let kind = discriminant(&record.kind);
                if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == kind) {
                    *count += 1;
                    *count
                } else {
                    counts.push((kind, 0));
                    0
                }
            };
            operations.iter().map(number).collect()
        };
        self.0.get_or_init(count).get(operation as usize).copied().unwrap_or(operation)
    }
}
