//! Numbers of operations among those of their kind, by which copies and the like are told apart.

use std::mem::discriminant;
use std::sync::OnceLock;

use super::record::Trace;
use crate::workload::OperationId;

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

impl Trace {
    /// How many operations of the same kind (kernels, copies, memsets, records, waits) were launched before it, in a run
    /// that is over.
    #[must_use]
    pub fn number_of(&self, operation: OperationId) -> u32 {
        let count = || {
            let mut counts = Vec::new();
            let number = |record: &super::OperationRecord| {
                let kind = discriminant(&record.kind);
                let known = counts.iter_mut().find(|(known, _)| *known == kind);
                if let Some((_, count)) = known {
                    *count += 1;
                    *count
                } else {
                    counts.push((kind, 0));
                    0
                }
            };
            self.operations.iter().map(number).collect()
        };
        self.numbers.0.get_or_init(count).get(operation.0 as usize).copied().unwrap_or(operation.0)
    }
}
