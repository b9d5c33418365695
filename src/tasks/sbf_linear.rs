//! EDF in a reservation by the linear lower bound of the supply bound function (RTNS 2020, Eq. 10; SBF* in its
//! figures): dbf(t) <= max(0, (Q / P)(t - (P - Q))).
//!
//! Sufficient for sporadic tasks, and never accepts what [`sbf`](super::sbf) refuses. The printed Eq. 10 is zero up to
//! the reservation's offset and negative from there to P - Q.

use super::blocking::Blocking;
use super::processor_demand;
use super::reservation::Reservation;
use super::supply::LinearSupply;
use super::task_set::Timing;
use super::verdict::TaskVerdict;

/// Whether sporadic tasks meet their deadlines under EDF in `reservation`, and if not, why.
pub(super) fn test(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    processor_demand::verdict(tasks, &LinearSupply(reservation), &Blocking::default(), 1)
}
