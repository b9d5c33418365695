//! The analyses against golden values, the simulation, and each other.

use gpusched::analysis::{Departure, Method, analyse, compare, launch_orders};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::run::Summary;
use gpusched::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use gpusched::time::{Duration, Instant};
use gpusched::workload::{Kernel, Placement, StreamSpec};

use crate::common::tx2;

const MS: u64 = 1_000_000;

/// Streams that are released at the times \[ms\], each with kernels of (blocks, threads, ms).
type Streams = Vec<(u64, Vec<(u32, u32, u64)>)>;

/// Streams that are released at once.
fn sample(streams: &[&[(u32, u32, u64)]]) -> Streams {
    streams.iter().map(|kernels| (0, kernels.to_vec())).collect()
}

fn scenario(streams: &Streams, placement: Placement) -> Scenario {
    let mut builder = ScenarioBuilder::on(&tx2(), "sample");
    builder.settings(Some(placement), None, None);
    let mut number = 0;
    for (index, (release_ms, kernels)) in streams.iter().enumerate() {
        let label = format!("S{index}");
        let spec = StreamSpec { blocking: false, ..StreamSpec::new(label.as_str()) };
        let stream = builder.add_stream(spec).expect("sound");
        let mut steps = Vec::new();
        for &(blocks, threads, ms) in kernels {
            let kernel = Kernel::new(format!("K{number}"), blocks, threads, Duration::from_ns(ms * MS));
            steps.push(Step::Launch(builder.add_kernel(kernel).expect("it fits the TX2"), stream));
            number += 1;
        }
        builder.add_thread(HostThread::once(label.as_str(), Duration::from_ns(release_ms * MS), steps));
    }
    builder.build()
}

fn simulated_ms(scenario: &Scenario) -> Vec<u64> {
    let run = simulate(scenario).expect("it runs");
    run.trace.operations().iter().map(|record| record.finish().expect("it finishes").as_ns() / MS).collect()
}

fn json(text: &str) -> Scenario {
    Scenario::from_json("test.json", text, &ReadOptions::default()).expect("it is sound")
}

#[test]
fn six_blocks_of_512_then_one_of_1024_are_analysed_too_early() {
    let mut sample = sample(&[&[(6, 512, 100)], &[(1, 1024, 100)]]);
    sample[1].0 = 25;
    let scenario = scenario(&sample, Placement::MostRoom);
    let comparison = compare(&scenario).expect("it runs");
    assert!(!comparison.equal && !comparison.exact);
    assert_eq!((comparison.optimistic, comparison.pessimistic), (1, 0));
    let finish = |ns: Option<Instant>| ns.expect("it finishes").as_ns() / MS;
    let large = &comparison.kernels[1];
    assert_eq!((finish(large.analysed_finish_ns), finish(large.simulated_finish_ns)), (125, 200));
    assert_eq!(analyse(&scenario).expect("it runs").departures, [Departure::UnequalThreads]);
}

#[test]
fn g_max_is_what_the_real_gpu_holds_not_what_eq_3_6_says() {
    // 4096 / 768 = 5, and 4096 / 32 = 128; two SMs hold 2 + 2 and 32 + 32.
    for (threads, g_max) in [(768, 4), (32, 64), (33, 64), (512, 8), (1024, 4), (64, 64)] {
        let scenario = scenario(&sample(&[&[(1, threads, 1)]]), Placement::MostRoom);
        assert_eq!(analyse(&scenario).expect("it runs").g_max, Some(g_max), "{threads} threads");
    }
}

#[test]
fn eq_3_6_rounded_down_is_right_for_412_sizes_of_a_block() {
    let device = tx2();
    let on_the_gpu = |threads: u32| {
        let shape = gpusched::device::BlockShape { threads, ..Default::default() };
        2 * gpusched::device::BlockDemand::new(&shape, &device).expect("it fits the TX2").blocks_per_sm(&device)
    };
    assert!((1..=1_024).all(|threads| 4_096 / threads >= on_the_gpu(threads)));
    let right: Vec<u32> = (1..=1_024).filter(|threads| 4_096 / threads == on_the_gpu(*threads)).collect();
    assert_eq!(right.len(), 412);
    // Where the quotient is a whole number, as the thesis has it.
    let whole: Vec<u32> = right.into_iter().filter(|threads| 4_096 % threads == 0).collect();
    assert_eq!(whole, [64, 128, 256, 512, 1_024]);
}

#[test]
fn witness_a_unequal_blocks() {
    let mut witness = sample(&[&[(3, 1024, 6)], &[(4, 512, 5)], &[(3, 1024, 2)]]);
    assert_eq!(simulated_ms(&scenario(&witness, Placement::MostRoom))[2], 8);
    let safe = analyse(&scenario(&witness, Placement::MostRoom)).expect("it runs").kernels[2].safe_finish_ns;
    witness[0].1[0].2 = 5;
    assert_eq!(simulated_ms(&scenario(&witness, Placement::MostRoom))[2], 9);
    assert!(safe >= Some(Instant::from_ns(9 * MS)), "{safe:?}");
}

#[test]
fn witness_b_chains_of_equal_blocks() {
    let mut witness = sample(&[&[(1, 512, 4), (3, 512, 4)], &[(4, 512, 6)], &[(2, 512, 3), (2, 512, 3)]]);
    assert_eq!(simulated_ms(&scenario(&witness, Placement::MostRoom))[4], 6);
    let analysed = scenario(&witness, Placement::MostRoom);
    let analysis = analyse(&analysed).expect("it runs");
    assert_eq!(analysis.departures, [Departure::Chains]);
    assert!(analysis.kernels[4].safe_finish_ns >= Some(Instant::from_ns(9 * MS)));
    witness[0].1[0].2 = 3;
    assert_eq!(simulated_ms(&scenario(&witness, Placement::MostRoom))[4], 9);
}

/// Witness C; the copy takes `copy` ms.
fn copy_first(copy: u64) -> Scenario {
    json(&format!(
        r#"{{"format": "gpusched-scenario/1", "name": "a copy first",
            "kernels": {{"KA": {{"blocks": 4, "threads": 1024, "duration": "10 ms"}},
                         "KB": {{"blocks": 4, "threads": 1024, "duration": "1 ms"}}}},
            "streams": [
                {{"name": "A", "operations": [
                    {{"copy": "host-to-device", "bytes": {}}}, {{"kernel": "KA"}}]}},
                {{"name": "B", "release": "5 ms", "operations": [{{"kernel": "KB"}}]}}]}}"#,
        copy * 10_000_000
    ))
}

#[test]
fn witness_c_a_copy_first() {
    let end_of_kb = |scenario: &Scenario| {
        let run = simulate(scenario).expect("it runs");
        run.trace
            .operations()
            .iter()
            .find(|record| record.origin.thread == 1)
            .and_then(gpusched::trace::OperationRecord::finish)
    };
    assert_eq!(end_of_kb(&copy_first(6)), Some(Instant::from_ns(6 * MS)));
    assert_eq!(end_of_kb(&copy_first(4)), Some(Instant::from_ns(15 * MS)));
    let scenario = copy_first(6);
    let analysis = analyse(&scenario).expect("it runs");
    let kb = analysis.kernels.iter().find(|kernel| kernel.launch.benchmark == 1).expect("it is there");
    assert!(kb.safe_finish_ns >= Some(Instant::from_ns(15 * MS)));
}

/// Witness D; block times of B1 in s.
fn launch_after_waiting(b1: u64) -> Scenario {
    json(&format!(
        r#"{{"name": "D", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": [
            {{"filename": "multikernel.so", "label": "A", "thread_count": 0, "block_count": 0, "data_size": 0,
             "additional_info": [
                {{"kernel_label": "B1", "block_count": 1, "thread_count": 32, "duration": {b1}000000000}},
                {{"kernel_label": "B2", "block_count": 1, "thread_count": 32, "duration": 100000000000, "delay": 1}}]}},
            {{"filename": "timer_spin_default_stream.so", "label": "N", "thread_count": 32, "block_count": 1,
             "data_size": 0, "additional_info": 1000000000, "release_time": 6.5}}]}}"#
    ))
}

#[test]
fn witness_d_launch_times_that_depend_on_completions_have_no_safe_finish() {
    let end_of_n = |scenario: &Scenario| {
        let run = simulate(scenario).expect("it runs");
        let of_n = run.trace.operations().iter().find(|record| record.origin.thread == 1);
        of_n.and_then(gpusched::trace::OperationRecord::finish)
    };
    let scenario = launch_after_waiting(6);
    assert_eq!(end_of_n(&scenario), Some(Instant::from_ns(7_500_000_000)));
    assert_eq!(end_of_n(&launch_after_waiting(5)), Some(Instant::from_ns(107_000_000_000)));
    let analysis = analyse(&scenario).expect("it runs");
    assert!(analysis.kernels.iter().all(|kernel| kernel.safe_finish_ns.is_none()));
    assert!(analysis.notes.iter().any(|note| note.contains("safe_finish_ns is not given")), "{:?}", analysis.notes);
    // The analysis itself goes through, with the rules of the NULL stream.
    let finish = |label: &str| {
        let kernel = analysis.kernels.iter().find(|kernel| kernel.launch.label() == label).expect("it is there");
        kernel.finish_ns.expect("it finishes").as_ns()
    };
    assert_eq!(finish("N"), 7_500_000_000);
}

#[test]
fn a_job_is_schedulable_if_it_finishes_by_its_deadline_or_else_its_period() {
    let text = |deadline: &str| {
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "deadline",
                "kernels": {{"K": {{"blocks": 9, "threads": 512, "duration": "5 ms"}}}},
                "streams": [{{"name": "S", "period": "20 ms", {deadline} "jobs": 2, "operations": [{{"kernel": "K"}}]}}]}}"#
        )
    };
    let verdicts = |text: &str| -> Vec<Option<bool>> {
        analyse(&json(text)).expect("it runs").kernels.iter().map(|kernel| kernel.schedulable).collect()
    };
    assert_eq!(verdicts(&text("")), [Some(true); 2]);
    assert_eq!(verdicts(&text(r#""deadline": "9 ms","#)), [Some(false); 2]);
}

#[test]
fn all_orders_of_the_thesis_kernels() {
    let kernels: [&[_]; 4] = [&[(2, 512, 4)], &[(7, 512, 6)], &[(2, 512, 6)], &[(5, 512, 5)]];
    let scenario = scenario(&sample(&kernels), Placement::MostRoom);
    let run = simulate(&scenario).expect("it runs");
    let orders = launch_orders(&run, 1, 0, Progress::NONE).expect("it runs");
    assert_eq!((orders.orders_tried, orders.exhaustive, orders.method), (24, true, Method::Analysis));
    // Chapter 4 has K1 at 4, 10 and 8, K2 at 10 and 6, K3 at 12 and 10, K4 at 11 and 12.
    let best_and_worst: Vec<_> = orders
        .kernels
        .iter()
        .map(|kernel| {
            [kernel.best_finish_ns, kernel.worst_finish_ns].map(|finish| finish.expect("all finish").as_ns() / MS)
        })
        .collect();
    assert_eq!(best_and_worst, [[4, 10], [6, 12], [6, 12], [5, 11]]);
}

#[test]
fn orders_under_which_a_kernel_does_not_finish_have_no_finish_of_it() {
    let kernels: [&[_]; 4] = [&[(2, 512, 4)], &[(7, 512, 6)], &[(2, 512, 6)], &[(5, 512, 5)]];
    let mut scenario = scenario(&sample(&kernels), Placement::MostRoom);
    scenario.horizon = Some(Duration::from_ns(5_500_000));
    let run = simulate(&scenario).expect("it runs");
    let orders = launch_orders(&run, 1, 0, Progress::NONE).expect("it runs");
    // The best and worst of all orders of these kernels are 4, 6, 6, 5 and 10, 12, 12, 11 ms.
    let best: Vec<_> = orders.kernels.iter().map(|kernel| kernel.best_finish_ns.map(Instant::as_ns)).collect();
    assert_eq!(best, [Some(4 * MS), None, None, Some(5 * MS)]);
    assert!(orders.kernels.iter().all(|kernel| kernel.worst_finish_ns.is_none()));
}

#[test]
fn a_stream_without_an_end_is_analysed_up_to_the_horizon() {
    let mut scenario = json(
        r#"{"format": "gpusched-scenario/1", "name": "endless", "horizon": "12 ms",
            "kernels": {"K": {"blocks": 1, "threads": 32, "duration": "2 ms"}}, "streams": [{"name": "s"}],
            "hosts": [{"name": "h", "period": "5 ms", "steps": [{"launch": "K", "stream": "s"}]}]}"#,
    );
    let launches = |scenario: &Scenario| analyse(scenario).expect("it can be analysed").kernels.len();
    // Launches at 0, 5 and 10 ms; the one at 10 ms also where the horizon is that instant, none a nanosecond before.
    assert_eq!(launches(&scenario), 3);
    scenario.horizon = Some(Duration::from_ns(10 * MS));
    assert_eq!(launches(&scenario), 3);
    scenario.horizon = Some(Duration::from_ns(10 * MS - 1));
    assert_eq!(launches(&scenario), 2);
}

/// Best and worst finishes of all kernels \[ns\], how many orders were tried, and whether they are all.
fn over_orders(streams: &str) -> (Vec<[Option<u64>; 2]>, u64, bool) {
    let scenario = json(&format!(
        r#"{{"format": "gpusched-scenario/1", "name": "orders", "device": "tx2", "kernels": {{
            "a": {{"blocks": 4, "threads": 1024, "duration": "1 ns"}},
            "b": {{"blocks": 4, "threads": 1024, "duration": "5 ns"}}}}, "streams": [{streams}]}}"#
    ));
    let run = simulate(&scenario).expect("it runs");
    let orders = launch_orders(&run, 1, 0, Progress::NONE).expect("it runs");
    let ns = |finish: Option<Instant>| finish.map(Instant::as_ns);
    let finishes = orders.kernels.iter().map(|kernel| [ns(kernel.best_finish_ns), ns(kernel.worst_finish_ns)]);
    assert_eq!(orders.exhaustive, orders.notes.iter().all(|note| !note.contains("not certain")), "{:?}", orders.notes);
    (finishes.collect(), orders.orders_tried, orders.exhaustive)
}

#[test]
fn orders_are_those_of_all_releases_that_come_together_not_only_of_the_first() {
    // Each kernel fills the GPU. Both come at 10 ns: a runs until 11 and b until 16, or b until 15 and a until 16.
    let b = r#"{"name": "S1", "release": "10 ns", "operations": [{"kernel": "b"}]}"#;
    let a = |jobs: u32| {
        format!(r#"{{"name": "S0", "period": "10 ns", "jobs": {jobs}, "operations": [{{"kernel": "a"}}]}}"#)
    };
    let expected = vec![[Some(1); 2], [Some(11), Some(16)], [Some(15), Some(16)]];
    assert_eq!(over_orders(&format!("{}, {b}", a(2))), (expected, 2, true));
    // Two that come together twice: either may be the first one each time, but an order of streams is one for both.
    let b = r#"{"name": "S1", "period": "10 ns", "jobs": 2, "operations": [{"kernel": "b"}]}"#;
    let expected = [[1, 6], [5, 6], [11, 16], [15, 16]].map(|both| both.map(Some)).to_vec();
    assert_eq!(over_orders(&format!("{}, {b}", a(2))), (expected, 2, false));
}

#[test]
fn orders_of_launches_that_come_in_turns_or_when_others_end_are_not_all() {
    // S0 launches into two streams at once, so the other stream's kernel may come between them.
    let scenario = |steps: &str| {
        let scenario = json(&format!(
            r#"{{"format": "gpusched-scenario/1", "name": "between", "device": "tx2",
                "kernels": {{"a": {{"blocks": 4, "threads": 1024, "duration": "1 ns"}}}},
                "streams": [{{"name": "S0"}}, {{"name": "S1"}}, {{"name": "T", "operations": [{{"kernel": "a"}}]}}],
                "hosts": [{{"name": "H", "steps": [{steps}]}}]}}"#
        ));
        let run = simulate(&scenario).expect("it runs");
        let orders = launch_orders(&run, 1, 0, Progress::NONE).expect("it runs");
        (orders.exhaustive, orders.notes.join("; "))
    };
    let launch = |stream: &str| format!(r#"{{"launch": "a", "stream": "{stream}"}}"#);
    // Of what waits in one stream only the first is in a queue.
    assert!(scenario(&format!("{}, {}", launch("S0"), launch("S0"))).0);
    let (exhaustive, notes) = scenario(&format!("{}, {}", launch("S0"), launch("S1")));
    assert!(!exhaustive && notes.contains("come in between"), "{notes}");
    let waits = format!(r#"{}, {{"synchronize": "S0"}}, {}"#, launch("S0"), launch("S0"));
    let (exhaustive, notes) = scenario(&waits);
    assert!(!exhaustive && notes.contains("\"H\" may launch together"), "{notes}");
}

#[test]
fn more_than_eight_simultaneous_launches_are_sampled_and_it_is_said() {
    let kernels: Vec<(u32, u32, u64)> = (1..=9).map(|ms| (3, 512, ms)).collect();
    let streams: Vec<&[(u32, u32, u64)]> = kernels.iter().map(std::slice::from_ref).collect();
    let scenario = scenario(&sample(&streams), Placement::MostRoom);
    let run = simulate(&scenario).expect("it runs");
    let orders = launch_orders(&run, 50, 7, Progress::NONE).expect("it runs");
    assert_eq!((orders.orders, orders.orders_tried, orders.exhaustive), (Some(362_880), 50, false));
    assert!(orders.notes.iter().any(|note| note.contains("seed 7")));
    // A single one is the scenario's own.
    let own = launch_orders(&run, 1, 7, Progress::NONE).expect("it runs");
    for (kernel, record) in own.kernels.iter().zip(run.trace.operations()) {
        assert_eq!((kernel.best_finish_ns, kernel.worst_finish_ns), (record.finish(), record.finish()));
    }
}

#[test]
fn kernels_have_the_same_numbers_under_every_command() {
    // Launched in another order than declared, and after copies.
    let kernel = r#""data_size": 0, "thread_count": 32, "block_count": 1"#;
    let text = format!(
        r#"{{"name": "numbers", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": [
            {{"filename": "multikernel.so", "label": "M", "release_time": 1, {kernel}, "additional_info": [
                {{"kernel_label": "m", "copy_in_count": 8, "copy_out_count": 0, "duration": 100, "block_count": 1,
                  "thread_count": 1, "delay": 0}}]}},
            {{"filename": "timer_spin.so", "label": "A", "max_iterations": 2, {kernel}, "additional_info": 600000000}},
            {{"filename": "timer_spin.so", "label": "B", {kernel}, "additional_info": 10}}]}}"#
    );
    let scenario = Scenario::from_json("numbers.json", &text, &ReadOptions::default()).expect("it is sound");
    let trace = simulate(&scenario).expect("it runs").trace;
    let run: Vec<u32> = Summary::of_trace(&scenario, &trace).kernels().map(|kernel| kernel.launch.id).collect();
    let own = simulate(&scenario).expect("it runs");
    let orders: Vec<u32> = launch_orders(&own, 1, 0, Progress::NONE)
        .expect("it runs")
        .kernels
        .iter()
        .map(|kernel| kernel.launch.id)
        .collect();
    let compared: Vec<u32> =
        compare(&scenario).expect("it runs").kernels.iter().map(|kernel| kernel.launch.id).collect();
    assert_eq!(run, [0, 1, 2, 4]);
    assert_eq!((&orders, &compared), (&run, &run));
}
