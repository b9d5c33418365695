//! Hosts: everything that decides when work is submitted to the simulated GPU.

mod program;

pub use program::{IterationSpan, ProgramHost, Run, simulate, simulate_with};

#[cfg(test)]
mod tests;
