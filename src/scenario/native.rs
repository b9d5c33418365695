//! gpusched's own scenario format, `"format": "gpusched-scenario/1"`.
//!
//! Its keys are described in `docs/scenario-format.md`. A stream with `operations` becomes one host thread that
//! launches them all at its release; `hosts` are programs of their own. Threads are declared in that order: streams
//! first, then hosts.

mod chains;
mod expected;
mod file;
mod graph_parts;
mod graphs;
mod green_contexts;
mod hosts;
mod kernels;
mod operations;
pub(super) mod processes;
mod reading;
mod streams;
mod unstated;
mod write;

pub(super) use file::{FORMAT, FORMAT_KEY, device, read};
pub(super) use graphs::is_branch_of;
pub use write::NotNative;
