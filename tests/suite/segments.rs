//! Tasks with CPU and GPU segments: bounds against an own, plain simulation of the task model, and the commands.

mod commands;
mod engine;
mod figure_8;
mod gpu_priorities;
mod plain;
mod random;
mod soundness;
mod suspension;
mod witnesses;
