//! Orders of dispatch of jobs that queue, of contexts in their own time, and of chains of kernels that have ended. All
//! values are by hand; every kernel fills the GPU.

use gpusched::analysis::{SearchOptions, judge_sporadic};
use gpusched::device::Device;
use gpusched::effort::Progress;
use gpusched::time::Duration;
use serde_json::{Value, json};

use super::programs::read;
use crate::common::tx2;

/// Worst found and bound of each thread over all phasings \[us\].
fn phased(file: &Value, device: &Device) -> Vec<(String, u64, Option<u64>)> {
    let verdicts = judge_sporadic(&read(file, device), &[], &SearchOptions::default(), Progress::NONE);
    let us = |time: Duration| time.as_ns() / 1_000;
    let rows = verdicts.expect("no run is above a bound").streams;
    let row = |row: &gpusched::analysis::SporadicVerdict| {
        (row.stream.clone(), row.worst_found_ns.map_or(0, us), row.bound_ns.map(us))
    };
    rows.iter().map(row).collect()
}

fn host(name: &str, period: &str, launches: &[&str]) -> Value {
    let launch = |kernel: &&str| json!({"launch": kernel, "stream": name});
    let steps: Vec<Value> = launches.iter().map(launch).chain([json!({"synchronize": name})]).collect();
    json!({"name": name, "period": period, "deadline": period, "steps": steps})
}

/// Each host with the process in which it is, and with a stream of its name.
fn in_processes(hosts: &[(&str, Value)]) -> Value {
    let (mut all, mut streams, mut placed) = (serde_json::Map::new(), Vec::new(), Vec::new());
    for (process, host) in hosts {
        all.insert((*process).to_owned(), json!({}));
        streams.push(json!({"name": host["name"], "process": process}));
        let mut host = host.clone();
        host["process"] = json!(process);
        placed.push(host);
    }
    let blocks = |number: u32| json!({"blocks": number, "threads": 1024, "duration": "4 ms"});
    json!({
        "format": "gpusched-scenario/1", "name": "own time", "processes": all, "streams": streams, "hosts": placed,
        "kernels": {"wave": blocks(4), "eight": blocks(32)},
    })
}

/// In its own time B waits for one wave of A's and takes 4 ms: 8 ms, before each of whose 1.024 ms C has a slice, so
/// 8 + 8 * 1.024 ms. C's 32 ms are had in 32 slices, each after one of the other context. A has 40 ms of its own, C 32,
/// and B comes at 0, 20, ..., 80 ms: 40 + 32 + 5 * 4 ms. In A's own time the jobs of B come less than 20 ms apart: with
/// 20 there would be one job of B less, and 91 ms.
#[test]
fn jobs_of_a_context_come_closer_in_its_own_time() {
    let device = tx2().with(|spec| spec.time_slicing.switch_cost = Duration::ZERO).expect("it is a GPU");
    let file = in_processes(&[
        ("P", host("A", "100 ms", &["wave"; 10])),
        ("P", host("B", "20 ms", &["wave"])),
        ("Q", host("C", "200 ms", &["eight"])),
    ]);
    let rows = phased(&file, &device);
    assert_eq!(rows[1], ("B".to_owned(), 16_192, Some(16_192)));
    assert_eq!(rows[2], ("C".to_owned(), 64_768, Some(64_768)));
    let (_, found, bound) = &rows[0];
    assert_eq!(*found, 92_000);
    assert!(bound.is_some_and(|bound| (92_000..100_000).contains(&bound)), "{bound:?}");
}

/// Kernels of one stream come one after another, so in a queue that is first in, first out only one of them is before
/// what has entered, however long the chain is, and whatever has begun it.
#[test]
fn a_job_waits_for_one_kernel_of_a_chain_of_its_priority() {
    let file = in_processes(&[("P", host("A", "100 ms", &["wave"; 10])), ("P", host("B", "20 ms", &["wave"]))]);
    let rows = phased(&file, &tx2());
    assert_eq!(rows[1], ("B".to_owned(), 8_000, Some(8_000)));
}

/// A's host works for 3 ms before and after 4 ms on the GPU, on a core of its own, every 14 ms; B has the GPU for 32 ms
/// every 200. So a job of A may take 32 + 10 ms, the next one 10 ms more less 14, and so on: the eighth is in time. B
/// waits for one wave of A's.
#[test]
fn jobs_of_a_host_that_works_queue_behind_a_kernel_of_another() {
    let mut works = host("A", "14 ms", &["wave"]);
    let steps = works["steps"].as_array_mut().expect("a list");
    steps.insert(0, json!({"work": "3 ms"}));
    steps.push(json!({"work": "3 ms"}));
    let file = in_processes(&[("P", works), ("P", host("B", "200 ms", &["eight"]))]);
    let rows = phased(&file, &tx2());
    assert_eq!(rows[0], ("A".to_owned(), 42_000, Some(42_000)));
    let (_, found, bound) = &rows[1];
    assert!((35_000..=36_000).contains(found) && *bound == Some(36_000), "{rows:?}");
}

/// The ways back along waits for events double at each level; each operation is passed once all the same. The last
/// kernels come one after the other: 4 and 8 ms.
#[test]
fn waits_that_part_and_meet_again_take_no_time() {
    let mut steps = Vec::new();
    for level in 0..40 {
        for (stream, event) in [("A", format!("a{level}")), ("B", format!("b{level}"))] {
            steps.push(json!({"record": event, "stream": stream}));
        }
        for (stream, event) in [("A", format!("b{level}")), ("B", format!("a{level}"))] {
            steps.push(json!({"wait": event, "stream": stream}));
        }
    }
    steps.extend(["A", "B"].map(|stream| json!({"launch": "wave", "stream": stream})));
    steps.push(json!({"synchronize": "device"}));
    let file = json!({
        "format": "gpusched-scenario/1", "name": "diamonds", "streams": [{"name": "A"}, {"name": "B"}],
        "kernels": {"wave": {"blocks": 4, "threads": 1024, "duration": "4 ms"}},
        "hosts": [{"name": "H", "period": "100 ms", "deadline": "100 ms", "steps": steps}],
    });
    assert_eq!(phased(&file, &tx2()), [("H".to_owned(), 8_000, Some(8_000))]);
}
