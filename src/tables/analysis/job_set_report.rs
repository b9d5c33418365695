//! What is known of a set of jobs on processors.

use crate::analysis::{JobSet, SetJob, Verdict};
use crate::broken_bound::BrokenBound;
use crate::formats::{Column, DocumentWriter, Page, Report, Rows};
use crate::json::JsonError;

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

fn columns<'a>() -> [Column<&'a SetJob>; 9] {
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
        to.rows("jobs", &columns(), &self.0.jobs)?;
        to.entry("runs_searched", &self.0.runs)
    }

    fn text(&self, page: &mut Page) {
        page.table(&columns(), &self.0.jobs);
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
