//! The strategies on the simulated GPU, and the tests against what happens there.

use proptest::prelude::{ProptestConfig, prop};
use proptest::{prop_assert_eq, proptest};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::grid::GridError;
use super::jobs::{Policy, TaskJob};
use super::{RunOptions, Strategy, TaskRun, TaskRunError, run_tasks};
use crate::device::{BlockShape, Device};
use crate::effort::Progress;
use crate::tasks::{
    Allocation, Partition, Reservation, ReservationTest, Reservations, Task, TaskKernel, TaskSet, TaskTime, Timing,
    streams,
};

fn tx2() -> Device {
    Device::builtin("tx2").expect("sound").expect("built in")
}

/// A task that takes all SMs in blocks of 1024 threads, four of which fill a TX2: (name, blocks, block time, D, T).
fn gang(name: &str, blocks: u32, block_time: u64, deadline: u64, period: u64) -> Task {
    let shape = BlockShape { threads: 1024, ..BlockShape::default() };
    let timing = Timing::new(u64::from(blocks.div_ceil(4)) * block_time, period, deadline);
    let kernel = Some(TaskKernel { blocks, shape, block_time: TaskTime::from_units(block_time) });
    Task { kernel, ..Task::new(name, timing, block_time, Allocation::All) }
}

fn set(tasks: Vec<Task>, priority_levels: u32) -> TaskSet {
    TaskSet { sms: 2, tasks, reservations: None, priority_levels }
}

fn run(set: &TaskSet, strategy: Strategy, policy: Policy, horizon: Option<u64>, seed: u64) -> TaskRun {
    run_tasks(set, &RunOptions { seed, ..options(strategy, policy, horizon) }, Progress::NONE).expect("it runs")
}

fn options(strategy: Strategy, policy: Policy, horizon: Option<u64>) -> RunOptions {
    let horizon = horizon.map(TaskTime::from_units);
    RunOptions { strategy, policy, horizon, seed: 0, synchronization: TaskTime::ZERO, device: tx2() }
}

fn finishes(run: &TaskRun) -> Vec<Option<u64>> {
    run.jobs.iter().map(|job| job.finish.map(TaskTime::units)).collect()
}

fn with_costs(set: &TaskSet) -> Vec<(Timing, TaskTime)> {
    set.tasks.iter().map(|task| (task.timing, task.preemption_cost)).collect()
}

#[test]
fn blocks_of_the_low_stream_fill_the_last_wave_and_delay_the_next_high_job() {
    // Erratum 17: with the printed blocking term, C_h without PCmax_h, this set passes: 4000 + 5000 + 2000 <= 11000.
    let low = gang("l", 8, 5_000, 26_000, 100_000);
    let high = Task { offset: TaskTime::from_units(1), ..gang("h", 5, 1_000, 16_000, 100_000) };
    let next = Task { offset: TaskTime::from_units(2), ..gang("i", 4, 4_000, 11_000, 100_000) };
    let set = set(vec![low, high, next], 2);
    let run = run(&set, Strategy::MultiStream, Policy::Edf, Some(3), 0);
    assert_eq!(finishes(&run), [Some(16_000), Some(7_000), Some(15_000)]);
    assert!(run.jobs[2].is_late(), "its deadline is 11002");
    assert_eq!(streams::limited_preemption(&with_costs(&set), 2).answer(), Some(false));
}

#[test]
fn the_three_cases_of_section_5_2() {
    // Case 1: a goes to l-sq at once. Case 2: b, more urgent, goes to h-sq and starts at the end of a's blocks.
    // Case 3: c is more urgent than both, and waits in rq until b is done.
    let a = gang("a", 12, 10, 100, 1_000);
    let b = Task { offset: TaskTime::from_units(1), ..gang("b", 4, 7, 60, 1_000) };
    let c = Task { offset: TaskTime::from_units(2), ..gang("c", 4, 3, 30, 1_000) };
    let set = set(vec![a, b, c], 2);
    let result = run(&set, Strategy::MultiStream, Policy::Edf, Some(3), 0);
    assert_eq!(finishes(&result), [Some(40), Some(17), Some(20)]);
    assert_eq!(result.jobs.iter().map(|job| job.preemptions).collect::<Vec<_>>(), [2, 0, 0]);
    // With one stream nothing is preempted.
    let result = run(&set, Strategy::SingleStream, Policy::Edf, Some(3), 0);
    assert_eq!(finishes(&result), [Some(30), Some(40), Some(33)]);
}

#[test]
fn three_levels_nest_two_preemptions() {
    let a = gang("a", 12, 10, 100, 1_000);
    let b = Task { offset: TaskTime::from_units(1), ..gang("b", 8, 7, 60, 1_000) };
    let c = Task { offset: TaskTime::from_units(11), ..gang("c", 4, 3, 30, 1_000) };
    let result = run(&set(vec![a, b, c], 3), Strategy::MultiStream, Policy::Edf, Some(12), 0);
    // a until 10, b's first wave until 17, c, b's second wave, a.
    assert_eq!(finishes(&result), [Some(47), Some(27), Some(20)]);
}

#[test]
fn fixed_priorities_are_the_stated_ones_or_else_deadlines() {
    let a = Task { priority: Some(1), ..gang("a", 4, 5, 50, 100) };
    let b = Task { priority: Some(0), ..gang("b", 4, 5, 60, 100) };
    let both = set(vec![a.clone(), b.clone()], 2);
    assert_eq!(finishes(&run(&both, Strategy::SingleStream, Policy::Fp, None, 0)), [Some(10), Some(5)]);
    let unstated = [a, b].map(|task| Task { priority: None, ..task });
    let both = set(unstated.to_vec(), 2);
    assert_eq!(finishes(&run(&both, Strategy::SingleStream, Policy::Fp, None, 0)), [Some(5), Some(10)]);
}

fn table_1() -> TaskSet {
    let task = |name, wcet, period, allocation| Task::new(name, Timing::new(wcet, period, period), 0, allocation);
    let tasks = vec![
        task("tau1", 3, 10, Allocation::Sm(0)),
        task("tau2", 5, 15, Allocation::Sm(0)),
        task("tau3", 4, 12, Allocation::All),
        task("tau4", 1, 10, Allocation::Sm(1)),
    ];
    TaskSet { reservations: Some(Reservations::split(12, 8)), ..set(tasks, 2) }
}

#[test]
fn table_1_and_figure_2_on_the_gpu() {
    let result = run(&table_1(), Strategy::Gang, Policy::Edf, None, 0);
    let late: Vec<_> =
        result.jobs.iter().filter(|job| job.is_late()).map(|job| (job.task, job.deadline.units())).collect();
    assert_eq!(late, [(0, 60)]);
    // By hand, from the budgets [0, 8), [12, 20), [24, 32), [36, 44), [48, 56), [60, 68).
    let of = |task: u32| -> Vec<_> {
        result.jobs.iter().filter(|job| job.task == task).filter_map(|job| job.finish.map(TaskTime::units)).collect()
    };
    assert_eq!(of(0), [3, 15, 27, 37, 49, 61]);
    assert_eq!(of(1), [8, 20, 42, 54]);
    assert_eq!(of(2), [12, 24, 36, 48, 60]);
    assert_eq!(of(3), [1, 13, 25, 31, 41, 51]);
}

#[test]
fn sms_as_cores_run_tasks_of_different_sms_side_by_side() {
    let task = |name, wcet, allocation| Task::new(name, Timing::new(wcet, 100, 50), 100, allocation);
    let tasks = vec![task("a", 10, Allocation::Sm(0)), task("b", 4, Allocation::Sm(1)), task("c", 3, Allocation::All)];
    let tasks = tasks.into_iter().enumerate();
    // c is less urgent than both and waits until both SMs are free of them.
    let tasks: Vec<_> = tasks.map(|(index, task)| Task { priority: Some(index as u64), ..task }).collect();
    let result = run(&set(tasks, 1), Strategy::SmAsCore, Policy::Fp, None, 0);
    assert_eq!(finishes(&result), [Some(10), Some(4), Some(13)]);
}

#[test]
fn a_horizon_is_asked_for_where_the_hyperperiod_is_too_long() {
    let primes = [281_474_976_710_597, 281_474_976_710_591, 281_474_976_710_567];
    let task = |(index, period): (usize, u64)| gang(&format!("tau{index}"), 4, 1, period, period);
    let set = set(primes.into_iter().enumerate().map(task).collect(), 2);
    let options = |horizon| options(Strategy::SingleStream, Policy::Edf, horizon);
    assert_eq!(run_tasks(&set, &options(None), Progress::NONE), Err(TaskRunError::HyperperiodOverflow));
    assert_eq!(run_tasks(&set, &options(Some(10)), Progress::NONE).map(|run| run.jobs.len()), Ok(3));
    let many = TaskSet { tasks: vec![gang("tau", 4, 1, 1, 1)], ..set };
    assert!(matches!(run_tasks(&many, &options(Some(1 << 40)), Progress::NONE), Err(TaskRunError::TooManyJobs { .. })));
}

#[test]
fn a_scheduler_that_waits_for_synchronization_learns_later_and_keeps_the_stream_until_then() {
    let set = set(vec![gang("a", 4, 10, 1_000, 1_000), gang("b", 4, 10, 1_000, 1_000)], 2);
    let late = |synchronization| {
        let synchronization = TaskTime::from_units(synchronization);
        let options = RunOptions { seed: 3, synchronization, ..options(Strategy::SingleStream, Policy::Edf, None) };
        finishes(&run_tasks(&set, &options, Progress::NONE).expect("it runs"))
    };
    assert_eq!(late(0), [Some(10), Some(20)]);
    let both: Vec<u64> = late(100).into_iter().flatten().collect();
    assert!((10..=110).contains(&both[0]), "{both:?}");
    assert!((both[0] + 10..=both[0] + 110).contains(&both[1]) && both[1] > 20, "{both:?}");
    assert_eq!(late(100), late(100));
}

/// Random sets of kernels on a TX2 of which an honest share passes the tests of streams.
fn random_kernels(numbers: &mut ChaCha8Rng) -> TaskSet {
    let count = numbers.random_range(2..=4);
    let levels = numbers.random_range(1..=3);
    let is_sparse = numbers.random();
    let task = |index: usize| {
        let (blocks, block_time) = (numbers.random_range(1..=12), numbers.random_range(1..=8));
        let wcet = u64::from(u32::div_ceil(blocks, 4)) * block_time;
        let period = if is_sparse { 200 } else { numbers.random_range(wcet + 4..=wcet * 4 + 30) };
        let deadline = numbers.random_range(wcet..=period.min(wcet + 40));
        Task {
            offset: TaskTime::from_units(numbers.random_range(0..=20)),
            sporadic: numbers.random_range(0..3) == 0,
            ..gang(&format!("tau{index}"), blocks, block_time, deadline, period)
        }
    };
    let tasks = (0..count).map(task).collect();
    set(tasks, levels)
}

/// Sets tried: a short campaign by default; `GPUSCHED_GPU_TASK_SETS=1000000 cargo test --release` for a long one.
fn gpu_sets() -> u64 {
    std::env::var("GPUSCHED_GPU_TASK_SETS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000)
}

/// The same set with deadlines as short as `accepts` lets them be, and released so that every job finds a less urgent
/// one started just before it.
fn tightened(mut set: TaskSet, numbers: &mut ChaCha8Rng, accepts: impl Fn(&TaskSet) -> bool) -> TaskSet {
    if !accepts(&set) {
        return set;
    }
    let mut order: Vec<usize> = (0..set.tasks.len()).collect();
    order.rotate_left(numbers.random_range(0..set.tasks.len()));
    for index in order {
        while set.tasks[index].timing.deadline > set.tasks[index].timing.wcet {
            set.tasks[index].timing.deadline -= TaskTime::UNIT;
            if !accepts(&set) {
                set.tasks[index].timing.deadline += TaskTime::UNIT;
                break;
            }
        }
    }
    let by_deadline = |task: &Task| std::cmp::Reverse(task.timing.deadline);
    set.tasks.sort_by_key(by_deadline);
    let mut offset = TaskTime::ZERO;
    for task in &mut set.tasks {
        task.offset = offset;
        offset += TaskTime::from_units(numbers.random_range(1..=3));
    }
    set
}

fn no_tight_set_misses(strategy: Strategy, accepts: impl Fn(&TaskSet) -> bool) {
    let mut accepted = 0;
    for seed in 0..gpu_sets() {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        let drawn = random_kernels(&mut numbers);
        let set = if numbers.random() { tightened(drawn, &mut numbers, &accepts) } else { drawn };
        if accepts(&set) {
            accepted += 1;
            let result = run(&set, strategy, Policy::Edf, Some(300), seed);
            assert!(!result.jobs.iter().any(TaskJob::is_late), "seed {seed}: {set:#?}");
        }
    }
    assert!(accepted * 20 > gpu_sets(), "only {accepted} accepted");
}

#[test]
fn no_set_that_the_limited_preemption_test_accepts_misses_on_the_gpu() {
    no_tight_set_misses(Strategy::MultiStream, |set| {
        streams::limited_preemption(&with_costs(set), set.priority_levels).is_yes()
    });
}

#[test]
fn no_set_that_the_single_stream_test_accepts_misses_on_the_gpu() {
    no_tight_set_misses(Strategy::SingleStream, |set| streams::non_preemptive(&set.timings()).is_yes());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn one_priority_level_runs_as_a_single_stream(seed in 0..1_000_000_u64) {
        let set = TaskSet { priority_levels: 1, ..random_kernels(&mut ChaCha8Rng::seed_from_u64(seed)) };
        let multi = run(&set, Strategy::MultiStream, Policy::Edf, Some(200), seed);
        let single = run(&set, Strategy::SingleStream, Policy::Edf, Some(200), seed);
        prop_assert_eq!(multi.jobs, single.jobs);
    }

    #[test]
    fn gang_scheduling_with_blocks_of_one_unit_is_what_the_exact_test_decides(
        shape in prop::collection::vec((1..3_u64, 2..9_u64, 0..9_u64, 0..3_u32), 1..5),
        period in 2..9_u64,
        budget in 1..8_u64,
    ) {
        let tasks = shape.iter().enumerate().map(|(index, &(wcet, period, shorter, sm))| {
            let deadline = (period - shorter % period).max(1);
            let allocation = if sm == 2 { Allocation::All } else { Allocation::Sm(sm) };
            Task::new(&format!("tau{index}"), Timing::new(wcet.min(deadline), period, deadline), 0, allocation)
        });
        let budget = budget.min(period - 1);
        let both = Reservations::split(period, budget);
        let set = TaskSet { reservations: Some(both), ..set(tasks.collect(), 2) };
        let result = run(&set, Strategy::Gang, Policy::Edf, None, 0);
        let late = |allocation| {
            result.jobs.iter().any(|job| job.is_late() && set.tasks[job.task as usize].allocation == allocation)
        };
        for partition in Partition::of(&set, &both) {
            let exact = partition.verdict(&set, ReservationTest::Exact).is_yes();
            prop_assert_eq!(exact, !late(partition.allocation), "{:?}", partition);
        }
    }
}

#[test]
fn a_block_longer_than_its_budget_is_refused() {
    let task = Task::new("tau", Timing::new(6, 20, 20), 3, Allocation::Sm(0));
    let reservations = Some(Reservations { single: Reservation::new(0, 2, 10), all: Reservation::new(2, 8, 10) });
    let set = TaskSet { reservations, ..set(vec![task], 2) };
    let options = options(Strategy::Gang, Policy::Edf, None);
    assert!(matches!(
        run_tasks(&set, &options, Progress::NONE),
        Err(TaskRunError::Grid(GridError::BlockExceedsBudget { .. }))
    ));
}
