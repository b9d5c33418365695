//! GCAPS as printed in Wang, Liu, Wong and Kim, ECRTS 2024, section 6.3. Unsound: for comparison only.
//!
//! Lemmas 10 and 13 count what a more urgent task on another core does on the GPU, and forget what it does on its CPU
//! between the two driver calls, alone or preempted there, while its context alone is on the runlist. Lemma 8 counts
//! one blocking for each GPU segment, which has two driver calls. `docs/errata.md` has witnesses.

use super::fixed_point::{Interference, least_response};
use super::segment_task_set::{GpuWait, SegmentTaskSet};
use super::task_bound::{ResponseBounds, in_order};
use crate::time::Duration;

/// What section 6.3 says of all tasks. It proves nothing.
pub(super) fn bounds(set: &SegmentTaskSet, waiting: GpuWait) -> ResponseBounds {
    in_order(set, |task, known| response(set, waiting, task, known))
}

/// What it says of one task, if that is at most the deadline, from what is `known` of all that are more urgent.
pub(super) fn response(
    set: &SegmentTaskSet,
    waiting: GpuWait,
    task: usize,
    known: &[Option<Duration>],
) -> Option<Duration> {
    let update = u128::from(set.gpu.update().as_ns());
    let this = &set.tasks[task];
    let mut interference = Vec::new();
    for other in set.more_urgent(task) {
        let other_task = &set.tasks[other];
        let (period, response) = (other_task.period, known[other]?);
        let (cpu, misc, exec) = (other_task.cpu_ns(), other_task.misc_ns(), other_task.exec_ns());
        let updates = 2 * update * u128::from(other_task.gpu_count());
        let is_local = set.on_one_core(task, other);
        // J^g = R - G^e, also where the work is more than that (Lemmas 10, 11 and 13).
        let remote = |work_ns| Interference { work_ns, ..Interference::carried_in(period, response, exec) };
        match (waiting, is_local, other_task.uses_gpu()) {
            (_, true, false) => interference.push(Interference::released_within(period, cpu)),
            (_, false, false) => {}
            (GpuWait::Busy, true, true) => {
                interference.push(Interference::released_within(period, cpu + misc + exec + updates));
            }
            (GpuWait::Suspend, true, true) => {
                let carried = Interference::carried_in(period, response, cpu + misc);
                interference.push(Interference { work_ns: cpu + misc + updates, ..carried });
                if this.uses_gpu() {
                    interference.push(remote(exec));
                }
            }
            (GpuWait::Suspend, false, true) if !this.uses_gpu() => {}
            (_, false, true) => interference.push(remote(exec + updates)),
        }
    }
    let base = this.alone_ns() + update * u128::from(1 + 3 * this.gpu_count());
    least_response(base, &interference, this.deadline)
}
