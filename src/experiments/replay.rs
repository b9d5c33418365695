//! A measurement simulated again: what the model says of it, beside what happened.
//!
//! The scenario comes from the logs themselves (`scenario_of_logs`: launch order and times, measured block times,
//! one stream per log), or it is the one that made them with measured block times put in (`with_measured_times`)
//! and the measured order of launches (`measured_launch_order`).
//! [`replay`] simulates it and sets measured against simulated, kernel by kernel and block by block.

mod build;
mod compare;
mod durations;
mod measured;

pub use build::ReplayError;
pub use compare::{KernelComparison, Replay, replay};
