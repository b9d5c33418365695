//! Why a timeline cannot be laid out.

use thiserror::Error;

use crate::draw::{Length, MM};
use crate::time::Duration;

/// A timeline that cannot be laid out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TimelineError {
    /// An end before the beginning, or no time in between.
    #[error("the figure's time window ends at {to}, which is not after its beginning, {from}")]
    Window {
        /// Where it begins.
        from: Duration,
        /// Where it ends.
        to: Duration,
    },
    /// An SM that the device lacks.
    #[error("the figure shows SM {sm}, and this device has SMs 0 to {}", sms - 1)]
    NoSuchSm {
        /// The SM.
        sm: u32,
        /// How many there are.
        sms: u32,
    },
    /// A kernel that the scenario lacks.
    #[error("the figure shows only some kernels, and no kernel is called {title:?}{near}; there are {known}")]
    NoSuchKernel {
        /// What was asked for.
        title: String,
        /// Which of those that there are may be meant.
        near: String,
        /// Those that there are.
        known: String,
    },
    /// Too low for what must be in it, when everything else is left out.
    #[error("the figure may be {asked_mm} mm high; with all that can be left out it needs {least_mm} mm")]
    HeightLimit {
        /// What was asked for.
        asked_mm: String,
        /// What is needed.
        least_mm: i64,
    },
    /// Too narrow for anything but margins.
    #[error("the figure is {asked_mm} mm wide; it needs from {least_mm} to {most_mm} mm")]
    Width {
        /// What was asked for.
        asked_mm: String,
        /// What is needed.
        least_mm: i64,
        /// What is allowed.
        most_mm: i64,
    },
}

impl TimelineError {
    /// What is refused if `height` is more than the limit.
    pub(super) fn check_height(height: Length, limit: Length) -> Result<(), Self> {
        if height <= limit {
            return Ok(());
        }
        let asked_mm = format!("{}.{:02}", limit / MM, limit.rem_euclid(MM));
        Err(Self::HeightLimit { asked_mm, least_mm: (height + MM - 1) / MM })
    }
}
