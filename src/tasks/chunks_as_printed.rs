//! EDF in a reservation by chunks with Algorithm 1 of RTNS 2020 read literally. Unsound: for comparison only.
//!
//! Algorithm 1 makes a chunk of each overlap of a job with an instance of the reservation. A job that overlaps none
//! leaves no chunk behind, and nothing after it (Definitions 1 and 2, Theorem 4) asks what became of that job: C is
//! demanded of the other jobs only. [`chunks`] refuses such a set. If each job has a chunk, the two agree.

use super::blocking::Blocking;
use super::chunks;
use super::processor_demand;
use super::reservation::Reservation;
use super::supply::Dedicated;
use super::task_set::Timing;
use super::verdict::TaskVerdict;

/// What Theorem 4 says of the chunks that Algorithm 1 leaves. A yes proves nothing.
pub(super) fn test(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    let mut all_converted = Vec::with_capacity(tasks.len());
    for (index, task) in tasks.iter().enumerate() {
        match chunks::of_chunks_kept(task, reservation) {
            Ok((converted, _)) => all_converted.extend(converted),
            Err(verdict) => return verdict.renumbered(&[index]),
        }
    }
    processor_demand::verdict(&all_converted, &Dedicated, &Blocking::default(), 1)
}
