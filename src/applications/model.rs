//! What an application is.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::device::BlockShape;
use crate::named::named;
use crate::time::Duration;

named! {
    /// Priority of an application, the highest first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Class: ALL, from_name, Display, Serialize {
        /// Served first.
        High = "high",
        /// Served after high.
        Medium = "medium",
        /// Served last; the paper gives it long timing requirements only.
        Low = "low",
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
