//! Time-triggered reservations.

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
