//! Bounds of work on tasks that suspend themselves, applied to time slices, against what was published.

use gpusched::device::Device;
use gpusched::tasks::segments::{GpuWait, SegmentTaskSet, SegmentTest};
use gpusched::time::Duration;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::plain::{Sharing, longest_responses};
use super::random::RandomRun;

/// C, the length of the only GPU segment, and T.
type Task = (u64, u64, u64);

/// Tasks of one core, the most urgent first.
fn set_of(slice_ns: u64, tasks: &[Task]) -> SegmentTaskSet {
    let task = |(number, (work, gpu, period)): (usize, &Task)| {
        let ns = |time: u64| format!("{time} ns");
        let mut segments: Vec<Value> = vec![json!({"cpu": ns(*work)})];
        segments.extend((*gpu > 0).then(|| json!({"gpu": ns(*gpu)})));
        json!({"cpu": 0, "name": format!("tau{}", number + 1), "priority": number, "T": ns(*period), "segments": segments})
    };
    let tasks: Vec<Value> = tasks.iter().enumerate().map(task).collect();
    let gpu = json!({"time_slice": format!("{slice_ns} ns")});
    let file = json!({"format": "gpusched-segments/1", "cpus": 1, "gpu": gpu, "tasks": tasks}).to_string();
    SegmentTaskSet::from_json("set.json", &file).expect("it is sound")
}

/// The bounds of the first tasks, until one has none.
fn bounds(test: SegmentTest, set: &SegmentTaskSet) -> Vec<u64> {
    test.bounds(set).iter().map_while(|bound| bound.bound().map(Duration::as_ns)).collect()
}

fn test(name: &str) -> SegmentTest {
    SegmentTest::from_name(name).expect("there is one")
}

/// The example of Chen, Nelissen and Huang, ECRTS 2016 (also Chen et al., "Many suspensions, many problems", Real-Time
/// Systems 55, 2019, Example 6), C, S and T of 4, 5, 10; 6, 1, 19; 4, 0, 50, in tenths: R - C is 5 and 9 for the first
/// two, and the bound of the third 42 with suspension as jitter and 32 by the best vector. With one other context, S is
/// G and as many slices of 5 as G begins: 25 + 25, 5 + 5. As blocking, by hand: 6 + 1 + 4 + 2 * 4 = 19 and
/// 4 + (4 + 1) + 4 * 4 + 2 * 6 = 37; as execution, 7 + 2 * 9 = 25 is beyond 19.
#[test]
fn the_published_example_comes_out_as_published() {
    let set = set_of(5, &[(40, 25, 100), (60, 5, 190), (40, 0, 500)]);
    for (name, expected) in [
        ("round-robin-suspend", &[90, 150, 420][..]),
        ("round-robin-suspend-unified", &[90, 150, 320]),
        ("round-robin-suspend-as-blocking", &[90, 190, 370]),
        ("round-robin-suspend-oblivious", &[90]),
    ] {
        assert_eq!(bounds(test(name), &set), expected, "{name}");
    }
}

/// T, C and G of four tasks each in slices of 1, so that S is 4 G, and what the published code says of (C, S, T): the
/// functions `SuspObl`, `SuspJit`, `SuspBlock` and `UniFramework` of `tu-dortmund-ls12-rt/SSSEvaluation`
/// (`schedTest/FixedPriority.py`, `UNIFRAMEWORK.py`). `rta_suspension_aware` of `SchedCAT` (`brandenburg/schedcat`,
/// `schedcat/sched/fp/rta.py`) says what `SuspJit` says.
#[test]
fn bounds_are_those_of_the_published_code() {
    const PUBLISHED: [([Task; 4], [&[u64]; 4]); 8] = [
        (
            [(100, 19, 1), (200, 44, 2), (400, 56, 1), (600, 98, 7)],
            [&[23, 75, 158, 382], &[23, 71, 142, 465], &[23, 75, 154, 362], &[23, 71, 142, 346]],
        ),
        (
            [(150, 29, 3), (200, 45, 4), (400, 28, 2), (800, 108, 5)],
            [&[41, 102, 138, 547], &[41, 90, 110, 406], &[41, 102, 138, 369], &[41, 90, 110, 333]],
        ),
        (
            [(100, 14, 2), (300, 67, 3), (400, 13, 6), (800, 74, 17)],
            [&[22, 123, 160, 484], &[22, 107, 132, 358], &[22, 115, 152, 297], &[22, 107, 132, 264]],
        ),
        (
            [(200, 42, 1), (300, 48, 6), (400, 90, 5), (800, 145, 9)],
            [&[46, 118, 274], &[46, 114, 290, 763], &[46, 118, 270, 721], &[46, 114, 242, 673]],
        ),
        (
            [(200, 38, 2), (250, 58, 3), (400, 47, 9), (800, 77, 3)],
            [&[46, 116, 199, 649], &[46, 108, 179, 375], &[46, 116, 199, 384], &[46, 108, 179, 328]],
        ),
        (
            [(150, 27, 3), (200, 43, 4), (400, 64, 3), (800, 55, 5)],
            [&[39, 98, 272, 386], &[39, 86, 216, 413], &[39, 98, 244, 346], &[39, 86, 173, 279]],
        ),
        (
            [(200, 43, 5), (300, 43, 4), (600, 103, 14), (800, 79, 16)],
            [&[63, 122, 466], &[63, 102, 331, 650], &[63, 122, 367, 553], &[63, 102, 331, 461]],
        ),
        (
            [(150, 17, 1), (300, 75, 4), (600, 114, 10), (800, 103, 16)],
            [&[21, 112, 287, 587], &[21, 108, 263, 705], &[21, 112, 283, 559], &[21, 108, 263, 499]],
        ),
    ];
    for (tasks, [oblivious, jitter, blocking, unified]) in PUBLISHED {
        let set = set_of(1, &tasks.map(|(period, work, gpu)| (work, gpu, period)));
        for (name, expected) in [
            ("round-robin-suspend-oblivious", oblivious),
            ("round-robin-suspend", jitter),
            ("round-robin-suspend-as-blocking", blocking),
            ("round-robin-suspend-unified", unified),
        ] {
            assert_eq!(bounds(test(name), &set), expected, "{name} of {tasks:?}");
        }
    }
}

/// A random set of four tasks with short suspensions, of which the unified bound makes the most.
fn short_suspensions(number: u64) -> SegmentTaskSet {
    let mut numbers = ChaCha8Rng::seed_from_u64(number);
    let mut tasks: Vec<Task> = (0..4)
        .map(|_| {
            let period = [30, 40, 60, 80, 100, 160][numbers.random_range(0..6)];
            (numbers.random_range(3..=period / 5), 1, period)
        })
        .collect();
    tasks.sort_by_key(|task| task.2);
    set_of(1, &tasks)
}

#[test]
fn no_run_of_a_set_with_short_suspensions_exceeds_a_bound_and_the_unified_one_is_the_least() {
    let tests = ["", "-as-blocking", "-oblivious", "-unified"].map(|of| test(&format!("round-robin-suspend{of}")));
    let mut better = 0;
    for number in 0..150 {
        let set = short_suspensions(number);
        let bounds = |test: SegmentTest| -> Vec<Option<Duration>> {
            test.bounds(&set).iter().zip(test.late_bounds(&set)).map(|(bound, late)| bound.bound().or(late)).collect()
        };
        let all = tests.map(bounds);
        let mut longest = [0; 4];
        for run in 0..3 {
            let mut random = RandomRun::new(&set, 1_000 * number + run);
            let found = longest_responses(&set, Sharing::RoundRobin, GpuWait::Suspend, &mut random, 300);
            longest.iter_mut().zip(found).for_each(|(longest, found)| *longest = found.max(*longest));
        }
        for (task, longest) in longest.iter().enumerate() {
            let of_task = [0, 1, 2, 3].map(|test| all[test][task].map(Duration::as_ns));
            assert!(of_task.iter().flatten().all(|bound| longest <= bound), "{number}, {task}: {longest}, {of_task:?}");
            let [by_jitter, by_blocking, _, unified] = of_task;
            if let Some(least) = by_jitter.into_iter().chain(by_blocking).min() {
                assert!(unified.is_some_and(|unified| unified <= least), "{number}, {task}: {of_task:?}");
            }
            better += u32::from(unified.is_some_and(|unified| by_jitter.is_none_or(|jitter| unified < jitter)));
        }
    }
    assert!(better > 20, "{better} of 600 bounds are less than as jitter");
}

/// A set is run under the policy that they bound, whichever of them is named.
#[test]
fn these_bounds_stand_beside_runs_under_time_slices() {
    use gpusched::effort::Progress;
    use gpusched::hosts::{SegmentRunOptions, run_segment_tasks};
    let set = set_of(5, &[(40, 25, 100), (60, 5, 190), (40, 0, 500)]);
    let device = Device::builtin("tx2").expect("it is read").expect("it is built in");
    let options = || SegmentRunOptions { horizon: None, seed: 0, device: &device, records_cores: false };
    let run = |name: &str| run_segment_tasks(&set, test(name), options(), Progress::NONE).expect("it runs").jobs;
    assert_eq!(run("round-robin-suspend-unified"), run("round-robin-suspend"));
}
