//! Published JSON Schemas of the input files, for editors and validators.
//!
//! The readers themselves give better errors; a test holds schemas and readers together.

/// Names of the schemas.
pub const NAMES: [&str; 7] = ["scenario", "device", "tasks", "segments", "applications", "study", "warps"];

/// The JSON Schema of an input file, or `None` if there is none of that name (see [`NAMES`]).
#[must_use]
pub fn json_schema(name: &str) -> Option<&'static str> {
    Some(match name {
        "scenario" => include_str!("schema/scenario.json"),
        "applications" => include_str!("schema/applications.json"),
        "device" => include_str!("schema/device.json"),
        "segments" => include_str!("schema/segments.json"),
        "study" => include_str!("schema/study.json"),
        "tasks" => include_str!("schema/tasks.json"),
        "warps" => include_str!("schema/warps.json"),
        _ => return None,
    })
}
