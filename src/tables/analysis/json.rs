//! The JSON documents of `gpusched analyze`, written as they are produced.

use serde::Serialize;

use super::bounded_responses::BoundedResponses;
use crate::analysis::printed::Turn;
use crate::analysis::{Analysis, JobVerdict, RequirementVerdict, SporadicVerdict};

/// An analysis with the verdicts on jobs as one JSON document; times are integers \[ns\].
#[derive(Debug, Serialize)]
pub struct AnalysisDocument<'d> {
    /// The analysis, with all notes.
    #[serde(flatten)]
    pub analysis: &'d Analysis<'d>,
    /// The verdicts.
    pub jobs: &'d [JobVerdict],
    /// Response times of the scenario's own run, with bounds.
    pub responses: BoundedResponses<'d>,
    /// Runs that were simulated.
    pub runs_searched: u64,
    /// Of an AMALTHEA model: which of its requirements are met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirements: Option<&'d [RequirementVerdict]>,
    /// Turns of the printed algorithm, if they are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<&'d [Turn]>,
}

/// The verdicts on sporadic streams as one JSON document; times are integers \[ns\].
#[derive(Debug, Serialize)]
pub struct SporadicDocument<'d> {
    /// The verdicts.
    pub streams: &'d [SporadicVerdict],
    /// Runs that were simulated.
    pub runs_searched: u64,
    /// What the user should know.
    pub notes: &'d [String],
    /// Of an AMALTHEA model: which of its requirements are met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirements: Option<&'d [RequirementVerdict]>,
}
