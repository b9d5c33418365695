//! Hosts: everything that decides when work is submitted to the simulated GPU.

mod program;
mod target;

pub use program::{IterationSpan, ProgramHost, Run, simulate, simulate_with};
pub use target::Target;

#[cfg(test)]
mod tests;
