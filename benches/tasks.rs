//! Real-time tasks: the processor-demand test on sets of 20 tasks, EDF in a reservation, and EDF on the simulated GPU.

#![allow(clippy::expect_used, reason = "a benchmark that cannot run is meant to panic")]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gpusched::device::Device;
use gpusched::effort::Progress;
use gpusched::hosts::{Policy, RunOptions, Strategy, run_tasks};
use gpusched::tasks::{
    Allocation, Generator, Periods, Reservation, ReservationPeriod, ReservationTest, Task, TaskSet, TaskTime,
    TestResults, Timing, Utilizations,
};

fn main() {
    divan::main();
}

const SETS: u64 = 1_000;

/// Sets of 20 tasks with periods of 10 ms to 1 s in microseconds, and a utilization in thousandths.
fn sets(permille: u32) -> Vec<TaskSet> {
    let generator = Generator {
        sms: 1,
        tasks_per_sm: 20,
        gang_tasks: 0,
        single_permille: permille,
        gang_permille: 0,
        utilizations: Utilizations::UUniFast,
        periods: Periods::LogUniform(TaskTime::from_units(10_000), TaskTime::from_units(1_000_000)),
        reservation: ReservationPeriod::Shortest,
        deadline_percent: 75,
    };
    (0..SETS).filter_map(|index| generator.sample(1, index)).collect()
}

/// The deciding interval is short: utilization 0.3 to 0.7 of a supply of 0.9.
#[divan::bench(args = [300, 500, 700, 850])]
fn sbf_sets_of_20(bencher: Bencher<'_, '_>, permille: u32) {
    let sets: Vec<_> = sets(permille).iter().map(TaskSet::timings).collect();
    let reservation = Reservation::new(0, 9_000, 10_000);
    bencher.counter(ItemsCount::new(sets.len())).bench_local(|| {
        sets.iter().filter(|set| ReservationTest::Sbf.apply(black_box(set), reservation).is_yes()).count()
    });
}

#[divan::bench(args = [300, 500, 700, 850])]
fn sets_of_20_on_streams(bencher: Bencher<'_, '_>, permille: u32) {
    let sets = sets(permille);
    bencher
        .counter(ItemsCount::new(sets.len()))
        .bench_local(|| sets.iter().filter(|set| TestResults::new(black_box(set), &[]).single_stream.is_yes()).count());
}

/// Utilization equals supply exactly, so the hyperperiod of 2,520,000 bounds the interval.
#[divan::bench]
fn sbf_bound_by_the_hyperperiod(bencher: Bencher<'_, '_>) {
    let set: Vec<Timing> =
        (1..=20_u64).map(|task| (task - 1) % 10 + 1).map(|k| Timing::new(k * 50, k * 1_000, k * 1_000)).collect();
    bencher
        .counter(ItemsCount::new(1_u32))
        .bench_local(|| ReservationTest::Sbf.apply(black_box(&set), Reservation::new(0, 1, 1)));
}

/// 20 tasks at utilization 0.8.
fn twenty() -> Vec<Timing> {
    (1..=20).map(|task| Timing::new(40 * task, 1_000 * task, 1_000 * task)).collect()
}

const END: TaskTime = TaskTime::from_units(10_000_000);

fn jobs(tasks: &[Timing]) -> u64 {
    tasks.iter().map(|task| END.div_ceil(task.period)).sum()
}

#[divan::bench]
fn edf_jobs_in_a_reservation(bencher: Bencher<'_, '_>) {
    // Periods that divide END, which is their hyperperiod then.
    let factors = [1, 2, 4, 5, 8, 10, 16, 20, 25, 40, 50, 80, 100, 125, 200, 250, 400, 500, 625, 1_000];
    let tasks = factors.map(|factor| Timing::new(40 * factor, 1_000 * factor, 1_000 * factor));
    bencher
        .counter(ItemsCount::new(jobs(&tasks)))
        .bench_local(|| ReservationTest::Exact.apply(black_box(&tasks), Reservation::new(0, 10, 10)));
}

#[divan::bench(args = ["single-stream", "multi-stream"])]
fn edf_jobs_on_the_gpu(bencher: Bencher<'_, '_>, strategy: &str) {
    let timings = twenty();
    let task = |(index, &timing): (usize, &Timing)| Task::new(&format!("tau{index}"), timing, 40, Allocation::All);
    let tasks = timings.iter().enumerate().map(task).collect();
    let set = TaskSet { sms: 2, tasks, reservations: None, priority_levels: 2 };
    let options = RunOptions {
        strategy: Strategy::from_name(strategy).expect("known"),
        policy: Policy::Edf,
        horizon: Some(END),
        seed: 0,
        synchronization: TaskTime::ZERO,
        device: Device::builtin("tx2").expect("sound").expect("built in"),
    };
    bencher
        .counter(ItemsCount::new(jobs(&timings)))
        .bench_local(|| run_tasks(black_box(&set), &options, Progress::NONE).map(|run| run.jobs.len()));
}
