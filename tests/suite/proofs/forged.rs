//! The checker reads scenario and device strictly: what the proven rules know nothing of is refused by its name, so
//! that no certificate is accepted of another scenario than the one that runs.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use serde_json::{Value, json};

use super::chains::CAMERA_TO_BRAKE;
use super::hosts::{SLEEPING, WAITING};
use super::random::judged;
use super::{Checker, PRIORITIES, SIDE_BY_SIDE};

/// All keys that objects of a published schema may have.
fn keys(schema: &Value, found: &mut BTreeSet<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        found.extend(properties.keys().cloned());
    }
    match schema {
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        Value::Object(entries) => entries.values().for_each(|entry| keys(entry, found)),
        _ => {}
    }
}

/// Those of scenarios and devices, and one that neither has.
pub(super) fn published_keys() -> BTreeSet<String> {
    let mut all = BTreeSet::from(["anything".to_owned()]);
    for schema in ["scenario", "device"] {
        let text = fs::read_to_string(format!("src/schema/{schema}.json")).expect("it is shipped");
        keys(&serde_json::from_str(&text).expect("JSON"), &mut all);
    }
    all
}

/// Keys of which the checker knows that they change no verdict, where they stand.
const HARMLESS: [(&str, &[&str]); 5] = [
    (
        "",
        &[
            "$schema",
            "source",
            "placement",
            "seed",
            "release_order",
            "mps",
            "chains",
            "expected",
            "assumptions",
            "device",
        ],
    ),
    // Of these the bounds of the certificate hold still.
    ("/kernels/map", &["registers_per_thread", "shared_memory_bytes"]),
    ("/streams/0", &[]),
    ("/streams/0/operations/0", &[]),
    (
        "device",
        &[
            "$schema",
            "gpcs",
            "placement",
            "channel_order",
            "synchronous_memset",
            "pdl_trigger_latency_ns",
            "pdl_wait_latency_ns",
        ],
    ),
];

#[test]
fn no_key_of_the_published_schemas_is_passed_over_by_the_checker() {
    let Some(checker) = Checker::new() else {
        println!("skipped: there is no coqc here, or no OCaml with yojson");
        return;
    };
    let file = checker.0.join("priorities.json");
    fs::write(&file, PRIORITIES).expect("it can be written");
    let file = file.to_str().expect("text");
    let certificate = checker.certificate(file, &[]);
    checker.about(file);
    assert_eq!(checker.check(&certificate).status.code(), Some(0));
    let (scenario, device) = (checker.written("scenario.json"), checker.written("device.json"));
    let all = published_keys();
    assert!(all.contains("items") && all.contains("process") && all.len() > 100, "{all:?}");
    let mut tried = 0;
    for (place, harmless) in HARMLESS {
        let (file, whole, place) = match place {
            "device" => ("device.json", &device, ""),
            _ => ("scenario.json", &scenario, place),
        };
        for key in &all {
            let mut forged = whole.clone();
            let object = forged.pointer_mut(place).and_then(Value::as_object_mut).expect("it is there");
            if object.contains_key(key) || key.starts_with("comment") || harmless.contains(&&**key) {
                continue;
            }
            // A number stands for what is longer, more or more often; the readers of gpusched might refuse it there.
            object.insert(key.clone(), json!(2));
            fs::write(checker.0.join(file), forged.to_string()).expect("it can be written");
            let output = checker.check(&certificate);
            assert_ne!(output.status.code(), Some(0), "{key} at {place} of {file}");
            tried += 1;
        }
        fs::write(checker.0.join(file), whole.to_string()).expect("it can be written");
    }
    assert!(tried > 400, "only {tried}");
}

/// Adds each key at these places of a scenario but those that are harmless there, and expects refusal; how many.
fn all_are_refused(checker: &Checker, text: &str, at: &[(&str, &[&str])]) -> usize {
    let file = checker.0.join("whole.json");
    fs::write(&file, text).expect("it can be written");
    let file = file.to_str().expect("text");
    let certificate = checker.certificate(file, &[]);
    checker.about(file);
    let (scenario, device) = (checker.written("scenario.json"), checker.written("device.json"));
    let (mut lines, mut tried) = (String::new(), Vec::new());
    for (place, harmless) in at {
        for key in published_keys() {
            let mut forged = scenario.clone();
            let object = forged.pointer_mut(place).and_then(Value::as_object_mut).expect("it is there");
            if object.contains_key(&key) || key.starts_with("comment") || harmless.contains(&&*key) {
                continue;
            }
            object.insert(key.clone(), json!(2));
            let line = json!({"device": device, "scenario": forged, "certificate": certificate});
            writeln!(lines, "{line}").expect("text takes it");
            tried.push(format!("{key} at {place}"));
        }
    }
    let answers = judged(checker, &lines);
    assert_eq!(answers.lines().count(), tried.len(), "{answers}");
    for (answer, what) in answers.lines().zip(&tried) {
        assert!(!answer.starts_with("accepted"), "{what}: {answer}");
    }
    tried.len()
}

#[test]
fn no_key_of_a_host_or_a_chain_is_passed_over_by_the_checker() {
    let Some(checker) = Checker::new() else {
        println!("skipped: there is no coqc here, or no OCaml with yojson");
        return;
    };
    // What a host without work on the GPU does when is of no account; a copy takes its duration, if one is stated.
    let idle: &[&str] = &["release", "jitter", "time_limit", "barrier", "cpu_priority", "spin"];
    let of_hosts = [
        ("/hosts/0", &[][..]),
        ("/hosts/0/steps/0", &[]),
        ("/hosts/0/steps/1", &["bytes"]),
        ("/hosts/0/steps/2", &[]),
        ("/hosts/1", idle),
        ("/hosts/1/steps/0", &[]),
    ];
    let tried = all_are_refused(&checker, SLEEPING, &of_hosts);
    assert!(tried > 400, "only {tried}");
    // A sensor that only sleeps is part of the chain; no deadline of its own is proven.
    let of_chain =
        [("/hosts/0", &["deadline"][..]), ("/hosts/0/steps/0", &[]), ("/chains/0", &[]), ("/streams/0", &[])];
    let tried = all_are_refused(&checker, CAMERA_TO_BRAKE, &of_chain);
    assert!(tried > 300, "only {tried}");
}

#[test]
fn a_kernel_with_work_items_and_streams_of_processes_are_refused_by_name() {
    let Some(checker) = Checker::new() else {
        println!("skipped: there is no coqc here, or no OCaml with yojson");
        return;
    };
    let file = checker.0.join("priorities.json");
    fs::write(&file, PRIORITIES).expect("it can be written");
    let file = file.to_str().expect("text");
    let certificate = checker.certificate(file, &[]);
    checker.about(file);
    let scenario = checker.written("scenario.json");
    for (place, key, value) in [
        ("/kernels/map", "items", json!(80)),
        ("/streams/0", "process", json!("p")),
        ("", "processes", json!({"p": {}})),
    ] {
        let mut forged = scenario.clone();
        forged.pointer_mut(place).expect("it is there")[key] = value;
        fs::write(checker.0.join("scenario.json"), forged.to_string()).expect("it can be written");
        let output = checker.check(&certificate);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(key.strip_suffix("es").unwrap_or(key)), "{said}");
    }
}

/// Where there is something in it.
pub(super) fn places(value: &Value, place: &str, found: &mut Vec<String>) {
    found.push(place.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(number, item)| places(item, &format!("{place}/{number}"), found));
        }
        Value::Object(entries) => {
            entries.iter().for_each(|(key, entry)| places(entry, &format!("{place}/{key}"), found));
        }
        _ => {}
    }
}

#[test]
fn no_key_of_a_certificate_is_passed_over_by_the_checker() {
    let Some(checker) = Checker::new() else {
        println!("skipped: there is no coqc here, or no OCaml with yojson");
        return;
    };
    let sporadic = &["--sporadic"][..];
    for (number, (scenario, options)) in [
        (PRIORITIES, &[][..]),
        (SIDE_BY_SIDE, &[]),
        (WAITING, &[]),
        (WAITING, sporadic),
        (PRIORITIES, sporadic),
        (SIDE_BY_SIDE, sporadic),
        (CAMERA_TO_BRAKE, &[]),
        (CAMERA_TO_BRAKE, sporadic),
    ]
    .iter()
    .enumerate()
    {
        let file = checker.0.join(format!("{number}.json"));
        fs::write(&file, scenario).expect("it can be written");
        let file = file.to_str().expect("text");
        let certificate = checker.certificate(file, options);
        checker.about(file);
        assert_eq!(checker.check(&certificate).status.code(), Some(0));
        let mut objects = Vec::new();
        places(&certificate, "", &mut objects);
        objects.retain(|place| certificate.pointer(place).is_some_and(Value::is_object));
        assert!(objects.len() > 4, "{objects:?}");
        for place in objects {
            let mut forged = certificate.clone();
            forged.pointer_mut(&place).expect("it is there")["anything"] = json!(2);
            let output = checker.check(&forged);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{place}: {said}");
            assert!(said.contains("\"anything\""), "{said}");
        }
    }
}
