//! Streams whose releases are not given: bounds over all phasings against the theory of one processor, and against
//! runs.

use gpusched::analysis::{
    AnalysedJob, SearchOptions, SporadicRefusal, Verdict, jobs_of, judge_sporadic, sporadic_bounds,
};
use gpusched::device::Device;
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::scenario::{Deadline, Scenario};
use gpusched::time::Duration;
use proptest::prelude::*;
use response_time_analysis::demand::{self, RBF};
use response_time_analysis::fixed_priority::fully_nonpreemptive::{TaskUnderAnalysis, dedicated_uniproc_rta};
use response_time_analysis::time::{Duration as Ticks, Service};
use response_time_analysis::wcet::Scalar;
use response_time_analysis::{arrival, fifo};

use crate::bounds::{processors, scenario};
use crate::campaign::{campaign, config};
use crate::common::tx2;

/// A task: (C, T, priority) with 0 the highest; in ns.
type Task = (u64, u64, i32);

/// Each task one block on one SM, which it fills.
fn processor_tasks(tasks: &[Task]) -> Scenario {
    filling_tasks(1, tasks)
}

/// Each task one kernel with a block for each SM, which that fills.
fn filling_tasks(sms: u32, tasks: &[Task]) -> Scenario {
    let kernels: Vec<String> = (0..)
        .zip(tasks)
        .map(|(n, (c, _, _))| format!(r#""K{n}": {{"blocks": {sms}, "threads": 1024, "duration": "{c} ns"}}"#))
        .collect();
    let streams: Vec<String> = (0..)
        .zip(tasks)
        .map(|(n, (_, t, priority))| {
            format!(
                r#"{{"name": "T{n}", "priority": {}, "period": "{t} ns", "jobs": 1, "operations": [{{"kernel": "K{n}"}}]}}"#,
                priority - 15
            )
        })
        .collect();
    scenario(&kernels.join(", "), &streams.join(", "), &processors(sms))
}

fn bounds(scenario: &Scenario, jitter: &[Duration]) -> Result<Vec<u64>, SporadicRefusal> {
    let bounds = sporadic_bounds(scenario, jitter).expect("it is sound");
    bounds.map(|bounds| bounds.into_iter().map(Duration::as_ns).collect())
}

/// The longest response of each task on one processor without preemption, over some arrivals and releases: a job enters
/// the queue of its priority once it is released and the one before it of its task is done (G2), and queues are first
/// in, first out.
fn longest_of_a_run(tasks: &[Task], jitter: &[u64], choices: &[u64]) -> Vec<u64> {
    let mut choices = choices.iter().copied().cycle();
    let mut choose = |most: u64| choices.next().unwrap_or(0) % (most + 1);
    // By task: arrival and release of each job.
    let jobs: Vec<Vec<(u64, u64)>> = tasks
        .iter()
        .zip(jitter)
        .map(|(&(_, period, _), &jitter)| {
            let mut arrival = choose(period);
            (0..12)
                .map(|_| {
                    let job = (arrival, arrival + choose(jitter));
                    arrival += period + if choose(3) == 0 { choose(period) } else { 0 };
                    job
                })
                .collect()
        })
        .collect();
    let (mut next, mut done) = (vec![0_usize; tasks.len()], vec![0_u64; tasks.len()]);
    let mut longest = vec![0; tasks.len()];
    let mut now = 0;
    loop {
        let entry = |task: usize| jobs[task].get(next[task]).map(|&(_, release)| release.max(done[task]));
        let Some(first) = (0..tasks.len()).filter_map(entry).min() else { return longest };
        now = first.max(now);
        let waiting = (0..tasks.len()).filter_map(|task| entry(task).filter(|&at| at <= now).map(|at| (task, at)));
        let (task, _) = waiting.min_by_key(|&(task, at)| (tasks[task].2, at, task)).expect("one has entered");
        now += tasks[task].0;
        longest[task] = longest[task].max(now - jobs[task][next[task]].0);
        (next[task], done[task]) = (next[task] + 1, now);
    }
}

#[test]
fn jobs_of_one_queue_that_wait_for_their_own_are_passed_by_what_is_released_later() {
    // One SM, S0 with 7 ns every 10 ns and jitter 6, S1 with 1 ns every 5 and jitter 2. S0 is released at 12, 16, 26,
    // S1 at 5, 12, 15, 20, 27. S0 runs from 12, then S1's job of 12 from 19. The second of S0 comes at 19 and runs from
    // 20 to 27; the job of S1 that arrived at 15 waits for that. The third of S0, of 26, comes at 27, before S1's job
    // of 20, which can only come at 28: so that runs from 35 and ends at 36, 16 ns after it arrived. First in, first
    // out by releases it would be done sooner: 14 ns was said to be a bound.
    let tasks = [(7, 10, 3), (1, 5, 3)];
    let jitter = [Duration::from_ns(6), Duration::from_ns(2)];
    if let Ok(bounds) = bounds(&processor_tasks(&tasks), &jitter) {
        assert!(bounds[1] >= 16, "{bounds:?}");
    }
}

#[test]
fn three_messages_on_a_can_bus_have_the_responses_of_davis_et_al() {
    // Davis, Burns, Bril and Lukkien 2007, Table 2: C = 1 ms, T = 2.5, 3.5, 3.5 ms. The third message's second
    // instance takes 3.5 ms, its first 3 ms. A message that blocks began before, so by less than its length.
    let ms = 1_000_000;
    let tasks = [(ms, 5 * ms / 2, 0), (ms, 7 * ms / 2, 1), (ms, 7 * ms / 2, 2)];
    assert_eq!(bounds(&processor_tasks(&tasks), &[]), Ok(vec![2 * ms - 1, 3 * ms - 1, 7 * ms / 2]));
}

#[test]
fn tasks_of_one_priority_have_the_fifo_bound() {
    // The crate's example 1, with a longer period of the second task: C, T = (79, 120), (11, 134), (1, 190) have 91.
    assert_eq!(bounds(&processor_tasks(&[(79, 120, 3), (11, 134, 3), (1, 190, 3)]), &[]), Ok(vec![91; 3]));
}

fn rbf(task: &Task) -> RBF<arrival::Sporadic, Scalar> {
    let arrivals = arrival::Sporadic::new_zero_jitter(Ticks::from(task.1));
    RBF::new(arrivals, Scalar::new(Service::from(task.0)))
}

/// The bound of the crate `response-time-analysis` on the task number `index`, whose priorities are the indexes.
fn by_the_crate(tasks: &[Task], index: usize) -> Option<u64> {
    let longest = tasks[index + 1..].iter().map(|(c, _, _)| *c).max().unwrap_or(0);
    let arrivals = arrival::Sporadic::new_zero_jitter(Ticks::from(tasks[index].1));
    let analysed = TaskUnderAnalysis {
        wcet: Scalar::new(Service::from(tasks[index].0)),
        arrivals: &arrivals,
        blocking_bound: Service::from(longest.saturating_sub(1)),
    };
    let higher: Vec<_> = tasks[..index].iter().map(rbf).collect();
    let bound = dedicated_uniproc_rta(&analysed, &higher, Ticks::from(1_000_000)).ok()?;
    Some(u64::from(bound))
}

/// The bound of the crate on all tasks of one queue.
fn fifo_by_the_crate(tasks: &[Task]) -> Option<Vec<u64>> {
    let all: Vec<_> = tasks.iter().map(rbf).collect();
    let bound = u64::from(fifo::dedicated_uniproc_rta(&demand::Slice::of(&all), Ticks::from(1_000_000)).ok()?);
    Some(vec![bound; tasks.len()])
}

/// Whether bounds are within all periods.
fn within(bounds: &[u64], tasks: &[Task]) -> bool {
    bounds.iter().zip(tasks).all(|(bound, task)| *bound <= task.1)
}

proptest! {
    #![proptest_config(config(50))]

    #[test]
    fn one_queue_has_the_bounds_of_the_crate_on_one_sm_and_for_kernels_that_fill_two(
        drawn in prop::collection::vec((1_u64..40, 20_u64..400), 1..6),
    ) {
        let tasks: Vec<Task> = drawn.iter().map(|&(c, t)| (c, t, 3)).collect();
        let Some(crates) = fifo_by_the_crate(&tasks) else { return Ok(()) };
        for sms in [1, 2] {
            let ours = bounds(&filling_tasks(sms, &tasks), &[]);
            // Where jobs wait for others of their own, they come into the EE queue later than they are released (G2).
            if within(&crates, &tasks) {
                prop_assert_eq!(ours, Ok(crates.clone()));
            } else if let Ok(ours) = ours {
                prop_assert!(ours.iter().zip(&crates).all(|(ours, exact)| ours >= exact));
            }
        }
    }

    #[test]
    fn no_run_of_one_processor_is_above_the_bounds_also_where_jobs_queue(
        drawn in prop::collection::vec((1_u64..12, 4_u64..60, 0_u64..20, 0_i32..3), 1..5),
        choices in prop::collection::vec(any::<u64>(), 1..200),
    ) {
        let tasks: Vec<Task> = drawn.iter().map(|&(c, t, _, priority)| (c, t, priority)).collect();
        let jitter: Vec<u64> = drawn.iter().map(|task| task.2 % task.1).collect();
        let stated: Vec<Duration> = jitter.iter().copied().map(Duration::from_ns).collect();
        let Ok(bounds) = bounds(&processor_tasks(&tasks), &stated) else { return Ok(()) };
        for turned in 0..40 {
            let mut choices = choices.clone();
            let places = choices.len();
            choices.rotate_left(turned % places);
            let longest = longest_of_a_run(&tasks, &jitter, &choices);
            prop_assert!(longest.iter().zip(&bounds).all(|(run, bound)| run <= bound), "{longest:?} {bounds:?}");
        }
    }

    /// What the crate computes is taken by some run; so a bound below it would be wrong.
    #[test]
    fn kernels_that_fill_two_sms_have_no_bounds_below_those_of_the_crate_with_fixed_priorities(
        drawn in prop::collection::vec((1_u64..40, 20_u64..400), 1..6),
    ) {
        let tasks: Vec<Task> = (0..).zip(&drawn).map(|(priority, &(c, t))| (c, t, priority)).collect();
        let Ok(ours) = bounds(&filling_tasks(2, &tasks), &[]) else { return Ok(()) };
        for (index, bound) in ours.into_iter().enumerate() {
            let exact = by_the_crate(&tasks, index);
            prop_assert!(exact.is_some_and(|exact| bound >= exact), "{index}: {bound} {exact:?}");
        }
    }

    #[test]
    fn one_processor_with_fixed_priorities_has_the_bounds_of_the_crate(
        drawn in prop::collection::vec((1_u64..40, 20_u64..400), 1..6),
    ) {
        let tasks: Vec<Task> = (0..).zip(&drawn).map(|(priority, &(c, t))| (c, t, priority)).collect();
        let crates: Option<Vec<u64>> = (0..tasks.len()).map(|index| by_the_crate(&tasks, index)).collect();
        if let Some(crates) = crates {
            prop_assert_eq!(bounds(&processor_tasks(&tasks), &[]), Ok(crates));
        }
    }
}

#[test]
fn a_kernel_alone_takes_its_waves_and_the_jitter() {
    let alone = scenario(
        r#""K": {"blocks": 8, "threads": 512, "duration": "4 ms"}"#,
        r#"{"name": "S", "period": "100 ms", "jobs": 1, "operations": [{"kernel": "K"}]}"#,
        &tx2(),
    );
    assert_eq!(bounds(&alone, &[Duration::from_ns(3_000_000)]), Ok(vec![7_000_000]));
}

/// Two streams of one job each 20 ms and 30 ms.
fn two(kernels: &str, x: &str, y: &str) -> Scenario {
    let streams = format!(
        r#"{{"name": "x", "period": "20 ms", "jobs": 1, {x}}}, {{"name": "y", "period": "30 ms", "jobs": 1, {y}}}"#
    );
    scenario(kernels, &streams, &tx2())
}

const MS: u64 = 1_000_000;

/// Each fills the GPU.
const FULL: &str = r#""F": {"blocks": 8, "threads": 512, "duration": "4 ms"}, "G": {"blocks": 4, "threads": 1024, "duration": "6 ms"}"#;

#[test]
fn kernels_that_fill_the_gpu_wait_for_one_another_once() {
    // The other one first, then the own: 6 + 4 ms and 4 + 6 ms.
    let fifo = two(FULL, r#""operations": [{"kernel": "F"}]"#, r#""operations": [{"kernel": "G"}]"#);
    assert_eq!(bounds(&fifo, &[]), Ok(vec![10 * MS; 2]));
    // Before a job of high priority the other begins at least 1 ns earlier; the next but one comes too late for y.
    let high = r#""priority": -1, "operations": [{"kernel": "F"}]"#;
    let low = r#""priority": 0, "operations": [{"kernel": "G"}]"#;
    assert_eq!(bounds(&two(FULL, high, low), &[]), Ok(vec![10 * MS - 1, 10 * MS]));
    // A jitter of 1 ms is added to the own response; the next job of x still comes when all of y has begun.
    let jitter = [Duration::from_ns(MS)];
    assert_eq!(bounds(&two(FULL, high, low), &jitter), Ok(vec![11 * MS - 1, 10 * MS]));
}

#[test]
fn copies_wait_for_copies_and_kernels_for_kernels() {
    let copy = |ms: u64| format!(r#"{{"copy": "host-to-device", "duration": "{ms} ms"}}"#);
    let x = format!(r#""operations": [{{"kernel": "F"}}, {}]"#, copy(2));
    let y = format!(r#""operations": [{}]"#, copy(3));
    // x: 4, then y's copy, then its own. y: the copy of x before it.
    assert_eq!(bounds(&two(FULL, &x, &y), &[]), Ok(vec![9 * MS, 5 * MS]));
}

#[test]
fn jobs_that_queue_leave_the_streams_beside_them_their_bounds() {
    // One SM that each block fills, one queue. A job of A has two kernels of 3 ms every 10 ms, one of B two of 5 ms.
    // Each kernel of A may find one of B in front: 5 + 3 + 5 + 3 = 16 ms; the job after that one ends 22 ms after the
    // first came, the third after 28 ms, before the next one comes. By work, B waits for 6 jobs of A before its last
    // kernel runs, those that come within 41 + 16 ms: 5 + 36 + 5 ms; in orders of dispatch for less.
    let kernels = r#""a": {"blocks": 1, "threads": 1024, "duration": "3 ms"},
        "b": {"blocks": 1, "threads": 1024, "duration": "5 ms"}"#;
    let stream = |name: &str, period: u64| {
        let kernel = name.to_lowercase();
        format!(
            r#"{{"name": "{name}", "period": "{period} ms", "jobs": 2,
                "operations": [{{"kernel": "{kernel}"}}, {{"kernel": "{kernel}"}}]}}"#
        )
    };
    let streams = [stream("A", 10), stream("B", 100)].join(",");
    let scenario = scenario(kernels, &streams, &processors(1));
    let bounded = bounds(&scenario, &[]).expect("they have bounds");
    assert!(bounded[0] == 16 * MS && bounded[1] <= 46 * MS, "{bounded:?}");
    let found = judge_sporadic(&scenario, &[], &SearchOptions::default(), Progress::NONE).expect("it runs");
    let verdicts: Vec<_> = found.streams.iter().map(|stream| stream.verdict).collect();
    assert_eq!(verdicts, [Some(Verdict::Missed), Some(Verdict::Proven)], "{:?}", found.streams);
    assert_eq!(found.streams[0].worst_found_ns, Some(Duration::from_ns(16 * MS)));
    // Without the time for it, the jobs of A become more and more.
    let crowded = [stream("A", 10), stream("B", 24)].join(",");
    let crowded = crate::bounds::scenario(kernels, &crowded, &processors(1));
    assert!(matches!(bounds(&crowded, &[]), Err(SporadicRefusal::BeyondPeriod { .. })));
}

#[test]
fn one_queue_on_one_sm_has_no_bound_where_a_job_may_be_released_before_the_one_that_came_before_it() {
    // T1 comes every 15 ms and is released up to 16 ms later, so behind its next job. T0 takes 2 ms of each 5.
    let tasks = processor_tasks(&[(2 * MS, 5 * MS, 3), (MS, 15 * MS, 3)]);
    let late = |ms: u64| bounds(&tasks, &[Duration::ZERO, Duration::from_ns(ms * MS)]);
    assert!(late(10).is_ok(), "{:?}", late(10));
    for jitter in [15, 16, 31] {
        assert!(matches!(late(jitter), Err(SporadicRefusal::BeyondPeriod { .. })), "{:?}", late(jitter));
    }
}

#[test]
fn what_cannot_be_analysed_is_refused_with_the_reason() {
    let kernel = r#""K": {"blocks": 8, "threads": 512, "duration": "4 ms"}"#;
    let of = |streams: &str| bounds(&scenario(kernel, streams, &tx2()), &[]).expect_err("it is refused");
    let stream = |name: &str, period: &str| {
        format!(r#"{{"name": "{name}", {period} "operations": [{{"kernel": "K"}}, {{"kernel": "K"}}]}}"#)
    };
    let thread = || "B".to_owned();
    let two = |period: &str| [stream("A", r#""period": "100 ms", "jobs": 1,"#), stream("B", period)].join(",");
    assert_eq!(of(&two("")), SporadicRefusal::NoPeriod { thread: thread() });
    assert!(matches!(of(&two(r#""period": "8 ms", "jobs": 1,"#)), SporadicRefusal::BeyondPeriod { .. }));
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "hosts", "kernels": {{{kernel}}}, "streams": [{{"name": "S"}}],
            "hosts": [{{"name": "H", "period": "50 ms", "iterations": 2, "steps": [
                {{"launch": "K", "stream": "S"}}, {{"synchronize": "last"}}]}}]}}"#
    );
    let hosts = Scenario::from_json("hosts.json", &text, &gpusched::scenario::ReadOptions::default()).expect("sound");
    assert_eq!(bounds(&hosts, &[]), Ok(vec![4 * MS]), "a wait for the own work at the end changes nothing");
    let text =
        text.replace(r#"{"synchronize": "last"}]"#, r#"{"synchronize": "last"}, {"launch": "K", "stream": "S"}]"#);
    let hosts = Scenario::from_json("hosts.json", &text, &gpusched::scenario::ReadOptions::default()).expect("sound");
    assert_eq!(bounds(&hosts, &[]), Ok(vec![8 * MS]), "a launch after a wait");
}

/// A stream: priority, period \[ms\], jitter \[ms\], operations.
#[derive(Debug, Clone)]
struct Stream {
    priority: Option<i32>,
    period: u64,
    jitter: u64,
    operations: Vec<Operation>,
}

/// Blocks, warps, ms; without blocks a copy.
type Operation = (u32, u32, u64);

fn build(streams: &[Stream], null: bool, device: &Device) -> (Scenario, Vec<Duration>) {
    let (mut kernels, mut texts) =
        (vec![r#""unused": {"blocks": 1, "threads": 32, "duration": "1 ms"}"#.to_owned()], Vec::new());
    for (index, stream) in streams.iter().enumerate() {
        let mut operations = Vec::new();
        for &(blocks, warps, ms) in &stream.operations {
            if blocks == 0 {
                operations.push(format!(r#"{{"copy": "host-to-device", "bytes": {}}}"#, ms * 10_000_000));
            } else {
                let name = format!("K{}", kernels.len());
                kernels.push(format!(
                    r#""{name}": {{"blocks": {blocks}, "threads": {}, "duration": "{ms} ms"}}"#,
                    32 * warps
                ));
                operations.push(format!(r#"{{"kernel": "{name}"}}"#));
            }
        }
        let is_null = null && index == 0;
        let name = if is_null { "NULL".to_owned() } else { format!("S{index}") };
        let priority = stream
            .priority
            .filter(|_| !is_null)
            .map_or(String::new(), |priority| format!(r#""priority": {priority},"#));
        texts.push(format!(
            r#"{{"name": "{name}", {priority} "period": "{} ms", "jobs": 1, "operations": [{}]}}"#,
            stream.period,
            operations.join(", ")
        ));
    }
    let jitter = streams.iter().map(|stream| Duration::from_ns(stream.jitter * 1_000_000)).collect();
    let mut scenario = scenario(&kernels.join(", "), &texts.join(", "), device);
    // More of them come in other phasings.
    for thread in &mut scenario.threads {
        thread.is_cut = true;
    }
    (scenario, jitter)
}

fn streams(periods: std::ops::Range<u64>) -> impl Strategy<Value = Vec<Stream>> {
    let operation = prop_oneof![
        4 => (1_u32..12, prop_oneof![Just(16_u32), 1_u32..=32], 1_u64..8),
        1 => (Just(0_u32), Just(0_u32), 1_u64..5),
    ];
    let stream = (
        prop_oneof![1 => Just(None), 3 => (-1_i32..=0).prop_map(Some)],
        periods,
        prop_oneof![Just(0_u64), 0_u64..15],
        prop::collection::vec(operation, 1..3),
    );
    let stream =
        stream.prop_map(|(priority, period, jitter, operations)| Stream { priority, period, jitter, operations });
    prop::collection::vec(stream, 1..5)
}

/// Bound / worst response found, of every stream; nothing if there are no bounds.
fn ratios(streams: &[Stream], null: bool, sms: u32, seed: u64, runs: u64) -> Result<Vec<f64>, TestCaseError> {
    let device = tx2().with(|spec| (spec.sms, spec.sms_per_tpc) = (sms, 1)).expect("it is within the limits");
    let (scenario, jitter) = build(streams, null, &device);
    let options = SearchOptions { seed, runs, ..SearchOptions::default() };
    let progress = Progress::NONE;
    let verdicts = judge_sporadic(&scenario, &jitter, &options, progress).expect("it runs");
    let mut ratios = Vec::new();
    for (number, stream) in verdicts.streams.iter().enumerate() {
        let found = stream.worst_found_ns.expect("every job finishes");
        // It is the longest of all jobs of the stream.
        let witness = verdicts.witness(number).expect("there is one");
        let run = simulate(&witness)?;
        let jobs = jobs_of(&run);
        let of_stream = jobs.iter().filter(|job| job.stream.starts_with(&*stream.stream));
        let finish = |job: &AnalysedJob| job.finish(|id| run.trace.operations()[id as usize].finish());
        let longest = of_stream.map(|job| finish(job).map(|finish| finish.since(job.released))).max();
        // Of a job that is not over when more may be released, only that it takes longer than until then is known.
        let longest = longest.flatten();
        let more_come = scenario.threads.iter().filter_map(|thread| thread.period).min();
        let is_longer = longest > Some(found) && more_come.is_some_and(|more| more.as_ns() + 1 == found.as_ns());
        prop_assert!(longest == Some(found) || is_longer, "{longest:?}: {stream:?}");
        if let Some(bound) = stream.bound_ns {
            prop_assert!(bound >= found, "{stream:?}");
            ratios.push(bound.as_ns() as f64 / found.as_ns().max(1) as f64);
        }
    }
    Ok(ratios)
}

proptest! {
    #![proptest_config(config(30))]

    #[test]
    fn no_phasing_is_above_the_bound_of_its_stream(
        streams in streams(20..200), null in prop::bool::weighted(0.15), sms in 1_u32..=3, seed in any::<u64>(),
    ) {
        ratios(&streams, null, sms, seed, 32)?;
    }

    #[test]
    fn no_phasing_of_jobs_that_queue_is_above_the_bound_of_its_stream(
        streams in streams(4..60), sms in 1_u32..=3, seed in any::<u64>(),
    ) {
        ratios(&streams, false, sms, seed, 32)?;
    }
}

#[test]
fn a_bad_phasing_is_found_with_its_witness() {
    // H has priority, but L's blocks of 10 ms cannot be interrupted: one that begins just before H's release.
    let streams = [
        Stream { priority: Some(-1), period: 40, jitter: 0, operations: vec![(4, 32, 2)] },
        Stream { priority: Some(0), period: 60, jitter: 0, operations: vec![(4, 32, 10)] },
    ];
    let (mut scenario, jitter) = build(&streams, false, &tx2());
    scenario.threads[0].deadline = Deadline::After(Duration::from_ns(11_000_000));
    let options = SearchOptions { runs: 600, ..SearchOptions::default() };
    let progress = Progress::NONE;
    let verdicts = judge_sporadic(&scenario, &jitter, &options, progress).expect("it runs");
    let high = &verdicts.streams[0];
    assert_eq!(high.verdict, Some(Verdict::Missed), "{high:?}");
    let witness = verdicts.witness(0).expect("there is one");
    let run = simulate(&witness).expect("it runs");
    let worst = jobs_of(&run)
        .iter()
        .filter(|job| job.stream.starts_with("S0"))
        .filter_map(|job| Some(job.finish(|id| run.trace.operations()[id as usize].finish())?.since(job.released)))
        .max();
    assert_eq!(worst, high.worst_found_ns);
}

#[test]
fn a_job_that_is_late_by_its_jitter_is_late_in_the_witness_too() {
    let kernels = r#""K": {"blocks": 1, "threads": 32, "duration": "3 ms"}"#;
    let stream = r#"{"name": "S", "period": "10 ms", "jitter": "8 ms", "operations": [{"kernel": "K"}]}"#;
    let scenario = scenario(kernels, stream, &tx2());
    let jitter = [scenario.threads[0].jitter];
    let verdicts = judge_sporadic(&scenario, &jitter, &SearchOptions::default(), Progress::NONE).expect("it runs");
    // 8 ms until its release, 3 ms on the GPU.
    assert_eq!(verdicts.streams[0].verdict, Some(Verdict::Missed));
    assert_eq!(verdicts.streams[0].worst_found_ns, Some(Duration::from_ns(11_000_000)));
    assert!(simulate(&verdicts.witness(0).expect("there is one")).expect("it runs").jobs().misses() > 0);
}

#[test]
fn no_run_that_is_found_has_more_jobs_of_a_stream_than_it_has() {
    let kernels = r#""a": {"blocks": 4, "threads": 1024, "duration": "6 ns"},
        "b": {"blocks": 4, "threads": 1024, "duration": "1 ns"}"#;
    let ten = [r#"{"kernel": "b"}"#; 10].join(", ");
    let judged = |jobs: &str| {
        let streams = format!(
            r#"{{"name": "S", "priority": -1, "period": "10 ns", {jobs} "operations": [{{"kernel": "a"}}]}},
               {{"name": "T", "priority": 0, "period": "100 ns", {jobs} "deadline": "18 ns", "operations": [{ten}]}}"#
        );
        let scenario = scenario(kernels, &streams, &tx2());
        let judged = judge_sporadic(&scenario, &[], &SearchOptions::default(), Progress::NONE).expect("it runs");
        let witness = judged.witness(1).expect("there is one");
        let of_s = simulate(&witness)
            .expect("it runs")
            .jobs()
            .begun
            .iter()
            .filter(|job| witness.threads[job.thread as usize].label.starts_with('S'))
            .count();
        (judged.streams[1].worst_found_ns.map(Duration::as_ns), judged.streams[1].verdict, of_s)
    };
    // Ten kernels of T, and whenever it comes the one job of S before one of them: 16 ns. The bound does not know how
    // many jobs there are.
    assert_eq!(judged(r#""jobs": 1,"#), (Some(16), Some(Verdict::Open), 1));
    // Without an end S comes again before T is done.
    let (found, verdict, of_s) = judged("");
    assert!(found > Some(18) && verdict == Some(Verdict::Missed) && of_s > 1, "{found:?}, {of_s}");
}

/// Each scenario is run 200 times.
#[test]
fn a_miss_that_only_the_stated_releases_come_to_is_found() {
    // Each job is half a millisecond later than the one before: number 12 ends 16.5 ms after its release, the last of
    // 20 after 20 ms. Runs that are made up have three jobs.
    let kernels = r#""K": {"blocks": 4, "threads": 1024, "duration": "10.5 ms"}"#;
    let stream =
        r#"{"name": "S", "period": "10 ms", "jobs": 20, "deadline": "16 ms", "operations": [{"kernel": "K"}]}"#;
    let scenario = scenario(kernels, stream, &tx2());
    let verdicts = judge_sporadic(&scenario, &[], &SearchOptions::default(), Progress::NONE).expect("it runs");
    let stream = &verdicts.streams[0];
    assert_eq!((stream.verdict, stream.worst_found_ns), (Some(Verdict::Missed), Some(Duration::from_ns(20_000_000))));
    let witness = verdicts.witness(0).expect("there is one");
    let late = simulate(&witness).expect("it runs").jobs().begun.iter().filter_map(gpusched::run::Job::response).max();
    assert_eq!(late, stream.worst_found_ns);
}

#[test]
#[ignore = "a long campaign"]
fn long_campaign_of_sporadic_streams() {
    for (of, periods) in [("streams over all phasings", 20..200), ("streams whose jobs may queue", 4..60)] {
        let strategy = (streams(periods), prop::bool::weighted(0.15), any::<u64>());
        let said = campaign(of, 5_000, &strategy, |(streams, null, seed)| ratios(&streams, null, 2, seed, 200));
        println!("{said}");
    }
}
