//! Clients of MPS that may use a part of the SMs: EE queues of their own, SMs of their own where their shares leave
//! them, and static partitions.

use std::collections::BTreeSet;

use gpusched::analysis::{SearchOptions, Verdict, judge, judge_sporadic};
use gpusched::audit::{ObservedRun, Tolerances, audit};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::run::{State, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::trace::{OperationRecord, Rule, Trace};
use gpusched::workload::OperationId;
use serde_json::{Value, json};

use crate::published::figure;
use crate::reference;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

fn read(file: &Value) -> Scenario {
    Scenario::from_json("clients.json", &file.to_string(), &ReadOptions::default()).expect("it is sound")
}

fn error(file: &Value) -> String {
    let read = Scenario::from_json("clients.json", &file.to_string(), &ReadOptions::default());
    read.expect_err("it is refused").to_string()
}

/// Clients with these entries under "processes"; each has a stream of its name with the kernels that are told, by
/// blocks of 1024 threads and of 1 ms.
fn clients(device: &str, processes: &Value, streams: &[(&str, i32, u64, &[u32])]) -> Value {
    let mut kernels = json!({});
    let streams: Vec<Value> = streams
        .iter()
        .map(|(process, priority, release_us, blocks)| {
            let of_kernel = |blocks: &u32| {
                kernels[format!("{blocks}")] =
                    json!({"blocks": blocks, "threads": 1024, "registers_per_thread": 64, "duration": "1 ms"});
                json!({"kernel": format!("{blocks}")})
            };
            json!({"name": format!("of {process}"), "process": process, "priority": priority,
                "release": format!("{release_us} us"), "operations": blocks.iter().map(of_kernel).collect::<Vec<_>>()})
        })
        .collect();
    json!({"format": "gpusched-scenario/1", "name": "clients", "device": device, "mps": true,
        "processes": processes, "kernels": kernels, "streams": streams})
}

/// By the engine, of which the audit finds nothing.
fn audited(scenario: &Scenario) -> Trace {
    let run = simulate(scenario).expect("it runs");
    let found = audit(&ObservedRun::of_run(&run).expect("in range"), &Tolerances::default(), Progress::NONE);
    assert_eq!(found.findings, []);
    run.into_owned().trace
}

/// Also as the reference simulator has it, which takes long for thousands of blocks.
fn run(file: &Value) -> Trace {
    let scenario = read(file);
    let trace = audited(&scenario);
    let reference = reference::run(&scenario);
    let finishes = |trace: &Trace| trace.operations().iter().map(OperationRecord::finish).collect::<Vec<_>>();
    let of_reference: Vec<_> =
        reference.operations.iter().map(|operation| operation.finish.map(Instant::from_ns)).collect();
    assert_eq!(finishes(&trace), of_reference);
    trace
}

/// When each operation ends [us].
fn finishes(trace: &Trace) -> Vec<u64> {
    trace.operations().iter().map(|record| record.finish().expect("it ends").as_ns() / US).collect()
}

fn sms_at(trace: &Trace, operation: u32, at_us: u64) -> BTreeSet<u16> {
    trace.resident_at(OperationId(operation), Instant::from_ns(at_us * US)).map(|part| part.sm).collect()
}

/// When the jobs of the two hosts end \[ms\], with other shares.
fn with_shares(small: u32, large: u32) -> [f64; 2] {
    let mut scenario = figure("validation/mps-shares");
    let text = scenario.to_native_json().expect("it can be written");
    let mut file: Value = serde_json::from_str(&text).expect("it is JSON");
    file["processes"]["small"]["mps_percentage"] = json!(small);
    file["processes"]["large"]["mps_percentage"] = json!(large);
    scenario = read(&file);
    let run = simulate(&scenario).expect("it runs");
    let mut ends = [0.0_f64; 2];
    for launch in Summary::of(&run).launches() {
        let end = launch.record.finish().expect("it ends").as_ns() as f64 / 1e6;
        let of = &mut ends[launch.record.origin.thread as usize];
        *of = of.max(end);
    }
    ends
}

/// NVIDIA developer forums, topic 326201: `DenseNet121` alone took 57.6, 30.8, 14.3 and 14.1 ms with 10, 20, 80 and 90
/// %; with 90 % beside 10 % 15.1 ms, with 80 % beside 20 % 16.3 ms.
#[test]
fn a_network_with_most_of_the_gpu_is_as_fast_beside_one_with_the_rest_as_was_measured() {
    let [tenth, large] = with_shares(10, 90);
    assert!((14.1..=15.1).contains(&large) && (tenth / 57.6 - 1.0).abs() < 0.03, "{tenth} {large}");
    let [fifth, large] = with_shares(20, 80);
    assert!((large / 14.3 - 1.0).abs() < 0.02 && large <= 16.3, "{large}");
    assert!((fifth / 30.8 - 1.0).abs() < 0.09, "{fifth}");
}

/// NVIDIA developer forums, topic 312930: two clients of 50 %, of which one alone takes 100 ms, take 110 and 140 ms
/// together, and not one after the other.
#[test]
fn two_clients_of_one_half_run_at_once_on_halves_without_a_common_sm() {
    let halves = json!({"p": {"mps_percentage": 50}, "q": {"mps_percentage": 50}});
    let trace = audited(&read(&clients("a100-80gb", &halves, &[("p", 0, 0, &[1080]), ("q", 0, 0, &[1080])])));
    // 54 SMs each, on which 1080 blocks that fill one are 20 waves.
    assert_eq!(finishes(&trace), [20_000, 20_000]);
    for at in [500, 10_500, 19_500] {
        let (p, q) = (sms_at(&trace, 0, at), sms_at(&trace, 1, at));
        assert!(p.len() == 54 && q.len() == 54 && p.is_disjoint(&q));
    }
}

/// AureliusJustin/lithos-reproduction, docs/BENCHMARKS.md, section 5: on an A100 under MPS without percentages, a
/// kernel of 9 us waits for 10.4 ms beside one of 10.8 ms of another client.
#[test]
fn clients_that_may_use_all_sms_wait_for_one_another_as_measured() {
    let mut file = clients("a100-80gb-pcie", &json!({"hp": {}, "be": {}}), &[("be", 0, 0, &[1]), ("hp", 0, 360, &[2])]);
    file["kernels"]["1"] = json!({"blocks": 20_000, "threads": 128, "duration": "900 us"});
    file["kernels"]["2"] = json!({"blocks": 16, "threads": 128, "duration": "9 us"});
    let trace = audited(&read(&file));
    let [_, small] = finishes(&trace)[..] else { panic!("two kernels") };
    // 1728 blocks at once: all are assigned when eleven waves have ended.
    assert_eq!(small, 9_909);
    assert!(trace.waits(OperationId(1)).iter().all(|wait| wait.rule == Rule::X1));
}

#[test]
fn a_head_that_its_percentage_holds_holds_its_own_client_alone() {
    let shares = json!({"half": {"mps_percentage": 50}, "all": {}, "other": {}});
    let streams: &[(&str, i32, u64, &[u32])] =
        &[("half", -1, 0, &[80]), ("half", 0, 0, &[1]), ("all", 0, 100, &[40]), ("other", 0, 100, &[40])];
    // Stream names are to differ.
    let mut file = clients("titan-v", &shares, streams);
    file["streams"][1]["name"] = json!("also of half");
    let trace = run(&file);
    // 80 SMs: the first has 40 of them twice, and A2 holds what is behind it; the other two share a queue and the rest.
    assert_eq!(finishes(&trace), [2_000, 3_000, 1_100, 2_100]);
    let rules = |operation| trace.waits(OperationId(operation)).iter().map(|wait| wait.rule).collect::<Vec<_>>();
    assert_eq!(
        [rules(0), rules(1), rules(2)],
        [vec![Rule::Mps, Rule::Registers], vec![Rule::A2, Rule::Registers], vec![]]
    );
    let scenario = read(&file);
    assert!(scenario.notes.iter().any(|note| note.contains("add up to more SMs than there are")));
    let run = simulate(&scenario).expect("it runs");
    let state = State::at(&Summary::of(&run), Instant::from_ns(500 * US));
    let of = |context: &str| {
        let own = state.ee_queues.iter().filter(|queue| queue.context.as_deref() == Some(context));
        own.flat_map(|queue| queue.operations.clone()).collect::<Vec<_>>()
    };
    assert_eq!((of("half").len(), of("clients of all SMs").len()), (2, 1), "{:?}", state.ee_queues);
}

#[test]
fn shares_of_more_than_the_gpu_overlap_and_the_higher_priority_comes_first() {
    let shares = json!({"p": {"mps_percentage": 75}, "q": {"mps_percentage": 75}});
    let trace = run(&clients("titan-v", &shares, &[("p", 0, 0, &[120]), ("q", -1, 100, &[60])]));
    // 60 SMs each: q has the 20 that are left, and at 1 ms as many as it may.
    assert_eq!([sms_at(&trace, 0, 500).len(), sms_at(&trace, 1, 500).len()], [60, 20]);
    assert_eq!([sms_at(&trace, 0, 1_050).len(), sms_at(&trace, 1, 1_050).len()], [20, 60]);
}

fn periodic(processes: &Value, deadline: &str) -> Scenario {
    let mut file = clients("titan-v", processes, &[("p", 0, 0, &[80]), ("q", -1, 0, &[40])]);
    for stream in file["streams"].as_array_mut().expect("a list") {
        (stream["period"], stream["deadline"], stream["jobs"]) = (json!("20 ms"), json!(deadline), json!(2));
    }
    read(&file)
}

#[test]
fn clients_with_sms_of_their_own_are_bounded_as_if_each_were_alone() {
    let halves = json!({"p": {"mps_percentage": 50}, "q": {"mps_percentage": 50}});
    let scenario = periodic(&halves, "2 ms");
    assert!(scenario.notes.iter().any(|note| note.contains("each is taken to have SMs of its own")));
    let verdicts = judge(&scenario, &SearchOptions::default(), Progress::NONE).expect("nothing is broken");
    assert_eq!((verdicts.refusal.clone(), verdicts.jobs.len()), (None, 4));
    for job in &verdicts.jobs {
        let alone = if job.thread == 0 { 2 } else { 1 };
        assert_eq!((job.bound_ns, job.verdict), (Some(Duration::from_ns(alone * MS)), Some(Verdict::Proven)));
    }
    let sporadic =
        judge_sporadic(&scenario, &[], &SearchOptions::default(), Progress::NONE).expect("nothing is broken");
    assert!(sporadic.streams.iter().all(|stream| stream.verdict == Some(Verdict::Proven)), "{:?}", sporadic.streams);
}

#[test]
fn clients_that_may_share_sms_are_bounded_by_all_that_they_run_whatever_its_priority() {
    let shares = json!({"p": {"mps_percentage": 50}, "q": {}});
    let scenario = periodic(&shares, "1.5 ms");
    let verdicts = judge(&scenario, &SearchOptions::default(), Progress::NONE).expect("nothing is broken");
    for job in &verdicts.jobs {
        // A head of p has 40 SMs, and blocks count as if they kept out that: 120 of them are 3 ms, and the last block.
        assert_eq!(job.bound_ns, Some(Duration::from_ns(3_975_000)), "{job:?}");
        assert_ne!(job.verdict, Some(Verdict::Proven), "{job:?}");
    }
}

#[test]
fn static_partitions_reserve_chunks_of_sms() {
    // A GPU of 72 SMs is 18 chunks of 4: two partitions of 9 have 36 each, as `lspart` of release 580 told of one.
    let of_nine = json!({"p": {"sms": 36}, "q": {"sms": 36}});
    let trace = run(&clients("a10", &of_nine, &[("p", 0, 0, &[72]), ("q", 0, 0, &[36])]));
    assert_eq!(finishes(&trace), [2_000, 1_000]);
    let own = |sms: std::ops::Range<u16>| sms.collect::<BTreeSet<_>>();
    assert_eq!([sms_at(&trace, 0, 1_500), sms_at(&trace, 1, 500)], [own(0..36), own(36..72)], "nobody takes idle ones");
    // NVIDIA's guide: seven chunks of 8 are 56 SMs. An H100 has 16 of them and 4 SMs besides.
    let trace =
        run(&clients("h100", &json!({"p": {"sms": 56}, "q": {"sms": 76}}), &[("p", 0, 0, &[56]), ("q", 0, 0, &[76])]));
    assert_eq!(finishes(&trace), [1_000, 1_000]);
    let refused = |device: &str, p: Value, q: Value, what: &str| {
        let error = error(&clients(device, &json!({"p": p, "q": q}), &[("p", 0, 0, &[1])]));
        assert!(error.contains(what), "{error}");
    };
    refused("h100", json!({"sms": 56}), json!({"sms": 57}), "processes.q.sms");
    refused("h100", json!({"sms": 60}), json!({"sms": 68}), "a multiple of 8 SMs");
    refused("h100", json!({"sms": 72}), json!({"sms": 64}), "more SMs together than the 132");
    refused("h100", json!({"sms": 72}), json!({}), "all have one");
    refused("tx2", json!({"sms": 1}), json!({"sms": 1}), "compute capability 8.0");
    let mut masked = clients("h100", &json!({"p": {"sms": 56}}), &[("p", 0, 0, &[1])]);
    masked["streams"][0]["sm_mask"] = json!("0x1");
    assert!(error(&masked).contains("static partition"), "{}", error(&masked));
}

#[test]
fn a_static_partition_is_bounded_as_a_gpu_of_its_sms_and_written_as_it_was_read() {
    let mut file =
        clients("a10", &json!({"p": {"sms": 36}, "q": {"sms": 36}}), &[("p", 0, 0, &[72]), ("q", 0, 0, &[720])]);
    file["streams"][0]["deadline"] = json!("2 ms");
    let scenario = read(&file);
    assert_eq!(scenario.notes, [""; 0]);
    let verdicts = judge(&scenario, &SearchOptions::default(), Progress::NONE).expect("nothing is broken");
    assert_eq!(
        (verdicts.jobs[0].bound_ns, verdicts.jobs[0].verdict),
        (Some(Duration::from_ns(2 * MS)), Some(Verdict::Proven))
    );
    let again = read(&serde_json::from_str(&scenario.to_native_json().expect("it can be written")).expect("JSON"));
    assert_eq!(again.catalogue, scenario.catalogue);
    // Alone it is no other GPU.
    let mut alone = file.clone();
    alone["processes"] = json!({"p": {"sms": 36}});
    alone["streams"].as_array_mut().expect("a list").truncate(1);
    let alone = read(&alone);
    let verdicts = judge(&alone, &SearchOptions::default(), Progress::NONE).expect("nothing is broken");
    assert_eq!(verdicts.jobs[0].bound_ns, Some(Duration::from_ns(2 * MS)));
    let again = read(&serde_json::from_str(&alone.to_native_json().expect("it can be written")).expect("JSON"));
    assert_eq!(again.catalogue, alone.catalogue);
}

#[test]
fn without_mps_a_partition_is_noted_and_has_no_effect() {
    let mut file = clients("a10", &json!({"p": {"sms": 36}, "q": {}}), &[("p", 0, 0, &[72])]);
    file["mps"] = json!(false);
    let scenario = read(&file);
    assert!(scenario.notes.iter().any(|note| note == "the sms of process \"p\" has no effect without MPS"));
    assert_eq!(finishes(&simulate(&scenario).expect("it runs").trace), [1_000]);
}

#[test]
fn the_null_stream_of_each_process_has_number_minus_one() {
    let mut file = clients("a10", &json!({"p": {}, "q": {}}), &[("p", 0, 0, &[1]), ("q", 0, 0, &[2])]);
    for stream in file["streams"].as_array_mut().expect("a list") {
        *stream = json!({"name": "NULL", "process": stream["process"], "operations": stream["operations"]});
    }
    file["streams"]
        .as_array_mut()
        .expect("a list")
        .push(json!({"name": "s", "process": "q", "operations": [{"kernel": "1"}]}));
    let scenario = read(&file);
    let run = simulate(&scenario).expect("it runs");
    let operations = run.trace.operations().iter();
    let numbers: Vec<i64> = operations.map(|record| scenario.stream_number(record.stream)).collect();
    assert_eq!(numbers, [-1, -1, 1]);
    let state = State::at(&Summary::of(&run), Instant::from_ns(500 * US));
    assert_eq!(state.stream_queues.iter().map(|queue| queue.stream).collect::<Vec<_>>(), [-1, -1, 1]);
}
