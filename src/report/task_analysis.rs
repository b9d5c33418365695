//! What the schedulability tests say, for people and for programs.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::columns::{Column, Objects};
use super::page::{Page, TableStyle};
use super::rows::RowsPart;
use crate::tasks::{
    Allocation, Partition, Reservation, ReservationTest, SmallestBudget, TaskSet, TaskTime, TaskVerdict, TestResults,
};

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

fn partition_name(partition: &Partition) -> String {
    match partition.allocation {
        Allocation::Sm(sm) => format!("sm{sm}"),
        Allocation::All => "all".to_owned(),
    }
}

fn reservation_json(reservation: &Reservation) -> Value {
    json!({ "offset": reservation.offset, "budget": reservation.budget })
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
        let mut lines = vec![
            line("single-stream", "GPU".to_owned(), &self.analysis.single_stream),
            line("multi-stream", "GPU".to_owned(), &self.analysis.multi_stream),
        ];
        for (test, verdicts) in &self.analysis.in_reservations {
            lines.extend(verdicts.iter().map(|(part, verdict)| line(test.name(), partition_name(part), verdict)));
        }
        lines
    }

    /// One JSON document.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut tests = Map::new();
        tests.insert("single-stream".to_owned(), json!(self.analysis.single_stream.answer()));
        tests.insert("multi-stream".to_owned(), json!(self.analysis.multi_stream.answer()));
        for (test, verdicts) in &self.analysis.in_reservations {
            let mut answers: Map<String, Value> =
                verdicts.iter().map(|(part, verdict)| (partition_name(part), json!(verdict.answer()))).collect();
            answers.insert("schedulable".to_owned(), json!(TestResults::all_pass(*test, verdicts)));
            tests.insert(test.name().to_owned(), Value::Object(answers));
        }
        let gpu = [("single-stream", &self.analysis.single_stream), ("multi-stream", &self.analysis.multi_stream)];
        let mut reasons: Vec<Value> =
            gpu.iter().filter_map(|(test, verdict)| self.reason(test, "gpu", verdict)).collect();
        let mut notes = Vec::new();
        for (test, verdicts) in &self.analysis.in_reservations {
            for (part, verdict) in verdicts {
                reasons.extend(self.reason(test.name(), &partition_name(part), verdict));
            }
        }
        notes.extend(
            self.lines()
                .into_iter()
                .filter(|line| line.answer.is_none())
                .map(|line| json!(format!("{} on {}: {}", line.test, line.on, line.why))),
        );
        notes.extend(self.unsound().map(|test| json!(format!("{test}: {UNSOUND}"))));
        let mut document = json!({
            "sms": self.set.sms,
            "priority_levels": self.set.priority_levels,
            "necessary": self.analysis.necessary,
            "tests": tests,
            "reasons": reasons,
            "notes": notes,
        });
        if let Some(both) = &self.set.reservations {
            document["reservation"] = json!({
                "period": both.single.period,
                "single": reservation_json(&both.single),
                "all": reservation_json(&both.all),
            });
        }
        if let Some((period, budgets)) = self.budgets {
            let list: Vec<Value> = budgets
                .iter()
                .map(|found| {
                    json!({ "test": found.test.name(), "single": found.single, "all": found.all, "fits": found.fits })
                })
                .collect();
            document["smallest_budgets"] = json!({ "period": period, "tests": list });
        }
        document
    }

    /// The same with the lines of [`TaskReport::write_rows`] as a list of their own, for JSON lines.
    #[must_use]
    pub fn lines_document(&self) -> impl Serialize + use<> {
        #[derive(Serialize)]
        struct Document {
            #[serde(flatten)]
            whole: Value,
            #[serde(serialize_with = "verdicts")]
            verdicts: Vec<Line>,
        }
        Document { whole: self.json(), verdicts: self.lines() }
    }

    /// Names of the tests that were applied and prove nothing.
    fn unsound(&self) -> impl Iterator<Item = &'static str> {
        let tests = self.analysis.in_reservations.iter().map(|(test, _)| *test);
        tests.filter(|test| !test.is_sound()).map(ReservationTest::name)
    }

    /// A "no" with its numbers and its text.
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

    /// Tables.
    #[must_use]
    pub fn table(&self, style: TableStyle) -> String {
        let mut page = Page::new(style);
        let (answer, why) = (self.analysis.necessary, String::new());
        let necessary = Line { test: "necessary", on: "every SM".to_owned(), answer, why };
        page.table(&line_columns(), std::iter::once(necessary).chain(self.lines()));
        for (test, verdicts) in &self.analysis.in_reservations {
            let answer = match TestResults::all_pass(*test, verdicts) {
                _ if !test.is_sound() => format!("{}: {UNSOUND}", test.name()),
                Some(true) => format!("all together by {}: yes", test.name()),
                Some(false) => format!("all together by {}: no", test.name()),
                None => format!("all together by {}: -", test.name()),
            };
            match style {
                TableStyle::Plain => page.line(&answer),
                TableStyle::Markdown => page.item(&answer),
            }
        }
        if let Some((period, budgets)) = self.budgets {
            page.blank();
            page.line(&format!("in reservations of period {period}"));
            page.table(&budget_columns(), budgets);
        }
        page.finish()
    }

    /// One row per test and partition.
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write_rows(&self, part: RowsPart<'_>, out: impl Write) -> io::Result<()> {
        part.write(&line_columns(), self.lines(), out)
    }
}

fn verdicts<S: Serializer>(lines: &[Line], serializer: S) -> Result<S::Ok, S::Error> {
    Objects::as_csv(&line_columns(), || lines.iter().cloned()).serialize(serializer)
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
