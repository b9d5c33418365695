//! Tasks with CPU and GPU segments: bounds on their responses, and response times beside those where they ran.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::broken_bound::BrokenBound;
use crate::formats::{Column, DocumentWriter, Page, Report, Rows};
use crate::hosts::{SegmentJob, SegmentRun};
use crate::tasks::segments::{
    Overload, ResponseBounds, SegmentTask, SegmentTaskSet, SegmentTest, TaskBound, drive_os_latency,
};
use crate::time::{Duration, is_in_time};

/// A set, and what some tests say about it.
#[derive(Debug, Clone, Copy)]
pub struct SegmentReport<'a> {
    /// The set.
    pub set: &'a SegmentTaskSet,
    /// The tests, and their bounds.
    pub tests: &'a [(SegmentTest, ResponseBounds)],
    /// By test: the [slack](SegmentTest::slack) of each task, if it is asked for.
    pub slack: Option<&'a [Vec<Option<Duration>>]>,
}

/// Said of tests that are not sound.
fn caveat(test: SegmentTest) -> Option<String> {
    test.taken_literally().map(|origin| format!("{origin}; runs exceed these bounds, so they prove nothing"))
}

/// One line: a test, a task, its bound, and what that means.
#[derive(Debug, Clone)]
struct Line {
    test: &'static str,
    task: String,
    bound: Option<Duration>,
    deadline: Option<Duration>,
    slack: Option<Duration>,
    verdict: Option<&'static str>,
    why: String,
}

/// What is known of a set by one test beside its bounds, if it is sound.
struct Beside {
    late: Vec<Option<Duration>>,
    overload: Overload,
}

impl SegmentReport<'_> {
    fn beside(&self, test: SegmentTest, bounds: &ResponseBounds) -> Option<Beside> {
        let overload = || Overload::of(self.set, test.policy(), test.waiting(), bounds);
        test.is_sound().then(|| Beside { late: test.late_bounds(self.set), overload: overload() })
    }

    fn line(&self, test: SegmentTest, task: usize, bound: &TaskBound, beside: Option<&Beside>) -> Line {
        let this = &self.set.tasks[task];
        let missed = beside.and_then(|beside| beside.overload.tasks[task]);
        let late = beside.and_then(|beside| beside.late[task]);
        let why = match bound {
            _ if missed.is_some() => missed.unwrap_or_default().to_owned(),
            TaskBound::Bounded(_) => caveat(test).unwrap_or_default(),
            TaskBound::Exceeds => "the bound exceeds the deadline".to_owned(),
            TaskBound::DependsOn(other) => format!("{} has no bound", self.set.tasks[*other].name),
            TaskBound::BestEffort => "best effort".to_owned(),
            TaskBound::NotApplicable(why) => (*why).to_owned(),
        };
        let verdict = match bound {
            _ if missed.is_some() => Some("missed"),
            TaskBound::Bounded(_) => Some(test.taken_literally().unwrap_or("proven")),
            TaskBound::Exceeds | TaskBound::DependsOn(_) | TaskBound::NotApplicable(_) => Some("open"),
            TaskBound::BestEffort => None,
        };
        let deadline = this.priority.map(|_| this.deadline);
        let bound = bound.bound().or(late);
        Line { test: test.name(), task: this.name.to_string(), bound, deadline, slack: None, verdict, why }
    }

    fn lines(&self) -> Vec<Line> {
        let of = |(number, (test, bounds)): (usize, &(SegmentTest, ResponseBounds))| {
            let beside = self.beside(*test, bounds);
            let slack = self.slack.and_then(|slack| slack.get(number));
            let lines = bounds.iter().enumerate().map(|(task, bound)| {
                let slack = slack.and_then(|slack| slack.get(task).copied().flatten());
                Line { slack, ..self.line(*test, task, bound, beside.as_ref()) }
            });
            lines.collect::<Vec<_>>()
        };
        self.tests.iter().enumerate().flat_map(of).collect()
    }

    /// Whether each task of a set meets its deadline by a test: `Some(true)` if that is proven, else unknown.
    pub fn all_proven(test: SegmentTest, bounds: &ResponseBounds) -> Option<bool> {
        test.proves(bounds).then_some(true)
    }

    fn columns(&self) -> Vec<Column<Line>> {
        let slack = self.slack.map(|_| Column::new("slack_ns", "slack", |line: &Line| line.slack.into()));
        let of_test = [
            Column::new("test", "test", |line: &Line| line.test.into()).left(),
            Column::new("task", "task", |line: &Line| line.task.as_str().into()).left(),
            Column::new("bound_ns", "bound", |line: &Line| line.bound.into()),
            Column::new("deadline_ns", "deadline", |line: &Line| line.deadline.into()),
        ];
        let answer = [
            Column::new("verdict", "verdict", |line: &Line| line.verdict.into()).left(),
            Column::new("why", "why", |line: &Line| line.why.as_str().into()).left(),
        ];
        of_test.into_iter().chain(slack).chain(answer).collect()
    }

    /// What each test says of the set and of its tasks.
    fn tests(&self) -> Map<String, Value> {
        let mut tests = Map::new();
        for (test, bounds) in self.tests {
            let mut answers = Map::new();
            let overload = self.beside(*test, bounds).map(|beside| beside.overload);
            for (number, (task, bound)) in self.set.tasks.iter().zip(bounds).enumerate() {
                let is_missed = overload.as_ref().is_some_and(|overload| overload.tasks[number].is_some());
                let is_proven = test.is_sound() && bound.bound().is_some();
                let answer = if is_missed { Some(false) } else { is_proven.then_some(true) };
                answers.insert(task.name.to_string(), json!(answer));
            }
            let is_missed = overload.is_some_and(|overload| overload.is_certain());
            let schedulable = if is_missed { Some(false) } else { Self::all_proven(*test, bounds) };
            let verdict = match (schedulable, test.taken_literally()) {
                (Some(true), _) => "proven",
                (Some(false), _) => "missed",
                (None, Some(literally)) if bounds.iter().all(TaskBound::is_accepted) => literally,
                (None, _) => "open",
            };
            let mut said = json!({ "schedulable": schedulable, "verdict": verdict, "tasks": answers });
            if let Some(order) = self.gpu_priorities(*test) {
                said["gpu_priorities"] = json!(order);
            }
            tests.insert(test.name().to_owned(), said);
        }
        tests
    }

    /// The order that a test gives the GPU segments, the most urgent task first, if it is not that of the CPU.
    fn gpu_priorities(&self, test: SegmentTest) -> Option<Vec<&str>> {
        match test.assigned(self.set) {
            Cow::Borrowed(_) => None,
            Cow::Owned(other) => Some(other.by_urgency().into_iter().map(|task| &*self.set.tasks[task].name).collect()),
        }
    }
}

impl Report for SegmentReport<'_> {
    const IS_INDENTED: bool = true;
    /// One row for each test and task.
    const TABLE: &'static str = "bounds";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("cpus", &self.set.cpus)?;
        to.entry("tests", &self.tests())?;
        to.entry("drive_os_latency_ns", &drive_os_latency(self.set))?;
        let notes = self.tests.iter().filter_map(|(test, _)| Some(format!("{}: {}", test.name(), caveat(*test)?)));
        to.entry("notes", &notes.collect::<Vec<_>>())?;
        to.rows("bounds", &self.columns(), self.lines())
    }

    fn text(&self, page: &mut Page) {
        page.table(&self.columns(), self.lines());
        for (test, bounds) in self.tests {
            let name = test.name();
            let overload = self.beside(*test, bounds).map(|beside| beside.overload).filter(Overload::is_certain);
            let answer = match (caveat(*test), overload, Self::all_proven(*test, bounds)) {
                (Some(caveat), ..) => format!("{name}: {caveat}"),
                (None, Some(Overload { some: Some(why), .. }), _) => {
                    format!("all together by {name}: missed, as {why}")
                }
                (None, Some(_), _) => format!("all together by {name}: missed"),
                (None, None, Some(_)) => format!("all together by {name}: proven"),
                (None, None, None) => format!("all together by {name}: open"),
            };
            let order = self.gpu_priorities(*test);
            let order = order.map(|order| format!("GPU priorities of {name}: {}", order.join(", ")));
            for line in std::iter::once(answer).chain(order) {
                page.line_of_several(&line);
            }
        }
        if let Some(latency) = drive_os_latency(self.set) {
            page.line(&format!(
                "a context of high level gets the GPU within {latency}, by DRIVE OS' formula; here it is not proven"
            ));
        }
    }
}

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
struct RunLine {
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
        for RunLine { task, longest, bound, .. } in report.lines() {
            BrokenBound::check(longest, ("the bound on all runs", bound), || format!("a job of {task} takes"))?;
        }
        Ok(report)
    }

    /// Jobs of tasks with priorities that were late, or not done.
    pub fn misses(&self) -> u64 {
        self.lines().iter().filter(|line| line.deadline.is_some()).map(|line| line.misses).sum()
    }

    fn lines(&self) -> Vec<RunLine> {
        let bounds = self.test.bounds(self.set);
        let tasks = self.set.tasks.iter().zip(&bounds).enumerate();
        let line = |(number, (task, bound)): (usize, (&SegmentTask, &TaskBound))| {
            let jobs = || self.run.jobs.iter().filter(move |job| job.task == number);
            let is_late = |response: Option<Duration>| response.is_none_or(|end| !is_in_time(end, task.deadline));
            let misses = jobs().filter(|job| is_late(job.response())).count() as u64;
            let bound = bound.bound().filter(|_| self.test.is_sound());
            let verdict = match (misses, bound) {
                (1.., _) => "missed",
                (0, Some(_)) => "proven",
                (0, None) => "open",
            };
            RunLine {
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
        to.rows("tasks", &run_columns(), self.lines())
    }

    fn text(&self, page: &mut Page) {
        page.table(&run_columns(), self.lines());
        page.line(&format!("{}, jobs released before {}", self.test.name(), self.run.horizon));
    }
}

fn run_columns() -> [Column<RunLine>; 7] {
    [
        Column::new("task", "task", |line: &RunLine| line.task.as_str().into()).left(),
        Column::new("jobs", "jobs", |line: &RunLine| line.jobs.into()),
        Column::new("misses", "misses", |line: &RunLine| line.misses.into()),
        Column::new("longest_response_ns", "longest response", |line: &RunLine| line.longest.into()),
        Column::new("bound_ns", "bound", |line: &RunLine| line.bound.into()),
        Column::new("deadline_ns", "deadline", |line: &RunLine| line.deadline.into()),
        Column::new("verdict", "verdict", |line: &RunLine| line.verdict.into()).left(),
    ]
}
