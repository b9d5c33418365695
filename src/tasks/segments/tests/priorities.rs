//! The search for GPU priorities against all orders.

use super::super::gpu_priorities::search;
use super::super::{GpuWait, SegmentGenerator, SegmentTaskSet, gcaps_as_printed};

/// Whether some order of the tasks passes, of which those in `done` are the least urgent; responses are taken to be as
/// long as deadlines.
fn some_order_passes(set: &SegmentTaskSet, waiting: GpuWait, left: &[usize]) -> bool {
    let deadlines: Vec<_> = set.tasks.iter().map(|task| Some(task.deadline)).collect();
    left.is_empty()
        || (0..left.len()).any(|place| {
            let task = left[place];
            if left[place + 1..].iter().any(|&other| set.on_one_core(task, other)) {
                return false;
            }
            let mut others = left.to_vec();
            others.remove(place);
            let mut trial = set.clone();
            for (rank, &other) in others.iter().chain([&task]).enumerate() {
                trial.tasks[other].priority = Some(rank as u64);
            }
            gcaps_as_printed::response(&trial, waiting, task, &deadlines).is_some()
                && some_order_passes(&trial, waiting, &others)
        })
}

#[test]
fn audsleys_search_with_deadlines_for_responses_finds_an_order_if_there_is_one() {
    let mut generator = SegmentGenerator::ecrts_2024();
    (generator.cpus, generator.tasks_per_cpu) = (3, 1..=2);
    generator.utilization_permille = 300..=700;
    let (mut found, mut none) = (0, 0);
    for sample in 0..300 {
        // Below whatever is lower, nothing counts but that it is lower.
        let mut set = generator.sample(0, sample);
        for (rank, task) in set.by_urgency().into_iter().enumerate() {
            set.tasks[task].priority = Some(rank as u64);
        }
        for waiting in [GpuWait::Suspend, GpuWait::Busy] {
            let one = search(&set, &|set, task, known| gcaps_as_printed::response(set, waiting, task, known));
            assert_eq!(one.is_some(), some_order_passes(&set, waiting, &set.by_urgency()), "sample {sample}");
            if one.is_some() {
                found += 1;
            } else {
                none += 1;
            }
        }
    }
    assert!(found > 100 && none > 100, "{found} found, {none} not");
}
