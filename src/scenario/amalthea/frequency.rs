//! Frequencies: how ticks become time.

use std::fmt;

use serde::{Serialize, Serializer};

use super::ticks::Ticks;
use crate::time::{Decimal, Duration};

/// A clock frequency above zero, exact to a millionth of a hertz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frequency {
    microhertz: u64,
}

/// AMALTHEA's units, longest name first so that `Hz` does not match in place of `kHz`; each with its power of ten
/// \[Hz\].
const UNITS: [(&str, i32); 4] = [("GHz", 9), ("MHz", 6), ("kHz", 3), ("Hz", 0)];

impl Frequency {
    /// A number with a unit: `1.3GHz`, `500 MHz`. `None` for all else, and for zero, for less than a millionth of a
    /// hertz and for more than 18 THz.
    pub fn parse(text: &str) -> Option<Self> {
        let trimmed = text.trim();
        let (number, unit) = UNITS.iter().find_map(|(unit, _)| Some((trimmed.strip_suffix(unit)?, *unit)))?;
        Self::from_parts(Decimal::parse(number.trim_end()).ok()?, unit)
    }

    /// `number` of `unit`; `None` if the unit is unknown or the result cannot be held.
    pub(super) fn from_parts(number: Decimal, unit: &str) -> Option<Self> {
        let (_, power) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let microhertz = number.scaled(power + 6, u64::MAX).ok().filter(|&microhertz| microhertz > 0)?;
        Some(Self { microhertz })
    }

    /// This frequency times `millionths` / 10^6 (a prescaler); `None` if the result is zero or cannot be held.
    pub(super) fn times(self, millionths: u128) -> Option<Self> {
        let product = u128::from(self.microhertz).checked_mul(millionths)? / 1_000_000;
        u64::try_from(product).ok().filter(|&microhertz| microhertz > 0).map(|microhertz| Self { microhertz })
    }

    /// How long `ticks` take, rounded up to a whole nanosecond; `None` past the end of representable time.
    pub(super) fn duration(self, ticks: Ticks) -> Option<Duration> {
        let scaled = ticks.millionths().checked_mul(1_000_000_000)?;
        let ns = scaled.div_ceil(u128::from(self.microhertz));
        u64::try_from(ns).ok().map(Duration::from_ns)
    }

    /// Hertz, for reports.
    pub fn hertz(self) -> f64 {
        self.microhertz as f64 / 1e6
    }
}

impl fmt::Display for Frequency {
    /// The shortest exact decimal in the largest unit that is not larger than the value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = |power: i32| 10_u64.pow((power + 6).unsigned_abs());
        let found = UNITS.into_iter().find(|(_, power)| self.microhertz >= scale(*power));
        let (unit, power) = found.unwrap_or(("Hz", 0));
        let (whole, rest) = (self.microhertz / scale(power), self.microhertz % scale(power));
        let width = (power + 6).unsigned_abs() as usize;
        let digits = format!("{whole}.{rest:0width$}");
        write!(f, "{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Serialize for Frequency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const HERTZ: u64 = 1_000_000;
        if self.microhertz.is_multiple_of(HERTZ) {
            serializer.serialize_u64(self.microhertz / HERTZ)
        } else {
            serializer.serialize_f64(self.hertz())
        }
    }
}
