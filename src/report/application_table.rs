//! Applications under several schedulers, for people and for programs.

use std::fmt::Write;
use std::io;

use serde::Serialize;

use super::columns::{Column, csv_text, plain_table, table};
use crate::applications::{ApplicationOutcome, ApplicationSet, Outcome, SmCount};
use crate::experiments::evr::{Ratio, SweepPoint, ratios};

/// What stands above everything that was computed from a synthetic set.
const SYNTHETIC: &str = "SYNTHETIC profiles: the numbers of these applications were made up, not measured";

/// What the paper claims, for setting beside ours.
const CLAIM: &str = "The paper (Lee and Al Faruque, DATE 2014): up to 6.4 times as many met, up to 20 % less power.";

/// Applications that a table lists at most.
const MAX_ROWS: usize = 1_000;

/// One line for each scheduler, then GPU-EvR against the others, then one line for each application.
#[must_use]
pub fn outcome_table(set: &ApplicationSet, outcomes: &[Outcome]) -> String {
    let mut text = heading(set);
    let columns = [
        Column::table("scheduler", |outcome: &&Outcome| outcome.scheduler.into()).left(),
        Column::table("met", |outcome| outcome.met.into()),
        Column::table("of", |outcome| outcome.applications.into()),
        Column::table("total violation", |outcome| outcome.total_violation_ns.into()),
        Column::table("utilization", |outcome| format!("{:.1} %", 100.0 * outcome.utilization).into()),
        Column::table("board power", |outcome| format!("{:.1} W", outcome.mean_power_w).into()),
        Column::table("power/application", |outcome| format!("{:.1} W", outcome.mean_application_power_w).into()),
        Column::table("energy/application", |outcome| format!("{:.1} J", outcome.energy_per_application_j).into()),
    ];
    let table = table(&columns, outcomes);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{table}");
    let count = u32::try_from(set.injections.len()).unwrap_or(u32::MAX);
    let points: Vec<SweepPoint> = outcomes
        .iter()
        .map(|outcome| {
            SweepPoint::of(outcome.scheduler.to_owned(), set.synthetic, count, 1, std::slice::from_ref(outcome))
        })
        .collect();
    add_ratios(&mut text, &points);
    add_applications(&mut text, outcomes);
    text
}

/// One line for each scheduler and number of applications, means with standard deviations; then GPU-EvR against the
/// others.
#[must_use]
pub fn point_table(set: &ApplicationSet, points: &[SweepPoint]) -> String {
    let mut text = heading(set);
    let header = [
        "scheduler",
        "applications",
        "samples",
        "met",
        "+-",
        "violation [s]",
        "+-",
        "utilization [%]",
        "+-",
        "board power [W]",
        "+-",
        "power/application [W]",
        "+-",
    ];
    let mut table = plain_table(&header, 1..header.len());
    for point in points {
        let mut row = vec![point.scheduler.clone(), point.applications.to_string(), point.samples.to_string()];
        for (statistic, scale) in [
            (point.met, 1.0),
            (point.violation_s, 1.0),
            (point.utilization, 100.0),
            (point.mean_power_w, 1.0),
            (point.application_power_w, 1.0),
        ] {
            row.push(format!("{:.2}", statistic.mean * scale));
            row.push(format!("{:.2}", statistic.deviation * scale));
        }
        table.add_row(row);
    }
    let _ = writeln!(text, "{table}");
    add_ratios(&mut text, points);
    text
}

fn heading(set: &ApplicationSet) -> String {
    let synthetic = if set.synthetic { format!("{SYNTHETIC}\n\n") } else { String::new() };
    format!("{} on {}\n{synthetic}", set.name, set.device.name)
}

fn add_ratios(text: &mut String, points: &[SweepPoint]) {
    let found = ratios(points, "gpu-evr");
    if found.is_empty() {
        return;
    }
    let header = ["gpu-evr against", "applications", "met", "violation", "board power", "power/application", "energy"];
    let mut table = plain_table(&header, 1..7);
    let factor = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), |ratio| format!("x {ratio:.2}"));
    for Ratio { baseline, applications, met, violation, mean_power, application_power, energy } in found {
        let mut row = vec![baseline, applications.to_string()];
        row.extend([met, violation, mean_power, application_power, energy].map(factor));
        table.add_row(row);
    }
    let _ = writeln!(text, "\n{table}\n{CLAIM}");
}

/// The applications under the first scheduler.
fn add_applications(text: &mut String, outcomes: &[Outcome]) {
    let Some(outcome) = outcomes.first() else { return };
    let rows = outcome.outcomes.iter().take(MAX_ROWS).map(|one| ApplicationRow { outcome, one, profiles: "" });
    let table = table(&application_columns(), rows);
    let _ = writeln!(text, "\nunder {}\n{table}", outcome.scheduler);
    let rest = outcome.outcomes.len().saturating_sub(MAX_ROWS);
    if rest > 0 {
        let _ = writeln!(text, " ... and {rest} more; --format json or --format csv lists all of them");
    }
}

/// One document: the set, and for each scheduler the totals and every application with its SMs over time. It is written
/// as it is made: of many applications it is longer than all that is known of them.
///
/// # Errors
/// Those of the writer.
pub fn outcome_json(set: &ApplicationSet, seed: u64, outcomes: &[Outcome], out: &mut impl io::Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        name: &'a str,
        synthetic: bool,
        device: &'a str,
        seed: u64,
        power: crate::applications::PowerModel,
        schedulers: Vec<Entry<'a>>,
        notes: &'a [String],
    }
    #[derive(Serialize)]
    struct Entry<'a> {
        #[serde(flatten)]
        outcome: &'a Outcome,
        sms_over_time: &'a [Vec<SmCount>],
    }
    let schedulers = outcomes.iter().map(|outcome| Entry { outcome, sms_over_time: &outcome.sms_over_time }).collect();
    let document = Document {
        name: &set.name,
        synthetic: set.synthetic,
        device: &set.device.name,
        seed,
        power: set.power,
        schedulers,
        notes: &set.notes,
    };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

/// One document: the points, and GPU-EvR against the other schedulers.
///
/// # Errors
/// What `serde_json` refuses, which are numbers that are not finite.
pub fn point_json(set: &ApplicationSet, seed: u64, points: &[SweepPoint]) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Document<'a> {
        name: &'a str,
        synthetic: bool,
        device: &'a str,
        seed: u64,
        points: &'a [SweepPoint],
        ratios: Vec<Ratio>,
        notes: &'a [String],
    }
    serde_json::to_string(&Document {
        name: &set.name,
        synthetic: set.synthetic,
        device: &set.device.name,
        seed,
        points,
        ratios: ratios(points, "gpu-evr"),
        notes: &set.notes,
    })
}

/// An application under a scheduler.
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
        Column::table("late by", |row| if row.one.met { "met".into() } else { row.one.late_ns.into() }),
        Column::csv("sm_time_ns", |row| row.one.sm_time_ns.to_string().into()),
        Column::table("SMs at most", |row| {
            let over_time = row.outcome.sms_over_time(row.one.injection);
            over_time.iter().map(|count| count.sms).max().unwrap_or(0).into()
        }),
    ]
}

/// One line for each scheduler and application.
#[must_use]
pub fn outcome_csv(set: &ApplicationSet, outcomes: &[Outcome]) -> String {
    let profiles = if set.synthetic { "SYNTHETIC" } else { "stated" };
    let rows = outcomes
        .iter()
        .flat_map(|outcome| outcome.outcomes.iter().map(move |one| ApplicationRow { outcome, one, profiles }));
    csv_text(&application_columns(), rows)
}
