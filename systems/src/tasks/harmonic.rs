//! EDF in a reservation when periods are harmonic (RTNS 2020, Definition 3 and Theorem 6, made right for D <= T), for
//! synchronous periodic tasks each of whose periods divides P or is a multiple of it, and O + Q <= P.
//!
//! - T > P: the n = floor((D - O - Q) / P) + 1 instances of the reservation that lie wholly between release and
//!   deadline take C / n each: C' = C / n, an exact fraction, D' = Q, T' = P. None does if D < O + Q.
//! - T <= P: every job has to be done between O after its release and min(D, T - (P - O - Q)) after it, which lies
//!   inside the reservation for all of them: D' = min(D, T - (P - O - Q)) - O, T' = T, C' = C. Impossible if D' <= 0.
//!
//! Then dbf'(t) <= t. Sufficient: in both cases the converted jobs run inside the reservation and in time.
//! The printed theorem ([`test_as_printed`]) ignores D; for D = T the two are one.

use super::demand::{self, Blocking};
use super::reservation::{Dedicated, Reservation};
use super::task_set::{MAX_TIME, Timing};
use super::task_time::{TaskTime, common_multiple};
use super::verdict::{Rejection, TaskVerdict};

/// One converted task: (C, T', D') and n, by which C is to be divided.
type Converted = (Timing, u64);

fn convert(task: &Timing, reservation: Reservation) -> Option<Converted> {
    let Reservation { offset, budget, period } = reservation;
    if task.period > period {
        let instances = task.deadline.checked_sub(offset + budget)? / period + 1;
        return (budget > TaskTime::ZERO).then_some((Timing { wcet: task.wcet, period, deadline: budget }, instances));
    }
    let last_end = task.period.checked_sub(period - offset - budget)?;
    let deadline = task.deadline.min(last_end).checked_sub(offset).filter(|&deadline| deadline > TaskTime::ZERO)?;
    Some((Timing { wcet: task.wcet, period: task.period, deadline }, 1))
}

/// Definition 3 as printed: T' = min(P, T), D' = max(0, T' - (P - Q)), C' = C / ceil(T / P), here an exact fraction.
fn convert_as_printed(task: &Timing, reservation: Reservation) -> Option<Converted> {
    let Reservation { budget, period, .. } = reservation;
    let shorter = task.period.min(period);
    let deadline = shorter.checked_sub(period - budget).filter(|&deadline| deadline > TaskTime::ZERO)?;
    Some((Timing { wcet: task.wcet, period: shorter, deadline }, task.period.div_ceil(period)))
}

/// Whether synchronous periodic tasks meet their deadlines under EDF in `reservation`, and if not, why.
pub(super) fn test(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    test_converted(tasks, reservation, |task| convert(task, reservation))
}

/// What Theorem 6 says as printed. Unsound for D < T, for comparison only: then a yes proves nothing.
///
/// D does not occur in it: section 6.3 has D = T, where this is the same as [`test()`] and sufficient. The paper's own
/// generator (section 7.1.1) draws D < T, and then it accepts sets that miss.
pub(super) fn test_as_printed(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    test_converted(tasks, reservation, |task| convert_as_printed(task, reservation))
}

/// The test with a conversion of tasks; a task for which that gives nothing gets no service.
fn test_converted(
    tasks: &[Timing],
    reservation: Reservation,
    convert: impl Fn(&Timing) -> Option<Converted>,
) -> TaskVerdict {
    let Reservation { offset, budget, period } = reservation;
    if offset + budget > period {
        return TaskVerdict::Unknown("the reservation reaches past the end of its period".to_owned());
    }
    let is_harmonic = |task: &Timing| task.period.is_multiple_of(period) || period.is_multiple_of(task.period);
    if !tasks.iter().all(is_harmonic) {
        return TaskVerdict::Unknown(
            "not every task's period divides the reservation's or is a multiple of it".to_owned(),
        );
    }
    let mut converted: Vec<Converted> = Vec::with_capacity(tasks.len());
    for (index, task) in tasks.iter().enumerate() {
        let Some(one) = convert(task) else {
            let (release, deadline) = (TaskTime::ZERO, task.deadline);
            return TaskVerdict::No(Rejection::NoService { task: index, release, deadline });
        };
        converted.push(one);
    }
    // Times scaled by a common denominator make the fractions whole.
    let unit = common_multiple(converted.iter().map(|(_, divisor)| *divisor));
    let scaled = unit.and_then(|unit| {
        let times = |time: TaskTime| time.checked_mul(unit).filter(|&time| time <= MAX_TIME);
        let scale = |(task, divisor): &Converted| {
            Some(Timing {
                wcet: task.wcet.checked_mul(unit / divisor).filter(|&time| time <= MAX_TIME)?,
                period: times(task.period)?,
                deadline: times(task.deadline)?,
            })
        };
        Some((converted.iter().map(scale).collect::<Option<Vec<_>>>()?, unit))
    });
    match scaled {
        Some((scaled, unit)) => demand::verdict(&scaled, &Dedicated, &Blocking::default(), unit),
        None => TaskVerdict::Unknown("the common denominator of the execution times is too large".to_owned()),
    }
}
