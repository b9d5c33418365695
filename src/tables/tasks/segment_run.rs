//! Response times of tasks with segments that ran, beside their bounds, for people and for programs.

use crate::broken_bound::BrokenBound;
use crate::formats::{Column, DocumentWriter, Page, Report, Rows};
use crate::hosts::{SegmentJob, SegmentRun};
use crate::tasks::segments::{SegmentTask, SegmentTaskSet, SegmentTest, TaskBound};
use crate::time::Duration;

/// A run and its set.
#[derive(Debug, Clone, Copy)]
pub struct SegmentRunReport<'a> {
    set: &'a SegmentTaskSet,
    /// How the GPU was shared, and by what its responses are bounded.
    test: SegmentTest,
    /// What happened.
    run: &'a SegmentRun,
}

/// One line: a task and what its jobs experienced.
#[derive(Debug, Clone)]
struct Line {
    task: String,
    jobs: u64,
    misses: u64,
    longest: Option<Duration>,
    bound: Option<Duration>,
    deadline: Option<Duration>,
    verdict: Option<&'static str>,
}

impl<'a> SegmentRunReport<'a> {
    /// Of a run that shared the GPU as `test` says.
    ///
    /// # Errors
    /// A response in the run exceeds the bound of the test.
    pub fn new(set: &'a SegmentTaskSet, test: SegmentTest, run: &'a SegmentRun) -> Result<Self, BrokenBound> {
        let report = Self { set, test, run };
        for Line { task, longest, bound, .. } in report.lines() {
            BrokenBound::check(longest, ("the bound on all runs", bound), || format!("a job of {task} takes"))?;
        }
        Ok(report)
    }

    /// Jobs of tasks with priorities that were late, or not done.
    pub fn misses(&self) -> u64 {
        self.lines().iter().filter(|line| line.deadline.is_some()).map(|line| line.misses).sum()
    }

    fn lines(&self) -> Vec<Line> {
        let bounds = self.test.bounds(self.set);
        let tasks = self.set.tasks.iter().zip(&bounds).enumerate();
        let line = |(number, (task, bound)): (usize, (&SegmentTask, &TaskBound))| {
            let jobs = || self.run.jobs.iter().filter(move |job| job.task == number);
            let is_late = |response: Option<Duration>| response.is_none_or(|response| response > task.deadline);
            let misses = jobs().filter(|job| is_late(job.response())).count() as u64;
            let bound = bound.bound().filter(|_| self.test.is_sound());
            let verdict = match (misses, bound) {
                (1.., _) => "missed",
                (0, Some(_)) => "proven",
                (0, None) => "open",
            };
            Line {
                task: task.name.to_string(),
                jobs: jobs().count() as u64,
                misses,
                longest: jobs().filter_map(SegmentJob::response).max(),
                bound,
                deadline: task.priority.map(|_| task.deadline),
                verdict: task.priority.map(|_| verdict),
            }
        };
        tasks.map(line).collect()
    }
}

impl Report for SegmentRunReport<'_> {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "tasks";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("strategy", self.test.name())?;
        to.entry("horizon_ns", &self.run.horizon)?;
        to.rows("tasks", &columns(), self.lines())
    }

    fn text(&self, page: &mut Page) {
        page.table(&columns(), self.lines());
        page.line(&format!("{}, jobs released before {}", self.test.name(), self.run.horizon));
    }
}

fn columns() -> [Column<Line>; 7] {
    [
        Column::new("task", "task", |line: &Line| line.task.as_str().into()).left(),
        Column::new("jobs", "jobs", |line: &Line| line.jobs.into()),
        Column::new("misses", "misses", |line: &Line| line.misses.into()),
        Column::new("longest_response_ns", "longest response", |line: &Line| line.longest.into()),
        Column::new("bound_ns", "bound", |line: &Line| line.bound.into()),
        Column::new("deadline_ns", "deadline", |line: &Line| line.deadline.into()),
        Column::new("verdict", "verdict", |line: &Line| line.verdict.into()).left(),
    ]
}
