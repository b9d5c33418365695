//! Time-triggered reservations: what they serve, and how much service any interval of a given length is sure to get.

use serde::Serialize;

use super::task_time::TaskTime;

/// A time-triggered reservation R(O, Q, P): the processor belongs to it in [O + z P, O + z P + Q) for every z (RTNS
/// 2020, section 6.3). O < P and Q <= P; one that reaches past the end of its period goes on in the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Reservation {
    /// O, where in its period the service starts.
    pub offset: TaskTime,
    /// Q, service in each period.
    pub budget: TaskTime,
    /// P.
    pub period: TaskTime,
}

/// The two reservations of a GPU: `R_L` serves the tasks bound to one SM, on all SMs at once, and `R_B` those that take
/// all SMs. They have one period and do not overlap (Theorem 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reservations {
    /// `R_L`.
    pub single: Reservation,
    /// `R_B`.
    pub all: Reservation,
}

impl Reservation {
    /// R(O, Q, P), in units.
    pub const fn new(offset: u64, budget: u64, period: u64) -> Self {
        Self {
            offset: TaskTime::from_units(offset),
            budget: TaskTime::from_units(budget),
            period: TaskTime::from_units(period),
        }
    }

    /// Service in [0, t).
    pub fn supplied(&self, t: TaskTime) -> TaskTime {
        let (periods, phase) = (t / self.period, t % self.period);
        let end = self.offset + self.budget;
        let own = phase.min(end).saturating_sub(self.offset);
        let from_previous = phase.min(end.saturating_sub(self.period));
        periods * self.budget + own + from_previous
    }

    /// The part that is served of [from, to): maximal intervals within one instance of the reservation, in order of
    /// time.
    pub fn served(&self, from: TaskTime, to: TaskTime) -> impl Iterator<Item = (TaskTime, TaskTime)> + use<> {
        let Self { offset, budget, period } = *self;
        // Instances are counted from the one that starts a period before the first, so that nothing is negative.
        let end_of_first = offset + budget;
        let first = if from + period >= end_of_first { (from + period - end_of_first) / period + 1 } else { 0 };
        // Of an instance without a budget nothing is served, and there may be as many as nanoseconds.
        let after_last = if budget == TaskTime::ZERO { first } else { u64::MAX };
        (first..after_last)
            .map(move |instance| (offset + instance * period, offset + instance * period + budget))
            .take_while(move |(start, _)| *start < to + period)
            .map(move |(start, end)| (start.saturating_sub(period).max(from), (end.saturating_sub(period)).min(to)))
            .filter(|(start, end)| start < end)
    }
}

impl Reservations {
    /// Two reservations that share `period`: `R_L` first for `budget`, `R_B` the rest; in units.
    pub fn split(period: u64, budget: u64) -> Self {
        let budget = budget.min(period);
        Self {
            single: Reservation::new(0, budget, period),
            all: Reservation::new(budget % period, period - budget, period),
        }
    }
}

/// A lower bound on the service in every interval of a given length.
pub trait Supply {
    /// Service in every interval of length `t`, rounded down.
    fn within(&self, t: TaskTime) -> TaskTime;

    /// The shortest length that is sure to get `amount`; [`TaskTime::MAX`] if none is.
    fn time_for(&self, amount: TaskTime) -> TaskTime;

    /// The long-run share (Q, P), and the delay d with `within(t) >= (Q / P) (t - d)` before rounding.
    fn rate_and_delay(&self) -> ((TaskTime, TaskTime), TaskTime);
}

/// A processor of one's own: t.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dedicated;

impl Supply for Dedicated {
    fn within(&self, t: TaskTime) -> TaskTime {
        t
    }

    fn time_for(&self, amount: TaskTime) -> TaskTime {
        amount
    }

    fn rate_and_delay(&self) -> ((TaskTime, TaskTime), TaskTime) {
        ((TaskTime::UNIT, TaskTime::UNIT), TaskTime::ZERO)
    }
}

/// sbf of a time-triggered reservation (RTNS 2020, Eq. 9; Shin and Lee, "Periodic Resource Model for Compositional
/// Real-Time Guarantees", RTSS 2003, for the idea). With k = floor(t / P): t - (k + 1)(P - Q) if t > k P + (P - Q),
/// else k Q. The worst interval begins where the budget ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SupplyBound(pub Reservation);

impl Supply for SupplyBound {
    fn within(&self, t: TaskTime) -> TaskTime {
        let Reservation { budget, period, .. } = self.0;
        t / period * budget + (t % period).saturating_sub(period - budget)
    }

    fn time_for(&self, amount: TaskTime) -> TaskTime {
        let Reservation { budget, period, .. } = self.0;
        match amount.checked_sub(TaskTime::UNIT).map(|before| before.checked_div(budget)) {
            None => TaskTime::ZERO,
            Some(None) => TaskTime::MAX,
            Some(Some(periods)) => {
                let in_last = amount - periods * budget;
                period.checked_mul(periods).map_or(TaskTime::MAX, |time| time.saturating_add(period - budget + in_last))
            }
        }
    }

    fn rate_and_delay(&self) -> ((TaskTime, TaskTime), TaskTime) {
        ((self.0.budget, self.0.period), self.0.period - self.0.budget)
    }
}

/// The linear lower bound of sbf (RTNS 2020, Eq. 10, corrected to begin at P - Q): max(0, (Q / P)(t - (P - Q))).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearSupply(pub Reservation);

impl Supply for LinearSupply {
    fn within(&self, t: TaskTime) -> TaskTime {
        let Reservation { budget, period, .. } = self.0;
        let scaled = u128::from(t.saturating_sub(period - budget)) * u128::from(budget) / u128::from(period);
        // At most t, since Q <= P.
        u64::try_from(scaled).map_or(TaskTime::MAX, TaskTime::from_units)
    }

    fn time_for(&self, amount: TaskTime) -> TaskTime {
        let Reservation { budget, period, .. } = self.0;
        if amount == TaskTime::ZERO {
            return amount;
        }
        if budget == TaskTime::ZERO {
            return TaskTime::MAX;
        }
        let time = match amount.units().checked_mul(period.units()) {
            Some(product) => TaskTime::from_units(product.div_ceil(budget.units())),
            None => u64::try_from((u128::from(amount) * u128::from(period)).div_ceil(u128::from(budget)))
                .map_or(TaskTime::MAX, TaskTime::from_units),
        };
        time.saturating_add(period - budget)
    }

    fn rate_and_delay(&self) -> ((TaskTime, TaskTime), TaskTime) {
        SupplyBound(self.0).rate_and_delay()
    }
}

/// sbf of a periodic resource (Shin and Lee, "Periodic Resource Model for Compositional Real-Time Guarantees", RTSS
/// 2003, the paper's reference for Theorem 3), of which only Q and P are known: a budget given somewhere in each
/// period, so that nothing may come for 2 (P - Q). With k = max(ceil((t - (P - Q)) / P), 1): t - (k + 1)(P - Q) if t
/// lies in [(k + 1) P - 2 Q, (k + 1) P - Q], else (k - 1) Q. It is the sbf of a time-triggered reservation P - Q later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PeriodicResource(pub Reservation);

impl PeriodicResource {
    /// P - Q.
    fn gap(self) -> TaskTime {
        self.0.period - self.0.budget
    }
}

impl Supply for PeriodicResource {
    fn within(&self, t: TaskTime) -> TaskTime {
        SupplyBound(self.0).within(t.saturating_sub(self.gap()))
    }

    fn time_for(&self, amount: TaskTime) -> TaskTime {
        if amount == TaskTime::ZERO { amount } else { SupplyBound(self.0).time_for(amount).saturating_add(self.gap()) }
    }

    fn rate_and_delay(&self) -> ((TaskTime, TaskTime), TaskTime) {
        ((self.0.budget, self.0.period), 2 * self.gap())
    }
}
