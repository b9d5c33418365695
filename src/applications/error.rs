//! What cannot be done with applications.

use thiserror::Error;

use super::injection::MAX_INJECTIONS;
use crate::device::DemandError;

/// Why an application has no times, or nothing can be injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ApplicationError {
    /// One of its blocks can never run.
    #[error(transparent)]
    Demand(#[from] DemandError),
    /// It takes longer than time itself.
    #[error("the application takes longer than 2^63 ns")]
    TooLong,
    /// A change of it has a kernel launched more often than can be counted.
    #[error("a kernel of the application would be launched more than 2^32 - 1 times")]
    TooManyLaunches,
    /// More injections than a run may have.
    #[error("more than {MAX_INJECTIONS} injections")]
    TooManyInjections,
    /// An arrival beyond what inputs may state.
    #[error("the last injection would come after 2^63 ns")]
    InjectedTooLate,
    /// There is nothing to draw from.
    #[error("there are no applications to inject")]
    NoApplications,
}
