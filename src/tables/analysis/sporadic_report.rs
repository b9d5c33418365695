//! All that is told of one scenario whose releases are taken as unknown.

use std::collections::BTreeMap;

use super::chains::{self, add_chains};
use super::verdicts::{add_requirements, add_streams, assumptions_document, open_doubtful, stream_columns};
use crate::analysis::{
    AnalysisError, ChainVerdicts, RequirementVerdict, SearchOptions, SporadicVerdicts, chains_without_bound,
    judge_sporadic, note_on_channels, proven_under, requirements_of_streams, stopped_note,
};
use crate::effort::Progress;
use crate::formats::{DocumentWriter, Page, Report, Rows};
use crate::run::overload_notes;
use crate::scenario::amalthea::ModelDemands;
use crate::scenario::{Scenario, UnknownStream};
use crate::time::Duration;

/// The verdicts on streams, and what is to be known of them.
#[derive(Debug)]
pub struct SporadicReport {
    /// The verdicts on streams.
    pub verdicts: SporadicVerdicts,
    /// Of an AMALTHEA model: which of its requirements are met.
    pub requirements: Option<Vec<RequirementVerdict>>,
    /// Chains, none of which has a bound.
    pub chains: ChainVerdicts,
    /// What the user should know.
    pub notes: Vec<String>,
    /// What the scenario is taken for that nobody guarantees.
    pub assumptions: Vec<String>,
}

impl SporadicReport {
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
        stated.into_keys().next().map_or(Ok(jitter), |name| Err(scenario.no_thread_named(name)))
    }

    /// Judges the streams of a scenario, each with its [jitter](Self::jitter_of_threads), searched for `search` or as
    /// long as does not hold its user up; `demands` are those of an AMALTHEA model.
    ///
    /// # Errors
    /// [`AnalysisError`], for a scenario that did not come through a reader, and where a run exceeds a bound.
    pub fn of(
        scenario: &Scenario,
        jitter: &[Duration],
        demands: Option<&ModelDemands>,
        search: Option<Duration>,
        watch: Progress<'_>,
    ) -> Result<Self, AnalysisError> {
        let options = SearchOptions::affordable_sporadic(scenario, search);
        let mut verdicts = judge_sporadic(scenario, jitter, &options, watch)?;
        let requirements = demands.map(|demands| requirements_of_streams(demands, &verdicts));
        let mut notes = scenario.notes.clone();
        notes.extend(verdicts.refusal.iter().map(|why| format!("no bounds: {why}")));
        notes.extend(overload_notes(scenario));
        notes.extend(note_on_channels(scenario));
        let bounds = verdicts.streams.iter().map(|stream| stream.bound_ns);
        notes.extend(stopped_note(verdicts.stopped, "streams", bounds, verdicts.runs));
        notes.extend(RequirementVerdict::notes(requirements.as_deref().unwrap_or_default()));
        let of_streams = verdicts.streams.iter_mut().map(|stream| (stream.stream.as_str(), &mut stream.verdict));
        notes.extend(open_doubtful(demands, of_streams));
        let chains = chains_without_bound(scenario);
        notes.extend(chains.notes.iter().cloned());
        Ok(Self { verdicts, requirements, chains, notes, assumptions: scenario.assumptions.clone() })
    }
}

impl Report for SporadicReport {
    const TABLE: &'static str = "streams";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.elements("streams", &self.verdicts.streams, &stream_columns(), &self.verdicts.streams)?;
        to.entry("runs_searched", &self.verdicts.runs)?;
        to.entry("notes", &self.notes)?;
        assumptions_document(to, &self.assumptions)?;
        self.requirements.iter().try_for_each(|requirements| to.list("requirements", requirements))?;
        chains::document(to, &self.chains.rows)
    }

    fn text(&self, page: &mut Page) {
        add_streams(page, &self.verdicts.streams);
        add_requirements(page, self.requirements.as_deref());
        add_chains(page, &self.chains.rows);
        if let Some(text) = proven_under(&self.assumptions) {
            page.line(&text);
        }
    }
}
