//! Priorities for GPU segments that differ from those on the CPU (Wang, Liu, Wong and Kim, ECRTS 2024, sections 5.3 and
//! 6.4).
//!
//! On each core the GPU segments keep the order that their tasks have on the CPU, or tasks could wait for each other
//! for ever. Then the order of GPU priorities is one order of all tasks that also says who is more urgent on each core:
//! CPU priorities count nowhere else. So whatever bounds a set with one priority for each task bounds this too, and an
//! assignment is the set with other priorities.

use super::segment_task_set::SegmentTaskSet;
use crate::limits::count_turn;
use crate::time::Duration;

/// The bound of one task of a set, if it is at most the deadline, from bounds of all that are more urgent.
type Response<'r> = &'r dyn Fn(&SegmentTaskSet, usize, &[Option<Duration>]) -> Option<Duration>;

/// Audsley's search: the lowest priority that is left goes to the least urgent task that stays within its deadline
/// there, while nothing is known of more urgent ones but that they meet theirs. Only the last of each core is tried.
///
/// Gives the set with the priorities found, the most urgent being 0; nothing if some priority fits no task, in which
/// case there may still be an assignment.
pub(super) fn search(set: &SegmentTaskSet, response: Response<'_>) -> Option<SegmentTaskSet> {
    let deadlines: Vec<Option<Duration>> = set.tasks.iter().map(|task| Some(task.deadline)).collect();
    let mut left = set.by_urgency();
    let mut trial = set.clone();
    for (rank, &task) in left.iter().enumerate() {
        trial.tasks[task].priority = Some(rank as u64);
    }
    while !left.is_empty() {
        count_turn();
        let lowest = left.len() - 1;
        let is_last_of_core =
            |&place: &usize| left[place + 1..].iter().all(|&other| !set.on_one_core(left[place], other));
        let fits = |&place: &usize| {
            let mut at_the_end = left.clone();
            let task = at_the_end.remove(place);
            at_the_end.push(task);
            for (rank, &task) in at_the_end.iter().enumerate() {
                trial.tasks[task].priority = Some(rank as u64);
            }
            response(&trial, task, &deadlines).is_some()
        };
        let candidates: Vec<usize> = (0..left.len()).rev().filter(is_last_of_core).collect();
        let chosen = candidates.into_iter().find(fits)?;
        let task = left.remove(chosen);
        left.push(task);
        for (rank, &task) in left.iter().enumerate() {
            trial.tasks[task].priority = Some(rank as u64);
        }
        left.truncate(lowest);
    }
    Some(trial)
}
