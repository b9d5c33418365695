//! The published JSON Schemas and the readers, held together: what the one refuses the other refuses too.
//!
//! A schema sees one value at a time, so the readers are stricter by design about
//! - names: unknown ones, ones used twice, and keys that stand twice in one object;
//! - what the device decides: priorities, masks that leave no SM, blocks that can never fit, SM counts and orders;
//! - what arithmetic decides: products of dimensions, best above worst, sums of blocks, rounding to 0 ns or past 2^63;
//! - runs that would never end, kernels whose block time nobody states, contexts of their own, nesting depth.

use std::collections::BTreeMap;

use gpusched::applications::{ApplicationSet, BUILTIN_SETS};
use gpusched::device::{BUILTIN_NAMES, Device};
use gpusched::experiments::study::Study;
use gpusched::hosts::Scheduler;
use gpusched::hosts::gpu_evr::EvrRules;
use gpusched::json::JsonError;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::schema::{NAMES, json_schema};
use gpusched::tasks::TaskSet;
use gpusched::tasks::segments::SegmentTaskSet;
use gpusched::warps::Instance;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::all_keys::{APPLICATIONS, EXAMINER, NATIVE, OTHER_EXAMINER, SEGMENTS, STUDIES, TASKS, WARPS};
use crate::mutants::every_place::mutants;
use crate::published;

fn validator(name: &str) -> Validator {
    let schema: Value = serde_json::from_str(&json_schema(name).expect("it is known")).expect("it is JSON");
    assert!(jsonschema::meta::is_valid(&schema), "{name} is a valid schema of its draft");
    jsonschema::draft202012::new(&schema).expect("it compiles")
}

fn errors(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn read_scenario(text: &str) -> Result<(), JsonError> {
    let lacking = ["mandelbrot", "matrix_multiply", "random_walk", "inorder_walk"];
    // Given only where needed: a block time that no kernel lacks is an error too.
    let lacking = lacking.into_iter().filter(|name| text.contains(&format!("\"{name}.so")));
    let block_durations =
        lacking.map(|name| (name.to_owned(), gpusched::time::Duration::from_ns(5))).collect::<BTreeMap<_, _>>();
    Scenario::from_json("mutant.json", text, &ReadOptions { block_durations, ..ReadOptions::default() }).map(drop)
}

fn read_study(text: &str) -> Result<(), JsonError> {
    let shipped = |name: &str| std::fs::read(published::root().with_file_name("studies").join(name));
    Study::from_json("mutant.json", text, &shipped).map(drop)
}

fn studies() -> Vec<std::path::PathBuf> {
    let folder = published::root().with_file_name("studies");
    let entries = std::fs::read_dir(folder).expect("studies are shipped").map(|entry| entry.expect("readable").path());
    let found: Vec<_> = entries.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect();
    assert!(!found.is_empty());
    found
}

#[test]
fn every_shipped_scenario_and_every_built_in_device_is_valid() {
    let (scenario, device) = (validator("scenario"), validator("device"));
    for file in published::files() {
        let text = std::fs::read_to_string(published::root().join(&file)).expect("the file is there");
        let value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(errors(&scenario, &value), Vec::<String>::new(), "{file}");
    }
    for name in BUILTIN_NAMES {
        let text = Device::builtin_json(name).expect("it is built in");
        let value = serde_json::from_str(text).expect("it is JSON");
        assert_eq!(errors(&device, &value), Vec::<String>::new(), "{name}");
        let written = Device::builtin(name).expect("sound").expect("built in").to_json();
        let value = serde_json::from_str(&written).expect("it is JSON");
        assert_eq!(errors(&device, &value), Vec::<String>::new(), "{name} as written");
    }
    for name in BUILTIN_SETS {
        let text = ApplicationSet::builtin_json(name).expect("it is built in");
        let value = serde_json::from_str(text).expect("it is JSON");
        assert_eq!(errors(&validator("applications"), &value), Vec::<String>::new(), "{name}");
    }
    for file in studies() {
        let text = std::fs::read_to_string(&file).expect("the file is there");
        let value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(errors(&validator("study"), &value), Vec::<String>::new(), "{}", file.display());
        read_study(&text).expect("it is sound");
    }
    assert_eq!(NAMES.len(), 7, "a schema that is added needs tests here");
}

#[test]
fn every_built_in_device_pasted_into_every_format_is_valid_and_runs() {
    let (scenario, applications) = (validator("scenario"), validator("applications"));
    let set = json!({"format": "gpusched-applications/1", "name": "one", "applications": [{"name": "a", "class": "high",
        "requirement": "1 s", "kernels": [{"blocks": 8, "threads": 64, "block_time": "1 ms"}], "arrivals": ["0 ms"]}]});
    for name in BUILTIN_NAMES {
        let text = Device::builtin_json(name).expect("it is built in");
        let device: Value = serde_json::from_str(text).expect("it is JSON");
        let mut with = json!({"format": "gpusched-scenario/1", "name": "one", "kernels": {"K": {"blocks": 8,
            "threads": 64, "duration": "1 ms"}}, "streams": [{"name": "s", "operations": [{"kernel": "K"}]}]});
        with["device"] = device.clone();
        assert_eq!(errors(&scenario, &with), Vec::<String>::new(), "{name}");
        let read = Scenario::from_json("one.json", &with.to_string(), &ReadOptions::default()).expect("it can be read");
        let run = gpusched::hosts::simulate(&read).expect("it runs");
        assert_eq!(run.trace.operations()[0].finish().map(gpusched::time::Instant::as_ns), Some(1_000_000), "{name}");
        let mut with = set.clone();
        with["device"] = device;
        assert_eq!(errors(&applications, &with), Vec::<String>::new(), "{name}");
        let read = ApplicationSet::from_json("one.json", &with.to_string(), None).expect("it can be read");
        let run = Scheduler::GlobalEdf.run(&read, EvrRules::default()).expect("it runs");
        assert!(run.operations()[0].finish().is_some(), "{name}");
    }
}

#[test]
fn nothing_in_a_schema_is_left_to_be_put_in() {
    for name in NAMES {
        let schema: Value = serde_json::from_str(&json_schema(name).expect("it is known")).expect("it is JSON");
        let mut nodes = vec![&schema];
        while let Some(node) = nodes.pop() {
            match node {
                Value::Object(fields) => {
                    for word in ["range", "names", "lists_of"] {
                        assert!(!fields.get(word).is_some_and(Value::is_string), "{name}: {word}: {}", fields[word]);
                    }
                    if let Some(to) = fields.get("$ref").and_then(Value::as_str) {
                        assert!(schema.pointer(&to[1..]).is_some(), "{name}: {to}");
                    }
                    nodes.extend(fields.values());
                }
                Value::Array(list) => nodes.extend(list),
                _ => {}
            }
        }
    }
}

/// Whether a reader's complaint is about form: a key, a type, a range. Those are a schema's business, but for what a
/// study sets in another file.
fn is_about_form(error: &JsonError) -> bool {
    let what = &error.what;
    if what.contains(".json: ") || what.starts_with("drawn: ") {
        return false;
    }
    let form = ["unknown key", "is missing", "is no SM mask", "has no known unit"];
    what.starts_with("expected ") && !what.contains("the device of the surrounding scenario")
        || form.iter().any(|form| what.contains(form))
}

fn agree(name: &str, text: &str, read: impl Fn(&str) -> Result<(), JsonError>) {
    let validator = validator(name);
    let value: Value = serde_json::from_str(text).expect("it is JSON");
    assert_eq!(errors(&validator, &value), Vec::<String>::new());
    read(text).expect("the original is sound");
    let (mut refused, mut stricter) = (0, 0);
    for mutant in mutants(&value) {
        let text = mutant.to_string();
        match (validator.is_valid(&mutant), read(&text)) {
            (true, Ok(())) => {}
            (false, Err(_)) => refused += 1,
            (false, Ok(())) => panic!("only the schema refuses {text}: {:?}", errors(&validator, &mutant)),
            (true, Err(error)) if is_about_form(&error) => panic!("only the reader refuses {text}: {error}"),
            (true, Err(_)) => stricter += 1,
        }
    }
    assert!(refused > 90 && stricter < refused, "{refused} refused by both, {stricter} by the reader only");
}

#[test]
fn native_reader_and_schema_agree_on_mutated_scenarios() {
    agree("scenario", NATIVE, read_scenario);
}

#[test]
fn examiner_reader_and_schema_agree_on_mutated_scenarios() {
    agree("scenario", EXAMINER, read_scenario);
    let other = serde_json::from_str(OTHER_EXAMINER).expect("it is JSON");
    assert_eq!(errors(&validator("scenario"), &other), Vec::<String>::new());
    read_scenario(OTHER_EXAMINER).expect("it is sound");
}

#[test]
fn device_reader_and_schema_agree_on_mutated_devices() {
    // What one generation states, others of it do, too.
    for name in BUILTIN_NAMES.iter().step_by(3) {
        let text = Device::builtin_json(name).expect("it is built in");
        agree("device", text, |text| Device::from_json("mutant.json", text).map(drop));
    }
}

#[test]
fn tasks_reader_and_schema_agree_on_mutated_task_sets() {
    let device = Device::builtin("tx2").expect("sound").expect("built in");
    agree("tasks", TASKS, |text| TaskSet::from_json("mutant.json", text, &device).map(drop));
}

#[test]
fn segments_reader_and_schema_agree_on_mutated_sets() {
    agree("segments", SEGMENTS, |text| SegmentTaskSet::from_json("mutant.json", text).map(drop));
}

#[test]
fn warps_reader_and_schema_agree_on_mutated_instances() {
    agree("warps", WARPS, |text| Instance::from_json("mutant.json", text).map(drop));
}

#[test]
fn application_reader_and_schema_agree_on_mutated_application_files() {
    for text in APPLICATIONS {
        agree("applications", text, |text| ApplicationSet::from_json("mutant.json", text, None).map(drop));
    }
}

#[test]
fn study_reader_and_schema_agree_on_mutated_studies() {
    for text in STUDIES {
        agree("study", text, read_study);
    }
}

#[test]
fn a_device_within_a_scenario_has_the_form_of_a_device_file() {
    let inline = |name: &str| {
        let device = Device::builtin_json(name).expect("it is built in");
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "inline", "device": {device},
                "kernels": {{"K": {{"blocks": 1, "threads": 32, "duration": "1 s"}}}},
                "streams": [{{"name": "S", "operations": [{{"kernel": "K"}}]}}]}}"#
        )
    };
    for name in BUILTIN_NAMES {
        let value = serde_json::from_str(&inline(name)).expect("it is JSON");
        assert_eq!(errors(&validator("scenario"), &value), Vec::<String>::new(), "{name}");
        let scenario = Scenario::from_json("inline.json", &inline(name), &ReadOptions::default()).expect("sound");
        assert_eq!(Some(scenario.device()), Device::builtin(name).expect("sound").as_ref());
    }
    agree("scenario", &inline("tx2"), read_scenario);
}
