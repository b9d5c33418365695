//! Times of tasks.

use std::fmt;
use std::iter::Sum;
use std::ops::{AddAssign, SubAssign};

use serde::Serialize;

use crate::time::{Duration, Instant, operators};

/// A time of a task, of its jobs or of a reservation: an instant or a length, in the whole units of the tasks' file.
///
/// The theory knows no unit and no difference between instants and lengths, as both come from one beginning; a
/// simulation takes a unit for a nanosecond. The sum of two times is a time, their quotient is a number:
///
/// ```compile_fail
/// use gpusched::tasks::TaskTime;
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
