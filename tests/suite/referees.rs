//! What fuzzing takes of the tests, as a library of its own (`fuzz/Cargo.toml`): random scenarios and the referees.

#![allow(dead_code, unused_imports, reason = "the tests beside them are not built here")]
#![allow(clippy::expect_used, clippy::panic, reason = "what fails is meant to panic")]

mod agreement;
mod campaign;
mod chosen;
mod generate;
mod generate_processes;
mod own_logs;
mod reference;

/// Panics unless all referees agree on the scenario that these bytes draw.
pub fn holds(bytes: &[u8]) {
    if let Err(error) = chosen::holds(bytes) {
        panic!("{error}");
    }
}
