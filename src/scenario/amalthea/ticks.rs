//! Amounts of work, and the bounds between which they lie.

use std::fmt;

use serde::{Serialize, Serializer};

/// Ticks (or instructions, or units of another execution need), exact to a millionth.
///
/// Constants and bounds of a model are whole; averages need not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Ticks {
    millionths: u128,
}

/// Parts of one tick that are told apart.
const SCALE: u128 = 1_000_000;

impl Ticks {
    /// A whole number of ticks.
    pub(crate) const fn new(ticks: u64) -> Self {
        Self { millionths: ticks as u128 * SCALE }
    }

    /// A number of millionths of a tick.
    pub(crate) const fn from_millionths(millionths: u128) -> Self {
        Self { millionths }
    }

    /// Millionths of a tick.
    pub(crate) const fn millionths(self) -> u128 {
        self.millionths
    }

    /// The sum, held at the largest that can be represented.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self { millionths: self.millionths.saturating_add(other.millionths) }
    }
}

impl fmt::Display for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.millionths / SCALE, self.millionths % SCALE);
        if rest == 0 { write!(f, "{whole}") } else { f.write_str(format!("{whole}.{rest:06}").trim_end_matches('0')) }
    }
}

impl Serialize for Ticks {
    /// A whole number where it is one.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.millionths / SCALE) {
            Ok(whole) if self.millionths.is_multiple_of(SCALE) => serializer.serialize_u64(whole),
            _ => serializer.serialize_f64(self.millionths as f64 / SCALE as f64),
        }
    }
}

/// What a model says of an amount of work; `None` where it says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct TickRange {
    /// At least.
    pub lower: Option<Ticks>,
    /// The constant, or the average.
    pub value: Option<Ticks>,
    /// At most.
    pub upper: Option<Ticks>,
}

impl TickRange {
    /// No work.
    pub(crate) const ZERO: Self = Self::constant(Ticks::new(0));

    /// Always the same.
    pub(crate) const fn constant(ticks: Ticks) -> Self {
        Self { lower: Some(ticks), value: Some(ticks), upper: Some(ticks) }
    }

    /// One after the other.
    pub(crate) fn then(self, other: Self) -> Self {
        let sum = |a: Option<Ticks>, b: Option<Ticks>| Some(a?.plus(b?));
        Self {
            lower: sum(self.lower, other.lower),
            value: sum(self.value, other.value),
            upper: sum(self.upper, other.upper),
        }
    }

    /// One or the other, nobody knows how often.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            lower: self.lower.zip(other.lower).map(|(a, b)| a.min(b)),
            value: self.value.filter(|_| self == other),
            upper: self.upper.zip(other.upper).map(|(a, b)| a.max(b)),
        }
    }

    /// The same with each number replaced by what `change` makes of it.
    pub(super) fn map(self, change: impl Fn(Ticks) -> Option<Ticks>) -> Option<Self> {
        let change = |ticks: Option<Ticks>| ticks.map_or(Some(None), |ticks| change(ticks).map(Some));
        Some(Self { lower: change(self.lower)?, value: change(self.value)?, upper: change(self.upper)? })
    }
}
