//! Applications under several schedulers, for people and for programs.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use crate::applications::{ApplicationOutcome, ApplicationSet, Outcome, PowerModel, SmCount};
use crate::experiments::evr::{Ratio, SweepPoint, ratios};
use crate::formats::{CellOf, Column, Objects, Page, RowsPart, TableStyle};

/// What stands above everything that was computed from a synthetic set.
const SYNTHETIC: &str = "SYNTHETIC profiles: the numbers of these applications were made up, not measured";

/// What the paper claims, for setting beside ours.
const CLAIM: &str = "The paper (Lee and Al Faruque, DATE 2014): up to 6.4 times as many met, up to 20 % less power.";

/// Applications that a table lists at most.
const MAX_ROWS: usize = 1_000;

/// One line for each scheduler, then GPU-EvR against the others, then one line for each application.
#[must_use]
pub fn outcome_table(set: &ApplicationSet, outcomes: &[Outcome], style: TableStyle) -> String {
    let mut page = heading(set, style);
    page.table(&total_columns(), outcomes);
    let count = u32::try_from(set.injections.len()).unwrap_or(u32::MAX);
    let points: Vec<SweepPoint> = outcomes
        .iter()
        .map(|outcome| {
            SweepPoint::of(outcome.scheduler.to_owned(), set.synthetic, count, 1, std::slice::from_ref(outcome))
        })
        .collect();
    add_ratios(&mut page, &points);
    add_applications(&mut page, outcomes);
    page.finish()
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

/// One line for each scheduler and number of applications, means with standard deviations; then GPU-EvR against the
/// others.
#[must_use]
pub fn point_table(set: &ApplicationSet, points: &[SweepPoint], style: TableStyle) -> String {
    let mut page = heading(set, style);
    page.table(&point_columns(), points);
    add_ratios(&mut page, points);
    page.finish()
}

/// The same points for programs; four decimals as comma-separated values.
///
/// # Errors
/// Whatever `out` refuses.
pub fn point_rows(points: &[SweepPoint], part: RowsPart<'_>, out: impl Write) -> io::Result<()> {
    part.write(&point_columns(), points, out)
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

fn heading(set: &ApplicationSet, style: TableStyle) -> Page {
    let mut page = Page::new(style);
    page.line(&format!("{} on {}", set.name, set.device.name));
    if set.synthetic {
        page.line(SYNTHETIC);
        page.blank();
    }
    page
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

/// How many applications a table lists at most.
#[must_use]
pub fn rows_shown(style: TableStyle) -> usize {
    Page::new(style).most_rows(MAX_ROWS)
}

/// The applications under the first scheduler.
fn add_applications(page: &mut Page, outcomes: &[Outcome]) {
    let Some(outcome) = outcomes.first() else { return };
    let shown = page.most_rows(MAX_ROWS).min(outcome.outcomes.len());
    page.blank();
    page.line(&format!("under {}", outcome.scheduler));
    let rows = outcome.outcomes.iter().take(shown).map(|one| ApplicationRow { outcome, one, profiles: "" });
    page.table(&application_columns(), rows);
    if shown < outcome.outcomes.len() {
        let rest = outcome.outcomes.len() - shown;
        page.line(&format!(" ... and {rest} more; --format json or --format csv lists all of them"));
    }
}

/// What came of a set under some schedulers, as one JSON document: for each the totals and every application with its
/// SMs over time.
#[derive(Debug, Serialize)]
pub struct OutcomeDocument<'a> {
    #[serde(flatten)]
    run: RunHead<'a>,
    schedulers: Vec<OutcomeEntry<'a>>,
    notes: &'a [String],
}

#[derive(Debug, Serialize)]
struct RunHead<'a> {
    name: &'a str,
    synthetic: bool,
    device: &'a str,
    seed: u64,
    power: PowerModel,
}

impl<'a> RunHead<'a> {
    fn new(set: &'a ApplicationSet, seed: u64) -> Self {
        let (name, device) = (&*set.name, &*set.device.name);
        Self { name, synthetic: set.synthetic, device, seed, power: set.power }
    }
}

#[derive(Debug, Serialize)]
struct OutcomeEntry<'a> {
    #[serde(flatten)]
    outcome: &'a Outcome,
    sms_over_time: &'a [Vec<SmCount>],
}

impl<'a> OutcomeDocument<'a> {
    /// Of outcomes with injections drawn from `seed`.
    #[must_use]
    pub fn new(set: &'a ApplicationSet, seed: u64, outcomes: &'a [Outcome]) -> Self {
        let entry = |outcome: &'a Outcome| OutcomeEntry { outcome, sms_over_time: &outcome.sms_over_time };
        Self { run: RunHead::new(set, seed), schedulers: outcomes.iter().map(entry).collect(), notes: &set.notes }
    }
}

/// The same for JSON lines: applications, with the columns of [`outcome_rows`], in a list of their own, and SMs over
/// time left out.
#[derive(Debug, Serialize)]
pub struct OutcomeLinesDocument<'a> {
    #[serde(flatten)]
    run: RunHead<'a>,
    #[serde(serialize_with = "totals")]
    schedulers: &'a [Outcome],
    #[serde(serialize_with = "applications")]
    applications: Vec<ApplicationRow<'a>>,
    notes: &'a [String],
}

impl<'a> OutcomeLinesDocument<'a> {
    /// Of outcomes with injections drawn from `seed`.
    #[must_use]
    pub fn new(set: &'a ApplicationSet, seed: u64, outcomes: &'a [Outcome]) -> Self {
        Self {
            run: RunHead::new(set, seed),
            schedulers: outcomes,
            applications: application_rows(set, outcomes).collect(),
            notes: &set.notes,
        }
    }
}

fn totals<S: Serializer>(outcomes: &[Outcome], serializer: S) -> Result<S::Ok, S::Error> {
    Objects::new(&total_columns(), || outcomes.iter()).serialize(serializer)
}

fn applications<S: Serializer>(rows: &[ApplicationRow<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    Objects::as_csv(&application_columns(), || rows.iter().copied()).serialize(serializer)
}

/// Outcomes of many samples as one JSON document: the points, and GPU-EvR against the other schedulers.
#[derive(Debug, Serialize)]
pub struct PointDocument<'a> {
    name: &'a str,
    synthetic: bool,
    device: &'a str,
    seed: u64,
    points: &'a [SweepPoint],
    ratios: Vec<Ratio>,
    notes: &'a [String],
}

impl<'a> PointDocument<'a> {
    /// Of points with injections drawn from `seed`.
    #[must_use]
    pub fn new(set: &'a ApplicationSet, seed: u64, points: &'a [SweepPoint]) -> Self {
        Self {
            name: &set.name,
            synthetic: set.synthetic,
            device: &set.device.name,
            seed,
            points,
            ratios: ratios(points, "gpu-evr"),
            notes: &set.notes,
        }
    }
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

/// One row for each scheduler and application.
///
/// # Errors
/// Whatever `out` refuses.
pub fn outcome_rows(set: &ApplicationSet, outcomes: &[Outcome], part: RowsPart<'_>, out: impl Write) -> io::Result<()> {
    part.write(&application_columns(), application_rows(set, outcomes), out)
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
