//! What an application is.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::device::BlockShape;
use crate::time::Duration;

/// Priority of an application, the highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Served first.
    High,
    /// Served after high.
    Medium,
    /// Served last; the paper gives it long timing requirements only.
    Low,
}

impl Class {
    /// All classes, the highest first.
    pub const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    /// Name used in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    /// The class of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How long one block of a kernel runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelTimes {
    /// The same on any number of SMs; E(K, P) follows.
    Fixed(Duration),
    /// Measured E(K, P) by P, at least one entry. The time of a block on P SMs follows: E(K, P) divided by the number
    /// of rounds in which the blocks run.
    Table(BTreeMap<u32, Duration>),
}

/// One kernel of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationKernel {
    /// Name in reports.
    pub name: Arc<str>,
    /// Thread blocks of one launch, N in the paper, at least 1.
    pub blocks: u32,
    /// What one block needs.
    pub shape: BlockShape,
    /// How long its blocks run.
    pub times: KernelTimes,
    /// How often it is launched, one launch after the other, at least 1.
    pub launches: u32,
}

/// An application as its author describes it; it can be injected any number of times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Name in reports.
    pub name: Arc<str>,
    /// Its priority.
    pub class: Class,
    /// The timing requirements that it may be given, at least one.
    pub requirements: Vec<Duration>,
    /// Copied to the GPU before the first kernel \[bytes\].
    pub copy_in_bytes: u64,
    /// Copied back after the last kernel \[bytes\].
    pub copy_out_bytes: u64,
    /// Its kernels, in the order of execution; at least one.
    pub kernels: Vec<ApplicationKernel>,
}
