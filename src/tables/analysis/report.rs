//! All that is told of one analysed scenario.

use std::io::{self, Write};

use super::bounded_responses::BoundedResponses;
use super::chains::{self, add_chains};
use super::columns::analysis_columns;
use super::slack::{self, add_slack};
use super::table::{add_analysis, add_steps};
use super::verdicts::{add_jobs, add_requirements, assumptions_document, job_columns, open_doubtful};
use crate::analysis::printed::Turn;
use crate::analysis::{
    Analysis, AnalysisError, BlockTimes, BoundOptions, ChainVerdicts, FinishBounds, JobVerdicts, RequirementVerdict,
    SearchOptions, ThreadSlack, analyse_and_bound, chain_verdicts, judge_known, requirements_of_jobs, slack_of_threads,
};
use crate::effort::Progress;
use crate::formats::{DocumentWriter, Page, Report, Rows, RowsPart, fields};
use crate::run::{Jobs, Run};
use crate::scenario::Scenario;
use crate::scenario::amalthea::ModelDemands;
use crate::tables::run::responses::bounded_response_columns;
use crate::time::Duration;

/// An analysis, the verdicts on jobs, and what is to be known of both.
#[derive(Debug)]
pub struct AnalysisReport<'s> {
    /// What was analysed.
    pub scenario: &'s Scenario,
    /// The analysis, with the notes on everything here.
    pub analysis: Analysis<'s>,
    /// The verdicts on jobs.
    pub verdicts: JobVerdicts<'s>,
    /// Of an AMALTHEA model: which of its requirements are met.
    pub requirements: Option<Vec<RequirementVerdict>>,
    /// Which chains are in time.
    pub chains: ChainVerdicts,
    /// Turns of the printed algorithm, if they are asked for.
    pub steps: Option<Vec<Turn>>,
    /// Whether tables are about the verdicts on jobs alone.
    pub verdicts_alone: bool,
    /// How much longer jobs may take, if it is asked for.
    slack: Option<Vec<ThreadSlack>>,
    /// The jobs of the scenario's own run.
    own: Jobs,
    /// Notes of the merged SM alone.
    merged_notes: usize,
}

impl<'s> AnalysisReport<'s> {
    /// Of an [analysis](crate::analysis::analyse_and_bound), the [verdicts](JobVerdicts) beside it and the jobs of the
    /// scenario's own run; `demands` are those of an AMALTHEA model, `search_note` tells what was not searched.
    fn new(
        scenario: &'s Scenario,
        mut analysis: Analysis<'s>,
        mut verdicts: JobVerdicts<'s>,
        (own, chains): (Jobs, ChainVerdicts),
        demands: Option<&ModelDemands>,
        search_note: Option<String>,
    ) -> Self {
        let requirements = demands.map(|demands| requirements_of_jobs(demands, scenario, &verdicts));
        let merged_notes = analysis.notes.len();
        analysis.notes.extend(verdicts.notes.iter().cloned());
        analysis.notes.extend(RequirementVerdict::notes(requirements.as_deref().unwrap_or_default()));
        let of_jobs = verdicts.jobs.iter_mut().map(|job| (&*job.stream, &mut job.verdict));
        analysis.notes.extend(open_doubtful(demands, of_jobs));
        analysis.notes.extend(chains.notes.iter().cloned());
        analysis.notes.extend(search_note);
        Self {
            scenario,
            analysis,
            verdicts,
            requirements,
            chains,
            steps: None,
            verdicts_alone: false,
            slack: None,
            own,
            merged_notes,
        }
    }

    /// Analyses a scenario beside its own run, and judges its jobs, searched for `search` or as long as does not hold
    /// its user up.
    ///
    /// # Errors
    /// [`AnalysisError`], for a scenario that did not come through a reader or cannot be represented in 64-bit time,
    /// and where a run exceeds what is claimed of all.
    pub fn of(
        run: &'s Run<'_>,
        demands: Option<&ModelDemands>,
        search: Option<Duration>,
        watch: Progress<'_>,
    ) -> Result<Self, AnalysisError> {
        let analysed = analyse_and_bound(&run.scenario, BoundOptions::of(&run.scenario))?;
        Self::judged(analysed, run, demands, search, watch)
    }

    /// As [`AnalysisReport::of`], of what is analysed and bounded already.
    ///
    /// # Errors
    /// As there.
    pub fn judged(
        (analysis, bounds): (Analysis<'s>, FinishBounds),
        run: &Run<'_>,
        demands: Option<&ModelDemands>,
        search: Option<Duration>,
        watch: Progress<'_>,
    ) -> Result<Self, AnalysisError> {
        let scenario = analysis.of;
        analysis.check_run(&run.trace)?;
        let options = SearchOptions::affordable(run, search);
        // Bounds and what is searched speak of the same runs.
        let options = SearchOptions { bound: bounds.options, ..options };
        // Before there are verdicts, which are large as well.
        let own = run.jobs();
        let mut verdicts = judge_known(scenario, (run, &own), &bounds, &options, watch)?;
        if bounds.options.block_times == BlockTimes::Declared {
            verdicts.notes.push(format!("{STATED_TIMES}: shorter ones may make jobs late"));
        }
        let doubts: Vec<String> =
            demands.into_iter().flat_map(|demands| &demands.doubts).map(|doubt| doubt.what.clone()).collect();
        let chains = chain_verdicts(scenario, run, &verdicts, &doubts)?;
        let unsearched = SearchOptions::left_out_note(run, search);
        Ok(Self::new(scenario, analysis, verdicts, (own, chains), demands, unsearched))
    }

    /// Finds out how much longer the jobs of each thread may take while what is proven stays proven; `demands` are
    /// those with which it was judged.
    ///
    /// # Errors
    /// [`AnalysisError`]: a run exceeds what is claimed of all.
    pub fn find_slack(&mut self, demands: Option<&ModelDemands>, watch: Progress<'_>) -> Result<(), AnalysisError> {
        let judged = (&self.verdicts, &self.chains, self.requirements.as_deref().unwrap_or_default());
        self.slack = Some(slack_of_threads(self.scenario, judged, demands, watch)?);
        Ok(())
    }

    /// What is to be known of the verdicts alone: what the merged SM leaves out is no matter of theirs.
    pub fn notes_on_verdicts(&self) -> impl Iterator<Item = &String> {
        self.scenario.notes.iter().chain(&self.analysis.notes[self.merged_notes..])
    }

    /// Response times of the scenario's own run, with bounds.
    pub fn responses(&self) -> BoundedResponses<'_> {
        BoundedResponses { scenario: self.scenario, run: &self.own, verdicts: &self.verdicts.jobs }
    }
}

/// What verdicts under [`BlockTimes::Declared`] hold for.
const STATED_TIMES: &str =
    "verdicts hold for blocks that take no less than their shortest stated time, and copies that take what is stated";

impl Report for AnalysisReport<'_> {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        fields!(to, self.analysis => scenario, device, g_max, exact, utilization_threads, thread_slots);
        to.elements("kernels", &self.analysis.kernels, &analysis_columns(), &self.analysis.kernels)?;
        fields!(to, self.analysis => notes);
        assumptions_document(to, &self.scenario.assumptions)?;
        to.elements("jobs", &self.verdicts.jobs, &job_columns(), &self.verdicts.jobs)?;
        to.rows("responses", &bounded_response_columns(), self.responses().rows())?;
        to.entry("runs_searched", &self.verdicts.runs)?;
        self.requirements.iter().try_for_each(|requirements| to.list("requirements", requirements))?;
        chains::document(to, &self.chains.rows)?;
        self.slack.iter().try_for_each(|slack| slack::document(to, slack))?;
        self.steps.iter().try_for_each(|steps| to.list("steps", steps))
    }

    /// The kernels, or the verdicts on jobs alone.
    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        if self.verdicts_alone {
            part.write(&job_columns(), &self.verdicts.jobs, out)
        } else {
            self.analysis.write_kernels(part, out)
        }
    }

    /// Verdicts, which hold for every run; then responses, and finish times on the merged SM.
    fn text(&self, page: &mut Page) {
        add_jobs(page, &self.verdicts.jobs);
        add_requirements(page, self.requirements.as_deref());
        add_chains(page, &self.chains.rows);
        if let Some(text) = self.scenario.proven_under() {
            page.line(&text);
        }
        if self.verdicts.options.block_times == BlockTimes::Declared {
            page.line(STATED_TIMES);
        }
        if let Some(slack) = &self.slack {
            add_slack(page, slack);
        }
        if self.verdicts_alone {
            return;
        }
        page.blank();
        self.responses().add_to(page);
        add_analysis(page, &self.analysis);
        if let Some(steps) = &self.steps {
            page.blank();
            add_steps(page, &self.analysis, steps);
        }
    }
}
