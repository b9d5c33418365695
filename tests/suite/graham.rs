//! The published example of list scheduling's anomalies, as kernels with events between their streams: R. L. Graham,
//! "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied Mathematics 17, 1969, section 2.

use std::fs;

use gpusched::analysis::{SearchOptions, judge};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario};
use serde_json::{Value, json};

const MS: f64 = 1e6;
/// Of his jobs 1 to 9.
const TIMES_MS: [u64; 9] = [3, 2, 2, 2, 4, 4, 4, 4, 9];

/// A GPU of so many SMs, each with room for one of the jobs: a kernel of one block. `edges` lead from one to another.
fn dag(sms: u64, times_ms: [u64; 9], edges: &[(usize, usize)]) -> Scenario {
    let path = format!("{}/engine/src/device/data/tx2.json", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).expect("the device is there");
    let mut device: Value = serde_json::from_str(&text).expect("it is JSON");
    (device["sms"], device["name"], device["channels"]) = (json!(sms), json!("of his"), json!(16));
    let kernel = |time: u64| {
        let duration = format!("{time} ms");
        json!({"blocks": 1, "threads": 1024, "duration": duration, "shared_memory_bytes": 40_960})
    };
    let kernels = (1..).zip(times_ms).map(|(number, time)| (format!("T{number}"), kernel(time)));
    let streams: Vec<Value> = (1..=9).map(|number| json!({"name": format!("S{number}")})).collect();
    let mut steps = Vec::new();
    for number in 1..=9 {
        let stream = format!("S{number}");
        let before = edges.iter().filter(|edge| edge.1 == number);
        steps.extend(before.map(|(from, _)| json!({"wait": format!("E{from}"), "stream": stream})));
        steps.push(json!({"launch": format!("T{number}"), "stream": stream}));
        steps.extend(
            edges
                .iter()
                .any(|edge| edge.0 == number)
                .then(|| json!({"record": format!("E{number}"), "stream": stream})),
        );
    }
    let host = json!({"name": "H", "period": "100 ms", "iterations": 1, "deadline": "100 ms", "steps": steps});
    let kernels: serde_json::Map<String, Value> = kernels.collect();
    let file = json!({
        "format": "gpusched-scenario/1", "name": "anomalies", "device": device, "kernels": kernels, "streams": streams,
        "hosts": [host],
    });
    Scenario::from_json("dag.json", &file.to_string(), &ReadOptions::default()).expect("it is sound")
}

/// How long his jobs take in the run of the file; in all runs, at most.
fn makespan_and_bound_ms(scenario: &Scenario) -> (f64, f64) {
    let run = simulate(scenario).expect("it runs");
    let jobs = Summary::of(&run).jobs();
    let response = jobs.begun.iter().find_map(gpusched::run::Job::response).expect("it ends");
    let judged = judge(scenario, &SearchOptions::default(), Progress::NONE).expect("it is analysed");
    let bound = judged.jobs.iter().find_map(|job| job.bound_ns).expect("it has a bound");
    (response.as_ns() as f64 / MS, bound.as_ns() as f64 / MS)
}

#[test]
fn grahams_anomalies_are_those_of_kernels_and_his_bound_is_that_of_all_runs() {
    let edges = [(1, 9), (4, 5), (4, 6), (4, 7), (4, 8)];
    let shorter = TIMES_MS.map(|time| time - 1);
    // SMs, times, edges; what he has, and his bound P + (W - P) / m with the longest path P and the work W.
    for (sms, times, edges, published, longest) in [
        (3, TIMES_MS, &edges[..], 12.0, 12.0),
        (4, TIMES_MS, &edges, 15.0, 12.0),
        (3, shorter, &edges, 13.0, 10.0),
        (3, TIMES_MS, &[(1, 9), (4, 7), (4, 8)], 16.0, 12.0),
    ] {
        let scenario = dag(sms, times, edges);
        let (makespan, bound) = makespan_and_bound_ms(&scenario);
        let work = times.iter().sum::<u64>() as f64;
        let graham = longest + (work - longest) / sms as f64;
        assert!(published <= bound && bound <= graham, "{sms} SMs: {published} <= {bound} <= {graham}");
        assert!(makespan <= bound, "{sms} SMs: {makespan}, {bound}");
        // Shorter jobs end at once, and fewer edges let jobs enter the queue that his list has behind others.
        if edges.len() == 5 && times == TIMES_MS {
            assert!((makespan - published).abs() < 1e-9, "{sms} SMs: {makespan}, he has {published}");
        }
    }
}
