//! A set of applications as one run has it: changed, and with its injections.

use thiserror::Error;

use super::variation::Variation;
use crate::applications::{ApplicationError, ApplicationSet, Injections};
use crate::time::Duration;

/// Why there is nothing to run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InjectedError {
    /// The requirements of stated arrivals would not fit the changed applications.
    #[error(
        "this file states arrivals, whose requirements stay: to change its applications, draw injections (inject or \
         per-period)"
    )]
    ChangesArrivals,
    /// Nothing can be drawn anew.
    #[error("samples draw injections anew, and this file states arrivals: draw injections (inject or per-period)")]
    SamplesArrivals,
    /// No application is ever started.
    #[error(
        "nothing is injected: give the applications \"arrivals\", the file an \"injection\", or draw some (inject)"
    )]
    Nothing,
    /// The changes cannot be made, or the injections not drawn.
    #[error(transparent)]
    Application(#[from] ApplicationError),
}

impl ApplicationSet {
    /// The set with its applications changed, if anything is; `generator` says how injections are drawn.
    ///
    /// # Errors
    /// [`InjectedError`]
    pub fn varied(self, variation: &Variation, generator: Option<Injections>) -> Result<Self, InjectedError> {
        match (*variation == Variation::default(), generator) {
            (true, _) => Ok(self),
            (false, Some(_)) => Ok(variation.apply(&self, Duration::ZERO)?),
            (false, None) => Err(InjectedError::ChangesArrivals),
        }
    }

    /// The set with injections, drawn if `generator` says how, and otherwise as stated.
    ///
    /// # Errors
    /// [`InjectedError`]
    pub fn injected(mut self, generator: Option<Injections>, seed: u64) -> Result<Self, InjectedError> {
        if let Some(generator) = generator {
            self.injections = generator.draw(&self, seed, 0)?;
        }
        if self.injections.is_empty() { Err(InjectedError::Nothing) } else { Ok(self) }
    }
}
