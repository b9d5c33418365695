//! Applications under several schedulers, for people and for programs.

use std::fmt::Write;

use serde::Serialize;

use super::csv::field;
use super::table::plain_table;
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
    let header = [
        "scheduler",
        "met",
        "of",
        "total violation",
        "utilization",
        "board power",
        "power/application",
        "energy/application",
    ];
    let mut table = plain_table(&header, 1..8);
    for outcome in outcomes {
        table.add_row(vec![
            outcome.scheduler.to_owned(),
            outcome.met.to_string(),
            outcome.applications.to_string(),
            outcome.total_violation_ns.to_string(),
            format!("{:.1} %", 100.0 * outcome.utilization),
            format!("{:.1} W", outcome.mean_power_w),
            format!("{:.1} W", outcome.mean_application_power_w),
            format!("{:.1} J", outcome.energy_per_application_j),
        ]);
    }
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
    let header = ["application", "class", "arrived", "due", "started", "finished", "late by", "SMs at most"];
    let mut table = plain_table(&header, 2..8);
    for one in outcome.outcomes.iter().take(MAX_ROWS) {
        let ApplicationOutcome {
            injection, name, class, arrival_ns, due_ns, start_ns, finish_ns, met, late_ns, ..
        } = one;
        let dash = || "-".to_owned();
        let most = outcome.sms_over_time(*injection).iter().map(|count| count.sms).max().unwrap_or(0);
        table.add_row(vec![
            format!("{name} #{injection}"),
            class.to_string(),
            arrival_ns.to_string(),
            due_ns.to_string(),
            start_ns.map_or_else(dash, |start| start.to_string()),
            finish_ns.map_or_else(dash, |finish| finish.to_string()),
            if *met { "met".to_owned() } else { late_ns.to_string() },
            most.to_string(),
        ]);
    }
    let _ = writeln!(text, "\nunder {}\n{table}", outcome.scheduler);
    let rest = outcome.outcomes.len().saturating_sub(MAX_ROWS);
    if rest > 0 {
        let _ = writeln!(text, " ... and {rest} more; --format json or --format csv lists all of them");
    }
}

/// One document: the set, and for each scheduler the totals and every application with its SMs over time.
///
/// # Errors
/// What `serde_json` refuses, which are numbers that are not finite.
pub fn outcome_json(set: &ApplicationSet, seed: u64, outcomes: &[Outcome]) -> serde_json::Result<String> {
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
        sms_over_time: Vec<Vec<SmCount>>,
    }
    let schedulers = outcomes
        .iter()
        .map(|outcome| Entry {
            outcome,
            sms_over_time: outcome.outcomes.iter().map(|one| outcome.sms_over_time(one.injection)).collect(),
        })
        .collect();
    serde_json::to_string(&Document {
        name: &set.name,
        synthetic: set.synthetic,
        device: &set.device.name,
        seed,
        power: set.power,
        schedulers,
        notes: &set.notes,
    })
}

/// One document: the points, and GPU-EvR against the other schedulers.
///
/// # Errors
/// As [`outcome_json`].
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

/// One line for each scheduler and application.
#[must_use]
pub fn outcome_csv(set: &ApplicationSet, outcomes: &[Outcome]) -> String {
    let mut text =
        "scheduler,profiles,injection,application,class,arrival_ns,due_ns,start_ns,finish_ns,met,late_ns,sm_time_ns\n"
            .to_owned();
    let profiles = if set.synthetic { "SYNTHETIC" } else { "stated" };
    let optional = |at: Option<crate::time::Instant>| at.map_or_else(String::new, |at| at.as_ns().to_string());
    for outcome in outcomes {
        for one in &outcome.outcomes {
            let _ = writeln!(
                text,
                "{},{profiles},{},{},{},{},{},{},{},{},{},{}",
                outcome.scheduler,
                one.injection,
                field(&one.name),
                one.class,
                one.arrival_ns.as_ns(),
                one.due_ns.as_ns(),
                optional(one.start_ns),
                optional(one.finish_ns),
                one.met,
                one.late_ns.as_ns(),
                one.sm_time_ns,
            );
        }
    }
    text
}
