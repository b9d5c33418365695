//! The options of scenarios in a study, from the one list of them.

use serde_json::{Value, json};

use crate::input::options::{OPTIONS, OptionKind, ScenarioOption};

/// Each with the schema of its values; the seed is the study's own.
pub(super) fn properties() -> impl Iterator<Item = (String, Value)> {
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
        OptionKind::Names(_) => json!({"type": "array", "items": {"type": "string"}}),
        OptionKind::Name(_) | OptionKind::Frequency(_) | OptionKind::File(_) => json!({"type": "string"}),
        OptionKind::TimeOf(_) => by_name(time()),
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
