//! Verdicts on jobs and on sporadic streams.

use std::collections::BTreeSet;

use crate::analysis::{JobVerdict, RequirementVerdict, SporadicVerdict, Verdict};
use crate::formats::{Column, DocumentWriter, MAX_ROWS, Page};
use crate::scenario::amalthea::ModelDemands;
use crate::scenario::{HostThread, ReleaseOrder};
use crate::spelling::{formats, option};
use crate::time::Duration;

pub(super) fn job_columns<'a>() -> [Column<&'a JobVerdict>; 8] {
    [
        Column::new("stream", "jobs of", |row: &&JobVerdict| (&*row.stream).into()).left(),
        Column::new("job", "job", |row| row.job.into()),
        Column::new("released_ns", "released", |row| row.released_ns.into()),
        Column::new("worst_found_ns", "worst found", |row| row.worst_found_ns.into()),
        Column::new("bound_ns", "bound", |row| row.bound_ns.into()),
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
        Column::new("bound_ns", "bound", |row| row.bound_ns.into()),
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
        Column::table("bound", |row| row.bound_ns.into()),
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
fn by_stream_columns<'a>() -> [Column<&'a [JobVerdict]>; 7] {
    fn count(jobs: &[JobVerdict], wanted: Verdict) -> usize {
        jobs.iter().filter(|job| job.verdict == Some(wanted)).count()
    }
    [
        Column::table("jobs of", |jobs: &&[JobVerdict]| jobs.first().map(|job| &*job.stream).into()).left(),
        Column::table("jobs", |jobs| jobs.len().into()),
        Column::table("proven", |jobs: &&[JobVerdict]| count(jobs, Verdict::Proven).into()),
        Column::table("missed", |jobs: &&[JobVerdict]| count(jobs, Verdict::Missed).into()),
        Column::table("open", |jobs: &&[JobVerdict]| count(jobs, Verdict::Open).into()),
        Column::table("worst found", |jobs| jobs.iter().filter_map(|job| job.worst_found_ns).max().into()),
        // No bound if one of its jobs has none.
        Column::table("bound", |jobs: &&[JobVerdict]| {
            let longest = jobs.iter().try_fold(None, |longest, job| Some(longest.max(Some(job.bound_ns?))));
            longest.flatten().into()
        }),
    ]
}

/// The verdicts on jobs as a table, of many jobs also those of their streams, and how many there are of each kind.
pub(super) fn add_jobs(page: &mut Page, jobs: &[JobVerdict]) {
    let listed_by = format!("{} {}", option("verdicts"), formats(&["csv"]));
    page.first_rows(MAX_ROWS, &job_columns(), jobs, " jobs", &listed_by);
    let streams = || jobs.chunk_by(|one, next| one.thread == next.thread);
    if jobs.len() > AT_A_GLANCE && streams().any(|jobs| jobs.len() > 1) {
        page.blank();
        page.trimmed_table(&by_stream_columns(), streams());
    }
    page.line(&counts(DEADLINES.0, DEADLINES.1, jobs.iter().map(|job| (job.verdict, job.order))));
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

/// Makes verdicts on jobs open that are proven but for what is not read of a model: its notes. Each of `verdicts` has
/// the label of its host thread.
pub(super) fn open_doubtful<'v>(
    demands: Option<&ModelDemands>,
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
    open_notes(opened.into_iter())
}

fn open_notes<'n>(open: impl Iterator<Item = (&'n str, &'n str)>) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, doubt) in open {
        match reasons.iter_mut().find(|(reason, _)| *reason == doubt) {
            Some((_, names)) => names.push(name),
            None => reasons.push((doubt, vec![name])),
        }
    }
    let note =
        |(reason, names): (&str, Vec<&str>)| format!("open though the bound meets it: {}: {reason}", names.join(", "));
    reasons.into_iter().map(note).collect()
}

impl RequirementVerdict {
    /// Why requirements are open although the bound meets them: each reason once, with the requirements of which it
    /// holds.
    pub fn notes(requirements: &[Self]) -> Vec<String> {
        let open = requirements.iter().filter(|one| one.verdict == Some(Verdict::Open));
        open_notes(open.flat_map(|one| one.doubts.iter().map(|doubt| (one.requirement.as_str(), doubt.as_str()))))
    }
}
