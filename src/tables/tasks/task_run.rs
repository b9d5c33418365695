//! Response times and misses of a task set that ran, for people and for programs.

use serde_json::{Value, json};

use crate::formats::{Column, DocumentWriter, Page, Report, Rows, fields};
use crate::hosts::{TaskJob, TaskRun};
use crate::statistics::nearest_rank;
use crate::tasks::{TaskSet, TaskTime};
use crate::time::Instant;
use crate::trace::OperationRecord;

/// A run and its set.
#[derive(Debug, Clone, Copy)]
pub struct TaskRunReport<'a> {
    /// The set.
    pub set: &'a TaskSet,
    /// What happened.
    pub run: &'a TaskRun,
    /// Name of the strategy.
    pub strategy: &'static str,
    /// Name of the policy.
    pub policy: &'static str,
}

/// What one task's jobs experienced.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TaskStatistics {
    /// Jobs released.
    pub jobs: usize,
    /// Jobs done late, or not at all.
    pub misses: usize,
    /// How often its jobs were preempted.
    pub preemptions: u64,
    /// Response times of the jobs that were done, ascending.
    pub responses: Vec<TaskTime>,
    /// The first job that missed its deadline.
    pub first_miss: Option<TaskJob>,
}

const PERCENTILES: [usize; 3] = [50, 90, 99];

impl TaskStatistics {
    /// Of task number `task`.
    pub(crate) fn of(run: &TaskRun, task: usize) -> Self {
        let jobs = || run.jobs.iter().filter(|job| job.task as usize == task);
        let mut responses: Vec<TaskTime> = jobs().filter_map(TaskJob::response).collect();
        responses.sort_unstable();
        Self {
            jobs: jobs().count(),
            misses: jobs().filter(|job| job.is_late()).count(),
            preemptions: jobs().map(|job| u64::from(job.preemptions)).sum(),
            responses,
            first_miss: jobs().find(|job| job.is_late()).copied(),
        }
    }

    /// The smallest response time that at least `percent` of the jobs do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Option<TaskTime> {
        nearest_rank(&self.responses, percent)
    }

    /// The mean response time.
    pub(crate) fn mean(&self) -> Option<f64> {
        let sum: u128 = self.responses.iter().map(|&response| u128::from(response)).sum();
        (!self.responses.is_empty()).then(|| sum as f64 / self.responses.len() as f64)
    }
}

impl TaskRunReport<'_> {
    fn statistics(&self) -> impl Iterator<Item = (&str, TaskStatistics)> {
        let tasks = self.set.tasks.iter().enumerate();
        tasks.map(|(index, task)| (task.name.as_ref(), TaskStatistics::of(self.run, index)))
    }

    fn jobs(&self) -> Vec<JobRow<'_>> {
        let mut starts = vec![None; self.run.jobs.len()];
        for (operation, &job) in self.run.launches.iter().enumerate() {
            let record = self.run.trace.operations().get(operation);
            let start = record.and_then(OperationRecord::first_start);
            starts[job as usize] = starts[job as usize].or(start);
        }
        let rows = self.run.jobs.iter().zip(starts).map(|(job, start)| {
            let task = self.set.tasks.get(job.task as usize).map_or("", |task| task.name.as_ref());
            JobRow { task, job, start }
        });
        rows.collect()
    }
}

impl Report for TaskRunReport<'_> {
    const IS_INDENTED: bool = true;
    /// Every job; empty where an instant was not reached.
    const TABLE: &'static str = "released";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        fields!(to, self => strategy, policy);
        fields!(to, self.run => horizon);
        to.entry("jobs", &self.run.jobs.len())?;
        to.entry("misses", &self.run.jobs.iter().filter(|job| job.is_late()).count())?;
        to.list("tasks", self.statistics().map(|(name, task)| task_entry(name, &task)))?;
        to.lines("released", &job_columns(), self.jobs())
    }

    fn text(&self, page: &mut Page) {
        page.table(&task_columns(), self.statistics());
    }
}

/// What became of the jobs of a task.
fn task_entry(name: &str, task: &TaskStatistics) -> Value {
    let [p50, p90, p99] = PERCENTILES.map(|percent| task.percentile(percent));
    let (min, max) = (task.responses.first(), task.responses.last());
    let first_miss = task
        .first_miss
        .map(|job| json!({"job": job.number, "release": job.release, "deadline": job.deadline, "finish": job.finish}));
    json!({
        "name": name,
        "jobs": task.jobs,
        "misses": task.misses,
        "preemptions": task.preemptions,
        "response": {"min": min, "mean": task.mean(), "max": max, "p50": p50, "p90": p90, "p99": p99},
        "first_miss": first_miss,
    })
}

fn task_columns<'a>() -> [Column<(&'a str, TaskStatistics)>; 11] {
    [
        Column::table("task", |(name, _): &(&str, TaskStatistics)| (*name).into()).left(),
        Column::table("jobs", |(_, task)| task.jobs.into()),
        Column::table("misses", |(_, task)| task.misses.into()),
        Column::table("preemptions", |(_, task)| task.preemptions.into()),
        Column::table("response min", |(_, task)| task.responses.first().copied().into()),
        Column::table("mean", |(_, task)| task.mean().map(|mean| format!("{mean:.2}")).into()),
        Column::table("p50", |(_, task)| task.percentile(PERCENTILES[0]).into()),
        Column::table("p90", |(_, task)| task.percentile(PERCENTILES[1]).into()),
        Column::table("p99", |(_, task)| task.percentile(PERCENTILES[2]).into()),
        Column::table("max", |(_, task)| task.responses.last().copied().into()),
        Column::table("first miss", |(_, task): &(&str, TaskStatistics)| first_miss(task).into()).left(),
    ]
}

fn first_miss(task: &TaskStatistics) -> String {
    task.first_miss.map_or_else(String::new, |job| {
        let done = job.finish.map_or_else(|| "-".to_owned(), |finish| finish.to_string());
        format!("released {}, deadline {}, done {done}", job.release, job.deadline)
    })
}

#[derive(Debug, Clone, Copy)]
struct JobRow<'a> {
    task: &'a str,
    job: &'a TaskJob,
    start: Option<Instant>,
}

fn job_columns<'a>() -> [Column<JobRow<'a>>; 9] {
    [
        Column::data("task", |row| row.task.into()),
        Column::data("job", |row| row.job.number.into()),
        Column::data("release", |row| row.job.release.into()),
        Column::data("deadline", |row| row.job.deadline.into()),
        Column::data("start", |row| row.start.into()),
        Column::data("finish", |row| row.job.finish.into()),
        Column::data("response", |row| row.job.response().into()),
        Column::data("late", |row| row.job.is_late().into()),
        Column::data("preemptions", |row| row.job.preemptions.into()),
    ]
}
