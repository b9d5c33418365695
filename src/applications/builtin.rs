//! Application sets that come with the library.

use super::set::ApplicationSet;

/// Names of the built-in sets.
pub const BUILTIN_SETS: [&str; 3] = ["rodinia-like-k20m", "narrow-k20m", "gpu-evr-figure-1"];

impl ApplicationSet {
    /// The file of a built-in set, a model for a user's own; `None` if there is none of that name.
    pub fn builtin_json(name: &str) -> Option<&'static str> {
        match name {
            "rodinia-like-k20m" => Some(include_str!("data/rodinia-like-k20m.json")),
            "narrow-k20m" => Some(include_str!("data/narrow-k20m.json")),
            "gpu-evr-figure-1" => Some(include_str!("data/gpu-evr-figure-1.json")),
            _ => None,
        }
    }
}
