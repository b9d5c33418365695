//! What is taken of a profile, and how.

use crate::time::Duration;

/// When the operations of a profile are submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Launches {
    /// By host threads that take the recorded time between calls and wait where they waited: they go on later if the
    /// GPU is later (closed loop).
    #[default]
    Host,
    /// At the recorded times, whatever the GPU does (open loop).
    Recorded,
}

impl Launches {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Host, Self::Recorded];

    /// Name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Recorded => "recorded",
        }
    }

    /// By its name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// Which part of a profile to take, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportOptions {
    /// The GPU; `None`: the one that runs most kernels.
    pub gpu: Option<u32>,
    /// Leave out what starts earlier than this after the GPU's first operation.
    pub from: Option<Duration>,
    /// Leave out what starts at or after this.
    pub to: Option<Duration>,
    /// When operations are submitted.
    pub launches: Launches,
}
