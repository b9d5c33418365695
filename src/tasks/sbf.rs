//! EDF in a reservation by the supply bound function (RTNS 2020, Theorem 3): dbf(t) <= sbf(t) at every absolute
//! deadline t.
//!
//! Sufficient for sporadic tasks, and exact for them when their releases are not tied to the reservation's clock: sbf
//! is attained by the interval that begins where the budget ends. For periodic tasks released at 0 it ignores that the
//! schedule of the reservation is known.

use super::blocking::Blocking;
use super::processor_demand;
use super::reservation::Reservation;
use super::supply::SupplyBound;
use super::task_set::Timing;
use super::verdict::TaskVerdict;

/// Whether sporadic tasks meet their deadlines under EDF in `reservation`, and if not, why.
pub(super) fn test(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    processor_demand::verdict(tasks, &SupplyBound(reservation), &Blocking::default(), 1)
}
