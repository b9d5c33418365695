//! Hosts: everything that decides when work is submitted to the simulated GPU.

pub mod global_edf;
pub mod gpu_evr;
mod one_at_a_time;
pub mod plain_streams;
mod program;
mod scheduler;
pub mod timegraph;
mod whole_application;

pub use program::{IterationSpan, ProgramHost, Run, simulate, simulate_with};
pub use scheduler::{ScheduleError, Scheduler, run_applications};

#[cfg(test)]
mod tests;
