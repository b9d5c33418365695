//! What an application is, and when it is injected.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::power::PowerModel;
use super::profile::Profile;
use crate::device::{BlockShape, Device};
use crate::time::{Duration, Instant};

/// Injections that one run may have.
pub const MAX_INJECTIONS: u32 = 1_000_000;

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
pub enum BlockTimes {
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
    pub times: BlockTimes,
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

/// One execution of an application: `<A_i, T_i^req>` in the paper, with the instant at which its user starts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Injection {
    /// Index of the application in its set.
    pub application: u32,
    /// When it is dispatched by its user, `T_i^init`.
    pub arrival: Instant,
    /// Its timing requirement, `T_i^req`.
    pub requirement: Duration,
}

impl Injection {
    /// The response time requirement as an instant, by Equation 3: `T_i^resp = T_i^init + T_i^req`.
    #[must_use]
    pub fn due(&self) -> Instant {
        self.arrival + self.requirement
    }
}

/// Applications, the GPU they run on, and when they are injected.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationSet {
    /// Name in reports.
    pub name: String,
    /// Whether the numbers were made up rather than measured.
    pub synthetic: bool,
    /// The GPU.
    pub device: Device,
    /// What its SMs are taken to consume.
    pub power: PowerModel,
    /// The applications.
    pub applications: Vec<Application>,
    /// Their profiles on `device`, in the same order.
    pub profiles: Vec<Profile>,
    /// What is injected, in order of arrival.
    pub injections: Vec<Injection>,
    /// How to inject where the file says so and states no arrivals.
    pub generator: Option<super::Injections>,
    /// What a user should know about the input.
    pub notes: Vec<String>,
}

impl ApplicationSet {
    /// The application of an injection, and its profile.
    #[must_use]
    pub fn of(&self, injection: &Injection) -> Option<(&Application, &Profile)> {
        let index = injection.application as usize;
        Some((self.applications.get(index)?, self.profiles.get(index)?))
    }

    /// Injections that miss their requirement even alone on the whole GPU.
    #[must_use]
    pub fn hopeless(&self) -> usize {
        let too_long = |injection: &&Injection| {
            self.of(injection).is_some_and(|(_, profile)| profile.shortest_execution() > injection.requirement)
        };
        self.injections.iter().filter(too_long).count()
    }
}
