//! The error for a run that exceeds a bound on all runs: a fault of gpusched, never of its input.

use std::fmt::Display;

use thiserror::Error;

/// A run was found that exceeds a bound on all runs, so bound or run is wrong, and gpusched at fault. Whoever finds it
/// claims nothing: neither the bound nor a verdict that rests on it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "this is a fault of gpusched, please report it with its input: {subject} {found} in a run, and {claimed} is {claim}; \
     so nothing is claimed"
)]
pub struct BrokenBound {
    /// Of what the two speak, and with which verb, for example `job 0 of S1 takes`.
    pub subject: String,
    /// What a run has.
    pub found: String,
    /// What the claim says, for example `the bound on all runs`.
    pub claim: &'static str,
    /// What it comes to.
    pub claimed: String,
}

impl BrokenBound {
    /// Looks whether a run keeps a bound; where one of the two is not known, nothing is broken.
    ///
    /// # Errors
    /// The bound that is broken.
    pub fn check<T: Ord + Display>(
        found: Option<T>,
        (claim, bound): (&'static str, Option<T>),
        subject: impl FnOnce() -> String,
    ) -> Result<(), Self> {
        match found.zip(bound) {
            Some((found, bound)) if found > bound => {
                Err(Self { subject: subject(), found: found.to_string(), claim, claimed: bound.to_string() })
            }
            _ => Ok(()),
        }
    }
}
