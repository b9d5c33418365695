//! One wait of an operation.

use super::rule::Rule;
use crate::time::{Duration, Instant};

/// A time during which an operation waited, and the rule that held it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The rule.
    pub rule: Rule,
    /// From.
    pub from: Instant,
    /// Until; the end of the run for what still waited then.
    pub to: Instant,
}

impl Wait {
    /// How long.
    pub fn duration(&self) -> Duration {
        self.to.since(self.from)
    }
}

/// A wait in the record, with the operation that waited: 24 bytes, where a [`Wait`] beside a number takes 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotedWait {
    pub(super) operation: u32,
    pub(super) rule: Rule,
    pub(super) from: Instant,
    pub(super) to: Instant,
}

impl NotedWait {
    /// Without the operation.
    pub(super) fn wait(&self) -> Wait {
        Wait { rule: self.rule, from: self.from, to: self.to }
    }
}
