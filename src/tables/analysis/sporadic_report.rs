//! All that is told of one scenario whose releases are taken as unknown.

use std::collections::BTreeMap;

use thiserror::Error;

use super::json::SporadicDocument;
use super::verdicts::{requirement_notes, requirement_table, sporadic_table};
use crate::analysis::{
    AnalysisError, RequirementVerdict, SearchOptions, SporadicVerdicts, Watch, judge_sporadic, requirements_of_streams,
};
use crate::formats::TableStyle;
use crate::scenario::Scenario;
use crate::scenario::amalthea::ModelDemands;
use crate::time::Duration;

/// Jobs of a stream that are made up for the search, roughly.
const JOBS_OF_A_STREAM: usize = 64;

/// The verdicts on streams, and what is to be known of them.
#[derive(Debug)]
pub struct SporadicReport {
    /// The verdicts on streams.
    pub verdicts: SporadicVerdicts,
    /// Of an AMALTHEA model: which of its requirements are met.
    pub requirements: Option<Vec<RequirementVerdict>>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// A jitter is stated of what is not there.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no stream with operations and no host is called {name:?}")]
pub struct UnknownStream {
    /// What it is said to be called.
    pub name: String,
}

/// The jitter of each host thread of a scenario: what is `stated` of it by name, or else its own.
///
/// # Errors
/// [`UnknownStream`]
pub fn jitter_of_threads(
    scenario: &Scenario,
    mut stated: BTreeMap<String, Duration>,
) -> Result<Vec<Duration>, UnknownStream> {
    let threads = scenario.threads.iter();
    let jitter = threads.map(|thread| stated.remove(&*thread.label).unwrap_or(thread.jitter)).collect();
    match stated.into_keys().next() {
        Some(name) => Err(UnknownStream { name }),
        None => Ok(jitter),
    }
}

impl SporadicReport {
    /// Judges the streams of a scenario, each with its [jitter](jitter_of_threads), searched for `search` or as long as
    /// does not hold its user up; `demands` are those of an AMALTHEA model.
    ///
    /// # Errors
    /// [`AnalysisError`], for a scenario that did not come through a reader, and where a run exceeds a bound.
    pub fn of(
        scenario: &Scenario,
        jitter: &[Duration],
        demands: Option<&ModelDemands>,
        search: Option<Duration>,
        watch: Watch<'_>,
    ) -> Result<Self, AnalysisError> {
        let options = SearchOptions::affordable(scenario, JOBS_OF_A_STREAM * scenario.threads.len(), search);
        let verdicts = judge_sporadic(scenario, jitter, &options, watch)?;
        let requirements = demands.map(|demands| requirements_of_streams(demands, &verdicts));
        let mut notes = scenario.notes.clone();
        notes.extend(verdicts.refusal.iter().map(|why| format!("no bounds: {why}")));
        notes.extend(requirement_notes(requirements.as_deref().unwrap_or_default()));
        Ok(Self { verdicts, requirements, notes })
    }

    /// As a JSON document.
    #[must_use]
    pub fn document(&self) -> SporadicDocument<'_> {
        SporadicDocument {
            streams: &self.verdicts.streams,
            runs_searched: self.verdicts.runs,
            notes: &self.notes,
            requirements: self.requirements.as_deref(),
        }
    }

    /// As text.
    #[must_use]
    pub fn text(&self, style: TableStyle) -> String {
        let streams = sporadic_table(&self.verdicts.streams, style);
        match self.requirements.as_deref().unwrap_or_default() {
            [] => streams,
            requirements => format!("{streams}\n{}", requirement_table(requirements, style)),
        }
    }
}
