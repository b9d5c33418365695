//! Why each operation waited, in columns.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::instants::Instants;
use crate::trace::{Cause, Queue, Reason, Rule};

/// A rule that holds something, and what is said about it. Where the wait has a queue, the name of the operation at
/// its head follows.
#[derive(Debug, PartialEq, Eq, Hash, Clone, Serialize)]
struct Said {
    rule: Rule,
    why: Cow<'static, str>,
    /// Whether it is for a turn: when that comes, and whose it is instead, is said behind it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    for_turn: bool,
}

/// Columns, one entry for each wait, by operation and time.
#[derive(Debug, Default, Serialize)]
pub(super) struct Waits {
    /// Each thing that is said, once.
    said: Vec<Said>,
    /// Counted from the one before.
    operation: Vec<u32>,
    /// Which of what is said.
    reason: Vec<usize>,
    /// Number of the queue whose head it waits for; -1: none.
    queue: Vec<i64>,
    /// The waits that name another operation than such a head, with its number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ahead: Vec<(usize, u32)>,
    /// Number of the instant of its beginning, counted from the end of the one before if that is of the same
    /// operation, or else from the launch.
    from: Vec<i64>,
    /// Number of the instant of its end, counted from that of its beginning; -1: it still waits when the run ends.
    length: Vec<i64>,
}

impl Waits {
    /// `queues` are those of the page, `launched` the number of the instant of each operation's launch.
    pub(super) fn new(reasons: &[Reason], queues: &[Queue], launched: &[i64], instants: &Instants) -> Self {
        let queues: BTreeMap<Queue, i64> = queues.iter().copied().zip(0..).collect();
        let mut columns = Self::default();
        let mut known: FxHashMap<Said, usize> = FxHashMap::default();
        let (mut last, mut last_end) = (None, 0);
        for reason in reasons {
            let why = reason.cause.as_ref().map_or_else(Cow::default, |cause| cause.sentence(reason.rule));
            let for_turn = reason.cause == Some(Cause::Turn);
            let said = Said { rule: reason.rule, why, for_turn };
            let number = known.get(&said).copied().unwrap_or_else(|| {
                columns.said.push(said.clone());
                known.insert(said, columns.said.len() - 1);
                columns.said.len() - 1
            });
            let operation = reason.operation.0;
            let base = match last {
                Some(same) if same == operation => last_end,
                _ => launched.get(operation as usize).copied().unwrap_or_default(),
            };
            let from = instants.number(reason.from);
            if let Some(ahead) = reason.cause.as_ref().and_then(Cause::ahead) {
                columns.ahead.push((columns.operation.len(), ahead.0));
            }
            columns.operation.push(operation - last.unwrap_or_default());
            columns.reason.push(number);
            let queue = reason.cause.as_ref().and_then(Cause::queue);
            columns.queue.push(queue.and_then(|queue| queues.get(&queue).copied()).unwrap_or(-1));
            columns.from.push(from - base);
            columns.length.push(reason.to.map_or(-1, |to| instants.number(to) - from));
            last = Some(operation);
            last_end = reason.to.map_or(from, |to| instants.number(to));
        }
        columns
    }
}
