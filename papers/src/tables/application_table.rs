//! Applications under several schedulers, for people and for programs.

use serde::Serialize;

use crate::applications::{ApplicationOutcome, ApplicationSet, Outcome, SmCount};
use crate::experiments::evr::{Ratio, SweepPoint, ratios};
use crate::formats::{CellOf, Column, DocumentWriter, MAX_ROWS, Page, Report, Rows, TableStyle, fields};
use crate::proven::OrMost;
use crate::spelling::formats;

/// What stands above everything that was computed from a synthetic set.
const SYNTHETIC: &str = "SYNTHETIC profiles: the numbers of these applications were made up, not measured";

/// What the paper claims, for setting beside ours.
const CLAIM: &str = "The paper (Lee and Al Faruque, DATE 2014): up to 6.4 times as many met, up to 20 % less power.";

/// What came of a set under some schedulers: one line for each, then GPU-EvR against the others, then the applications.
#[derive(Debug, Clone, Copy)]
pub struct OutcomeDocument<'a> {
    /// The set.
    pub set: &'a ApplicationSet,
    /// From which its injections were drawn.
    pub seed: u64,
    /// What came of it.
    pub outcomes: &'a [Outcome],
}

#[derive(Serialize)]
struct OutcomeEntry<'a> {
    #[serde(flatten)]
    outcome: &'a Outcome,
    sms_over_time: &'a [Vec<SmCount>],
}

impl Report for OutcomeDocument<'_> {
    /// One row for each scheduler and application.
    const TABLE: &'static str = "applications";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        let Self { set, seed, outcomes } = *self;
        head(to, set, seed)?;
        fields!(to, set => power);
        if D::IS_LINES {
            to.rows("schedulers", &total_columns(), outcomes)?;
        } else {
            let entry = |outcome| OutcomeEntry { outcome, sms_over_time: &outcome.sms_over_time };
            to.list("schedulers", outcomes.iter().map(entry))?;
        }
        to.lines("applications", &application_columns(), application_rows(set, outcomes))?;
        to.entry("notes", &set.notes)
    }

    fn text(&self, page: &mut Page) {
        let Self { set, outcomes, .. } = *self;
        add_heading(page, set);
        page.table(&total_columns(), outcomes);
        let count = u32::try_from(set.injections.len()).or_most();
        let points: Vec<SweepPoint> = outcomes
            .iter()
            .map(|outcome| {
                SweepPoint::of(outcome.scheduler.to_owned(), set.synthetic, count, 1, std::slice::from_ref(outcome))
            })
            .collect();
        add_ratios(page, &points);
        add_applications(page, outcomes);
    }
}

/// Outcomes of many samples: one line for each scheduler and number of applications, means with standard deviations;
/// then GPU-EvR against the others.
#[derive(Debug, Clone, Copy)]
pub struct PointDocument<'a> {
    /// The set.
    pub set: &'a ApplicationSet,
    /// From which its injections were drawn.
    pub seed: u64,
    /// What came of it.
    pub points: &'a [SweepPoint],
}

impl Report for PointDocument<'_> {
    /// With four decimals as comma-separated values.
    const TABLE: &'static str = "points";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        head(to, self.set, self.seed)?;
        to.elements("points", self.points, &point_columns(), self.points)?;
        to.list("ratios", ratios(self.points, "gpu-evr"))?;
        to.entry("notes", &self.set.notes)
    }

    fn text(&self, page: &mut Page) {
        add_heading(page, self.set);
        page.table(&point_columns(), self.points);
        add_ratios(page, self.points);
    }
}

/// What a document begins with.
fn head<D: DocumentWriter>(to: &mut D, set: &ApplicationSet, seed: u64) -> Result<(), D::Error> {
    fields!(to, set => name, synthetic);
    to.entry("device", &set.device.name)?;
    to.entry("seed", &seed)
}

/// The columns of what came of all applications under a scheduler.
fn total_columns<'a>() -> [Column<&'a Outcome>; 14] {
    [
        Column::new("scheduler", "scheduler", |outcome: &&Outcome| outcome.scheduler.into()).left(),
        Column::json("applications", |outcome| outcome.applications.into()),
        Column::new("met", "met", |outcome| outcome.met.into()),
        Column::table("of", |outcome| outcome.applications.into()),
        Column::new("total_violation_ns", "total violation", |outcome| outcome.total_violation_ns.into()),
        Column::json("span_ns", |outcome| outcome.span_ns.into()),
        Column::json("utilization", |outcome| outcome.utilization.into()),
        Column::table("utilization", |outcome| format!("{:.1} %", 100.0 * outcome.utilization).into()),
        Column::json("mean_power_w", |outcome| outcome.mean_power_w.into()),
        Column::table("board power", |outcome| format!("{:.1} W", outcome.mean_power_w).into()),
        Column::json("mean_application_power_w", |outcome| outcome.mean_application_power_w.into()),
        Column::table("power/application", |outcome| format!("{:.1} W", outcome.mean_application_power_w).into()),
        Column::json("energy_per_application_j", |outcome| outcome.energy_per_application_j.into()),
        Column::table("energy/application", |outcome| format!("{:.1} J", outcome.energy_per_application_j).into()),
    ]
}

fn point_columns<'p>() -> Vec<Column<&'p SweepPoint>> {
    // A statistic of points: for programs its four numbers, for people mean and deviation in a unit of their own.
    macro_rules! statistic {
        ($field:ident) => {
            [
                Column::csv(concat!(stringify!($field), "_mean"), |row: &&SweepPoint| CellOf::rounded(row.$field.mean)),
                Column::csv(concat!(stringify!($field), "_deviation"), |row| CellOf::rounded(row.$field.deviation)),
                Column::csv(concat!(stringify!($field), "_least"), |row| CellOf::rounded(row.$field.least)),
                Column::csv(concat!(stringify!($field), "_most"), |row| CellOf::rounded(row.$field.most)),
            ]
        };
        ($field:ident, $title:literal, $scale:literal) => {
            statistic!($field).into_iter().chain([
                Column::table($title, |row: &&SweepPoint| format!("{:.2}", row.$field.mean * $scale).into()),
                Column::table("+-", |row: &&SweepPoint| format!("{:.2}", row.$field.deviation * $scale).into()),
            ])
        };
    }
    let mut columns = vec![
        Column::new("scheduler", "scheduler", |row: &&SweepPoint| row.scheduler.as_str().into()).left(),
        Column::csv("profiles", |row| if row.synthetic { "SYNTHETIC" } else { "stated" }.into()),
        Column::new("applications", "applications", |row| row.applications.into()),
        Column::new("samples", "samples", |row| row.samples.into()),
    ];
    columns.extend(statistic!(met, "met", 1.0));
    columns.extend(statistic!(violation_s, "violation [s]", 1.0));
    columns.extend(statistic!(utilization, "utilization [%]", 100.0));
    columns.extend(statistic!(mean_power_w, "board power [W]", 1.0));
    columns.extend(statistic!(application_power_w, "power/application [W]", 1.0));
    columns.extend(statistic!(energy_per_application_j));
    columns
}

fn add_heading(page: &mut Page, set: &ApplicationSet) {
    page.line(&format!("{} on {}", set.name, set.device.name));
    if set.synthetic {
        page.line(SYNTHETIC);
        page.blank();
    }
}

fn add_ratios(page: &mut Page, points: &[SweepPoint]) {
    fn factor(ratio: Option<f64>) -> Option<String> {
        ratio.map(|ratio| format!("x {ratio:.2}"))
    }
    let found = ratios(points, "gpu-evr");
    if found.is_empty() {
        return;
    }
    let columns = [
        Column::table("gpu-evr against", |row: &&Ratio| row.baseline.as_str().into()).left(),
        Column::table("applications", |row| row.applications.into()),
        Column::table("met", |row| factor(row.met).into()),
        Column::table("violation", |row| factor(row.violation).into()),
        Column::table("board power", |row| factor(row.mean_power).into()),
        Column::table("power/application", |row| factor(row.application_power).into()),
        Column::table("energy", |row| factor(row.energy).into()),
    ];
    page.blank();
    page.table(&columns, &found);
    page.line(CLAIM);
}

/// The applications under the first scheduler.
fn add_applications(page: &mut Page, outcomes: &[Outcome]) {
    let Some(outcome) = outcomes.first() else { return };
    let most = page.most_rows(MAX_ROWS);
    page.blank();
    page.line(&format!("under {}", outcome.scheduler));
    let rows = outcome.outcomes.iter().take(most).map(|one| ApplicationRow { outcome, one, profiles: "" });
    page.table(&application_columns(), rows);
    page.rest(outcome.outcomes.len().saturating_sub(most), "", &formats(&["json", "csv"]));
}

/// An application under a scheduler.
#[derive(Debug, Clone, Copy)]
struct ApplicationRow<'a> {
    outcome: &'a Outcome,
    one: &'a ApplicationOutcome,
    profiles: &'static str,
}

fn application_columns<'a>() -> [Column<ApplicationRow<'a>>; 15] {
    [
        Column::csv("scheduler", |row| row.outcome.scheduler.into()),
        Column::csv("profiles", |row| row.profiles.into()),
        Column::csv("injection", |row| row.one.injection.into()),
        Column::csv("application", |row| row.one.name.as_str().into()),
        Column::table("application", |row: &ApplicationRow<'_>| {
            format!("{} #{}", row.one.name, row.one.injection).into()
        })
        .left(),
        Column::new("class", "class", |row: &ApplicationRow<'_>| row.one.class.to_string().into()).left(),
        Column::new("arrival_ns", "arrived", |row| row.one.arrival_ns.into()),
        Column::new("due_ns", "due", |row| row.one.due_ns.into()),
        Column::new("start_ns", "started", |row| row.one.start_ns.into()),
        Column::new("finish_ns", "finished", |row| row.one.finish_ns.into()),
        Column::csv("met", |row| row.one.met.into()),
        Column::csv("late_ns", |row| row.one.late_ns.into()),
        Column::table("late by", |row| if row.one.met { "met".into() } else { row.one.late_ns.to_string().into() }),
        Column::csv("sm_time_ns", |row| i128::try_from(row.one.sm_time_ns).ok().into()),
        Column::table("SMs at most", |row| {
            let over_time = row.outcome.sms_over_time(row.one.injection);
            over_time.iter().map(|count| count.sms).max().unwrap_or(0).into()
        }),
    ]
}

fn application_rows<'a>(
    set: &ApplicationSet,
    outcomes: &'a [Outcome],
) -> impl Iterator<Item = ApplicationRow<'a>> + use<'a> {
    let profiles = if set.synthetic { "SYNTHETIC" } else { "stated" };
    outcomes
        .iter()
        .flat_map(move |outcome| outcome.outcomes.iter().map(move |one| ApplicationRow { outcome, one, profiles }))
}

impl OutcomeDocument<'_> {
    /// How many applications a table lists at most.
    pub fn rows_shown(style: TableStyle) -> usize {
        Page::new(style).most_rows(MAX_ROWS)
    }
}
