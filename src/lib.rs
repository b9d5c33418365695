//! Simulator and analyser of how an NVIDIA GPU's hardware schedules thread blocks.
pub mod device;
pub mod gpu;
pub mod hosts;
pub mod json;
pub mod report;
pub mod scenario;
pub mod schema;
pub mod time;
pub mod workload;
