//! GPU priorities of their own (ECRTS 2024, sections 5.3 and 6.4).

use gpusched::tasks::segments::{GpuSharing, GpuWait, SegmentTaskSet, SegmentTest, TaskBound};
use gpusched::time::Duration;

use super::random::small_set;
use super::soundness::in_short;
use super::witnesses::witness;

fn is_accepted(test: SegmentTest, set: &SegmentTaskSet) -> bool {
    test.bounds(set).iter().all(TaskBound::is_accepted)
}

/// The set with priorities in this order, the most urgent first.
fn with_order(set: &SegmentTaskSet, order: &[usize]) -> SegmentTaskSet {
    let mut other = set.clone();
    for (rank, &task) in order.iter().enumerate() {
        other.tasks[task].priority = Some(rank as u64);
    }
    other
}

/// Every order of the tasks with priorities that leaves the order on each core as it is.
fn orders(set: &SegmentTaskSet) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for task in set.by_urgency() {
        let longer = all.iter().flat_map(|order: &Vec<usize>| {
            // Behind all that are more urgent on its core.
            let first = order.iter().rposition(|&other| set.on_one_core(task, other)).map_or(0, |place| place + 1);
            (first..=order.len()).map(move |place| {
                let mut order = order.clone();
                order.insert(place, task);
                order
            })
        });
        all = longer.collect();
    }
    all
}

#[test]
fn ecrts_2024_table_2_passes_with_the_gpu_priorities_of_tau3_and_tau4_swapped() {
    let set = witness("table-2");
    for waiting in [GpuWait::Suspend, GpuWait::Busy] {
        let (plain, assigned) = (SegmentTest::GcapsAsPrinted(waiting), SegmentTest::GcapsAssignedAsPrinted(waiting));
        let fails: Vec<usize> = (0..4).filter(|&task| plain.bounds(&set)[task] == TaskBound::Exceeds).collect();
        assert_eq!(fails, [3]);
        assert!(is_accepted(assigned, &set));
        assert_eq!(assigned.assigned(&set).by_urgency(), [0, 1, 3, 2]);
    }
}

#[test]
fn an_assignment_that_is_found_passes_the_plain_test_and_keeps_the_order_on_each_core() {
    let mut found = 0;
    for number in 0..1_500 {
        let set = small_set(number);
        for (plain, search) in [
            (SegmentTest::Gcaps(GpuWait::Suspend), SegmentTest::GcapsAssigned(GpuWait::Suspend)),
            (SegmentTest::Gcaps(GpuWait::Busy), SegmentTest::GcapsAssigned(GpuWait::Busy)),
            (SegmentTest::GcapsAsPrinted(GpuWait::Suspend), SegmentTest::GcapsAssignedAsPrinted(GpuWait::Suspend)),
            (SegmentTest::GcapsAsPrinted(GpuWait::Busy), SegmentTest::GcapsAssignedAsPrinted(GpuWait::Busy)),
        ] {
            let other = search.assigned(&set);
            let is_changed = *other != set;
            found += u32::from(is_changed);
            assert_eq!(is_accepted(search, &set), is_changed || is_accepted(plain, &set), "{}", in_short(&set));
            assert!(!is_changed || !is_accepted(plain, &set) && is_accepted(plain, &other), "{}", in_short(&other));
            for core in 0..set.cpus {
                let order = |set: &SegmentTaskSet| {
                    set.by_urgency().into_iter().filter(|&task| set.tasks[task].cpu == core).collect::<Vec<_>>()
                };
                assert_eq!(order(&other), order(&set), "{}", in_short(&set));
            }
        }
    }
    assert!(found > 25, "{found}");
}

/// Sets that fail as they stand, those with an order that passes, and those of which the search finds one.
fn compared(plain: SegmentTest, search: SegmentTest, sets: u64) -> (u32, u32, u32) {
    let (mut failing, mut possible, mut found) = (0, 0, 0);
    // Only updates, in which switches are, delay anybody.
    let without_switches = |number| {
        let set = small_set(number);
        SegmentTaskSet { gpu: GpuSharing { switch_cost: Duration::ZERO, ..set.gpu }, ..set }
    };
    for set in (0..sets).map(without_switches).filter(|set| !is_accepted(plain, set)) {
        let exists = orders(&set).iter().any(|order| is_accepted(plain, &with_order(&set, order)));
        let is_found = is_accepted(search, &set);
        assert!(exists || !is_found, "{}", in_short(&set));
        failing += 1;
        possible += u32::from(exists);
        found += u32::from(is_found);
    }
    (failing, possible, found)
}

/// What the search misses are mostly orders that pass only once responses of more urgent tasks are known to be shorter
/// than their deadlines.
#[test]
fn the_search_finds_some_of_the_assignments_that_trying_all_orders_finds() {
    for (plain, search, least) in [
        (SegmentTest::Gcaps(GpuWait::Suspend), SegmentTest::GcapsAssigned(GpuWait::Suspend), 0.3),
        (SegmentTest::Gcaps(GpuWait::Busy), SegmentTest::GcapsAssigned(GpuWait::Busy), 0.3),
        (SegmentTest::GcapsAsPrinted(GpuWait::Suspend), SegmentTest::GcapsAssignedAsPrinted(GpuWait::Suspend), 0.3),
        (SegmentTest::GcapsAsPrinted(GpuWait::Busy), SegmentTest::GcapsAssignedAsPrinted(GpuWait::Busy), 0.3),
    ] {
        let (failing, possible, found) = compared(plain, search, 1_500);
        println!("{}: {failing} fail, {possible} could pass, {found} found", search.name());
        assert!(possible > 10 && f64::from(found) > least * f64::from(possible), "{possible}, {found}");
    }
}
