//! Simulated time: integer nanoseconds, as instants and durations that cannot be mixed up.
//!
//! There is no floating point here. Seconds written as decimal text are converted exactly, and rounded to the
//! nearest nanosecond (see [`Duration::from_decimal_seconds`]).

use std::fmt;
use std::ops::AddAssign;

use serde::Serialize;

mod decimal;
mod unit;

pub use decimal::{Decimal, DecimalError};
pub use unit::TimeError;

/// Declares operators: between which types, what comes out, and how.
#[macro_export]
#[doc(hidden)]
macro_rules! operators {
    ($($(#[$about:meta])* $operator:ident::$function:ident($left:ty, $right:ty) -> $output:ty = $result:expr;)+) => {$(
        impl std::ops::$operator<$right> for $left {
            type Output = $output;

            $(#[$about])*
            fn $function(self, other: $right) -> $output {
                $result(self, other)
            }
        }
    )+};
}
#[doc(hidden)]
pub use operators;

/// Nanoseconds in one second.
#[doc(hidden)]
pub const NS_PER_SECOND: u64 = 1_000_000_000;

/// The largest instant or duration that an input may state \[ns\]: 2^63, about 292 years.
#[doc(hidden)]
pub const MAX_INPUT_NS: u64 = 1 << 63;

/// Whether what ends at `end` meets a deadline: at that very instant it does. Of instants, and of times from a release.
///
/// All that tells who is late asks here.
#[doc(hidden)]
pub fn is_in_time<T: Ord + Copy>(end: T, deadline: T) -> bool {
    end <= deadline
}

/// A point in simulated time \[ns\], counted from the start of the run.
///
/// Adding two instants does not compile; the difference of two instants is a [`Duration`].
///
/// ```compile_fail
/// # use gpusched_engine as gpusched;
/// use gpusched::time::Instant;
/// let _ = Instant::from_ns(1) + Instant::from_ns(2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Instant(u64);

/// A length of simulated time \[ns\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Duration(u64);

impl Instant {
    /// t = 0.
    pub const ZERO: Self = Self(0);
    /// The end of representable time, used as "never".
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `ns` nanoseconds after t = 0.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since t = 0.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Time elapsed from `earlier` to `self`; zero if `earlier` is the later one.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// `self + duration`, or `None` past the end of representable time.
    pub const fn checked_add(self, duration: Duration) -> Option<Self> {
        match self.0.checked_add(duration.0) {
            Some(ns) => Some(Self(ns)),
            None => None,
        }
    }

    /// `self + duration`, held at [`Instant::MAX`], which no run reaches.
    pub const fn saturating_add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A duration of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// The duration in nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// The sum, or `None` on overflow.
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(ns) => Some(Self(ns)),
            None => None,
        }
    }

    /// The sum, held at the largest representable duration.
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// `self` times `factor`, or `None` on overflow.
    pub const fn checked_mul(self, factor: u64) -> Option<Self> {
        match self.0.checked_mul(factor) {
            Some(ns) => Some(Self(ns)),
            None => None,
        }
    }

    /// `self` times `count`, where it is known that this is part of a time that was computed before and so fits.
    pub fn repeated(self, count: u64) -> Self {
        debug_assert!(self.checked_mul(count).is_some(), "{count} times {self} is past the end of time");
        Self(self.0.saturating_mul(count))
    }

    /// The least duration that is a whole multiple of both, or `None` on overflow or if one is zero.
    pub const fn least_common_multiple(self, other: Self) -> Option<Self> {
        if self.0 == 0 || other.0 == 0 {
            return None;
        }
        let (mut divisor, mut rest) = (self.0, other.0);
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        self.checked_mul(other.0 / divisor)
    }

    /// Exact conversion of decimal seconds (`0.4`, `1e-3`), rounded to the nearest nanosecond, halves upwards.
    ///
    /// # Errors
    /// [`TimeError`] when `text` is no decimal number, is negative, or is more than `MAX_INPUT_NS`.
    pub fn from_decimal_seconds(text: &str) -> Result<Self, TimeError> {
        unit::scaled(text, 9)
    }

    /// Exact conversion of a decimal number of nanoseconds, rounded to the nearest whole one, halves upwards.
    ///
    /// # Errors
    /// As [`Duration::from_decimal_seconds`].
    pub fn from_decimal_ns(text: &str) -> Result<Self, TimeError> {
        unit::scaled(text, 0)
    }

    /// A number with a unit, `ns`, `us` (or `µs`), `ms` or `s`: `250ms`, `1.7 s`.
    ///
    /// # Errors
    /// [`TimeError`] when the unit is missing or unknown, or the number is not allowed.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        unit::parse(text)
    }
}

operators! {
    /// Saturates at zero, see [`Instant::since`].
    Sub::sub(Instant, Instant) -> Duration = Instant::since;
    /// Saturates at [`Instant::MAX`]; use [`Instant::checked_add`] where overflow is an error of the input.
    Add::add(Instant, Duration) -> Instant = Instant::saturating_add;
    /// Saturates at the largest representable duration.
    Add::add(Duration, Duration) -> Duration = Duration::saturating_add;
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = self.saturating_add(other);
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

impl fmt::Display for Duration {
    /// The shortest exact decimal in the largest unit that is not larger than the value: `1.7 s`, `250 ms`, `12 ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&unit::display(self.0))
    }
}

#[cfg(test)]
mod tests;
