//! All instants of a run, by number.

use serde::ser::{Serialize, Serializer};

use crate::proven::Proven;
use crate::time::Instant;

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
            step
        }))
    }
}

/// Each number less the one before it.
pub(super) fn steps(numbers: impl IntoIterator<Item = i64>) -> Vec<i64> {
    let mut last = 0;
    numbers.into_iter().map(|number| number - std::mem::replace(&mut last, number)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::escape::InsideScript;
    use super::*;

    #[test]
    fn instants_are_written_as_steps_and_long_ones_as_text() {
        let ns = Instant::from_ns;
        let instants = Instants::new(vec![ns(u64::MAX - 1), ns(7), ns(0), ns(7), ns(9)]);
        assert_eq!((instants.number(ns(7)), instants.number_or_never(Some(ns(u64::MAX - 1)))), (1, 3));
        assert_eq!(instants.number_or_never(None), -1);
        let mut text = Vec::new();
        let mut json = serde_json::Serializer::with_formatter(&mut text, InsideScript);
        instants.serialize(&mut json).expect("it can be written");
        let text = String::from_utf8(text).expect("JSON is text");
        assert_eq!(text, format!("[0,7,2,\"{}\"]", u64::MAX - 10));
    }
}
