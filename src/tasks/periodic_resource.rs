//! EDF on a periodic resource (Shin and Lee, "Periodic Resource Model for Compositional Real-Time Guarantees", RTSS
//! 2003, the paper's reference \[19\]): dbf(t) <= sbf(t) at every absolute deadline t, where of the reservation only
//! budget and period are known.
//!
//! Sufficient for sporadic tasks, and never accepts what [`sbf`](super::sbf) refuses, which also knows that the budget
//! comes at one fixed place of each period. What time-triggering is worth is the difference between the two.

use super::blocking::Blocking;
use super::processor_demand;
use super::reservation::Reservation;
use super::supply::PeriodicResource;
use super::task_set::Timing;
use super::verdict::TaskVerdict;

/// Whether sporadic tasks meet their deadlines under EDF on a resource with the budget and period of `reservation`, and
/// if not, why.
pub(super) fn test(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    processor_demand::verdict(tasks, &PeriodicResource(reservation), &Blocking::default(), 1)
}
