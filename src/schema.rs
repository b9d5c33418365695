//! Published JSON Schemas of the input files, for editors and validators.
//!
//! The readers themselves give better errors; a test holds schemas and readers together. The files beside this one say
//! what is particular to each input. What is known elsewhere is put in here:
//!
//! | in the file | becomes |
//! | --- | --- |
//! | a reference to a definition that the file has not | that definition: a time, or a whole device |
//! | `"range": KEY` | the range of that key of a device file |
//! | `"names": WHAT` | the names of an enumeration |
//! | `"page": WORDS` | nothing: what the guide's table of these keys says where it has more room than the description |
//! | `"options_and": NAME` | also the properties of that definition, and those of the options of scenarios |
//! | `"lists_of": DEFINITION` | the axes of a study's grid: for each parameter of the definition a list of its values, and seeds |

use serde_json::{Map, Value, json};

use crate::analysis::Rung;
use crate::applications::{BUILTIN_SETS, Class};
use crate::device::{
    BUILTIN_NAMES, ChannelOrder, CopyDirection, CopySharing, Preemption, RegisterDealing, Runlists, SmNumbering,
    SynchronousMemset, range,
};
use crate::experiments::study::StudyCommand;
use crate::experiments::validation::Family;
use crate::hosts::Scheduler;
use crate::hosts::gpu_evr::{FullGpu, Keep, Late, Leftover, Remaining, UrgentQueue};
use crate::input::options::{OPTIONS, OptionKind, ScenarioOption};
use crate::tasks::ReservationTest;
use crate::tasks::segments::{SegmentPreset, SegmentTest};
use crate::workload::{BlockClock, InterleaveLevel, Placement};

/// Names of the schemas.
pub const NAMES: [&str; 7] = ["scenario", "device", "tasks", "segments", "applications", "study", "warps"];

const SHARED: &str = include_str!("schema/shared.json");
const DEVICE: &str = include_str!("schema/device.json");

/// What is said of the key by which editors find a schema, which every file may have.
const OF_SCHEMA: &str = "The address or path of this schema, for editors; it changes nothing.";

/// The JSON Schema of an input file, or `None` if there is none of that name (see [`NAMES`]).
pub fn json_schema(name: &str) -> Option<String> {
    let own = parsed(match name {
        "scenario" => include_str!("schema/scenario.json"),
        "applications" => include_str!("schema/applications.json"),
        "device" => DEVICE,
        "segments" => include_str!("schema/segments.json"),
        "study" => include_str!("schema/study.json"),
        "tasks" => include_str!("schema/tasks.json"),
        "warps" => include_str!("schema/warps.json"),
        _ => return None,
    });
    let mut schema = Value::Object(own.clone());
    complete(&mut schema, own.get("$defs").unwrap_or(&Value::Null));
    define_what_is_missing(&mut schema);
    let inner = schema.pointer("/oneOf").and_then(Value::as_array).into_iter().flatten();
    let inner: Vec<String> = inner.filter_map(|one| Some(one.get("$ref")?.as_str()?.replacen('#', "", 1))).collect();
    for place in if inner.is_empty() { vec![String::new()] } else { inner } {
        let known = schema.pointer_mut(&place).and_then(|root| root.get_mut("properties")?.as_object_mut());
        known.map(|known| known.insert("$schema".to_owned(), json!({"description": OF_SCHEMA, "type": "string"})));
    }
    Some(format!("{schema:#}\n"))
}

#[expect(clippy::expect_used, reason = "only files beside this one are parsed, and a test parses each")]
fn parsed(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).expect("a file of ours is a JSON object")
}

/// The definition that several inputs share.
fn shared(name: &str) -> Option<Value> {
    if name != "device" {
        return parsed(SHARED).remove(name);
    }
    let device = parsed(DEVICE).into_iter().filter(|(key, _)| key != "$schema" && key != "title");
    let mut device = Value::Object(device.collect());
    complete(&mut device, &Value::Null);
    Some(device)
}

/// Puts in what `range`, `names` and `lists_of` stand for; `definitions` are those of the file.
fn complete(node: &mut Value, definitions: &Value) {
    match node {
        Value::Object(fields) => {
            fields.retain(|key, words| key != "page" || !words.is_string());
            let word = |fields: &Map<String, Value>, key: &str| Some(fields.get(key)?.as_str()?.to_owned());
            if let Some((least, most)) = word(fields, "range").and_then(|field| range(&field)) {
                fields.shift_remove("range");
                let range = [("type", json!("integer")), ("minimum", json!(least)), ("maximum", json!(most))];
                fields.extend(range.map(|(key, value)| (key.to_owned(), value)));
            }
            if let Some(names) = word(fields, "names").and_then(|what| names(&what)) {
                fields.shift_remove("names");
                fields.insert("enum".to_owned(), json!(names));
            }
            if let Some(parameters) = word(fields, "lists_of").and_then(|name| definitions.get(name)) {
                let mut parameters = parameters.clone();
                complete(&mut parameters, definitions);
                *node = lists_of(&parameters);
                return;
            }
            if let Some(name) = word(fields, "options_and") {
                fields.shift_remove("options_and");
                let shared = definitions.get(name).and_then(|shared| shared.get("properties")?.as_object().cloned());
                let own = fields.get("properties").and_then(Value::as_object).cloned();
                let stated = [own, shared].into_iter().flatten().flatten();
                fields.insert("properties".to_owned(), stated.chain(properties()).collect());
            }
            fields.values_mut().for_each(|inner| complete(inner, definitions));
        }
        Value::Array(list) => list.iter_mut().for_each(|inner| complete(inner, definitions)),
        _ => {}
    }
}

/// The pattern of keys that are free text.
const COMMENTS: &str = "^comment";

/// A grid of what `parameters` are.
fn lists_of(parameters: &Value) -> Value {
    let list = |items: &Value| json!({"type": "array", "minItems": 1, "items": items});
    let mut grid = parameters.clone();
    if let Some(axes) = grid.get_mut("properties").and_then(Value::as_object_mut) {
        axes.values_mut().for_each(|axis| *axis = list(axis));
        axes.insert("seed".to_owned(), list(&json!({"$ref": "#/$defs/seed"})));
    }
    if let Some(axes) = grid.get_mut("patternProperties").and_then(Value::as_object_mut) {
        let others = axes.iter_mut().filter(|(pattern, _)| *pattern != COMMENTS);
        others.for_each(|(_, axis)| *axis = list(axis));
    }
    grid["description"] =
        json!("Every combination of these values is a point; the last key changes fastest from point to point.");
    grid
}

/// Adds the shared definitions that are referred to and not there, and those that these refer to.
fn define_what_is_missing(schema: &mut Value) {
    loop {
        let mut referred = Vec::new();
        references(schema, &mut referred);
        let is_there = |name: &String| schema.pointer(&format!("/$defs/{name}")).is_some();
        let missing = referred.into_iter().filter(|name| !is_there(name)).find_map(|name| Some((shared(&name)?, name)));
        let Some((definition, name)) = missing else { return };
        schema["$defs"][name] = definition;
    }
}

fn references(node: &Value, found: &mut Vec<String>) {
    match node {
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
            found.extend(name.map(str::to_owned));
            fields.values().for_each(|inner| references(inner, found));
        }
        Value::Array(list) => list.iter().for_each(|inner| references(inner, found)),
        _ => {}
    }
}

/// The names of what a schema asks for.
fn names(what: &str) -> Option<Vec<&'static str>> {
    Some(match what {
        "application set" => BUILTIN_SETS.to_vec(),
        "channel order" => ChannelOrder::ALL.map(ChannelOrder::name).to_vec(),
        "assumption" => Rung::ALL.map(Rung::name).to_vec(),
        "class" => Class::ALL.map(Class::name).to_vec(),
        "clock" => BlockClock::ALL.map(BlockClock::name).to_vec(),
        "synchronous memset" => SynchronousMemset::ALL.map(SynchronousMemset::name).to_vec(),
        "copy sharing" => CopySharing::ALL.map(CopySharing::name).to_vec(),
        "device" => BUILTIN_NAMES.to_vec(),
        "direction" => CopyDirection::ALL.map(CopyDirection::name).to_vec(),
        "family" => Family::ALL.map(Family::name).to_vec(),
        "full GPU" => FullGpu::ALL.iter().map(|rule| rule.name()).collect(),
        "interleave level" => InterleaveLevel::ALL.map(InterleaveLevel::name).to_vec(),
        "keep" => Keep::ALL.iter().map(|rule| rule.name()).collect(),
        "late" => Late::ALL.iter().map(|rule| rule.name()).collect(),
        "leftover" => Leftover::ALL.iter().map(|rule| rule.name()).collect(),
        "placement" => Placement::ALL.map(Placement::name).to_vec(),
        "preemption" => Preemption::ALL.map(Preemption::name).to_vec(),
        "remaining" => Remaining::ALL.iter().map(|rule| rule.name()).collect(),
        "runlists" => Runlists::ALL.map(Runlists::name).to_vec(),
        "register dealing" => RegisterDealing::ALL.map(RegisterDealing::name).to_vec(),
        "SM numbering" => SmNumbering::ALL.map(SmNumbering::name).to_vec(),
        "scheduler" => Scheduler::ALL.map(Scheduler::name).to_vec(),
        "segment preset" => SegmentPreset::ALL.map(SegmentPreset::name).to_vec(),
        "segment test" => SegmentTest::ALL.map(SegmentTest::name).to_vec(),
        "study command" => StudyCommand::ALL.map(StudyCommand::name).to_vec(),
        "test" => ReservationTest::ALL.map(ReservationTest::name).to_vec(),
        "urgent queue" => UrgentQueue::ALL.iter().map(|rule| rule.name()).collect(),
        _ => return None,
    })
}

/// Each with the schema of its values; the seed is the study's own.
fn properties() -> impl Iterator<Item = (String, Value)> {
    let of_points = OPTIONS.iter().filter(|option| option.key != "seed");
    of_points.map(|option| (option.key.to_owned(), property(option)))
}

fn property(option: &ScenarioOption) -> Value {
    let by_name = |each: Value| json!({"type": "object", "additionalProperties": each});
    let time = || json!({"$ref": "#/$defs/time"});
    let positive_time = || json!({"$ref": "#/$defs/positive_time"});
    let values = match option.kind {
        OptionKind::Flag(_) => json!({"type": "boolean"}),
        OptionKind::Time(_) => time(),
        OptionKind::TimeAboveZero(_) => positive_time(),
        OptionKind::Number(least, most, _) => json!({"type": "integer", "minimum": least, "maximum": most}),
        OptionKind::Percents(_) => {
            json!({"type": "string", "pattern": r"^\s*[+]?[0-9]+\s*\.\.\s*[+]?[0-9]+\s*$"})
        }
        OptionKind::OneOf(names, _) => json!({"enum": names()}),
        OptionKind::Names(_) | OptionKind::Lists(_) => json!({"type": "array", "items": {"type": "string"}}),
        OptionKind::Name(_) | OptionKind::Frequency(_) | OptionKind::File(_) => json!({"type": "string"}),
        OptionKind::TimeOf(_) => by_name(time()),
        OptionKind::TimeOrShareOf(_) => {
            by_name(json!({"anyOf": [time(), {"type": "string", "pattern": r"^[+]?[0-9.eE+-]+\s*%$"}]}))
        }
        OptionKind::TimeAboveZeroOf(_) => by_name(positive_time()),
        OptionKind::DeadlineOf(_) => by_name(json!({"$ref": "#/$defs/deadline"})),
        OptionKind::PriorityOf(_) => by_name(json!({"type": "integer", "minimum": i32::MIN, "maximum": 0})),
        OptionKind::NameOf(_) | OptionKind::MaskOf(_) => by_name(json!({"type": "string"})),
        OptionKind::SizeOf(_) => by_name(json!({"type": "integer", "minimum": 1, "maximum": u32::MAX})),
    };
    let mut schema = json!({"description": option.help});
    if let (Some(schema), Value::Object(values)) = (schema.as_object_mut(), values) {
        schema.extend(values);
        schema.insert("examples".to_owned(), json!([option.example_in_json()]));
    }
    schema
}
