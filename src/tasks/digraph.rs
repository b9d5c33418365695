//! EDF in a reservation by the demand of unrolled tasks (RTNS 2020, Lemma 3, corrected; Stigge, Ekberg, Guan and Wang,
//! "The Digraph Real-Time Task Model", RTAS 2011), for small sets of synchronous periodic tasks.
//!
//! A task is the cycle of all chunks of all its jobs over the hyperperiod H of its releases and the reservation. What
//! each chunk of a split job executes is not known, only that it is at most the chunk's length and C in total. For one
//! such division, dbf*(t) is the largest, over the chunk v that comes first, of the sum over chunks v' of
//! max(0, floor((t - O~(v') - D(v') + H) / H)) C(v'), with O~(v') = (O(v') - O(v)) mod H (Eq. 12 with the unrolled
//! hyperperiod for T).
//!
//! The answer is yes if some division, into any parts of units, has dbf*(t) <= t for all t. That is sufficient: a
//! division that passes is a schedule of chunks inside the reservation, and EDF finds a schedule where there is one. It
//! is not necessary, whatever Lemma 3 says: it lets the tasks' cycles start against each other in any way, and
//! synchronous tasks do not. (1, 2, 2) and (1, 4, 4) in R(0, 4, 5) are feasible and refused.

mod cycle;
mod division;
mod inequalities;

pub(super) use cycle::{Cycle, NoCycle, instants};
use division::divide;
use inequalities::GivenUp;

use super::reservation::Reservation;
use super::task_set::Timing;
use super::utilization::compare_utilization;
use super::verdict::{Rejection, TaskVerdict};

/// Additions at most: a fraction of a second.
const MAX_STEPS: u64 = 200_000_000;

/// Whether synchronous periodic tasks pass, and if not, why.
pub(super) fn test(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    let too_large = |what: &str| TaskVerdict::Unknown(format!("too large for this test: more than {what}"));
    let load = tasks.iter().map(Timing::load);
    if compare_utilization(load, std::iter::once((1, 1))).is_none_or(std::cmp::Ordering::is_gt) {
        let share = tasks.iter().map(Timing::utilization).sum();
        return TaskVerdict::No(Rejection::Utilization { share, supplied_share: 1.0 });
    }
    let mut cycles = Vec::with_capacity(tasks.len());
    for (index, task) in tasks.iter().enumerate() {
        match Cycle::new(task, reservation) {
            Ok(cycle) => cycles.push(cycle),
            Err(NoCycle::TooManyChunks) => return too_large("256 chunks in one task"),
            Err(NoCycle::NoService(job)) => {
                let reason = Rejection::NoService { task: index, release: job.release, deadline: job.deadline };
                return TaskVerdict::No(reason);
            }
        }
    }
    let Some(instants) = instants(&cycles) else { return too_large("20,000 instants") };
    match divide(&cycles, &instants, MAX_STEPS) {
        Ok(Ok(())) => TaskVerdict::Yes,
        Ok(Err(instants)) => TaskVerdict::No(Rejection::EveryDivision { instants }),
        Err(GivenUp) => too_large("200 million additions, or 127 bits, to divide execution times among chunks"),
    }
}
