//! What was concluded of one scenario without running it, with releases that are known or not.

pub(super) mod largest_grid;
pub(super) mod merged_sm;
pub(super) mod progress;
pub(super) mod safety;
mod sensitivity;
pub(super) mod verdicts;

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::run::kernels::bounded_response_columns;
use crate::analysis::algorithm_2::AlgorithmStep;
use crate::analysis::{
    Analysis, AnalysisError, BlockTimes, BoundOptions, ChainVerdicts, FinishBounds, JobVerdict, JobVerdicts, Question,
    RequirementVerdict, SearchOptions, Sensitivity, SporadicVerdicts, ThreadSlack, analyse_and_bound, chain_verdicts,
    judge_known, judge_sporadic, note_on_channels, proven_under, requirements_of_jobs, requirements_of_streams,
    stopped_note, unphased_chains,
};
use crate::effort::Progress;
use crate::formats::{
    Cut, DocumentWriter, MAX_ROWS, Page, Report, Rows, RowsPart, fields, write_document, write_lines,
};
use crate::run::{Jobs, Responses, Run, each_response, overload_notes};
use crate::scenario::ModelDemands;
use crate::scenario::Scenario;
use crate::spelling::formats;
use crate::time::Duration;
use merged_sm::{add_analysis, add_steps, analysis_columns};
use sensitivity::{add_sensitivity, add_slack, sensitivity_columns, slack_columns};
use verdicts::{
    add_chains, add_jobs, add_many_jobs, add_requirements, add_streams, assumptions_document, chains_document,
    job_columns, open_doubtful, stream_columns,
};

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
    pub steps: Option<Vec<AlgorithmStep>>,
    /// Whether tables are about the verdicts on jobs alone.
    pub verdicts_alone: bool,
    /// How much longer jobs may take, if it is asked for.
    slack: Option<Vec<ThreadSlack>>,
    /// How much longer what takes time may take, if it is asked for.
    sensitivity: Option<Sensitivity>,
    /// The jobs of the scenario's own run.
    own: Jobs,
    /// Notes of the merged SM alone.
    merged_notes: usize,
}

impl<'s> AnalysisReport<'s> {
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
        (mut analysis, bounds): (Analysis<'s>, FinishBounds),
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
        if bounds.options.block_times == BlockTimes::AsStated {
            verdicts.notes.push(format!("{STATED_TIMES}: shorter ones may make jobs late"));
        }
        let chains = chain_verdicts(scenario, run, &verdicts, &verdicts.doubts_of_chains(demands))?;
        let requirements = demands.map(|demands| requirements_of_jobs(demands, scenario, &verdicts));
        let merged_notes = analysis.notes.len();
        analysis.notes.extend(verdicts.notes.iter().cloned());
        let of_jobs = verdicts.jobs.iter_mut().map(|job| (&*job.stream, &mut job.verdict));
        analysis.notes.extend(open_doubtful(demands, requirements.as_deref(), of_jobs));
        analysis.notes.extend(chains.notes.iter().cloned());
        analysis.notes.extend(SearchOptions::left_out_note(run, search));
        Ok(Self {
            scenario,
            analysis,
            verdicts,
            requirements,
            chains,
            steps: None,
            verdicts_alone: false,
            slack: None,
            sensitivity: None,
            own,
            merged_notes,
        })
    }

    /// Finds out how much longer the jobs of each thread may take while what is proven stays proven, and how much
    /// shorter they have to be where they are not; `demands` are those with which it was judged.
    ///
    /// # Errors
    /// [`AnalysisError`]: a run exceeds what is claimed of all.
    pub fn find_slack(&mut self, demands: Option<&ModelDemands>, watch: Progress<'_>) -> Result<(), AnalysisError> {
        self.slack = Some(self.question(demands, watch).slack_of_threads(&self.verdicts)?);
        Ok(())
    }

    /// Finds out the same of each kernel, the copies of each stream, the CPU work of each host, each thread, and all
    /// together.
    ///
    /// # Errors
    /// As there.
    pub fn find_sensitivity(
        &mut self,
        demands: Option<&ModelDemands>,
        watch: Progress<'_>,
    ) -> Result<(), AnalysisError> {
        let sensitivity = self.question(demands, watch).sensitivity()?;
        self.analysis.notes.extend(sensitivity.notes.iter().cloned());
        self.sensitivity = Some(sensitivity);
        Ok(())
    }

    /// What was found of it.
    pub(crate) fn sensitivity(&self) -> Option<&Sensitivity> {
        self.sensitivity.as_ref()
    }

    fn question<'q>(&'q self, demands: Option<&'q ModelDemands>, watch: Progress<'q>) -> Question<'q> {
        let judged = (&self.verdicts, &self.chains, self.requirements.as_deref().unwrap_or_default());
        Question::new(self.scenario, judged, demands, watch)
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

/// What verdicts under [`BlockTimes::AsStated`] hold for.
const STATED_TIMES: &str =
    "verdicts hold for blocks that take no less than their shortest stated time, and copies that take what is stated";

impl Report for AnalysisReport<'_> {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        fields!(to, self.analysis => scenario, device, g_max, exact, utilization_threads, thread_slots);
        to.many_elements("kernels", &self.analysis.kernels, &analysis_columns())?;
        fields!(to, self.analysis => notes);
        assumptions_document(to, &self.scenario.assumptions)?;
        to.many_elements("jobs", &self.verdicts.jobs, &job_columns())?;
        to.many_rows("responses", &bounded_response_columns(), self.responses().rows())?;
        to.entry("runs_searched", &self.verdicts.runs)?;
        self.requirements.iter().try_for_each(|requirements| to.list("requirements", requirements))?;
        chains_document(to, &self.chains.rows)?;
        self.slack.iter().try_for_each(|slack| to.rows("slack", &slack_columns(slack), slack))?;
        let rows = self.sensitivity.iter().map(|found| &found.rows);
        rows.into_iter().try_for_each(|rows| to.rows("sensitivity", &sensitivity_columns(), rows))?;
        self.steps.iter().try_for_each(|steps| to.list("steps", steps))
    }

    fn json(&self, cut: Option<Cut>, out: &mut dyn Write) -> Option<io::Result<()>> {
        Some(write_document(self, cut, out))
    }

    fn json_lines(&self, file: Option<&str>, cut: Option<Cut>, out: &mut dyn Write) -> Option<io::Result<()>> {
        Some(write_lines(self, file, cut, out))
    }

    /// How much longer what takes time may take, if that is asked for; the kernels, or the verdicts on jobs alone.
    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        if let Some(sensitivity) = &self.sensitivity {
            part.write(&sensitivity_columns(), &sensitivity.rows, out)
        } else if self.verdicts_alone {
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
        if self.verdicts.options.block_times == BlockTimes::AsStated {
            page.line(STATED_TIMES);
        }
        if let Some(slack) = &self.slack {
            add_slack(page, slack);
        }
        if let Some(sensitivity) = &self.sensitivity {
            add_sensitivity(page, sensitivity);
        }
        if self.verdicts_alone {
            add_many_jobs(page, &self.verdicts.jobs);
            return;
        }
        self.responses().add_to(page);
        add_many_jobs(page, &self.verdicts.jobs);
        page.blank();
        add_analysis(page, &self.analysis);
        if let Some(steps) = &self.steps {
            page.blank();
            add_steps(page, &self.analysis, steps);
        }
    }
}

/// Response times of the scenario's own run beside the bound on all jobs of the same stream or host, where every job
/// has one. Rows are made one by one: of many streams they take more memory than all that is known of their jobs.
#[derive(Debug, Clone, Copy)]
pub struct BoundedResponses<'a> {
    /// What was simulated.
    pub scenario: &'a Scenario,
    /// The jobs of its own run.
    pub run: &'a Jobs,
    /// What is known of them, in the order of their threads.
    pub verdicts: &'a [JobVerdict],
}

impl<'a> BoundedResponses<'a> {
    /// One entry for every stream with operations and every host that submits something, in declaration order.
    pub fn rows(&self) -> impl Iterator<Item = Responses<'a>> + use<'a> {
        let mut later = self.verdicts;
        each_response(self.scenario, self.run).map(move |mut row| {
            later = &later[later.iter().take_while(|job| job.thread < row.benchmark).count()..];
            let own = later.iter().take_while(|job| job.thread == row.benchmark);
            let mut bounds = own.map(|job| job.bound_ns);
            let longest = bounds.try_fold(None, |longest, bound| Some(longest.max(Some(bound?))));
            row.bound_ns = longest.flatten();
            row
        })
    }

    /// Adds a table, unless it says no more than the jobs do, as there is one of each.
    fn add_to(&self, page: &mut Page) {
        if self.rows().any(|row| row.jobs > 1) {
            let (columns, json) = (bounded_response_columns(), formats(&["json"]));
            page.blank();
            page.first_rows(MAX_ROWS, &columns, self.rows(), " streams and hosts", &json);
        }
    }
}

/// The verdicts on streams, and what is to be known of them.
#[derive(Debug)]
pub struct SporadicReport {
    /// The verdicts on streams.
    pub verdicts: SporadicVerdicts,
    /// Of an AMALTHEA model: which of its requirements are met.
    pub requirements: Option<Vec<RequirementVerdict>>,
    /// Which chains are in time, whatever the phases of their threads.
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
    /// What is wrong with what is stated: nothing has that name, or others release the jobs of what has it.
    pub fn jitter_of_threads(
        scenario: &Scenario,
        mut stated: BTreeMap<String, Duration>,
    ) -> Result<Vec<Duration>, String> {
        let threads = scenario.threads.iter();
        if let Some(thread) = threads.clone().find(|one| one.triggered_by.is_some() && stated.contains_key(&*one.label))
        {
            let label = &thread.label;
            return Err(format!(
                "the ends of jobs of another host release those of {label:?}: it has no jitter of its own"
            ));
        }
        let jitter = threads.map(|thread| stated.remove(&*thread.label).unwrap_or(thread.jitter)).collect();
        stated.into_keys().next().map_or(Ok(jitter), |name| Err(scenario.no_thread_named(name).to_string()))
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
        let of_streams = verdicts.streams.iter_mut().map(|stream| (stream.stream.as_str(), &mut stream.verdict));
        notes.extend(open_doubtful(demands, requirements.as_deref(), of_streams));
        let mut doubts: Vec<String> = scenario.unsure_releases().into_iter().collect();
        let of_model = demands.into_iter().flat_map(|demands| &demands.doubts).filter(|doubt| !doubt.is_jitter);
        doubts.extend(of_model.map(|doubt| doubt.what.clone()));
        let chains = unphased_chains(scenario, &verdicts.responses, &doubts);
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
        chains_document(to, &self.chains.rows)
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
