//! Scenarios of hosts that only work: nothing is declared of the GPU, and nothing is shown of it.

use std::fs;

use serde_json::{Value, json};

use crate::common::{directory, document, gpusched, gpusched_with};

/// The hosts of a scenario of one core, each with its period and its work \[ms\], the most urgent first.
fn on_one_core(hosts: &[(&str, u64, u64)]) -> Value {
    let host = |(urgency, (name, period, work)): (usize, &(&str, u64, u64))| {
        json!({
            "name": name, "core": 0, "cpu_priority": urgency, "period": format!("{period} ms"),
            "steps": [{"work": format!("{work} ms")}]
        })
    };
    let hosts: Vec<Value> = hosts.iter().enumerate().map(host).collect();
    json!({"format": "gpusched-scenario/1", "name": "cpu", "hosts": hosts})
}

fn ms(value: &Value) -> Option<u64> {
    Some(value.as_u64()? / 1_000_000)
}

/// Joseph and Pandya (The Computer Journal 29(5), 1986): R = C + sum over the more urgent of ceil(R / T) C. By hand,
/// a: 3; b: 3 + 3 = 6, in which a comes once; c: 5 + 3 x 3 + 2 x 3 = 20, in which a comes ceil(20 / 7) = 3 times and b
/// ceil(20 / 12) = 2 times.
#[test]
fn response_times_on_one_core_are_those_of_joseph_and_pandya() {
    let text = on_one_core(&[("a", 7, 3), ("b", 12, 3), ("c", 20, 5)]).to_string();
    let expected = [("a", 3), ("b", 6), ("c", 20)];
    let sporadic = document(&gpusched_with(&text, &["analyze", "-", "--sporadic", "--check", "--format", "json"]));
    for (row, (name, response)) in sporadic["streams"].as_array().expect("rows").iter().zip(expected) {
        assert_eq!((row["stream"].as_str(), ms(&row["bound_ns"])), (Some(name), Some(response)));
        assert_eq!((ms(&row["worst_found_ns"]), row["verdict"].as_str()), (Some(response), Some("proven")));
    }
    // All are released at 0, which is the worst phasing.
    let run = document(&gpusched_with(&text, &["simulate", "-", "--format", "json"]));
    let longest = run["responses"].as_array().expect("rows").iter().map(|row| ms(&row["max_ns"]));
    assert_eq!(longest.collect::<Vec<_>>(), expected.map(|(_, response)| Some(response)));
    let given = document(&gpusched_with(&text, &["analyze", "-", "--check", "--format", "json"]));
    assert!(given["jobs"].as_array().expect("rows").iter().all(|row| row["verdict"] == "proven"));
    let longest = given["responses"].as_array().expect("rows").iter().map(|row| ms(&row["bound_ns"]));
    assert_eq!(longest.collect::<Vec<_>>(), expected.map(|(_, response)| Some(response)));
    // One more ms of c, and its first job goes on beyond its period.
    let late = on_one_core(&[("a", 7, 3), ("b", 12, 3), ("c", 20, 6)]).to_string();
    assert_eq!(gpusched_with(&late, &["analyze", "-", "--sporadic", "--check"]).status.code(), Some(1));
}

/// S works for 2 of 10 ms, and A, less urgent on their core, for 7 of 20 ms. By hand: what happens just after S has
/// read at 0 ms is read at 10 ms, there at 12 ms, read by A at 22 ms, as S has the core before, and there at 29 ms. The
/// bound takes A to read when it is released: what happens after 10 ms is there at 22 ms, read at 40, there at 49 ms.
#[test]
fn chains_of_hosts_on_a_core_are_judged() {
    let mut scenario = on_one_core(&[("S", 10, 2), ("A", 20, 7)]);
    scenario["chains"] = json!([{"name": "C", "path": ["S", "A"], "reaction_time": "39 ms"}]);
    let given = gpusched_with(&scenario.to_string(), &["analyze", "-", "--check", "--format", "json"]);
    let row = &document(&given)["chains"][0];
    assert_eq!((ms(&row["worst_found_ns"]), ms(&row["bound_ns"])), (Some(29), Some(39)));
    assert_eq!((row["verdict"].as_str(), given.status.code()), (Some("proven"), Some(0)));
}

#[test]
fn tables_and_pictures_of_hosts_alone_leave_the_gpu_out() {
    let scenario = on_one_core(&[("S", 10, 2), ("A", 20, 7)]);
    let folder = directory("cpu_only");
    let path = |name: &str| folder.join(name).display().to_string();
    let [absent, empty] = ["absent.json", "empty.json"].map(path);
    fs::write(&absent, scenario.to_string()).expect("it can be written");
    let mut declared = scenario.clone();
    (declared["kernels"], declared["streams"]) = (json!({}), json!([]));
    fs::write(&empty, declared.to_string()).expect("it can be written");
    let said = |arguments: &[&str]| {
        let output = gpusched(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        let [out, notes] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(!notes.contains("safe_finish_ns"), "{notes}");
        out
    };
    for (command, first) in [
        (&["simulate"][..], " jobs of  jobs  unfinished"),
        (&["analyze"], " jobs of  job  released"),
        (&["analyze", "--sporadic"], " jobs of  period"),
        (&["compare"], "no kernel is launched: there are no finish times to compare"),
    ] {
        let [one, other] = [&absent, &empty].map(|file| said(&[command, &[file.as_str()]].concat()));
        assert_eq!(one, other);
        assert!(one.starts_with(first), "{command:?}: {one}");
        assert!(!one.contains("merged SM") && !one.contains("launched "), "{command:?}: {one}");
    }
    let [svg, html, converted] = ["run.svg", "run.html", "again.json"].map(path);
    said(&["simulate", &absent, "--figure", &svg, "--html", &html]);
    let drawn = fs::read_to_string(&svg).expect("it is there");
    assert!(drawn.contains("core 0") && !drawn.contains("SM 0") && !drawn.contains("per SM"), "{drawn}");
    assert!(fs::metadata(&html).expect("it is there").len() > 0);
    // Asked for, SMs are shown.
    said(&["simulate", &absent, "--figure", &svg, "--sms", "1", "--force"]);
    assert!(fs::read_to_string(&svg).expect("it is there").contains("SM 1"));
    said(&["convert", &absent, "-o", &converted]);
    assert_eq!(said(&["simulate", &converted]), said(&["simulate", &absent]));
}

#[test]
fn hosts_without_a_core_work_and_sleep_beside_each_other() {
    let host = |name: &str| json!({"name": name, "period": "10 ms", "iterations": 3, "steps": [{"work": "2 ms"}, {"sleep": "1 ms"}]});
    let scenario =
        json!({"format": "gpusched-scenario/1", "name": "free", "hosts": [host("A"), host("B")]}).to_string();
    let given = document(&gpusched_with(&scenario, &["analyze", "-", "--check", "--format", "json"]));
    let bounds: Vec<_> = given["jobs"].as_array().expect("rows").iter().map(|row| ms(&row["bound_ns"])).collect();
    assert_eq!(bounds, [Some(3); 6]);
    let svg = directory("cpu_only_free").join("run.svg").display().to_string();
    assert_eq!(gpusched_with(&scenario, &["simulate", "-", "--figure", &svg]).status.code(), Some(0));
}
