//! Times with a unit, as text.

use thiserror::Error;

use super::decimal::{Decimal, DecimalError};
use super::{Duration, MAX_INPUT_NS, NS_PER_SECOND};

/// Why a text is no time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TimeError {
    /// The number in front of the unit cannot be used.
    #[error("{text:?} is {why}; expected a time from 0 to 2^63 ns")]
    Number {
        /// What was written.
        text: String,
        /// What is wrong with it.
        why: DecimalError,
    },
    /// No unit, or an unknown one.
    #[error("{text:?} has no known unit; expected a number followed by ns, us, ms or s, for example \"250 ms\"")]
    Unit {
        /// What was written.
        text: String,
    },
}

/// Units, longest name first so that `s` does not match in place of `ms`; each with its power of ten \[ns\].
/// Unicode has two letters mu: the micro sign and the Greek letter, which keyboards and editors write as well.
const UNITS: [(&str, i32); 6] = [("ns", 0), ("us", 3), ("\u{b5}s", 3), ("\u{3bc}s", 3), ("ms", 6), ("s", 9)];

/// A decimal number times ten to the power of `shift` nanoseconds.
pub(super) fn scaled(text: &str, shift: i32) -> Result<Duration, TimeError> {
    Decimal::parse(text)
        .and_then(|number| number.scaled(shift, MAX_INPUT_NS))
        .map(Duration::from_ns)
        .map_err(|why| TimeError::Number { text: text.to_owned(), why })
}

/// `1.7s`, `250 ms`, ...
pub(super) fn parse(text: &str) -> Result<Duration, TimeError> {
    let trimmed = text.trim();
    let found = UNITS.iter().find_map(|(unit, shift)| {
        let number = trimmed.strip_suffix(unit)?.trim_end();
        // "4m" left over from "4ms" would otherwise be reported as a bad number.
        number.ends_with(|c: char| c.is_ascii_digit() || c == '.').then_some((number, *shift))
    });
    match found {
        Some((number, shift)) => scaled(number, shift),
        None => Err(TimeError::Unit { text: text.to_owned() }),
    }
}

/// The shortest exact text, see the `Display` of [`Duration`].
pub(super) fn display(ns: u64) -> String {
    let (unit, name) = match ns {
        0 => (NS_PER_SECOND, "s"),
        1..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "us"),
        1_000_000..NS_PER_SECOND => (1_000_000, "ms"),
        _ => (NS_PER_SECOND, "s"),
    };
    let (whole, rest) = (ns / unit, ns % unit);
    if rest == 0 {
        return format!("{whole} {name}");
    }
    let width = unit.ilog10() as usize;
    let digits = format!("{rest:0width$}");
    format!("{whole}.{} {name}", digits.trim_end_matches('0'))
}
