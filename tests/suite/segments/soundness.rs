//! No run exceeds a bound that is called proven.

use std::fmt::Write;

use gpusched::tasks::segments::{GpuPolicy, GpuWait, SegmentTaskSet, SegmentTest, TaskSegment};
use gpusched::time::Duration;

use super::plain::{Sharing, longest_responses};
use super::random::{RandomRun, small_set};

/// How the GPU is shared under a test.
pub(crate) fn sharing_of(test: SegmentTest) -> (Sharing, GpuWait) {
    let sharing = match test.policy() {
        GpuPolicy::RoundRobin => Sharing::RoundRobin,
        GpuPolicy::Gcaps => Sharing::Gcaps,
        GpuPolicy::Mpcp => Sharing::Mpcp,
        GpuPolicy::FmlpPlus => Sharing::FmlpPlus,
    };
    (sharing, test.waiting())
}

/// What was found of one test.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    bounds: u64,
    exceeded: u64,
    /// Sum of longest response / bound.
    tightness: f64,
    reached: u64,
}

/// A set, a run, and a task of it that takes longer than its bound.
type Witness = (u64, u64, usize, u64, u64);

/// Runs set number `number` a few times under `test`.
fn try_set(set: &SegmentTaskSet, number: u64, runs: u64, test: SegmentTest, found: &mut Found) -> Option<Witness> {
    // Bounds beyond deadlines hold too.
    let late = test.late_bounds(set);
    let bounds = test.bounds(set);
    let bounds: Vec<Option<Duration>> = bounds.iter().zip(late).map(|(bound, late)| bound.bound().or(late)).collect();
    if bounds.iter().all(Option::is_none) {
        return None;
    }
    let (sharing, waiting) = sharing_of(test);
    let set = &*test.assigned(set);
    let mut worst = vec![(0, 0); set.tasks.len()];
    for run in 0..runs {
        let run_number = number * 1_000 + run;
        let mut random = RandomRun::new(set, run_number);
        let longest = longest_responses(set, sharing, waiting, &mut random, 150);
        for (worst, longest) in worst.iter_mut().zip(longest) {
            *worst = (*worst).max((longest, run_number));
        }
    }
    let mut witness = None;
    for (task, bound) in bounds.iter().enumerate() {
        let Some(bound) = bound.map(Duration::as_ns) else { continue };
        let (longest, run) = worst[task];
        found.bounds += 1;
        found.tightness += longest as f64 / bound as f64;
        found.reached += u64::from(longest == bound);
        if longest > bound {
            found.exceeded += 1;
            witness = witness.or(Some((number, run, task, longest, bound)));
        }
    }
    witness
}

/// Runs sets under tests, of which a change may be made first.
fn campaign(
    tests: impl Iterator<Item = SegmentTest>,
    change: impl Fn(&mut SegmentTaskSet, u64),
    sets: u64,
    runs: u64,
) -> String {
    let mut report = String::new();
    for test in tests {
        let mut found = Found::default();
        for number in 0..sets {
            let mut set = small_set(number);
            change(&mut set, number);
            if let Some((number, run, task, longest, bound)) = try_set(&set, number, runs, test, &mut found) {
                panic!(
                    "{}: set {number}, run {run}: task {task} takes {longest}, bound {bound}\n{}",
                    test.name(),
                    in_short(&set)
                );
            }
        }
        let Found { bounds, tightness, reached, .. } = found;
        let mean = tightness / bounds as f64;
        let _ = writeln!(
            report,
            "{}: {bounds} bounds of {sets} sets hold; longest found / bound: mean {mean:.2}; {reached} are reached",
            test.name()
        );
    }
    report
}

/// A set on a few lines.
pub(crate) fn in_short(set: &SegmentTaskSet) -> String {
    let gpu = set.gpu;
    let mut text = format!("slice {}, switch {}, update {}\n", gpu.time_slice, gpu.switch_cost, gpu.update_cost);
    for task in &set.tasks {
        let _ = write!(text, "{} on {}, T {}, {:?}:", task.name, task.cpu, task.period, task.priority);
        for segment in &task.segments {
            let _ = match segment {
                TaskSegment::Cpu(time) => write!(text, " cpu {time}"),
                TaskSegment::Gpu(gpu) => write!(text, " misc {} gpu {}", gpu.misc, gpu.exec),
            };
        }
        text.push('\n');
    }
    text
}

/// Published, and not exceeded where switches of contexts cost nothing.
fn published_and_not_refuted() -> impl Iterator<Item = SegmentTest> {
    let published = SegmentTest::ALL.into_iter().filter(|test| !test.is_sound());
    published.filter(|test| {
        matches!(
            test,
            SegmentTest::RoundRobinAsPublished(GpuWait::Suspend)
                | SegmentTest::MpcpAsPublished(GpuWait::Suspend)
                | SegmentTest::FmlpPlusAsPublished(GpuWait::Busy)
        )
    })
}

fn as_drawn(_: &mut SegmentTaskSet, _: u64) {}

fn without_switch_cost(set: &mut SegmentTaskSet, _: u64) {
    set.gpu.switch_cost = Duration::ZERO;
}

/// One task asks for more than its core has, and all deadlines are half the periods.
fn overload_one(set: &mut SegmentTaskSet, number: u64) {
    let count = set.tasks.len() as u64;
    let overloaded = usize::try_from(number % count).expect("there are few");
    for task in &mut set.tasks {
        task.deadline = Duration::from_ns(task.period.as_ns().div_ceil(2));
    }
    let period = set.tasks[overloaded].period;
    set.tasks[overloaded].segments[0] = TaskSegment::Cpu(Duration::from_ns(period.as_ns() + 1));
}

#[test]
fn no_run_exceeds_a_bound_where_another_task_is_overloaded_and_deadlines_are_short() {
    campaign(SegmentTest::sound(), overload_one, 250, 2);
}

#[test]
fn no_run_of_a_small_set_exceeds_a_bound() {
    campaign(SegmentTest::sound(), as_drawn, 250, 2);
}

#[test]
fn no_run_without_switch_costs_exceeds_the_published_bounds_that_are_not_refuted() {
    campaign(published_and_not_refuted(), without_switch_cost, 150, 2);
}

/// MPCP as published, busy, where a holder that only waits for the GPU is not raised.
#[test]
fn the_published_bound_of_mpcp_holds_if_only_the_misc_part_of_a_holder_is_raised() {
    let test = SegmentTest::MpcpAsPublished(GpuWait::Busy);
    let (mut bounds, mut raised, mut exceeded) = (0, 0, 0);
    for number in 0..500 {
        let mut set = small_set(number);
        set.gpu.switch_cost = Duration::ZERO;
        for (task, bound) in test.bounds(&set).iter().enumerate() {
            let Some(bound) = bound.bound().map(Duration::as_ns) else { continue };
            let longest = |sharing| {
                let run = &mut RandomRun::new(&set, number * 1_000);
                longest_responses(&set, sharing, GpuWait::Busy, run, 150)[task]
            };
            bounds += 1;
            raised += u32::from(longest(Sharing::Mpcp) > bound);
            exceeded += u32::from(longest(Sharing::MpcpRaisedInMisc) > bound);
        }
    }
    assert!(bounds > 500 && raised > 10, "{bounds} bounds, {raised} exceeded");
    assert_eq!(exceeded, 0);
}

/// `GPUSCHED_SEGMENT_SETS` sets the number of sets.
#[test]
#[ignore = "long; run it in release mode"]
fn long_campaign_no_run_of_tasks_with_segments_exceeds_a_bound() {
    let sets = std::env::var("GPUSCHED_SEGMENT_SETS").ok().and_then(|sets| sets.parse().ok()).unwrap_or(100_000);
    println!("{}", campaign(SegmentTest::sound(), as_drawn, sets, 4));
    println!("{}", campaign(SegmentTest::sound(), overload_one, sets, 4));
    println!("{}", campaign(published_and_not_refuted(), without_switch_cost, sets, 4));
}
