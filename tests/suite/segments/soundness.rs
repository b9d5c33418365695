//! No run exceeds a bound that is called proven.

use std::fmt::Write;

use gpusched::tasks::segments::{GpuWait, SegmentTaskSet, SegmentTest, TaskSegment};

use super::plain::{Sharing, longest_responses};
use super::random::{RandomRun, small_set};

/// How the GPU is shared under a test.
pub(crate) fn sharing_of(test: SegmentTest) -> (Sharing, GpuWait) {
    match test {
        SegmentTest::RoundRobin(waiting)
        | SegmentTest::RoundRobinAsPrinted(waiting)
        | SegmentTest::RoundRobinTable5(waiting) => (Sharing::RoundRobin, waiting),
        SegmentTest::Gcaps(waiting) | SegmentTest::GcapsAsPrinted(waiting) => (Sharing::Gcaps, waiting),
        SegmentTest::Mpcp(waiting) => (Sharing::Mpcp, waiting),
        SegmentTest::FmlpPlus(waiting) => (Sharing::FmlpPlus, waiting),
    }
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
    let bounds = test.bounds(set);
    if bounds.iter().all(|bound| bound.bound().is_none()) {
        return None;
    }
    let (sharing, waiting) = sharing_of(test);
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
        let Some(bound) = bound.bound().map(gpusched::time::Duration::as_ns) else { continue };
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

fn campaign(sets: u64, runs: u64) -> String {
    let mut report = String::new();
    for test in SegmentTest::sound() {
        let mut found = Found::default();
        for number in 0..sets {
            let set = small_set(number);
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

#[test]
fn no_run_of_a_small_set_exceeds_a_bound() {
    campaign(1_000, 2);
}

/// `GPUSCHED_SEGMENT_SETS` sets the number of sets.
#[test]
#[ignore = "long; run it in release mode"]
fn long_campaign_no_run_of_tasks_with_segments_exceeds_a_bound() {
    let sets = std::env::var("GPUSCHED_SEGMENT_SETS").ok().and_then(|sets| sets.parse().ok()).unwrap_or(100_000);
    println!("{}", campaign(sets, 4));
}
