//! In which order releases of one instant are taken.

use serde::Serialize;

/// In which order host threads act that are released, or wake up, at one instant. A simulation takes the order of
/// declaration in any case; verdicts and bounds hold for what is said here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseOrder {
    /// In any: what they submit at that instant is mixed in every way that keeps the order of each thread's program.
    #[default]
    Any,
    /// As they are declared, each with all its submissions of the instant before the next thread's.
    Declared,
}

impl ReleaseOrder {
    /// All of them, the default first.
    pub const ALL: [Self; 2] = [Self::Any, Self::Declared];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Declared => "declared",
        }
    }

    /// The order of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.name() == name)
    }

    /// Under which order something is found: `under any order`.
    pub const fn condition(self) -> &'static str {
        match self {
            Self::Any => "under any order of simultaneous releases",
            Self::Declared => "under the declared order of simultaneous releases",
        }
    }
}
