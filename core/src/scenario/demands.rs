//! What a model of another format asks of the jobs of a scenario that was made from it.

use serde::Serialize;

use crate::time::Duration;

/// What a model says of the jobs of a scenario that was made from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelDemands {
    /// All requirements that are read, in document order.
    #[doc(hidden)]
    pub limits: Vec<ResponseLimit>,
    /// Why jobs may be released at other times, or take longer, than the scenario says.
    #[doc(hidden)]
    pub doubts: Vec<ReleaseDoubt>,
    /// Labels of host threads whose jobs may take longer than a bound, as what tasks do on their cores is not all read,
    /// each with a reason.
    pub doubtful: Vec<(String, String)>,
    /// How many latency constraints of event chains are not among the chains of the scenario.
    pub unjudged_chains: u64,
}

/// Of what a requirement speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementOf {
    /// A task or interrupt routine.
    Process,
    /// A runnable.
    Runnable,
}

/// An upper limit of a response time: the only kind of requirement that is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// Its name.
    pub name: String,
    /// Of what it speaks.
    pub of: RequirementOf,
    /// The name of the task or runnable.
    pub target: String,
    /// The response time at most.
    pub response_time_ns: Duration,
}

/// A requirement, and the streams whose jobs have to keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseLimit {
    /// What the model states.
    pub requirement: Requirement,
    /// Streams (of runnables that are launched) of which it speaks; none if nothing of it runs on the GPU.
    pub streams: Vec<String>,
    /// Whether it speaks of a part of these jobs, which ends no later than they do.
    pub is_part: bool,
    /// Why it may be missed although no job of these streams takes longer.
    pub doubt: Option<String>,
    /// Those of the doubts of the model that concern these jobs, or jobs that may delay them.
    pub doubts: Vec<ReleaseDoubt>,
}

/// Why the jobs of a scenario are not all that the model allows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReleaseDoubt {
    /// In words.
    pub what: String,
    /// Whether periods and jitters cover it, so that an analysis of all phasings has no such doubt.
    pub is_within_sporadic: bool,
    /// Whether a jitter that is stated covers it.
    pub is_jitter: bool,
}
