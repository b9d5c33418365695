//! When applications are injected.

use crate::time::{Duration, Instant};

/// Injections that one run may have.
pub(crate) const MAX_INJECTIONS: u32 = 1_000_000;

/// One execution of an application: `<A_i, T_i^req>` in the paper, with the instant at which its user starts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Injection {
    /// Index of the application in its set.
    pub application: u32,
    /// When it is dispatched by its user, `T_i^init`.
    pub arrival: Instant,
    /// Its timing requirement, `T_i^req`.
    pub requirement: Duration,
}

impl Injection {
    /// The response time requirement as an instant, by Equation 3: `T_i^resp = T_i^init + T_i^req`.
    pub fn due(&self) -> Instant {
        self.arrival + self.requirement
    }
}

/// How applications are injected. Which application comes, and which of its requirements it gets, is drawn uniformly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Injections {
    /// `count` applications, the first at t = 0, each later by a delay drawn uniformly from 0 to `gap` (the paper's
    /// Figures 3 to 5: "randomly selected within 0.5 second window").
    Random {
        /// How many.
        count: u32,
        /// The longest delay.
        gap: Duration,
    },
    /// `count` applications in each of `periods` periods, at instants drawn uniformly from the period (the paper's
    /// Figure 6, which does not say where in the period).
    PerPeriod {
        /// How many in each period.
        count: u32,
        /// Length of a period.
        period: Duration,
        /// How many periods.
        periods: u32,
    },
}

impl Injections {
    /// How many injections there will be.
    pub fn total(&self) -> u64 {
        match *self {
            Self::Random { count, .. } => u64::from(count),
            Self::PerPeriod { count, periods, .. } => u64::from(count) * u64::from(periods),
        }
    }

    /// The last possible arrival \[ns\].
    pub(super) fn latest_ns(&self) -> u128 {
        match *self {
            Self::Random { count, gap } => u128::from(count) * u128::from(gap.as_ns()),
            Self::PerPeriod { period, periods, .. } => u128::from(periods) * u128::from(period.as_ns()),
        }
    }
}
