//! Real-time tasks in front of the GPU (Zahaf and Lipari, RTNS 2020, section 5): what the four strategies share.
//!
//! Schedulers act on two events, activation and completion. Activated jobs wait in a run-queue (the paper's rq) until
//! the strategy moves one to a stream; from there on the GPU's own rules decide.

mod activations;
mod dispatch;
mod gang;
pub(super) mod grid;
pub(super) mod job;
pub(super) mod ready_queue;
pub(super) mod run_tasks;
mod stacks;
mod stream_per_task;
mod synchronized;

#[cfg(test)]
mod tests;
