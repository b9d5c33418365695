//! Tasks with segments in front of the simulated GPU: below the bounds, and as the plain simulation has it.

use gpusched::device::Device;
use gpusched::effort::Progress;
use gpusched::hosts::{CoreUse, SegmentRun, SegmentRunOptions, run_segment_tasks};
use gpusched::tasks::segments::{GpuPolicy, GpuWait, SegmentTaskSet, SegmentTest};
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
    let options = SegmentRunOptions { horizon: horizon.map(Duration::from_ns), seed: 0, device, records_cores: true };
    let run = run_segment_tasks(set, test, options, Progress::NONE).expect("it runs");
    cores_are_busy_as_long_as_jobs_say(set, &run);
    let of = |task| run.jobs.iter().filter(move |job| job.task == task);
    let longest = |task| of(task).map(|job| job.response().expect("it is done").as_ns()).max();
    (0..set.tasks.len()).map(|task| longest(task).unwrap_or(0)).collect()
}

/// No core does two things at once, and each task works as long as its jobs ask for.
fn cores_are_busy_as_long_as_jobs_say(set: &SegmentTaskSet, run: &SegmentRun) {
    let mut until = vec![0; set.cpus as usize];
    let mut worked = vec![0; set.tasks.len()];
    for core in &run.cores {
        let (from, to) = (core.from.as_ns(), core.to.as_ns());
        assert!(until[core.cpu as usize] <= from && from < to, "{core:?}");
        assert_eq!(set.tasks[core.task].cpu, core.cpu);
        until[core.cpu as usize] = to;
        worked[core.task] += if core.what == CoreUse::Works { u128::from(to - from) } else { 0 };
    }
    for (number, task) in set.tasks.iter().enumerate() {
        let jobs = run.jobs.iter().filter(|job| job.task == number).count() as u128;
        assert_eq!(worked[number], jobs * (task.cpu_ns() + task.misc_ns()), "{}\n{}", task.name, in_short(set));
    }
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
        for (place, task) in set.tasks.iter_mut().enumerate() {
            (task.sporadic, task.offset) = (number % 2 == 1, Duration::from_ns(number * place as u64 % 13));
        }
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
        for test in SegmentTest::sound().filter(|test| test.policy() != GpuPolicy::RoundRobin) {
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

#[test]
fn sporadic_tasks_are_released_at_least_a_period_apart_and_by_the_seed_alone() {
    let device = tx2();
    let mut set = small_set(3);
    set.tasks[0].sporadic = true;
    set.tasks[1].offset = Duration::from_ns(7);
    let releases = |seed, task| {
        let options =
            SegmentRunOptions { horizon: Some(Duration::from_ns(2_000)), seed, device: &device, records_cores: false };
        let run =
            run_segment_tasks(&set, SegmentTest::Mpcp(GpuWait::Suspend), options, Progress::NONE).expect("it runs");
        assert!(run.cores.is_empty());
        let of = run.jobs.iter().filter(|job| job.task == task).map(|job| job.released.as_ns());
        of.collect::<Vec<u64>>()
    };
    let (one, period) = (releases(1, 0), set.tasks[0].period.as_ns());
    let gaps: Vec<u64> = one.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (period..=period + period / 2).contains(gap)), "{gaps:?}");
    assert!(gaps.iter().any(|&gap| gap > period));
    assert_eq!(one, releases(1, 0));
    assert_ne!(one, releases(2, 0));
    let other = releases(1, 1);
    assert_eq!(other[..2], [7, 7 + set.tasks[1].period.as_ns()]);
}
