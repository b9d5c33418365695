//! Chains: jobs that hand data to one another, and how old it may get on its way.

use std::sync::Arc;

use crate::device::CopyDirection;
use crate::named::named;
use crate::time::Duration;

/// Jobs of several threads, each of which reads what one of the thread before it has written last: a cause-effect chain
/// with register communication (`docs/analysis.md`, "Chains").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Name in reports.
    pub name: Arc<str>,
    /// From the thread that samples the world to the one that acts on it.
    pub links: Vec<ChainLink>,
    /// How long it may take at most from an event to the first output that knows of it.
    pub reaction_time: Option<Duration>,
    /// How old what an output is made of may be at most.
    pub data_age: Option<Duration>,
}

/// The jobs of one thread as a part of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainLink {
    /// Index of the host thread.
    pub thread: u32,
    /// A job reads when the first of these operations starts; `None`: when it begins.
    pub reads: Option<LinkOperation>,
    /// A job writes when the last of these operations has completed; `None`: when all of the job is done.
    pub writes: Option<LinkOperation>,
}

/// Operations of a job, by what they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkOperation {
    /// Launches of the kernel of that [title](crate::workload::Kernel::title).
    Kernel(Arc<str>),
    /// Copies that go that way.
    Copy(CopyDirection),
}

named! {
    /// What is asked of a chain.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ChainMeasure: ALL, Serialize {
        /// How long it takes from an event to the first output that knows of it.
        ReactionTime = "reaction time",
        /// How old what an output is made of is when it comes out.
        DataAge = "data age",
    }
}

impl Chain {
    /// What it may come to at most, if anything is stated.
    pub fn limit(&self, measure: ChainMeasure) -> Option<Duration> {
        match measure {
            ChainMeasure::ReactionTime => self.reaction_time,
            ChainMeasure::DataAge => self.data_age,
        }
    }
}

impl ChainLink {
    /// All of a job.
    pub fn whole(thread: u32) -> Self {
        Self { thread, reads: None, writes: None }
    }
}
