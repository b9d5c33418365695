//! What the schedulability tests say, for people and for programs.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::formats::{Column, DocumentWriter, Page, Report, Rows, fields};
use crate::tasks::{Partition, ReservationTest, SmallestBudget, TaskSet, TaskTime, TaskVerdict, TestResults};

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
