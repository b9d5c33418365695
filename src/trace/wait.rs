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
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.to.since(self.from)
    }
}
