//! Task sets: what the schedulability tests say of them, and response times and misses where they ran.

pub(super) mod segments;

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::formats::{CellOf, Column, DocumentWriter, Page, Report, Rows, Unsigned, fields};
use crate::hosts::{TaskJob, TaskRun};
use crate::statistics::nearest_rank;
use crate::tasks::{Partition, ReservationTest, SmallestBudget, TaskSet, TaskTime, TaskVerdict, TestResults};
use crate::time::Instant;
use crate::trace::OperationRecord;

impl From<TaskTime> for CellOf<'_, Unsigned> {
    fn from(time: TaskTime) -> Self {
        time.units().into()
    }
}

/// A task set, what the tests say about it, and the budgets that would do, if they were asked for.
#[derive(Debug, Clone, Copy)]
pub struct TaskReport<'a> {
    /// The set.
    pub set: &'a TaskSet,
    /// What the tests say.
    pub analysis: &'a TestResults,
    /// Period and smallest budgets.
    pub budgets: Option<(TaskTime, &'a [SmallestBudget])>,
}

/// Said of tests that are not sound.
const UNSOUND: &str =
    "the paper's text taken literally; it accepts sets that miss deadlines, so its yes proves nothing";

/// One line: a test, on what, its answer, and why not.
#[derive(Debug, Clone)]
struct Line {
    test: &'static str,
    on: String,
    answer: Option<bool>,
    why: String,
}

fn on_whole_gpu(analysis: &TestResults) -> impl Iterator<Item = (&'static str, &TaskVerdict)> {
    let sound = [("single-stream", &analysis.single_stream), ("multi-stream", &analysis.multi_stream)];
    let printed = analysis.multi_stream_as_printed.as_ref();
    sound.into_iter().chain(printed.map(|verdict| (TestResults::MULTI_STREAM_AS_PRINTED, verdict)))
}

impl TaskReport<'_> {
    fn why(&self, verdict: &TaskVerdict) -> String {
        match verdict {
            TaskVerdict::Yes => String::new(),
            TaskVerdict::No(reason) => reason.text(|task| self.set.tasks[task].name.to_string()),
            TaskVerdict::Unknown(why) => why.clone(),
        }
    }

    fn lines(&self) -> Vec<Line> {
        let line =
            |test, on, verdict: &TaskVerdict| Line { test, on, answer: verdict.answer(), why: self.why(verdict) };
        let on_gpu = |(test, verdict): (&'static str, &TaskVerdict)| line(test, "GPU".to_owned(), verdict);
        let mut lines: Vec<Line> = on_whole_gpu(self.analysis).map(on_gpu).collect();
        for (test, verdicts) in &self.analysis.in_reservations {
            lines.extend(verdicts.iter().map(|(part, verdict)| line(test.name(), part.name(), verdict)));
        }
        lines
    }

    /// Names of the tests that were applied and prove nothing.
    fn unsound(&self) -> impl Iterator<Item = &'static str> {
        let tests = self.analysis.in_reservations.iter().map(|(test, _)| *test);
        let lemma_1 = self.analysis.multi_stream_as_printed.as_ref().map(|_| TestResults::MULTI_STREAM_AS_PRINTED);
        lemma_1.into_iter().chain(tests.filter(|test| !test.is_sound()).map(ReservationTest::name))
    }

    /// The answers of a test to each partition, then to the whole set.
    fn answers(
        test: ReservationTest,
        verdicts: &[(Partition, TaskVerdict)],
    ) -> impl Iterator<Item = (Cow<'static, str>, Option<bool>)> {
        let of_partitions = verdicts.iter().map(|(part, verdict)| (part.name().into(), verdict.answer()));
        of_partitions.chain(std::iter::once_with(move || ("schedulable".into(), TestResults::all_pass(test, verdicts))))
    }

    /// What each test says.
    fn tests(&self) -> Map<String, Value> {
        let on_gpu = on_whole_gpu(self.analysis).map(|(test, verdict)| (test.to_owned(), json!(verdict.answer())));
        let on_parts = self.analysis.in_reservations.iter().map(|(test, verdicts)| {
            let answers = Self::answers(*test, verdicts).map(|(part, answer)| (part.into_owned(), json!(answer)));
            (test.name().to_owned(), answers.collect())
        });
        on_gpu.chain(on_parts).collect()
    }

    /// The tests in the order of the document, with what they say and on what.
    fn verdicts(&self) -> impl Iterator<Item = (&'static str, Cow<'static, str>, &TaskVerdict)> {
        let on_parts = self.analysis.in_reservations.iter().flat_map(|(test, verdicts)| {
            verdicts.iter().map(|(part, verdict)| (test.name(), part.name().into(), verdict))
        });
        on_whole_gpu(self.analysis).map(|(test, verdict)| (test, "gpu".into(), verdict)).chain(on_parts)
    }

    /// A "no" with its text, and its numbers with tasks by name.
    fn reason(&self, test: &str, on: &str, verdict: &TaskVerdict) -> Option<Value> {
        let TaskVerdict::No(reason) = verdict else { return None };
        let mut value = json!({ "test": test, "on": on, "text": self.why(verdict) });
        let fields = serde_json::to_value(reason).ok()?;
        let names = |field: &Value| field.as_u64().and_then(|task| self.set.tasks.get(usize::try_from(task).ok()?));
        for (key, field) in fields.as_object()? {
            let is_task = key == "task" || key == "blocked_by";
            value[key] = match names(field).filter(|_| is_task) {
                Some(task) => json!(task.name.as_ref()),
                None => field.clone(),
            };
        }
        Some(value)
    }

    /// What a user of the document should know.
    fn notes(&self) -> impl Iterator<Item = String> {
        let unknown = self.lines().into_iter().filter(|line| line.answer.is_none());
        let unknown = unknown.map(|line| format!("{} on {}: {}", line.test, line.on, line.why));
        unknown.chain(self.unsound().map(|test| format!("{test}: {UNSOUND}")))
    }
}

impl Report for TaskReport<'_> {
    const IS_INDENTED: bool = true;
    /// One row per test and partition.
    const TABLE: &'static str = "verdicts";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        fields!(to, self.set => sms, priority_levels);
        fields!(to, self.analysis => necessary);
        to.entry("tests", &self.tests())?;
        let reasons = self.verdicts().filter_map(|(test, on, verdict)| self.reason(test, &on, verdict));
        to.list("reasons", reasons)?;
        to.entry("notes", &self.notes().collect::<Vec<_>>())?;
        if let Some(both) = &self.set.reservations {
            // When each begins in its period, and how long it is.
            let [single, all] =
                [&both.single, &both.all].map(|one| json!({"offset": one.offset, "budget": one.budget}));
            to.entry("reservation", &json!({"period": both.single.period, "single": single, "all": all}))?;
        }
        if let Some((period, budgets)) = self.budgets {
            let entry = |found: &SmallestBudget| {
                let SmallestBudget { test, single, all, fits } = found;
                json!({"test": test.name(), "single": single, "all": all, "fits": fits})
            };
            let tests: Vec<Value> = budgets.iter().map(entry).collect();
            to.entry("smallest_budgets", &json!({"period": period, "tests": tests}))?;
        }
        to.lines("verdicts", &line_columns(), self.lines())
    }

    fn text(&self, page: &mut Page) {
        let (answer, why) = (self.analysis.necessary, String::new());
        let necessary = Line { test: "necessary", on: "every SM".to_owned(), answer, why };
        page.table(&line_columns(), std::iter::once(necessary).chain(self.lines()));
        if self.analysis.multi_stream_as_printed.is_some() {
            page.line_of_several(&format!("{}: {UNSOUND}", TestResults::MULTI_STREAM_AS_PRINTED));
        }
        for (test, verdicts) in &self.analysis.in_reservations {
            let answer = match TestResults::all_pass(*test, verdicts) {
                _ if !test.is_sound() => format!("{}: {UNSOUND}", test.name()),
                Some(true) => format!("all together by {}: yes", test.name()),
                Some(false) => format!("all together by {}: no", test.name()),
                None => format!("all together by {}: -", test.name()),
            };
            page.line_of_several(&answer);
        }
        if let Some((period, budgets)) = self.budgets {
            page.blank();
            page.line(&format!("in reservations of period {period}"));
            page.table(&budget_columns(), budgets);
        }
    }
}

fn line_columns() -> [Column<Line>; 4] {
    [
        Column::new("test", "test", |line: &Line| line.test.into()).left(),
        Column::new("on", "on", |line: &Line| line.on.as_str().into()).left(),
        Column::new("passes", "passes", |line: &Line| line.answer.into()).left(),
        Column::new("why_not", "why not", |line: &Line| line.why.as_str().into()).left(),
    ]
}

fn budget_columns<'b>() -> [Column<&'b SmallestBudget>; 4] {
    [
        Column::table("test", |found: &&SmallestBudget| found.test.name().into()).left(),
        Column::table("smallest budget, single", |found| found.single.into()),
        Column::table("all", |found| found.all.into()),
        Column::table("both fit", |found: &&SmallestBudget| found.fits.into()).left(),
    ]
}

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
