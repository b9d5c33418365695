//! Host threads by their names: those of hosts, and of streams with operations.

use thiserror::Error;

use super::model::Scenario;
use crate::words::{did_you_mean, listed};

/// Something is asked or stated of what is not there.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no stream with operations and no host is called {name:?}{near}; there are {known}")]
pub struct UnknownStream {
    /// What it is said to be called.
    pub name: String,
    /// Which of those that there are may be meant.
    pub near: String,
    /// Which there are.
    pub known: String,
}

impl Scenario {
    /// The index of the host thread with a name.
    ///
    /// # Errors
    /// [`UnknownStream`]
    pub fn thread_named(&self, name: &str) -> Result<u32, UnknownStream> {
        let mut known = (0..).zip(&self.threads);
        let found = known.find(|(_, thread)| *thread.label == *name);
        found.map(|(thread, _)| thread).ok_or_else(|| self.no_thread_named(name.to_owned()))
    }

    /// What is said of a name that no host thread has.
    pub(crate) fn no_thread_named(&self, name: String) -> UnknownStream {
        let all = || self.threads.iter().map(|thread| &*thread.label);
        let (near, known) = (did_you_mean(&name, all()), listed(all()));
        UnknownStream { name, near, known }
    }
}
