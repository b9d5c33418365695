//! Applications with timing requirements that share one GPU: the model behind GPU-EvR and the schedulers it is compared
//! with.
//!
//! After Lee and Al Faruque, "GPU-EvR: Run-Time Event Based Real-Time Scheduling Framework on GPGPU Platform", DATE
//! 2014: applications of three classes arrive, each with a timing requirement and one or more kernels, whose execution
//! time E(K, P) depends on the number P of SMs. [`ApplicationSet`] is the input, read from a file or generated;
//! [`Scheduler::run`](crate::hosts::Scheduler::run) runs it under a scheduler; [`Outcome`] is what came of it.

mod model;
mod outcome;
mod read;
mod set;
mod variation;

#[doc(hidden)]
pub use model::MAX_INJECTIONS;
pub use model::{
    Application, ApplicationError, ApplicationKernel, Class, ExecutionProfile, Injection, Injections, KernelTimes,
};
pub use outcome::{ApplicationOutcome, ApplicationUsage, Outcome, Segment, SmCount, Usage, segments};
#[doc(hidden)]
pub use set::PowerModel;
pub use set::{ApplicationSet, BUILTIN_SETS, InjectedError};
pub use variation::{Variation, load};

#[cfg(test)]
mod tests;
