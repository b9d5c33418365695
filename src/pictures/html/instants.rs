//! All instants of a run, by number.

use serde::ser::{Serialize, Serializer};

use crate::proven::Proven;
use crate::time::Instant;

/// The largest integer up to which JavaScript's numbers hold all integers.
const MAX_EXACT: u64 = 1 << 53;

/// The distinct instants of a run, in ascending order.
#[derive(Debug)]
pub(super) struct Instants(Vec<Instant>);

impl Instants {
    pub(super) fn new(mut instants: Vec<Instant>) -> Self {
        instants.sort_unstable();
        instants.dedup();
        Self(instants)
    }

    /// The number of an instant, which must be among them.
    pub(super) fn number(&self, instant: Instant) -> i64 {
        i64::try_from(self.0.partition_point(|other| *other < instant)).proven("a list has fewer than 2^63 entries")
    }

    /// The number of an instant, -1 for one that was not reached.
    pub(super) fn number_or_never(&self, instant: Option<Instant>) -> i64 {
        instant.map_or(-1, |instant| self.number(instant))
    }
}

/// The first instant and then what is between each and the next \[ns\].
impl Serialize for Instants {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut last = Instant::ZERO;
        serializer.collect_seq(self.0.iter().map(|&instant| {
            let step = instant.since(last).as_ns();
            last = instant;
            Exact(step)
        }))
    }
}

/// An integer as a number if JavaScript holds it exactly, else as text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exact(pub(super) u64);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 <= MAX_EXACT { serializer.serialize_u64(self.0) } else { serializer.collect_str(&self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_as_steps_and_long_ones_as_text() {
        let ns = Instant::from_ns;
        let instants = Instants::new(vec![ns(u64::MAX - 1), ns(7), ns(0), ns(7), ns(9)]);
        assert_eq!((instants.number(ns(7)), instants.number_or_never(Some(ns(u64::MAX - 1)))), (1, 3));
        assert_eq!(instants.number_or_never(None), -1);
        let text = serde_json::to_string(&instants).expect("it can be written");
        assert_eq!(text, format!("[0,7,2,\"{}\"]", u64::MAX - 10));
    }
}
