//! Tasks with segments in front of the simulated GPU: below the bounds, and as the plain simulation has it.

use gpusched::device::Device;
use gpusched::hosts::run_segment_tasks;
use gpusched::tasks::segments::{SegmentTaskSet, SegmentTest};
use gpusched::time::Duration;

use super::plain::{Run, longest_responses};
use super::random::small_set;
use super::soundness::{in_short, sharing_of};
use super::witnesses::witness;
use crate::common::tx2;

/// Releases at 0, T, 2 T, … before the end, each part taking its longest.
struct Periodic<'s>(&'s SegmentTaskSet, u64);

impl Run for Periodic<'_> {
    fn release(&mut self, task: usize, job: usize) -> Option<u64> {
        let at = self.0.tasks[task].period.as_ns() * job as u64;
        (at < self.1).then_some(at)
    }

    fn length(&mut self, longest: u64, _least: u64) -> u64 {
        longest
    }
}

/// The longest response of each task on the simulated GPU \[ns\].
fn on_engine(set: &SegmentTaskSet, test: SegmentTest, horizon: Option<u64>, device: &Device) -> Vec<u64> {
    let run = run_segment_tasks(set, test, horizon.map(Duration::from_ns), device).expect("it runs");
    let of = |task| run.jobs.iter().filter(move |job| job.task == task);
    let longest = |task| of(task).map(|job| job.response().expect("it is done").as_ns()).max();
    (0..set.tasks.len()).map(|task| longest(task).unwrap_or(0)).collect()
}

#[test]
fn ecrts_2024_case_study_stays_below_its_bounds_under_every_policy() {
    let (set, device) = (witness("case-study"), tx2());
    for test in SegmentTest::sound() {
        let longest = on_engine(&set, test, None, &device);
        for (task, bound) in test.bounds(&set).iter().enumerate() {
            let Some(bound) = bound.bound() else { continue };
            assert!(longest[task] <= bound.as_ns(), "{}: task {task} {} {bound}", test.name(), longest[task]);
        }
    }
}

#[test]
fn no_run_in_front_of_the_simulated_gpu_exceeds_a_bound() {
    let device = tx2();
    for number in 0..150 {
        let mut set = small_set(number);
        // The GPU switches within a call.
        set.gpu.update_cost = set.gpu.update_cost.max(set.gpu.switch_cost);
        for test in SegmentTest::sound() {
            let longest = on_engine(&set, test, Some(150), &device);
            for (task, bound) in test.bounds(&set).iter().enumerate() {
                let Some(bound) = bound.bound() else { continue };
                let what = || format!("set {number}, {}: task {task}\n{}", test.name(), in_short(&set));
                assert!(longest[task] <= bound.as_ns(), "{}: {} for {bound}", what(), longest[task]);
            }
        }
    }
}

#[test]
fn plain_simulation_and_simulated_gpu_agree_where_nothing_is_left_to_choose() {
    let device = tx2();
    for number in 0..150 {
        let mut set = small_set(number);
        // Who has the GPU first, and how a round begins, is not said; the costs of switches are.
        set.gpu.switch_cost = Duration::ZERO;
        for test in SegmentTest::sound().filter(|test| !matches!(test, SegmentTest::RoundRobin(_))) {
            let bounds = test.bounds(&set);
            if bounds.iter().any(|bound| bound.bound().is_none()) {
                continue;
            }
            let (sharing, waiting) = sharing_of(test);
            let assigned = test.assigned(&set);
            let plain = longest_responses(&assigned, sharing, waiting, &mut Periodic(&set, 150), 150);
            let what = || format!("set {number}, {}\n{}", test.name(), in_short(&set));
            assert_eq!(on_engine(&set, test, Some(150), &device), plain, "{}", what());
        }
    }
}
