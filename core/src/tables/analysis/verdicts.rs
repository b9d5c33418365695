//! Verdicts on deadlines: of jobs, of streams whose releases are unknown, of requirements and chains; under weaker and
//! stronger assumptions; and of sets of jobs on processors.

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::analysis::{
    AnalysisError, ChainVerdict, JobSet, JobVerdict, Ladder, LadderRow, RequirementVerdict, Rung, RungVerdict, SetJob,
    SporadicVerdict, Verdict, ladder, open_notes, proven_under,
};
use crate::broken_bound::BrokenBound;
use crate::effort::Progress;
use crate::formats::{CellOf, Column, DocumentWriter, MAX_ROWS, Page, Report, Rows, RowsPart, fields};
use crate::json::JsonError;
use crate::run::ChainDelay;
use crate::scenario::ModelDemands;
use crate::scenario::{HostThread, ReleaseOrder, Scenario};
use crate::spelling::{formats, option};
use crate::tables::run::answers::add_way;
use crate::time::Duration;

pub(super) fn job_columns<'a>() -> [Column<&'a JobVerdict>; 9] {
    [
        Column::new("stream", "jobs of", |row: &&JobVerdict| (&*row.stream).into()).left(),
        Column::new("job", "job", |row| row.job.into()),
        Column::new("released_ns", "released", |row| row.released_ns.into()),
        Column::data("worst_found_ns", |row| row.worst_found_ns.into()),
        Column::table("worst found", |row: &&JobVerdict| row.worst_found().into()),
        Column::new("bound_ns", "bound", |row| CellOf::at_most(row.bound_ns)),
        Column::new("deadline_ns", "deadline", |row| row.deadline_ns.into()),
        Column::new("verdict", "verdict", |row: &&JobVerdict| row.verdict.map(Verdict::name).into()).left(),
        Column::data("order", |row: &&JobVerdict| row.order.name().into()),
    ]
}

pub(super) fn stream_columns<'a>() -> [Column<&'a SporadicVerdict>; 9] {
    [
        Column::new("stream", "jobs of", |row: &&SporadicVerdict| row.stream.as_str().into()).left(),
        Column::new("period_ns", "period", |row| row.period_ns.into()),
        Column::data("jitter_ns", |row: &&SporadicVerdict| known_jitter(row).into()),
        Column::table("jitter", |row| {
            known_jitter(row).map_or_else(|| "unknown".into(), |jitter| jitter.to_string().into())
        }),
        Column::new("worst_found_ns", "worst found", |row| row.worst_found_ns.into()),
        Column::new("bound_ns", "bound", |row| CellOf::at_most(row.bound_ns)),
        Column::new("deadline_ns", "deadline", |row| row.deadline_ns.into()),
        Column::new("verdict", "verdict", |row: &&SporadicVerdict| row.verdict.map(Verdict::name).into()).left(),
        Column::data("order", |row: &&SporadicVerdict| row.order.name().into()),
    ]
}

/// `None`: nobody knows how late jobs may be released.
fn known_jitter(row: &SporadicVerdict) -> Option<Duration> {
    Some(row.jitter_ns).filter(|jitter| *jitter < HostThread::UNKNOWN_JITTER)
}

fn requirement_columns<'a>() -> [Column<&'a RequirementVerdict>; 6] {
    [
        Column::table("requirement", |row: &&RequirementVerdict| row.requirement.as_str().into()).left(),
        Column::table("of", |row: &&RequirementVerdict| row.target.as_str().into()).left(),
        Column::table("at most", |row| row.limit_ns.into()),
        Column::table("worst found", |row| row.worst_found_ns.into()),
        Column::table("bound", |row| CellOf::at_most(row.bound_ns)),
        Column::table("verdict", |row: &&RequirementVerdict| row.verdict.map_or(NOT_ON_GPU, Verdict::name).into())
            .left(),
    ]
}

/// What stands for the verdict on a requirement of which nothing runs on the GPU.
const NOT_ON_GPU: &str = "not on the GPU";

/// What is counted of jobs and streams, and what is said of those that have none.
const DEADLINES: (&str, &str) = ("deadlines", "without a deadline");

/// How many are proven, missed and open, and for which order of simultaneous releases: what a reader wants to know
/// first.
pub(super) fn counts(what: &str, without: &str, all: impl Iterator<Item = (Option<Verdict>, ReleaseOrder)>) -> String {
    let (verdicts, orders): (Vec<Option<Verdict>>, Vec<ReleaseOrder>) = all.unzip();
    // It is the same of all.
    let condition = orders.first().copied().unwrap_or_default().condition();
    let of = |wanted: Option<Verdict>| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    let [proven, missed, open] = [Verdict::Proven, Verdict::Missed, Verdict::Open].map(|verdict| of(Some(verdict)));
    let without = match of(None) {
        0 => String::new(),
        count => format!("; {count} {without}"),
    };
    format!("{what} {condition}: {proven} proven, {missed} missed, {open} open{without}")
}

/// How many rows of jobs are read at a glance; more of them have a table of their streams behind them.
const AT_A_GLANCE: usize = 20;

/// The verdicts on the jobs of each stream together, in the order of the jobs.
fn by_stream_columns<'a>() -> [Column<&'a [JobVerdict]>; 8] {
    fn count(jobs: &[JobVerdict], wanted: Verdict) -> usize {
        jobs.iter().filter(|job| job.verdict == Some(wanted)).count()
    }
    [
        Column::table("jobs of", |jobs: &&[JobVerdict]| jobs.first().map(|job| &*job.stream).into()).left(),
        Column::table("jobs", |jobs| jobs.len().into()),
        Column::table("proven", |jobs: &&[JobVerdict]| count(jobs, Verdict::Proven).into()),
        Column::table("missed", |jobs: &&[JobVerdict]| count(jobs, Verdict::Missed).into()),
        Column::table("open", |jobs: &&[JobVerdict]| count(jobs, Verdict::Open).into()),
        Column::table("worst found", |jobs: &&[JobVerdict]| {
            jobs.iter().max_by_key(|job| job.worst_found_ns).and_then(JobVerdict::worst_found).into()
        }),
        // No bound if one of its jobs has none.
        Column::table("bound", |jobs: &&[JobVerdict]| {
            let longest = jobs.iter().try_fold(None, |longest, job| Some(longest.max(Some(job.bound_ns?))));
            CellOf::at_most(longest.flatten())
        }),
        Column::table("deadline", |jobs: &&[JobVerdict]| jobs.first().and_then(|job| job.deadline_ns).into()),
    ]
}

/// The jobs of each stream together.
fn streams(jobs: &[JobVerdict]) -> impl Iterator<Item = &[JobVerdict]> {
    jobs.chunk_by(|one, next| one.thread == next.thread)
}

/// Whether jobs are so many that those of each stream are told together first.
fn are_many(jobs: &[JobVerdict]) -> bool {
    jobs.len() > AT_A_GLANCE && streams(jobs).any(|jobs| jobs.len() > 1)
}

/// The verdicts on jobs as a table, of many jobs on those of each stream together, and how many there are of each kind.
pub(super) fn add_jobs(page: &mut Page, jobs: &[JobVerdict]) {
    if are_many(jobs) {
        return add_verdicts(page, jobs);
    }
    add_each_job(page, jobs);
    add_counts(page, jobs);
}

fn add_counts(page: &mut Page, jobs: &[JobVerdict]) {
    page.line(&counts(DEADLINES.0, DEADLINES.1, jobs.iter().map(|job| (job.verdict, job.order))));
}

/// Of each stream what is known of all its jobs, and how many there are of each kind.
pub(super) fn add_verdicts(page: &mut Page, jobs: &[JobVerdict]) {
    page.trimmed_table(&by_stream_columns(), streams(jobs));
    add_counts(page, jobs);
}

fn add_each_job(page: &mut Page, jobs: &[JobVerdict]) {
    let listed_by = format!("{} {}", option("verdicts"), formats(&["csv"]));
    page.first_rows(MAX_ROWS, &job_columns(), jobs, " jobs", &listed_by);
}

/// The verdicts on many jobs one by one, behind all that sums them up.
pub(super) fn add_many_jobs(page: &mut Page, jobs: &[JobVerdict]) {
    if are_many(jobs) {
        page.blank();
        add_each_job(page, jobs);
    }
}

/// The verdicts on sporadic streams as a table, and how many there are of each kind.
pub(super) fn add_streams(page: &mut Page, streams: &[SporadicVerdict]) {
    page.trimmed_table(&stream_columns(), streams);
    page.line(&counts(DEADLINES.0, DEADLINES.1, streams.iter().map(|stream| (stream.verdict, stream.order))));
}

/// The verdicts on an AMALTHEA model's requirements, if there are any, and how many there are of each kind.
pub(super) fn add_requirements(page: &mut Page, requirements: Option<&[RequirementVerdict]>) {
    if let Some(requirements) = requirements.filter(|all| !all.is_empty()) {
        page.blank();
        page.trimmed_table(&requirement_columns(), requirements);
        page.line(&counts("requirements", NOT_ON_GPU, requirements.iter().map(|one| (one.verdict, one.order))));
    }
}

/// What verdicts that are proven rest on, in a document.
pub(super) fn assumptions_document<D: DocumentWriter>(to: &mut D, assumptions: &[String]) -> Result<(), D::Error> {
    if assumptions.is_empty() { Ok(()) } else { to.entry("assumptions", assumptions) }
}

/// Makes verdicts on jobs open that are proven but for what is not read of a model: notes on these, and on those of its
/// `requirements` that are open. Each of `verdicts` has the label of its host thread.
pub(super) fn open_doubtful<'v>(
    demands: Option<&ModelDemands>,
    requirements: Option<&[RequirementVerdict]>,
    verdicts: impl Iterator<Item = (&'v str, &'v mut Option<Verdict>)>,
) -> Vec<String> {
    let doubtful = demands.map_or(&[][..], |demands| &demands.doubtful);
    let mut opened = BTreeSet::new();
    for (label, verdict) in verdicts.filter(|(_, verdict)| **verdict == Some(Verdict::Proven)) {
        if let Some((label, reason)) = doubtful.iter().find(|(doubtful, _)| doubtful == label) {
            *verdict = Some(Verdict::Open);
            opened.insert((label.as_str(), reason.as_str()));
        }
    }
    open_notes(RequirementVerdict::open(requirements.unwrap_or_default()).chain(opened))
}

impl RequirementVerdict {
    /// Why requirements are open although the bound meets them: each reason once, with the requirements of which it
    /// holds.
    pub fn notes(requirements: &[Self]) -> Vec<String> {
        open_notes(Self::open(requirements))
    }

    /// Those that are open although the bound meets them, each with its reasons.
    fn open(requirements: &[Self]) -> impl Iterator<Item = (&str, &str)> {
        let open = requirements.iter().filter(|one| one.verdict == Some(Verdict::Open));
        open.flat_map(|one| one.doubts.iter().map(|doubt| (one.requirement.as_str(), doubt.as_str())))
    }
}

fn chain_columns<'a>() -> [Column<&'a ChainVerdict>; 13] {
    [
        Column::new("chain", "chain", |row: &&ChainVerdict| row.chain.as_str().into()).left(),
        Column::new("measure", "measure", |row: &&ChainVerdict| row.measure.name().into()).left(),
        Column::data("worst_found_ns", |row| row.worst_found_ns.into()),
        Column::table("worst found", |row: &&ChainVerdict| {
            row.worst_found_ns.map(|found| ChainDelay::known_length(found, row.is_cut)).into()
        }),
        Column::new("bound_ns", "bound", |row| CellOf::at_most(row.bound_ns)),
        Column::new("unphased_bound_ns", "any phases", |row| CellOf::at_most(row.unphased_bound_ns)),
        Column::new("limit_ns", "at most", |row| row.limit_ns.into()),
        Column::new("verdict", "verdict", |row: &&ChainVerdict| row.verdict.map(Verdict::name).into()).left(),
        Column::data("order", |row: &&ChainVerdict| row.order.name().into()),
        Column::data("is_cut", |row| row.is_cut.into()),
        Column::data("from_ns", |row| row.from_ns.into()),
        Column::data("to_ns", |row| row.to_ns.into()),
        Column::data("jobs", |row: &&ChainVerdict| row.jobs.as_deref().into()),
    ]
}

/// The verdicts on chains in a document, if there are any.
pub(super) fn chains_document<D: DocumentWriter>(to: &mut D, chains: &[ChainVerdict]) -> Result<(), D::Error> {
    if chains.is_empty() { Ok(()) } else { to.elements("chains", chains, &chain_columns(), chains) }
}

/// The verdicts on chains, if there are any, how many there are of each kind, and by which jobs the longest went.
pub(super) fn add_chains(page: &mut Page, chains: &[ChainVerdict]) {
    if chains.is_empty() {
        return;
    }
    page.blank();
    page.trimmed_table(&chain_columns(), chains);
    page.line(&counts("chains", "without a limit", chains.iter().map(|row| (row.verdict, row.order))));
    for row in chains {
        add_way(page, (&row.chain, row.measure), row.from_ns.zip(row.to_ns), row.jobs.as_deref());
    }
}

/// The deadlines of a scenario under weaker and stronger assumptions, and what is to be known of them.
#[derive(Debug)]
pub struct LadderReport {
    /// The deadlines, with all notes.
    pub ladder: Ladder,
    /// What the scenario is taken for that nobody guarantees.
    pub assumptions: Vec<String>,
}

impl LadderReport {
    /// Judges the deadlines of a scenario, searched for `search` in all or as long as does not hold its user up;
    /// `demands` are those of an AMALTHEA model.
    ///
    /// # Errors
    /// [`AnalysisError`], for a scenario that did not come through a reader, and where a run exceeds a bound.
    pub fn of(
        scenario: &Scenario,
        demands: Option<&ModelDemands>,
        search: Option<Duration>,
        watch: Progress<'_>,
    ) -> Result<Self, AnalysisError> {
        let mut ladder = ladder(scenario, search, watch)?;
        if demands.is_some_and(|demands| !demands.limits.is_empty()) {
            let note = format!("requirements of the model are not judged: {} is about deadlines", option("ladder"));
            ladder.notes.push(note);
        }
        Ok(Self { ladder, assumptions: scenario.assumptions.clone() })
    }
}

/// What people read: a deadline a row, its verdict under each assumption a column.
fn verdict_columns<'a>() -> [Column<&'a LadderRow>; 10] {
    macro_rules! under {
        ($rung:ident) => {
            Column::table(Rung::$rung.name(), |row: &&LadderRow| row.under(Rung::$rung).verdict.name().into()).left()
        };
    }
    [
        Column::table("jobs of", |row: &&LadderRow| row.stream.as_str().into()).left(),
        Column::table("deadline", |row| row.deadline_ns.into()),
        under!(Sporadic),
        under!(Jitter),
        under!(Given),
        under!(StatedTimes),
        under!(DeclaredOrder),
        under!(OrderAndTimes),
        under!(Run),
        Column::table("proven under", |row: &&LadderRow| row.proven_under.map(Rung::name).into()).left(),
    ]
}

/// What programs read: a row for each deadline and assumption.
fn rung_columns<'a>() -> [Column<(&'a LadderRow, &'a RungVerdict)>; 7] {
    type Row<'a> = (&'a LadderRow, &'a RungVerdict);
    [
        Column::data("stream", |(row, _): &Row<'_>| row.stream.as_str().into()),
        Column::data("deadline_ns", |(row, _): &Row<'_>| row.deadline_ns.into()),
        Column::data("assumption", |(_, under): &Row<'_>| under.assumption.name().into()),
        Column::data("worst_found_ns", |(_, under): &Row<'_>| under.worst_found_ns.into()),
        Column::data("bound_ns", |(_, under): &Row<'_>| under.bound_ns.into()),
        Column::data("verdict", |(_, under): &Row<'_>| under.verdict.name().into()),
        Column::data("proven_under", |(row, _): &Row<'_>| row.proven_under.map(Rung::name).into()),
    ]
}

fn rungs(ladder: &Ladder) -> impl Iterator<Item = (&LadderRow, &RungVerdict)> {
    ladder.rows.iter().flat_map(|row| row.under.iter().map(move |under| (row, under)))
}

impl Report for LadderReport {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.rows("deadlines", &rung_columns(), rungs(&self.ladder))?;
        to.entry("runs_searched", &self.ladder.runs)?;
        fields!(to, self.ladder => notes);
        assumptions_document(to, &self.assumptions)
    }

    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        part.write(&rung_columns(), rungs(&self.ladder), out)
    }

    fn text(&self, page: &mut Page) {
        page.trimmed_table(&verdict_columns(), &self.ladder.rows);
        page.blank();
        for rung in Rung::ALL {
            page.line(&format!("{}: {}", rung.name(), rung.words()));
        }
        if let Some(text) = proven_under(&self.assumptions) {
            page.line(&text);
        }
    }
}

/// The jobs of a file of np-schedulability-analysis, with bounds on when they finish on identical processors without
/// preemption, and the latest finishes found. Times are in the unit of the file.
#[derive(Debug)]
pub struct JobSetReport(JobSet);

impl JobSetReport {
    /// Whether a text begins with the columns of such a file.
    pub fn is_claimed_by(text: &str) -> bool {
        JobSet::is_claimed_by(text)
    }

    /// Reads a set, and what must come before what; each file by its name in errors and its text. Nothing is known of
    /// it yet.
    ///
    /// # Errors
    /// [`JsonError`] with the place of what is wrong.
    pub fn read(jobs: (&str, &str), precedence: Option<(&str, &str)>, processors: u32) -> Result<Self, JsonError> {
        JobSet::read(jobs, precedence, processors).map(Self)
    }

    /// Bounds the finish of each job in all runs, and looks for late ones in some.
    ///
    /// # Errors
    /// [`BrokenBound`] where a run exceeds a bound.
    pub fn judged(self) -> Result<Self, BrokenBound> {
        self.0.judge().map(Self)
    }

    /// What is known of the deadline of each job.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.0.jobs.iter().map(SetJob::verdict)
    }
}

fn job_set_columns<'a>() -> [Column<&'a SetJob>; 9] {
    [
        Column::new("task", "task", |job: &&SetJob| job.task.into()),
        Column::new("job", "job", |job| job.job.into()),
        Column::new("released", "released", |job| job.released.0.into()),
        Column::new("released_by", "released by", |job| job.released.1.into()),
        Column::new("worst_found", "worst found", |job| job.worst_found.into()),
        Column::new("bound", "bound", |job| job.bound.into()),
        Column::new("response", "response", |job| job.bound.map(|bound| bound.saturating_sub(job.released.0)).into()),
        Column::new("deadline", "deadline", |job| job.deadline.into()),
        Column::new("verdict", "verdict", |job: &&SetJob| job.verdict().name().into()).left(),
    ]
}

impl Report for JobSetReport {
    const TABLE: &'static str = "jobs";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("processors", &self.0.processors)?;
        to.rows("jobs", &job_set_columns(), &self.0.jobs)?;
        to.entry("runs_searched", &self.0.runs)
    }

    fn text(&self, page: &mut Page) {
        page.table(&job_set_columns(), &self.0.jobs);
        let count = |verdict| self.verdicts().filter(|one| *one == verdict).count();
        let [proven, missed, open] = [Verdict::Proven, Verdict::Missed, Verdict::Open].map(count);
        let processors = match self.0.processors {
            1 => "1 processor".to_owned(),
            several => format!("{several} processors"),
        };
        page.line(&format!(
            "deadlines on {processors} without preemption: {proven} proven, {missed} missed, {open} open"
        ));
    }
}
