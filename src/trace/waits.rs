//! Why an operation waited, and for how long.

use super::record::Trace;
use super::rule::Rule;
use super::wait::Wait;
use crate::time::Instant;
use crate::workload::{OperationId, OperationKind, StreamId};

impl Trace {
    /// Why and for how long an operation waited until it was fully dispatched, in order of time.
    ///
    /// Together with the time in which its blocks were assigned without waiting, of length zero, this covers the
    /// whole time from its launch to its full dispatch.
    #[must_use]
    pub fn waits(&self, operation: OperationId) -> Vec<Wait> {
        let mut waits = self.open_waits(operation);
        for wait in &mut waits {
            wait.to = wait.to.min(self.end);
        }
        waits.retain(|wait| wait.from < wait.to);
        waits
    }

    /// The rule that holds an operation after all events of `at`; since when, and until when or [`Instant::MAX`] if it
    /// still holds when the run ends. `None`: it was not submitted yet, or nothing of it waits any more.
    #[must_use]
    pub fn held_at(&self, operation: OperationId, at: Instant) -> Option<Wait> {
        self.open_waits(operation).into_iter().find(|wait| wait.from <= at && at < wait.to)
    }

    /// As [`Trace::waits`], but what still waits when the run ends does so until [`Instant::MAX`], even if it began to
    /// wait at the last instant of the run.
    pub(crate) fn open_waits(&self, operation: OperationId) -> Vec<Wait> {
        let Some(record) = self.operations.get(operation.0 as usize) else { return Vec::new() };
        let first = self.waits.partition_point(|(other, _)| *other < operation.0);
        let noted = self.waits[first..].iter().take_while(|(other, _)| *other == operation.0).map(|(_, wait)| *wait);
        let (channel, head): (Vec<Wait>, Vec<Wait>) = noted.partition(|wait| wait.rule.is_noted_in_stream());

        let is_copy = matches!(record.kind, OperationKind::Copy(_));
        let queue_rule = if is_copy { Rule::C1 } else { Rule::G2 };
        let null_rule = if record.stream == StreamId::NULL { Rule::N1 } else { Rule::N2 };
        let passed_null = channel.first().map_or(record.queued, |wait| wait.from);
        let mut waits = vec![
            Wait { rule: queue_rule, from: record.launched, to: record.reached_head },
            Wait { rule: null_rule, from: record.reached_head, to: passed_null },
        ];
        waits.extend(channel);
        match record.kind {
            OperationKind::Kernel(_) => {
                waits.push(Wait { rule: Rule::X1, from: record.queued, to: record.reached_queue_head });
                waits.extend(head);
            }
            OperationKind::Copy(_) => {
                waits.push(Wait { rule: Rule::C2, from: record.queued, to: record.first_start });
            }
            OperationKind::Memset => {}
        }
        waits.retain(|wait| wait.from < wait.to);
        // Another rule may have held it between two rounds of one instant.
        waits.dedup_by(|next, wait| {
            let continues = wait.rule == next.rule && wait.to == next.from;
            if continues {
                wait.to = next.to;
            }
            continues
        });
        waits
    }
}
