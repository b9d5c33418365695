//! How much service any interval of a given length is sure to get.

use super::reservation::Reservation;
use super::task_time::TaskTime;

/// A lower bound on the service in every interval of a given length.
pub(crate) trait Supply {
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
pub(crate) struct SupplyBound(pub Reservation);

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
pub(crate) struct LinearSupply(pub Reservation);

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
