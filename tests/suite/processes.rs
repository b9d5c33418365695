//! Several processes on one GPU: rules T1 to T6, and MPS.

use std::collections::BTreeSet;

use gpusched::device::{Device, Preemption, Runlists};
use gpusched::effort::Progress;
use gpusched::gpu::{GpuEvent, GpuInterface, GpuOptions, Host, Simulated};
use gpusched::hosts::{ProgramHost, simulate};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Cause, Rule, Snapshot, Trace, TurnEnd, reasons};
use gpusched::workload::{MpsPercentage, OperationId, ProcessId};
use serde_json::{Value, json};

use crate::generate::builtin;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

pub(crate) fn scenario_with(file: &Value, options: &ReadOptions) -> Scenario {
    Scenario::from_json("processes.json", &file.to_string(), options).expect("it is sound")
}

/// Another host, and at how many instants and rounds it was asked.
struct Steps<H> {
    host: H,
    steps: u32,
}

impl<H: Host> Host for Steps<H> {
    type Error = H::Error;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), H::Error> {
        self.host.start(gpu)
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        self.host.on_event(event, gpu);
    }

    fn on_wake(&mut self, token: u64) {
        self.host.on_wake(token);
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), H::Error> {
        self.steps += 1;
        self.host.act(gpu)
    }
}

fn run(file: &Value) -> Trace {
    run_with(file, &ReadOptions::default())
}

pub(crate) fn run_with(file: &Value, options: &ReadOptions) -> Trace {
    simulate(&scenario_with(file, options)).expect("it runs").trace
}

fn error(file: &Value) -> String {
    let read = Scenario::from_json("processes.json", &file.to_string(), &ReadOptions::default());
    read.expect_err("it has a mistake").to_string()
}

/// One stream in each process, with one kernel that fills the TX2 once: how long its blocks run \[us\], and when it is
/// launched \[us\].
pub(crate) fn filling(kernels: &[(u64, u64)], slice: &str, cost: &str) -> Value {
    let names = || (0..kernels.len()).map(|number| format!("P{number}"));
    json!({
        "format": "gpusched-scenario/1", "name": "processes", "device": "tx2", "switch_cost": cost,
        "processes": names().map(|name| (name, json!({"time_slice": slice}))).collect::<serde_json::Map<_, _>>(),
        "kernels": names().zip(kernels).map(|(name, (us, _))| {
            (name, json!({"blocks": 8, "threads": 512, "duration": format!("{us} us")}))
        }).collect::<serde_json::Map<_, _>>(),
        "streams": names().zip(kernels).map(|(name, (_, at))| json!({
            "name": name, "process": name, "release": format!("{at} us"), "operations": [{"kernel": name}]
        })).collect::<Vec<_>>(),
    })
}

pub(crate) fn finishes(trace: &Trace) -> Vec<u64> {
    trace.operations().iter().map(|record| record.finish().expect("it finishes").as_ns() / US).collect()
}

/// Each turn: whose, from and to \[us\], and why it ended.
pub(crate) fn turns(trace: &Trace) -> Vec<(u32, u64, u64, TurnEnd)> {
    let us = |instant: Instant| instant.as_ns() / US;
    trace.turns().iter().map(|turn| (turn.process.0, us(turn.start), us(turn.end), turn.ended_by)).collect()
}

/// T1: no two turns overlap, and turns, switches and idle time are the whole run.
pub(crate) fn check_conservation(trace: &Trace) {
    let mut last = Instant::ZERO;
    let (mut busy, mut switching, mut idle) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    for turn in trace.turns() {
        assert!(last <= turn.switch_from && turn.switch_from <= turn.start && turn.start <= turn.end);
        idle += turn.switch_from - last;
        switching += turn.switch();
        busy += turn.duration();
        last = turn.end;
    }
    idle += trace.end() - last;
    assert_eq!(busy + switching + idle, trace.end() - Instant::ZERO);
}

#[test]
fn two_processes_take_turns_of_a_slice_each() {
    let trace = run(&filling(&[(10_000, 0), (10_000, 0)], "1 ms", "0 us"));
    assert_eq!(finishes(&trace), [19_000, 20_000]);
    check_conservation(&trace);
    // Each block of the first ran in ten turns, and paused for nine.
    let block = trace.blocks(OperationId(0)).next().expect("it has blocks");
    assert_eq!((block.start, block.end), (Instant::ZERO, Instant::from_ns(19 * MS)));
    let pauses: Vec<_> = trace.out_of_turn(ProcessId(0), block.start..block.end).collect();
    assert_eq!(pauses.len(), 9);
    assert_eq!(trace.time_in_turn(ProcessId(0), block.start..block.end), Duration::from_ns(10 * MS));
}

#[test]
fn a_switch_costs_time_in_which_no_block_runs() {
    let trace = run(&filling(&[(10_000, 0), (10_000, 0)], "1 ms", "100 us"));
    assert_eq!(finishes(&trace), [20_800, 21_900]);
    assert_eq!(turns(&trace)[..2], [(0, 0, 1_000, TurnEnd::TimeSlice), (1, 1_100, 2_100, TurnEnd::TimeSlice)]);
    check_conservation(&trace);
}

#[test]
fn a_turn_ends_early_when_its_context_has_no_work_left() {
    let trace = run(&filling(&[(10_000, 0), (500, 0)], "1 ms", "0 us"));
    assert_eq!(finishes(&trace), [10_500, 1_500]);
    let end = TurnEnd::NoWork;
    assert_eq!(turns(&trace), [(0, 0, 1_000, TurnEnd::TimeSlice), (1, 1_000, 1_500, end), (0, 1_500, 10_500, end)]);
}

#[test]
fn a_context_that_comes_in_mid_slice_waits_for_the_end_of_the_slice_and_alone_slices_go_on() {
    // Alone until 3.4 ms, in its fourth slice.
    let trace = run(&filling(&[(10_000, 0), (200, 3_400)], "1 ms", "50 us"));
    assert_eq!(turns(&trace)[0], (0, 0, 4_000, TurnEnd::TimeSlice));
    assert_eq!(turns(&trace)[1], (1, 4_050, 4_250, TurnEnd::NoWork));
    assert_eq!(finishes(&trace), [10_300, 4_250]);
    let waits = trace.waits(OperationId(1));
    assert_eq!(waits.len(), 1);
    assert_eq!((waits[0].rule, waits[0].from.as_ns(), waits[0].to.as_ns()), (Rule::T1, 3_400 * US, 4_050 * US));
    // At the very end of a slice it does not wait for another.
    assert_eq!(turns(&run(&filling(&[(10_000, 0), (200, 4_000)], "1 ms", "50 us")))[0].2, 4_000);
}

#[test]
fn an_idle_gpu_is_switched_to_another_context_but_not_to_the_same() {
    let trace = run(&filling(&[(500, 0), (500, 2_000)], "1 ms", "100 us"));
    assert_eq!(finishes(&trace), [500, 2_600]);
    let mut file = filling(&[(500, 0), (500, 2_000)], "1 ms", "100 us");
    file["streams"][1]["process"] = json!("P0");
    assert_eq!(finishes(&run(&file)), [500, 2_500]);
}

#[test]
fn blocks_of_devices_without_mid_block_preemption_run_to_their_ends() {
    let mut file = filling(&[(2_500, 0), (2_500, 0)], "1 ms", "100 us");
    // Two waves each.
    for name in ["P0", "P1"] {
        file["kernels"][name]["blocks"] = json!(16);
    }
    let device = builtin("tx2").with(|spec| spec.time_slicing.preemption = Preemption::BlockEnd).expect("sound");
    let trace = run_with(&file, &ReadOptions { device: Some(device), ..ReadOptions::default() });
    assert_eq!(finishes(&trace), [7_700, 10_300]);
    assert!(trace.blocks(OperationId(0)).all(|block| block.end - block.start == Duration::from_ns(2_500 * US)));
    check_conservation(&trace);
}

#[test]
fn levels_give_turns_in_nvgpus_order() {
    let mut file = filling(&[(3_000, 0), (3_000, 0), (9_000, 0)], "1 ms", "0 us");
    file["processes"]["P2"]["level"] = json!("high");
    let order: Vec<u32> = turns(&run(&file)).iter().map(|turn| turn.0).take(8).collect();
    assert_eq!(order, [2, 0, 2, 1, 2, 0, 2, 1]);
}

/// Two streams of two processes, each with a copy of so many us.
fn copies(runlists: Runlists, us: [u64; 2]) -> Trace {
    let stream = |name: &str, us: u64| {
        let copy = json!({"copy": "host-to-device", "bytes": 0, "duration": format!("{us} us")});
        json!({"name": name, "process": name, "operations": [copy]})
    };
    let file = json!({
        "format": "gpusched-scenario/1", "name": "copies", "switch_cost": "100 us",
        "streams": [stream("P", us[0]), stream("Q", us[1])],
    });
    let device = builtin("tx2").with(|spec| {
        spec.time_slicing.runlists = runlists;
        spec.time_slicing.time_slice = Duration::from_ns(2 * MS);
    });
    run_with(&file, &ReadOptions { device: Some(device.expect("sound")), ..ReadOptions::default() })
}

#[test]
fn copies_of_two_contexts_on_one_engine_trade_every_millisecond() {
    let trace = copies(Runlists::Separate, [2_500, 1_500]);
    assert_eq!(finishes(&trace), [4_000, 3_500]);
    assert!(trace.turns().is_empty(), "no block waits for a turn");
}

#[test]
fn copies_of_a_shared_runlist_run_in_the_turns_of_their_contexts() {
    let trace = copies(Runlists::Shared, [2_500, 1_500]);
    // 2 ms, a switch, 1.5 ms, a switch, and the rest.
    assert_eq!(finishes(&trace), [4_200, 3_600]);
    let waits = trace.waits(OperationId(1));
    assert_eq!((waits[0].rule, waits[0].to.as_ns()), (Rule::T1, 2_100 * US));
}

#[test]
fn a_copy_goes_on_in_the_turn_of_another_context_but_not_on_the_tx2() {
    let mut file = filling(&[(3_000, 0), (3_000, 0)], "1 ms", "0 us");
    let copy = json!({"name": "copy", "process": "P0", "operations": [
        {"copy": "host-to-device", "bytes": 0, "duration": "2 ms"}]});
    file["streams"].as_array_mut().expect("a list").push(copy);
    assert_eq!(finishes(&run(&file))[2], 3_000);
    let device = builtin("tx2").with(|spec| spec.time_slicing.runlists = Runlists::Separate).expect("sound");
    assert_eq!(finishes(&run_with(&file, &ReadOptions { device: Some(device), ..ReadOptions::default() }))[2], 2_000);
}

#[test]
fn each_process_has_a_null_stream_and_priorities_of_its_own() {
    let file = json!({
        "format": "gpusched-scenario/1", "name": "own", "switch_cost": "0 us",
        "kernels": {"K": {"blocks": 1, "threads": 32, "duration": "100 us"}},
        "streams": [
            {"name": "NULL", "process": "P", "operations": [{"kernel": "K"}]},
            {"name": "p", "process": "P", "operations": [{"kernel": "K"}]},
            {"name": "NULL", "process": "Q", "operations": [{"kernel": "K"}]},
            {"name": "q", "process": "Q", "operations": [{"kernel": "K"}]},
        ],
    });
    // Each waits for the NULL stream of its own process.
    assert_eq!(finishes(&run(&file)), [100, 200, 300, 400]);
    assert_eq!(run(&file).waits(OperationId(3))[0].rule, Rule::N2);
}

#[test]
fn a_device_synchronization_waits_for_its_own_process() {
    let file = json!({
        "format": "gpusched-scenario/1", "name": "own", "switch_cost": "0 us",
        "kernels": {"K": {"blocks": 1, "threads": 32, "duration": "100 us"}, "L": {"blocks": 8, "threads": 512, "duration": "9 ms"}},
        "streams": [{"name": "p", "process": "P"}, {"name": "q", "process": "Q"}],
        "hosts": [
            {"name": "hp", "process": "P", "steps": [{"launch": "L", "stream": "p"}]},
            {"name": "hq", "process": "Q", "steps": [
                {"launch": "K", "stream": "q"}, {"synchronize": "device"}, {"launch": "K", "stream": "q"}]},
        ],
    });
    let launched: Vec<u64> = run(&file).operations().iter().map(|record| record.launched().as_ns() / US).collect();
    assert_eq!(launched, [0, 0, 1_124]);
}

#[test]
fn an_h100_with_two_processes_of_5_ms_blocks_is_as_measured() {
    let h100 = Device::builtin("h100").expect("sound").expect("built in");
    // Enough blocks for 20 waves.
    let blocks = 20 * 8 * h100.sms;
    let kernel = json!({"blocks": blocks, "threads": 256, "duration": "5 ms"});
    let file = json!({
        "format": "gpusched-scenario/1", "name": "two", "device": "h100", "kernels": {"F": kernel, "G": kernel},
        "streams": [
            {"name": "f", "process": "P", "operations": [{"kernel": "F"}]},
            {"name": "g", "process": "Q", "operations": [{"kernel": "G"}]},
        ],
    });
    let trace = run(&file);
    check_conservation(&trace);
    let own: Vec<_> = trace.turns().iter().filter(|turn| turn.process == ProcessId(0)).collect();
    let full = &own[..own.len() - 1];
    assert!(full.iter().all(|turn| turn.duration() == Duration::from_ns(2_090 * US)));
    // Measured: 2.4257 ms, and 225.87 switches a second; the two and turns of 2.09 ms agree to 2 %.
    assert!(full.windows(2).all(|two| two[1].start - two[0].end == Duration::from_ns(2_425_700)));
    let switches = 1e9 / (own[1].start - own[0].start).as_ns() as f64;
    assert!((switches / 225.87 - 1.0).abs() < 0.025, "{switches}");
    for operation in [OperationId(0), OperationId(1)] {
        for block in trace.blocks(operation) {
            let process = trace.process_of(operation).expect("it is in the trace");
            assert!(trace.out_of_turn(process, block.start..block.end).next().is_some(), "it is suspended");
            let net = trace.time_in_turn(process, block.start..block.end);
            assert_eq!(net, Duration::from_ns(5 * MS), "it runs as long as ever");
        }
    }
}

#[test]
fn mistakes_are_refused_where_they_stand() {
    let good = filling(&[(100, 0), (100, 0)], "1 ms", "100 us");
    let with = |change: fn(&mut Value)| {
        let mut file = good.clone();
        change(&mut file);
        error(&file)
    };
    let zero = with(|file| file["processes"]["P1"]["time_slice"] = json!("0 s"));
    assert!(zero.contains("processes.P1.time_slice") && zero.contains("at least 1 ns"), "{zero}");
    let short = with(|file| file["processes"]["P1"]["time_slice"] = json!("99 us"));
    assert!(short.contains("processes.P1.time_slice") && short.contains("100 us"), "{short}");
    let level = with(|file| file["processes"]["P1"]["level"] = json!("higher"));
    assert!(level.contains("processes.P1.level") && level.contains("\"medium\""), "{level}");
    for percentage in [json!(0), json!(100.5), json!(-1)] {
        let mut file = good.clone();
        file["processes"]["P1"]["mps_percentage"] = percentage;
        assert!(error(&file).contains("processes.P1.mps_percentage"), "{}", error(&file));
    }
    let unknown = with(|file| file["streams"][0]["process"] = json!("P7"));
    assert!(unknown.contains("streams[0].process") && unknown.contains("\"P7\""), "{unknown}");
    let missing = with(|file| {
        file["streams"][0].as_object_mut().expect("an object").remove("process");
    });
    assert!(missing.contains("streams[0]") && missing.contains("\"process\" is missing"), "{missing}");
    let foreign = with(|file| {
        file["hosts"] = json!([{"name": "h", "process": "P0", "steps": [{"launch": "P0", "stream": "P1"}]}]);
    });
    assert!(foreign.contains("another process"), "{foreign}");
}

#[test]
fn mps_clients_use_whole_tpcs() {
    let sms = |count: u32| {
        let device = builtin("h100").with(|spec| spec.sms = count).expect("sound");
        MpsPercentage::from_parts(50_000_000_000_000).expect("50 %").sms(&device)
    };
    assert_eq!((sms(114), sms(108)), (56, 54));
    assert_eq!(MpsPercentage::from_parts(1).expect("little").sms(&builtin("h100")), 2);
    assert_eq!(MpsPercentage::ALL.sms(&builtin("tx2")), 2);
}

/// Two processes of one kernel each, as threads, by turns, or as clients of MPS.
fn two_halves(device: &str, percentage: u32) -> Value {
    json!({
        "format": "gpusched-scenario/1", "name": "halves", "device": device, "mps": true,
        "processes": {"P": {"mps_percentage": percentage}, "Q": {"mps_percentage": percentage}},
        "kernels": {"K": {"blocks": 4000, "threads": 256, "duration": "1 ms"}},
        "streams": [
            {"name": "p", "process": "P", "operations": [{"kernel": "K"}]},
            {"name": "q", "process": "Q", "release": "100 us", "operations": [{"kernel": "K"}]},
        ],
    })
}

fn sms_used(trace: &Trace, operation: u32, at: Instant) -> usize {
    let mut sms: Vec<u16> = trace.resident_at(OperationId(operation), at).map(|part| part.sm).collect();
    sms.sort_unstable();
    sms.dedup();
    sms.len()
}

#[test]
fn clients_of_mps_use_half_of_the_sms_at_once_and_reserve_nothing() {
    for (count, half) in [(114, 56), (108, 54)] {
        let device = builtin("h100").with(|spec| spec.sms = count).expect("sound");
        let options = ReadOptions { device: Some(device), ..ReadOptions::default() };
        let file = two_halves("h100", 50);
        let trace = run_with(&file, &options);
        assert!(trace.turns().is_empty(), "there are no slices");
        assert_eq!(sms_used(&trace, 0, Instant::from_ns(50 * US)), half);
        // The first kernel is still the head of its EE queue, and holds only those of its own client.
        assert_eq!(sms_used(&trace, 1, Instant::from_ns(150 * US)), half);
        assert!(trace.waits(OperationId(0)).iter().any(|wait| wait.rule == Rule::Mps));
        assert_eq!(
            trace.blocks(OperationId(0)).map(|block| block.end - block.start).max(),
            Some(Duration::from_ns(MS))
        );
    }
}

#[test]
fn which_sms_a_client_draws_does_not_depend_on_how_many_blocks_come_later() {
    let drawn = |blocks: u32, seed: u64| {
        let mut file = two_halves("titan-v", 50);
        file["kernels"]["K"]["blocks"] = json!(blocks);
        (file["placement"], file["seed"]) = (json!("random"), json!(seed));
        let trace = run(&file);
        let sms = trace.resident_at(OperationId(0), Instant::from_ns(50 * US)).map(|part| part.sm);
        sms.collect::<BTreeSet<u16>>()
    };
    let of_seeds: BTreeSet<_> = (0..4).map(|seed| drawn(4_000, seed)).collect();
    assert_eq!(of_seeds.len(), 4, "they are drawn");
    assert_eq!(of_seeds, (0..4).map(|seed| drawn(4_001, seed)).collect());
}

#[test]
fn ten_seconds_of_four_processes_are_rounds_that_are_skipped() {
    let file = filling(&[(2_500_000, 0), (2_500_000, 0), (2_500_000, 0), (2_500_000, 0)], "1 ms", "0 us");
    let scenario = scenario_with(&file, &ReadOptions::default());
    let host = Steps { host: ProgramHost::of(&scenario), steps: 0 };
    let run = Simulated::of(scenario.device(), GpuOptions::default(), host).expect("it runs");
    let Simulated { trace, host: Steps { steps, .. }, .. } = run;
    assert_eq!(finishes(&trace), [9_997_000, 9_998_000, 9_999_000, 10_000_000]);
    assert_eq!(trace.turns().len(), 10_000);
    // A few turns at the beginning, and those in which something ends; `benches/scenario.rs` says how long that takes.
    assert!(steps < 100, "{steps} instants for 10,000 turns");
    // An hour of nanosecond slices is more than is recorded.
    let endless = filling(&[(3_600_000_000, 0), (3_600_000_000, 0)], "1 ns", "0 us");
    let refused = simulate(&scenario_with(&endless, &ReadOptions::default())).expect_err("it is too long");
    assert!(refused.to_string().contains("2^25 turns"), "{refused}");
}

#[test]
fn a_priority_does_not_preempt_blocks_of_another_stream_of_its_context() {
    for (a, waited) in [(200, 100), (500, 400), (2_000, 1_900), (10_000, 9_900)] {
        for priority in [0, -1] {
            let device = builtin("h100").with(|spec| spec.sms = 114).expect("sound");
            let file = json!({
                "format": "gpusched-scenario/1", "name": "priority",
                "kernels": {
                    "A": {"blocks": 912, "threads": 256, "duration": format!("{a} us")},
                    "B": {"blocks": 114, "threads": 256, "duration": "10 us"},
                },
                "streams": [
                    {"name": "a", "priority": 0, "operations": [{"kernel": "A"}]},
                    {"name": "b", "priority": priority, "release": "100 us", "operations": [{"kernel": "B"}]},
                ],
            });
            // 8 blocks of 256 threads fill an SM. Measured: 0.103, 0.401, 1.903 and 9.902 ms.
            let trace = run_with(&file, &ReadOptions { device: Some(device), ..ReadOptions::default() });
            let second = trace.operations()[1];
            let start = second.first_start().expect("it starts");
            assert_eq!(start.since(second.launched()).as_ns() / US, waited);
        }
    }
}

#[test]
fn examiner_benchmarks_of_their_own_processes_take_turns() {
    let spin = |label: &str| {
        json!({"filename": "timer_spin.so", "label": label, "thread_count": 512, "block_count": 8,
        "data_size": 0, "additional_info": 10_000_000, "log_name": format!("{label}.json"), "mps_thread_percentage": 50})
    };
    let file = json!({"name": "two", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "use_processes": true,
        "benchmarks": [spin("A"), spin("B")]});
    let slice = Duration::from_ns(MS);
    let read = |change: fn(&mut ReadOptions)| {
        let mut options =
            ReadOptions { time_slice: Some(slice), switch_cost: Some(Duration::ZERO), ..ReadOptions::default() };
        change(&mut options);
        scenario_with(&file, &options)
    };
    let own = read(|_| {});
    assert!(own.notes.iter().any(|note| note.contains("\"mps\"")), "{:?}", own.notes);
    // A begins at 0 and B at 1 ms, and their timers go on in the turns of the other.
    assert_eq!(finishes(&simulate(&own).expect("it runs").trace), [10_000, 11_000]);
    // Each client has one of the two SMs, so four blocks at a time, whatever the other has left to assign.
    let clients = simulate(&read(|options| options.mps = true)).expect("it runs").trace;
    assert_eq!((finishes(&clients), clients.turns().len()), (vec![20_000, 20_000], 0));
    let threads = simulate(&read(|options| options.as_threads = true)).expect("it runs").trace;
    assert_eq!(finishes(&threads), [10_000, 20_000]);
}

/// Two processes on a Volta, whose blocks of 0.5 s overlapped for 0.25 s, took 0.5006 to 0.5016 s each.
#[test]
fn blocks_that_watch_a_timer_count_the_turns_of_others_as_measured_on_a_volta() {
    let spin = |release: f64| {
        json!({"filename": "timer_spin.so", "label": format!("at {release}"), "thread_count": 512, "block_count": 8,
            "data_size": 0, "release_time": release, "log_name": format!("{release}.json"),
            "additional_info": 500_000_000})
    };
    let file = json!({"name": "two", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "use_processes": true,
        "benchmarks": [spin(0.0), spin(0.25)]});
    let trace = run_with(&file, &ReadOptions { device: Some(builtin("titan-v")), ..ReadOptions::default() });
    let blocks = (0..2).flat_map(|kernel| trace.blocks(OperationId(kernel)).collect::<Vec<_>>());
    let lengths: Vec<u64> = blocks.map(|block| block.end.since(block.start).as_ns() / US).collect();
    // At most a turn of the other, with the switches to it and back, later than the timer.
    assert_eq!(lengths.len(), 16);
    assert!(lengths.iter().all(|took| (500_000..502_600).contains(took)), "{lengths:?}");
}

#[test]
fn a_timer_that_runs_out_while_its_block_is_suspended_ends_it_as_its_turn_begins() {
    let file = |clock: &str| {
        json!({"format": "gpusched-scenario/1", "name": "timer", "device": "tx2", "switch_cost": "100 us",
            "processes": {"P": {"time_slice": "1 ms"}, "Q": {"time_slice": "3 ms"}},
            "kernels": {"K": {"blocks": 1, "threads": 32, "duration": "2500 us", "clock": clock},
                "L": {"blocks": 1, "threads": 32, "duration": "20 ms"}},
            "streams": [{"name": "p", "process": "P", "operations": [{"kernel": "K"}]},
                {"name": "q", "process": "Q", "operations": [{"kernel": "L"}]}]})
    };
    // P's turns begin at 0, 4.2 and 8.4 ms; Q's at 1.1, or by the clock of K's timer at 4.3 ms again, as P has no more.
    let of = |clock: &str| finishes(&run(&file(clock)));
    assert_eq!(of("run_time"), [8_900, 8_900 + 100 + 14_000]);
    assert_eq!(of("wall"), [4_200, 4_300 + 17_000]);
}

#[test]
fn processes_written_in_the_native_format_run_the_same() {
    let mut file = filling(&[(10_000, 0), (3_000, 500), (4_000, 0)], "1 ms", "100 us");
    file["processes"]["P2"] = json!({"time_slice": "by level", "level": "medium", "mps_percentage": 33.3});
    file["hosts"] = json!([{"name": "h", "process": "P1", "steps": [{"launch": "P1", "stream": "NULL"}]}]);
    let scenario = scenario_with(&file, &ReadOptions::default());
    let written = scenario.to_native_json().expect("it can be written");
    let again = Scenario::from_json("again.json", &written, &ReadOptions::default()).expect("it is sound");
    assert_eq!(again.catalogue, scenario.catalogue);
    let (one, two) = (simulate(&scenario).expect("it runs").trace, simulate(&again).expect("it runs").trace);
    assert_eq!((one.operations(), one.turns()), (two.operations(), two.turns()));
}

#[test]
fn merging_the_sms_of_several_processes_is_not_called_exact() {
    let scenario = scenario_with(&filling(&[(100, 0), (100, 0)], "1 ms", "0 us"), &ReadOptions::default());
    let analysis = gpusched::analysis::analyse(&scenario).expect("it is analysed");
    assert!(!analysis.exact && !analysis.departures.is_empty(), "{:?}", analysis.departures);
    let run = simulate(&scenario).expect("it runs");
    let orders = gpusched::analysis::launch_orders(&run, 1, 0, Progress::NONE).expect("orders are tried");
    assert_eq!(orders.method, gpusched::analysis::Method::Simulation);
}

#[test]
fn twice_as_many_blocks_as_fit_run_in_exactly_two_waves() {
    // 6 blocks of 320 threads fit an SM of an H100 with 2048 threads; 912 are 8 for each of 114.
    let device = builtin("h100").with(|spec| spec.sms = 114).expect("sound");
    let file = json!({
        "format": "gpusched-scenario/1", "name": "waves",
        "kernels": {"K": {"blocks": 912, "threads": 320, "duration": "1 ms"}},
        "streams": [{"name": "s", "operations": [{"kernel": "K"}]}],
    });
    let trace = run_with(&file, &ReadOptions { device: Some(device), ..ReadOptions::default() });
    let mut starts: Vec<u64> = trace.blocks(OperationId(0)).map(|block| block.start.as_ns() / US).collect();
    starts.sort_unstable();
    assert_eq!(starts.iter().filter(|start| **start == 0).count(), 114 * 6);
    starts.dedup();
    assert_eq!((starts, finishes(&trace)), (vec![0, 1_000], vec![2_000]));
}

#[test]
fn suspended_blocks_are_no_reason_for_lack_of_room() {
    let file = json!({
        "format": "gpusched-scenario/1", "name": "room", "device": "tx2", "switch_cost": "0 s",
        "processes": {"P": {"time_slice": "1 ms"}, "Q": {"time_slice": "1 ms"}},
        "kernels": {
            "F": {"blocks": 4, "threads": 1024, "duration": "3 ms"}, "G": {"blocks": 6, "threads": 768, "duration": "2 ms"},
        },
        "streams": [
            {"name": "p", "process": "P", "operations": [{"kernel": "F"}]},
            {"name": "q", "process": "Q", "operations": [{"kernel": "G"}]},
        ],
    });
    let trace = run(&file);
    let device = builtin("tx2");
    // Two blocks of G leave 512 threads of an SM, 256 fewer than a third needs, whatever F has there.
    let lacks = |cause: Option<&Cause>| match cause {
        Some(Cause::Room(shortage)) => shortage.lacks.iter().map(|(_, by)| *by).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let reasons = reasons(&trace, &device);
    let own: Vec<_> =
        reasons.iter().filter(|reason| (reason.operation, reason.rule) == (OperationId(1), Rule::R2)).collect();
    assert_eq!(
        own.iter().map(|reason| (reason.from.as_ns() / US, reason.to.map(|to| to.as_ns() / US))).collect::<Vec<_>>(),
        [(1_000, Some(2_000)), (3_000, Some(4_000)),]
    );
    assert!(own.iter().all(|reason| lacks(reason.cause.as_ref()) == [256]));
    let state = Snapshot::new(&trace, &device, Instant::from_ns(1_500 * US));
    assert_eq!(
        lacks(state.waiting.iter().find(|held| held.operation == OperationId(1)).expect("it waits").cause.as_ref()),
        [256]
    );
}

#[test]
fn a_file_that_is_written_of_one_client_of_mps_keeps_its_percentage() {
    let text = r#"{"format": "gpusched-scenario/1", "name": "one client", "device": "orin", "mps": true,
        "processes": {"p": {"mps_percentage": 50}},
        "kernels": {"K": {"blocks": 32, "threads": 768, "duration": "10 ms"}},
        "streams": [{"name": "S", "process": "p", "operations": [{"kernel": "K"}]}]}"#;
    let read = |text: &str| Scenario::from_json("one.json", text, &ReadOptions::default()).expect("it is one");
    let makespan = |scenario: &Scenario| simulate(scenario).expect("it runs").trace.makespan().expect("it ends");
    let scenario = read(text);
    // 8 of 16 SMs, each with two blocks at a time: 32 blocks in two waves.
    assert_eq!(makespan(&scenario).as_ns(), 20_000_000);
    let written = read(&scenario.to_native_json().expect("it can be written"));
    assert_eq!(makespan(&written).as_ns(), 20_000_000);
}
