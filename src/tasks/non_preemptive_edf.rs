//! Non-preemptive EDF: one stream (RTNS 2020, section 5.1 and Theorem 1, corrected).
//!
//! For every absolute deadline t: dbf(t) + max { `C_l` : `D_l` > t } <= t, and U <= 1 (Jeffay, Stanat and Martel, "On
//! Non-Preemptive Scheduling of Periodic and Sporadic Tasks", RTSS 1991, for D = T). The printed Eq. 3 has no t in its
//! demand, and asks for the blocking of every task at every t, also before any of its deadlines, which nothing passes.
//!
//! Sufficient for sporadic tasks, hence for periodic ones with any offsets. Jobs of length `C_l` block for `C_l`
//! although one that started strictly earlier blocks for less than `C_l`: in whole time units the test is safe by one
//! unit.

use super::blocking::Blocking;
use super::processor_demand;
use super::supply::Dedicated;
use super::task_set::Timing;
use super::verdict::TaskVerdict;

fn blocking(tasks: &[Timing]) -> Blocking {
    Blocking::new(tasks.iter().enumerate().map(|(index, task)| (index, task.deadline, task.wcet)))
}

/// Whether the tasks meet their deadlines in one stream, and if not, why.
pub(crate) fn test(tasks: &[Timing]) -> TaskVerdict {
    processor_demand::verdict(tasks, &Dedicated, &blocking(tasks), 1)
}
