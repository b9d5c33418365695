//! Applications with timing requirements that share one GPU: the model behind GPU-EvR and the schedulers it is compared
//! with.
//!
//! After Lee and Al Faruque, "GPU-EvR: Run-Time Event Based Real-Time Scheduling Framework on GPGPU Platform", DATE
//! 2014: applications of three classes arrive, each with a timing requirement and one or more kernels, whose execution
//! time E(K, P) depends on the number P of SMs. [`ApplicationSet`] is the input, read from a file or generated;
//! [`Scheduler::run`](crate::hosts::Scheduler::run) runs it under a scheduler; [`Outcome`] is what came of it.

mod builtin;
mod error;
mod generate;
mod injection;
mod model;
mod outcome;
mod power;
mod profile;
mod read;
mod segments;
mod set;
mod usage;

pub use builtin::BUILTIN_SETS;
pub use error::ApplicationError;
pub(crate) use injection::MAX_INJECTIONS;
pub use injection::{Injection, Injections};
pub use model::{Application, ApplicationKernel, Class, KernelTimes};
pub use outcome::{ApplicationOutcome, Outcome};
pub use profile::ExecutionProfile;
pub use segments::{Segment, SmCount, segments};
pub use set::ApplicationSet;
pub use usage::{ApplicationUsage, Usage};

#[cfg(test)]
mod tests;
