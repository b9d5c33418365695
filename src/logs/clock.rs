//! The clock of logs, on which simulated instants are put beside measured ones.

use serde::Serialize;
use thiserror::Error;

use crate::proven::OrMost;
use crate::time::{Duration, Instant};

/// A simulated instant that is after the end of the clock of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the simulation goes on until {0} at least, and times on the clock of logs are less than 2^63 ns (292 years)")]
pub struct LogTimeError(pub Instant);

/// An instant on the clock of a log \[ns\], signed as measured clocks begin anywhere.
///
/// The difference of two is a number of nanoseconds, which may be negative; the sum of two does not compile.
///
/// ```compile_fail
/// use gpusched::logs::LogTime;
/// let _ = LogTime::from_ns(1) + LogTime::from_ns(2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct LogTime(i64);

impl LogTime {
    /// Before all others: always.
    pub const MIN: Self = Self(i64::MIN);
    /// After all others: never.
    pub const MAX: Self = Self(i64::MAX);

    /// So many nanoseconds after the clock's beginning.
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the clock's beginning.
    pub const fn as_ns(self) -> i64 {
        self.0
    }

    /// Nanoseconds from `earlier` to `self`, negative if that is the later one; held at the ends of 64 bits.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Nanoseconds between the two.
    pub const fn abs_diff(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }

    /// So many nanoseconds later, at most [`Self::MAX`].
    pub const fn saturating_add(self, ns: i64) -> Self {
        Self(self.0.saturating_add(ns))
    }

    /// So many nanoseconds earlier, at least [`Self::MIN`].
    pub const fn saturating_sub(self, ns: i64) -> Self {
        Self(self.0.saturating_sub(ns))
    }

    /// A length of time later, at most [`Self::MAX`].
    pub fn after(self, time: Duration) -> Self {
        self.saturating_add(i64::try_from(time.as_ns()).or_most())
    }

    /// A length of time earlier, at least [`Self::MIN`].
    pub fn before(self, time: Duration) -> Self {
        self.saturating_sub(i64::try_from(time.as_ns()).or_most())
    }
}

impl TryFrom<Instant> for LogTime {
    type Error = LogTimeError;

    /// A simulated instant on the clock of logs; fails from 2^63 ns on.
    fn try_from(instant: Instant) -> Result<Self, LogTimeError> {
        i64::try_from(instant.as_ns()).map(Self).map_err(|_| LogTimeError(instant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_instant_of_the_clock_of_logs_is_taken_and_the_next_is_refused() {
        assert_eq!(LogTime::try_from(Instant::from_ns((1 << 63) - 1)), Ok(LogTime::MAX));
        let after = Instant::from_ns(1 << 63);
        assert_eq!(LogTime::try_from(after), Err(LogTimeError(after)));
    }
}
