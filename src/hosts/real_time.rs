//! Real-time tasks in front of the GPU (Zahaf and Lipari, RTNS 2020, section 5): what the four strategies share.
//!
//! Schedulers act on two events, activation and completion. Activated jobs wait in a run-queue (the paper's rq) until
//! the strategy moves one to a stream; from there on the GPU's own rules decide.

mod activations;
mod grid;
mod job;
mod ready_queue;
mod synchronized;

pub use activations::Activations;
pub use grid::{Grid, GridError};
pub use job::{JobId, TaskJob};
pub use ready_queue::{JobPriority, Policy, ReadyQueue};
pub use synchronized::Synchronized;

#[cfg(test)]
mod tests;
