//! How many proven verdicts on random scenarios with small kernels have a certificate. The proven checker accepts each,
//! and no bound is below what a search found.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::{Checker, printed, proved};
use crate::campaign::part_of;

/// A kernel or, rarely, a copy, of so many SMs.
fn operation() -> impl Strategy<Value = Value> {
    let kernel = (0..4_u32).prop_map(|kernel| json!({"kernel": format!("k{kernel}")}));
    let copy = (prop::sample::select(vec!["host-to-device", "device-to-host"]), 1..=10_u32).prop_map(
        |(direction, tenths)| json!({"copy": direction, "bytes": 4096, "duration": format!("{} us", 50 * tenths)}),
    );
    prop_oneof![6 => kernel, 1 => copy]
}

/// Two to six streams of two priorities on one of four devices, some with a jitter, or a deadline that is not the
/// period.
pub(super) fn scenario(has_jitter: bool) -> impl Strategy<Value = Value> {
    let device = prop::sample::select(vec![("tx2", 2_u32), ("tx1", 2), ("k20m", 13), ("gtx1070", 15)]);
    let kernel = (1..=8_u32, prop::sample::select(vec![64_u32, 128, 256, 512]), 1..=20_u32);
    let period = prop::sample::select(vec![4_u32, 5, 6, 8, 10, 12, 16, 20, 25, 30, 40]);
    let jitter = prop::option::weighted(0.25, 1..=30_u32);
    let deadline = prop::option::weighted(0.4, 3..=60_u32);
    let stream = (0..2_i32, period, jitter, deadline, prop::collection::vec(operation(), 1..=3));
    let all = (device, prop::collection::vec(kernel, 4), prop::collection::vec(stream, 2..=6));
    all.prop_map(move |((device, sms), kernels, streams)| {
        let kernels: serde_json::Map<_, _> = (0..)
            .zip(kernels)
            .map(|(name, (blocks, threads, tenths))| {
                let duration = format!("{} us", 100 * tenths);
                // No more blocks than SMs, so that all fit at once.
                (format!("k{name}"), json!({"blocks": blocks.min(sms), "threads": threads, "duration": duration}))
            })
            .collect();
        let streams = (0..).zip(streams).map(|(name, (high, period, jitter, deadline, operations))| {
            let mut stream = json!({
                "name": format!("s{name}"), "priority": -high, "period": format!("{period} ms"), "jobs": 2,
                "operations": operations,
            });
            if let Some(tenths) = jitter.filter(|_| has_jitter) {
                stream["jitter"] = json!(format!("{} us", 100 * tenths));
            }
            if let Some(deadline) = deadline {
                stream["deadline"] = json!(format!("{deadline} ms"));
            }
            stream
        });
        let streams: Vec<Value> = streams.collect();
        json!({
            "format": "gpusched-scenario/1", "name": "small kernels", "device": device, "kernels": kernels,
            "streams": streams,
        })
    })
}

/// Some streams of a scenario with hosts that launch what theirs is, some after a sleep, and some of which wait for it
/// and sleep again. Numbers decide which.
pub(super) fn with_hosts(mut scenario: Value, numbers: [u32; 6]) -> Value {
    let mut hosts = Vec::new();
    let streams = scenario["streams"].as_array_mut().expect("a list");
    for (stream, number) in streams.iter_mut().zip(numbers).filter(|(_, number)| number % 4 > 0) {
        let name = stream["name"].clone();
        let mut host = stream.clone();
        *stream = json!({"name": name, "priority": host["priority"]});
        let fields = host.as_object_mut().expect("it is one");
        fields.remove("priority");
        let operations = fields.remove("operations").expect("it has some");
        let jobs = fields.remove("jobs").expect("it has some");
        let mut steps = Vec::new();
        let sleep = |steps: &mut Vec<Value>, bit: u32| {
            if number & bit > 0 {
                steps.push(json!({"sleep": format!("{} us", 10 * (number % 97))}));
            }
        };
        sleep(&mut steps, 4);
        for operation in operations.as_array().expect("a list") {
            let mut step = operation.clone();
            let entries = step.as_object_mut().expect("it is one");
            if let Some(kernel) = entries.remove("kernel") {
                entries.insert("launch".to_owned(), kernel);
            }
            entries.insert("stream".to_owned(), name.clone());
            steps.push(step);
            sleep(&mut steps, 8);
        }
        let wait = [name.clone(), json!("last"), json!("device")][number as usize / 64 % 3].clone();
        steps.extend((number & 16 > 0).then(|| json!({"synchronize": wait})));
        sleep(&mut steps, 32);
        host["name"] = json!(format!("host of {}", name.as_str().expect("text")));
        host["iterations"] = jobs;
        host["steps"] = json!(steps);
        hosts.push(host);
    }
    scenario["hosts"] = json!(hosts);
    scenario
}

/// A scenario whose streams have masks that leave them some TPCs. Numbers decide which.
fn with_masks(mut scenario: Value, numbers: [u32; 6]) -> Value {
    // Of each of its devices a TPC is an SM.
    let sms = match scenario["device"].as_str() {
        Some("k20m") => 13,
        Some("gtx1070") => 15,
        _ => 2_u32,
    };
    let streams = scenario["streams"].as_array_mut().expect("a list");
    for (stream, number) in streams.iter_mut().zip(numbers).filter(|(_, number)| number % 4 > 0) {
        let inverse = if number % 3 == 0 { "~" } else { "" };
        stream["sm_mask"] = json!(format!("{inverse}{:#x}", 1 + number % ((1 << sms) - 2)));
    }
    scenario
}

/// The same as with hosts, with each thread of one of two clients of MPS.
fn with_clients(drawn: Value, numbers: [u32; 6]) -> Value {
    let mut all = with_hosts(drawn, numbers);
    all["mps"] = json!(true);
    all["processes"] = json!({"p": {}, "q": {}});
    let process = |number: u32| json!(if number % 7 < 3 { "p" } else { "q" });
    let streams = all["streams"].as_array_mut().expect("a list");
    let mut of_stream = BTreeMap::new();
    for (stream, number) in streams.iter_mut().zip(numbers) {
        stream["process"] = process(number);
        of_stream.insert(stream["name"].to_string(), process(number));
    }
    for host in all["hosts"].as_array_mut().expect("a list") {
        let launched = host["steps"].as_array().expect("a list").iter().find_map(|step| step.get("stream"));
        let own = launched.and_then(|stream| of_stream.get(&stream.to_string())).cloned();
        host["process"] = own.unwrap_or_else(|| json!("p"));
    }
    all
}

/// What numbers make of a scenario.
type Change = fn(Value, [u32; 6]) -> Value;

/// Of so many scenarios the proven verdicts with a certificate one after another, by weight, of hosts, and without one.
fn certified(checker: &Checker, cases: usize, is_sporadic: bool, change: Option<Change>) -> [usize; 4] {
    let numbers = prop::array::uniform6(if change.is_some() { 0..100_000_u32 } else { 0..1 });
    let strategy = (scenario(is_sporadic), numbers)
        .prop_map(move |(drawn, numbers)| change.map_or(drawn.clone(), |change| change(drawn, numbers)));
    let mut runner = TestRunner::deterministic();
    let [serial, by_weight, results] =
        if is_sporadic { ["windows", "responses", "streams"] } else { ["parts", "shared", "jobs"] };
    let mut tally = [0; 4];
    for _ in 0..cases {
        let drawn = strategy.new_tree(&mut runner).expect("no scenario is refused").current();
        let (file, written) = (checker.0.join("drawn.json"), checker.0.join("certificate.json"));
        fs::write(&file, drawn.to_string()).expect("it can be written");
        let (file, written) = (file.to_str().expect("text"), written.to_str().expect("text"));
        let search = if change.is_some() { "50ms" } else { "1ms" };
        let mut arguments = vec!["analyze", file, "--search", search, "--format", "json", "--certificate", written];
        arguments.extend(is_sporadic.then_some("--sporadic"));
        let analysis: Value = serde_json::from_slice(&printed(&arguments)).expect("JSON");
        let certificate: Value = serde_json::from_slice(&fs::read(written).expect("it was written")).expect("JSON");
        checker.about(file);
        let output = checker.check(&certificate);
        assert_eq!(output.status.code(), Some(0), "{}\n{drawn}", String::from_utf8_lossy(&output.stdout));
        let rows = analysis[results].as_array().expect("a list").iter();
        let found: BTreeMap<(String, u64), u64> = rows
            .filter_map(|row| {
                let job = row.get("job").map_or(Some(0), Value::as_u64)?;
                // A search without time to run once has found nothing.
                Some(((row["stream"].as_str()?.to_owned(), job), row["worst_found_ns"].as_u64().unwrap_or(0)))
            })
            .collect();
        for (stream, job, _, _, bound) in proved(&certificate) {
            let worst = found.get(&(stream.clone(), job)).expect("each verdict is in the table");
            assert!(*worst <= bound, "{stream}, job {job}: {worst} ns found, {bound} ns proven\n{drawn}");
        }
        let of = |key: &str| {
            let mut only =
                json!({"parts": [], "shared": [], "hosts": [], "windows": [], "responses": [], "phased": []});
            only[key] = certificate.get(key).cloned().unwrap_or(json!([]));
            proved(&only).len()
        };
        let without = certificate["no_certificate"].as_array().map_or(0, Vec::len);
        for (sum, more) in tally.iter_mut().zip([of(serial), of(by_weight), of("hosts") + of("phased"), without]) {
            *sum += more;
        }
    }
    tally
}

/// What was counted: of almost all there is one.
fn counted(checker: &Checker, cases: usize, is_sporadic: bool) -> String {
    let [serial, by_weight, _, without] = certified(checker, cases, is_sporadic, None);
    assert!(9 * without < serial + by_weight && by_weight > 0, "{serial}, {by_weight}, {without}");
    format!("{serial} one after another, {by_weight} by weight, {without} without")
}

#[test]
fn small_kernels_have_certificates_by_weight_that_the_proven_checker_accepts() {
    match Checker::new() {
        Some(checker) => {
            let [given, sporadic] = [8, 16].map(|cases| part_of(cases) as usize);
            println!("{}; {}", counted(&checker, given, false), counted(&checker, sporadic, true));
        }
        None => println!("skipped: there is no coqc here, or no OCaml with yojson"),
    }
}

#[test]
fn hosts_that_sleep_and_launch_have_certificates_that_the_proven_checker_accepts() {
    match Checker::new() {
        Some(checker) => {
            for is_sporadic in [false, true] {
                let [serial, by_weight, of_hosts, without] =
                    certified(&checker, part_of(16) as usize, is_sporadic, Some(with_hosts));
                println!("{serial} one after another, {by_weight} by weight, {of_hosts} of hosts, {without} without");
                assert!(of_hosts > 0 && of_hosts + serial + by_weight > without, "{of_hosts}, {serial}, {without}");
            }
        }
        None => println!("skipped: there is no coqc here, or no OCaml with yojson"),
    }
}

#[test]
fn masks_and_clients_of_mps_have_certificates_that_the_proven_checker_accepts() {
    match Checker::new() {
        Some(checker) => {
            for (is_sporadic, change) in [false, true]
                .into_iter()
                .flat_map(|is_sporadic| [with_masks as Change, with_clients].map(|change| (is_sporadic, change)))
            {
                let [serial, by_weight, of_hosts, without] =
                    certified(&checker, part_of(16) as usize, is_sporadic, Some(change));
                println!("{serial} one after another, {by_weight} by weight, {of_hosts} of hosts, {without} without");
                let all = serial + by_weight + of_hosts;
                assert!(all > without, "{serial}, {by_weight}, {of_hosts}, {without}");
            }
        }
        None => println!("skipped: there is no coqc here, or no OCaml with yojson"),
    }
}

#[test]
#[ignore = "the long campaign: 60 scenarios whose releases are given, 160 whose releases are not"]
fn long_campaign_of_certificates_for_small_kernels() {
    match Checker::new() {
        Some(checker) => println!("{}; {}", counted(&checker, 60, false), counted(&checker, 160, true)),
        None => println!("skipped: there is no coqc here, or no OCaml with yojson"),
    }
}
