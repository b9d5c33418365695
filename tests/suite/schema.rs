//! The published JSON Schemas and the readers, held together: what the one refuses the other refuses too.
//!
//! A schema sees one value at a time, so the readers are stricter by design about
//! - names: unknown ones, ones used twice, and keys that stand twice in one object;
//! - what the device decides: priorities, masks that leave no SM, blocks that can never fit, SM counts and orders;
//! - what arithmetic decides: products of dimensions, best above worst, sums of blocks, rounding to 0 ns or past 2^63;
//! - runs that would never end, kernels whose block time nobody states, contexts of their own, nesting depth.

use std::collections::{BTreeMap, BTreeSet};

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

use crate::all_keys::{
    APPLICATIONS, EXAMINER, NATIVE, OTHER_EXAMINER, OTHER_NATIVE, SEGMENTS, STUDIES, TASKS, WAITING_NATIVE, WARPS,
};
use crate::common::{SOURCES, overwritten};
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

/// Keys of which other numbers of the file decide how large theirs may be.
const RELATIVE: [&str; 10] = [
    "sms_per_tpc",
    "sm_of_block",
    "device_to_device_engine",
    "thread_count",
    "block_count",
    "cpu",
    "sm",
    "D",
    "offset",
    "budget",
];

/// Whether a reader's complaint is about form: a key, a type, a range. Those are a schema's business, but for what a
/// study sets in another file, and for what other numbers decide.
fn is_about_form(error: &JsonError) -> bool {
    let what = &error.what;
    let key = error.path.rsplit('.').next().and_then(|last| last.split('[').next()).unwrap_or_default();
    let is_relative = RELATIVE.contains(&key) && what.contains(" from ") || what.contains(" the least and the most");
    if is_relative || what.contains(".json: ") || what.starts_with("drawn: ") {
        return false;
    }
    let form = ["unknown key", "is missing", "is no SM mask", "has no known unit"];
    what.starts_with("expected ") && !what.contains("the device of the surrounding scenario")
        || form.iter().any(|form| what.contains(form))
}

/// Every value inside `node`, with its place.
fn places<'v>(node: &'v Value, place: String, found: &mut Vec<(String, &'v Value)>) {
    match node {
        Value::Object(fields) => {
            for (key, inner) in fields {
                places(inner, format!("{place}/{}", key.replace('/', "~1")), found);
            }
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, inner)| places(inner, format!("{place}/{index}"), found));
        }
        _ => {}
    }
    found.push((place, node));
}

/// A document with each of its numbers, of a list of them the first, replaced by every one that is a bound of
/// something, or just beyond it.
fn with_bounds(document: &Value, schema: &Value) -> Vec<Value> {
    let (mut numbers, mut bounds) = (Vec::new(), Vec::new());
    places(document, String::new(), &mut numbers);
    places(schema, String::new(), &mut bounds);
    let beyond = |(place, bound): &(String, &Value)| match place.rsplit('/').next() {
        Some("minimum") => bound.as_i64().map(|bound| [json!(bound), json!(bound - 1)]),
        Some("maximum") => bound.as_u64().map(|bound| [json!(bound), json!(bound.saturating_add(1))]),
        _ => None,
    };
    let bounds: BTreeMap<String, Value> =
        bounds.iter().filter_map(beyond).flatten().map(|bound| (bound.to_string(), bound)).collect();
    let index = |place: &str| place.rsplit('/').next().and_then(|last| last.parse::<usize>().ok());
    let numbers = numbers.iter().filter(|(place, value)| value.is_number() && index(place).unwrap_or(0) == 0);
    let with = |place: &str, bound: &Value| {
        let mut changed = document.clone();
        *changed.pointer_mut(place).expect("it has the place") = bound.clone();
        changed
    };
    numbers.flat_map(|(place, _)| bounds.values().map(|bound| with(place, bound))).collect()
}

fn agree(name: &str, text: &str, read: impl Fn(&str) -> Result<(), JsonError>) {
    let validator = validator(name);
    let value: Value = serde_json::from_str(text).expect("it is JSON");
    assert_eq!(errors(&validator, &value), Vec::<String>::new());
    read(text).expect("the original is sound");
    let (mut refused, mut stricter) = (0, 0);
    let schema = serde_json::from_str(&json_schema(name).expect("it is known")).expect("it is JSON");
    for mutant in mutants(&value).into_iter().chain(with_bounds(&value, &schema)) {
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
    agree("scenario", OTHER_NATIVE, read_scenario);
    agree("scenario", WAITING_NATIVE, read_scenario);
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
    agree("device", &device(), |text| Device::from_json("mutant.json", text).map(drop));
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

/// A device file with every key there is.
fn device() -> String {
    let text = Device::builtin_json("b200").expect("it is built in");
    let mut device: Value = serde_json::from_str(text).expect("it is JSON");
    device["$schema"] = json!("any.schema.json");
    device["register_allocation"]["dealing"] = json!("worst");
    device["copy"]["device_to_device_engine"] = json!(1);
    (device["channels"], device["channel_order"]) = (json!(8), json!("fifo"));
    (device["copies"], device["synchronous_memset"]) = (json!("shared-link"), json!("caller-waits"));
    for latency in ["launch_latency_ns", "kernel_gap_ns", "block_gap_ns"] {
        device[latency] = json!(1);
    }
    device.to_string()
}

/// The places in a schema of what it says of keys that stand in none of these files.
fn absent(name: &str, files: &[&str]) -> BTreeSet<String> {
    let mut schema: Value = serde_json::from_str(&json_schema(name).expect("it is known")).expect("it is JSON");
    let mut all = Vec::new();
    places(&schema, String::new(), &mut all);
    // A device within another file is one as in a file of its own.
    let of_keys = all.into_iter().filter(|(place, says)| {
        let mut ways = place.rsplit('/');
        let is_key = ways.nth(1) == Some("properties") && says.is_object() && !place.starts_with("/$defs/device/");
        is_key && !ways.any(|way| ["if", "not", "anyOf"].contains(&way))
    });
    let mut of_keys: BTreeSet<String> = of_keys.map(|(place, _)| place).collect();
    // What a validator comes by is known of what has a title.
    for place in &of_keys {
        schema.pointer_mut(place).expect("it has the key")["title"] = json!("a key");
    }
    let validator = jsonschema::draft202012::new(&schema).expect("it compiles");
    for file in files {
        let evaluation = validator.evaluate(&serde_json::from_str(file).expect("it is JSON"));
        assert!(evaluation.flag().valid, "{name}");
        evaluation.iter_annotations().for_each(|of| _ = of_keys.remove(of.schema_location));
    }
    of_keys
}

#[test]
fn every_key_of_a_schema_but_that_of_studies_stands_in_a_file_that_is_mutated() {
    let files: [(&str, &[&str]); 6] = [
        ("scenario", &[NATIVE, OTHER_NATIVE, WAITING_NATIVE, EXAMINER, OTHER_EXAMINER]),
        ("device", &[&device()]),
        ("tasks", &[TASKS]),
        ("segments", &[SEGMENTS]),
        ("applications", &APPLICATIONS),
        ("warps", &[WARPS]),
    ];
    for (name, files) in files {
        assert_eq!(absent(name, files), BTreeSet::new(), "{name}");
    }
}

/// Keys that the writer of scenarios leaves out: what would not hold for an edited file, graphs, which it writes as the
/// streams and events that they are read as, and synchronous memsets, as what they do.
const NOT_WRITTEN: [&str; 12] = [
    "/$defs/native/properties/$schema",
    "/$defs/native/properties/source",
    "/$defs/native/properties/expected",
    "/$defs/expected/",
    "/$defs/expected_kernel/",
    "/$defs/native/properties/graphs",
    "/$defs/graph/",
    "/$defs/node/",
    "/$defs/after/",
    "/$defs/operation/oneOf/0/properties/graph",
    "/$defs/step/oneOf/0/properties/",
    "/$defs/step/oneOf/3/properties/",
];

#[test]
fn every_key_that_is_read_is_written() {
    let written = [NATIVE, OTHER_NATIVE, WAITING_NATIVE].map(|text| {
        let scenario = Scenario::from_json("read.json", text, &ReadOptions::default()).expect("it is sound");
        scenario.to_native_json().expect("it can be written")
    });
    let written = absent("scenario", &written.each_ref().map(String::as_str));
    let examiner = absent("scenario", &[NATIVE, OTHER_NATIVE, WAITING_NATIVE]);
    let is_left_out = |place: &&String| NOT_WRITTEN.iter().any(|out| place.starts_with(out));
    let missing: Vec<&String> = written.difference(&examiner).filter(|place| !is_left_out(place)).collect();
    assert_eq!(missing, Vec::<&String>::new());
    let device = Device::from_json("read.json", &device()).expect("it is sound").to_json();
    assert_eq!(absent("device", &[&device]), BTreeSet::from(["/properties/$schema".to_owned()]));
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

#[test]
fn every_key_of_scenarios_and_tasks_is_on_a_page() {
    for (name, pages) in
        [("scenario", ["scenario-format", "examiner"]), ("tasks", ["tasks"; 2]), ("segments", ["tasks"; 2])]
    {
        let read = |page| std::fs::read_to_string(format!("docs/{page}.md")).expect("the page is there");
        let text = pages.map(read).concat();
        let keys = absent(name, &[]).into_iter().filter_map(|place| Some(place.rsplit('/').next()?.to_owned()));
        let keys = keys.filter(|key| key != "$schema");
        let is_there = |key: &str| {
            let ways = [format!("`{key}`"), format!("`gpu.{key}`"), format!("\"{key}\"")];
            ways.iter().any(|way| text.contains(way))
        };
        let missing: Vec<String> = keys.filter(|key| !is_there(key)).collect();
        assert_eq!(missing, Vec::<String>::new(), "{name}");
    }
}

/// The head of a table of keys on a page.
const HEAD: &str = "\n| key | meaning |\n| --- | --- |\n";

/// A table of keys: of each object of the schema that it shows, what stands before its keys, where it is, and how many
/// of its keys the table leaves out.
type Table = &'static [(&'static str, &'static str, usize)];

/// The pages with tables of keys: of which schema they are, in the order of the page.
const PAGES: [(&str, &str, &[Table]); 4] = [
    (
        "scenario-format",
        "scenario",
        &[
            &[("", "/$defs/native", 0)],
            &[("", "/$defs/process", 0)],
            &[("", "/$defs/split", 0)],
            &[("", "/$defs/kernel", 0)],
            &[("", "/$defs/stream", 0)],
            &[("", "/$defs/host", 0)],
            &[("", "/$defs/chain", 0)],
            &[("", "/$defs/chain/properties/path/items/oneOf/1", 0)],
            &[("", "/$defs/expected", 0)],
            &[("", "/$defs/expected_kernel", 0)],
        ],
    ),
    ("tasks", "tasks", &[&[("", "/$defs/task", 0)]]),
    ("tasks", "segments", &[&[("", "", 1), ("gpu.", "/properties/gpu", 0), ("", "/$defs/task", 0)]]),
    ("studies", "study", &[&[("", "/$defs/scenario-keys", 4)]]),
];

/// What a table says of a key: its words for the page or else for editors, and whatever else the schema has of it that
/// they do not say.
fn meaning(schema: &Value, raw: &Value, object: &Value, key: &str) -> String {
    let stated = &object["properties"][key];
    let referred = stated["$ref"].as_str().and_then(|to| schema.pointer(&to[1..]));
    let of = |word: &str| stated.get(word).or_else(|| referred?.get(word));
    let words = raw["properties"][key].get("page").or_else(|| of("description")).and_then(Value::as_str);
    let quoted = |value: &Value| format!("`{value}`");
    let listed = |values: &[Value]| values.iter().map(quoted).collect::<Vec<_>>().join(", ");
    let mut sentences = vec![words.unwrap_or_default().trim_end_matches('.').to_owned()];
    let names = of("enum").and_then(Value::as_array).cloned().or_else(|| Some(vec![of("const")?.clone()]));
    if let Some(names) = names.filter(|names| !names.iter().all(|name| sentences[0].contains(&quoted(name)))) {
        sentences.push(format!("{} {}", if names.len() > 1 { "One of" } else { "Always" }, listed(&names)));
    }
    let most = of("maximum").filter(|most| most.as_f64() < Some(f64::from(i32::MAX)));
    sentences.extend(of("minimum").zip(most).map(|(least, most)| format!("From {least} to {most}")));
    let needed = object["dependentRequired"][key].as_array();
    sentences.extend(needed.map(|needed| format!("Needs {}", listed(needed).replace('"', ""))));
    let is_required = object["required"].as_array().is_some_and(|required| required.contains(&json!(key)));
    sentences.extend(is_required.then(|| "Required".to_owned()));
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(". ").replace('|', "\\|")
}

fn table(name: &str, shown: Table) -> String {
    let whole: Value = serde_json::from_str(&json_schema(name).expect("it is known")).expect("it is JSON");
    let mut files = SOURCES.iter().map(|root| std::fs::read_to_string(format!("{root}/schema/{name}.json")));
    let file = files.find_map(Result::ok).expect("it is in one of the crates");
    let file: Value = serde_json::from_str(&file).expect("it is JSON");
    let mut rows = Vec::new();
    for (before, place, left_out) in shown {
        let [object, raw] = [&whole, &file].map(|schema| schema.pointer(place).expect("it has the object"));
        let keys = raw["properties"].as_object().expect("it has keys").keys().skip(*left_out);
        rows.extend(keys.map(|key| format!("| `{before}{key}` | {} |\n", meaning(&whole, raw, object, key))));
    }
    rows.concat()
}

/// `KEYS=overwrite cargo test --test suite tables_of_keys` writes them anew.
#[test]
fn tables_of_keys_are_made_of_the_schemas() {
    let mut pages: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (page, name, tables) in PAGES {
        pages.entry(page).or_default().extend(tables.iter().map(|shown| table(name, shown)));
    }
    for (page, tables) in pages {
        let path = published::root().with_file_name("docs").join(page).with_extension("md");
        let text = std::fs::read_to_string(&path).expect("the page is there");
        let (first, rest) = text.split_once(HEAD).expect("there is a table");
        let rest: Vec<&str> = rest.split(HEAD).collect();
        assert_eq!(rest.len(), tables.len(), "{page} has tables of keys that are not listed here");
        let made = tables.iter().zip(rest).fold(first.to_owned(), |made, (table, part)| {
            made + HEAD + table + "\n" + part.split_once("\n\n").expect("a table ends").1
        });
        let is_so = made == text || overwritten("KEYS", &path, &made);
        assert!(is_so, "{page}: KEYS=overwrite cargo test --test suite tables_of_keys");
    }
}
