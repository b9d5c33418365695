//! EDF in a reservation when periods are harmonic, by RTNS 2020, Definition 3 and Theorem 6 as printed. Unsound for D <
//! T: for comparison only.
//!
//! T' = min(P, T), D' = max(0, T' - (P - Q)), C' = C / ceil(T / P), here an exact fraction. D does not occur: section
//! 6.3 has D = T, where this is the same as [`harmonic`] and sufficient. The paper's own generator
//! (section 7.1.1) draws D < T, and then it accepts sets that miss.

use super::harmonic::{self, Converted};
use super::reservation::Reservation;
use super::task_set::Timing;
use super::task_time::TaskTime;
use super::verdict::TaskVerdict;

/// Definition 3.
fn convert(task: &Timing, reservation: Reservation) -> Option<Converted> {
    let Reservation { budget, period, .. } = reservation;
    let shorter = task.period.min(period);
    let deadline = shorter.checked_sub(period - budget).filter(|&deadline| deadline > TaskTime::ZERO)?;
    let divisor = task.period.div_ceil(period);
    Some((Timing { wcet: task.wcet, period: shorter, deadline }, divisor))
}

/// What Theorem 6 says. If some D < T, a yes proves nothing.
pub(super) fn test(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    harmonic::of_converted(tasks, reservation, |task| convert(task, reservation))
}
