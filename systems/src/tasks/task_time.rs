//! Times of tasks, their hyperperiods, and the exact comparison of utilizations.

use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::ops::{AddAssign, SubAssign};

use num_integer::gcd;
use serde::Serialize;

use crate::time::{Duration, Instant, operators};

/// A time of a task, of its jobs or of a reservation: an instant or a length, in the whole units of the tasks' file.
///
/// The theory knows no unit and no difference between instants and lengths, as both come from one beginning; a
/// simulation takes a unit for a nanosecond. The sum of two times is a time, their quotient is a number:
///
/// ```compile_fail
/// use gpusched_systems::tasks::TaskTime;
/// let _: TaskTime = TaskTime::from_units(4) * TaskTime::from_units(2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct TaskTime(u64);

impl TaskTime {
    /// The beginning, or no time at all.
    pub const ZERO: Self = Self(0);
    /// One unit.
    pub const UNIT: Self = Self(1);
    /// The end of representable time: never.
    pub const MAX: Self = Self(u64::MAX);

    /// So many units.
    pub const fn from_units(units: u64) -> Self {
        Self(units)
    }

    /// In units.
    pub const fn units(self) -> u64 {
        self.0
    }

    /// In units, for pictures and shares, whose 53 bits are plenty.
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// The instant of a simulation, in which a unit is a nanosecond.
    pub const fn instant(self) -> Instant {
        Instant::from_ns(self.0)
    }

    /// The length of time of a simulation.
    pub const fn duration(self) -> Duration {
        Duration::from_ns(self.0)
    }

    /// What of `self` is left after `other`, or `None` if `other` is longer.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// The sum, or `None` past the end of representable time.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// `self` times `factor`, or `None` past the end of representable time.
    pub fn checked_mul(self, factor: u64) -> Option<Self> {
        self.0.checked_mul(factor).map(Self)
    }

    /// How often `other` fits, or `None` if it is no time at all.
    pub fn checked_div(self, other: Self) -> Option<u64> {
        self.0.checked_div(other.0)
    }

    /// The difference, zero if `other` is longer.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The sum, held at [`Self::MAX`].
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// How many of `other` cover it; `other` is not zero.
    pub const fn div_ceil(self, other: Self) -> u64 {
        self.0.div_ceil(other.0)
    }

    /// Whether it is a whole multiple of `other`.
    pub const fn is_multiple_of(self, other: Self) -> bool {
        self.0.is_multiple_of(other.0)
    }
}

impl From<Instant> for TaskTime {
    fn from(instant: Instant) -> Self {
        Self(instant.as_ns())
    }
}

impl From<TaskTime> for u128 {
    fn from(time: TaskTime) -> Self {
        time.0.into()
    }
}

impl AddAssign for TaskTime {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for TaskTime {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

operators! {
    Add::add(TaskTime, TaskTime) -> TaskTime = |one: Self, other: Self| Self(one.0 + other.0);
    Sub::sub(TaskTime, TaskTime) -> TaskTime = |one: Self, other: Self| Self(one.0 - other.0);
    Mul::mul(u64, TaskTime) -> TaskTime = |factor, time: TaskTime| TaskTime(factor * time.0);
    /// How often `other`, which is not zero, fits.
    Div::div(TaskTime, TaskTime) -> u64 = |one: Self, other: Self| one.0 / other.0;
    Rem::rem(TaskTime, TaskTime) -> TaskTime = |one: Self, other: Self| Self(one.0 % other.0);
}

impl Sum for TaskTime {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        Self(times.map(|time| time.0).sum())
    }
}

impl fmt::Display for TaskTime {
    /// The number of units.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Least common multiple of periods, each at least 1; 1 for none. `None` if it does not fit 62 bits, beyond which sums
/// of demand would not fit 64.
pub fn hyperperiod(periods: impl IntoIterator<Item = TaskTime>) -> Option<TaskTime> {
    common_multiple(periods.into_iter().map(TaskTime::units)).map(TaskTime::from_units)
}

/// The same of numbers.
pub(super) fn common_multiple(numbers: impl IntoIterator<Item = u64>) -> Option<u64> {
    let mut multiple = 1_u64;
    for number in numbers {
        multiple = multiple.checked_mul(number / gcd(multiple, number)).filter(|&multiple| multiple < 1 << 62)?;
    }
    Some(multiple)
}

/// A sum of fractions between two bounds, in units of 2^-32.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bounds {
    pub(super) low: u128,
    pub(super) high: u128,
}

/// One fraction in units of 2^-32, rounded down and up.
pub(super) fn scaled(numerator: u128, denominator: u64) -> Bounds {
    if let Some(small) = u64::try_from(numerator).ok().filter(|&small| small < 1 << 31) {
        let shifted = small << 32;
        let low = shifted / denominator;
        let high = low + u64::from(low * denominator != shifted);
        return Bounds { low: u128::from(low), high: u128::from(high) };
    }
    let denominator = u128::from(denominator);
    let (whole, rest) = (numerator / denominator, (numerator % denominator) << 32);
    // Numerators are below 2^96, so the shifted whole part may not fit; a bound that high is never close to anything.
    let whole = whole.checked_mul(1 << 32).unwrap_or(u128::MAX >> 8);
    Bounds { low: whole + rest / denominator, high: whole + rest.div_ceil(denominator) }
}

/// The sum of numerator / denominator, between bounds.
pub(super) fn sum(parts: impl Iterator<Item = (u128, u64)>) -> Bounds {
    parts.fold(Bounds::default(), |sum, (numerator, denominator)| {
        let part = scaled(numerator, denominator);
        Bounds { low: sum.low.saturating_add(part.low), high: sum.high.saturating_add(part.high) }
    })
}

/// Compares two sums of fractions (numerator, denominator), each denominator at least 1.
///
/// Almost always 32 fractional bits decide; else the sums are compared exactly. `None` if they agree in 32 bits and the
/// exact common denominator does not fit 128 bits.
pub(crate) fn compare_utilization(
    left: impl Iterator<Item = (u128, u64)> + Clone,
    right: impl Iterator<Item = (u128, u64)> + Clone,
) -> Option<Ordering> {
    let (l, r) = (sum(left.clone()), sum(right.clone()));
    if l.low > r.high {
        return Some(Ordering::Greater);
    }
    if l.high < r.low {
        return Some(Ordering::Less);
    }
    let (left, right) = (exact(left)?, exact(right)?);
    Some(left.0.checked_mul(right.1)?.cmp(&right.0.checked_mul(left.1)?))
}

/// The sum as one reduced fraction.
fn exact(parts: impl Iterator<Item = (u128, u64)>) -> Option<(u128, u128)> {
    let (mut numerator, mut denominator) = (0_u128, 1_u128);
    for (n, d) in parts {
        let d = u128::from(d);
        let common = gcd(denominator, d);
        numerator = numerator.checked_mul(d / common)?.checked_add(n.checked_mul(denominator / common)?)?;
        denominator = denominator.checked_mul(d / common)?;
        let common = gcd(numerator, denominator);
        (numerator, denominator) = (numerator / common, denominator / common);
    }
    Some((numerator, denominator))
}
