//! The results of the analyses as tables and text for people.

use std::fmt::Write;

use super::table::plain_table;
use crate::analysis::printed::Turn;
use crate::analysis::{Analysis, Comparison, LaunchOrders};
use crate::experiments::validation::CampaignReport;
use crate::time::Duration;

fn shown(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// The kernels of an analysis.
#[must_use]
pub fn analysis_table(analysis: &Analysis<'_>) -> String {
    let header = [
        "kernel",
        "iteration",
        "blocks",
        "threads",
        "launched",
        "released",
        "finish",
        "response",
        "safe finish",
        "deadline",
        "schedulable",
    ];
    let mut table = plain_table(&header, 1..10);
    for kernel in &analysis.kernels {
        table.add_row(vec![
            kernel.launch.title.to_owned(),
            kernel.launch.iteration.to_string(),
            kernel.blocks.to_string(),
            kernel.threads.to_string(),
            kernel.launched_ns.to_string(),
            shown(kernel.released_ns),
            shown(kernel.finish_ns),
            shown(kernel.response_ns),
            shown(kernel.safe_finish_ns),
            shown(kernel.deadline_ns),
            shown(kernel.schedulable.map(|schedulable| if schedulable { "yes" } else { "no" })),
        ]);
    }
    let mut text = format!("{table}\n\n");
    // Writing to a string cannot fail.
    let _ = match (analysis.exact, analysis.g_max) {
        (true, Some(g_max)) => {
            writeln!(
                text,
                "exact on {} (g_max = {g_max}): every work-conserving placement gives these times",
                analysis.device
            )
        }
        (_, Some(g_max)) => writeln!(text, "not exact on {} (g_max = {g_max})", analysis.device),
        (_, None) => writeln!(text, "not exact on {}", analysis.device),
    };
    if let Some(threads) = analysis.utilization_threads {
        let share = 100.0 * threads / f64::from(analysis.thread_slots);
        let _ = writeln!(text, "utilization {threads:.1} of {} threads ({share:.1} %)", analysis.thread_slots);
    }
    text
}

/// Every turn of the printed algorithm's loop, as the thesis shows them in section 3.5.
#[must_use]
pub fn steps_text(analysis: &Analysis<'_>, steps: &[Turn]) -> String {
    let title = |kernel: usize| {
        let index = analysis.merged_order.get(kernel).copied().unwrap_or(usize::MAX);
        analysis.kernels.get(index).map_or("", |kernel| kernel.launch.title)
    };
    let mut text = String::new();
    for step in steps {
        let Turn { t_a, g_f, to_place, next_t_a, next_g_f, .. } = step;
        let pairs: Vec<String> = step.h.iter().map(|(t, g)| format!("({t}, {g})")).collect();
        let answer = match step.finish {
            Some(finish) => format!("yes, f = {finish}"),
            None => "no".to_owned(),
        };
        let _ = writeln!(
            text,
            "{}: t_a = {t_a}, g_f = {g_f}, {to_place} to place; g_f >= {to_place}? {answer}; \
             h = {{{}}}, t_a = {next_t_a}, g_f = {next_g_f}",
            title(step.kernel),
            pairs.join(", "),
        );
    }
    text
}

/// The kernels of a comparison.
#[must_use]
pub fn comparison_table(comparison: &Comparison<'_>) -> String {
    let header = ["kernel", "iteration", "simulated", "analysed", "difference", "the analysis is"];
    let mut table = plain_table(&header, 1..5);
    for kernel in &comparison.kernels {
        let (difference, verdict) = match kernel.difference_ns {
            None => ("-".to_owned(), ""),
            Some(0) => ("0 s".to_owned(), "equal"),
            Some(ns) => {
                let length = Duration::from_ns(u64::try_from(ns.unsigned_abs()).unwrap_or(u64::MAX));
                if ns < 0 { (format!("-{length}"), "optimistic") } else { (format!("+{length}"), "pessimistic") }
            }
        };
        table.add_row(vec![
            kernel.launch.title.to_owned(),
            kernel.launch.iteration.to_string(),
            shown(kernel.simulated_finish_ns),
            shown(kernel.analysed_finish_ns),
            difference,
            verdict.to_owned(),
        ]);
    }
    let promise = if comparison.exact { "is exact" } else { "does not promise to be exact" };
    let result = if comparison.equal { "all finish times agree" } else { "finish times differ" };
    format!("{table}\n\n{result}; the analysis {promise} here\n")
}

/// The kernels of an exploration of launch orders.
#[must_use]
pub fn orders_table(orders: &LaunchOrders<'_>) -> String {
    let header = ["kernel", "iteration", "best", "worst", "order for the best", "order for the worst"];
    let mut table = plain_table(&header, 1..4);
    for kernel in &orders.kernels {
        table.add_row(vec![
            kernel.launch.title.to_owned(),
            kernel.launch.iteration.to_string(),
            shown(kernel.best_finish_ns),
            shown(kernel.worst_finish_ns),
            kernel.best_order.join(" "),
            kernel.worst_order.join(" "),
        ]);
    }
    let tried = orders.orders_tried;
    let what = if orders.exhaustive { format!("all {tried} orders") } else { format!("{tried} random orders") };
    format!("{table}\n\n{what} tried\n")
}

/// The families of a campaign.
#[must_use]
pub fn campaign_table(report: &CampaignReport, device: &str) -> String {
    let header = ["family", "samples", "equal", "optimistic", "pessimistic", "largest error", "largest unsafe error"];
    let mut table = plain_table(&header, 1..7);
    for family in &report.families {
        let share = |count: u64| {
            if count == family.samples {
                "100 %".to_owned()
            } else {
                format!("{:.3} %", 100.0 * count as f64 / family.samples.max(1) as f64)
            }
        };
        table.add_row(vec![
            family.family.to_owned(),
            family.samples.to_string(),
            share(family.equal),
            share(family.optimistic),
            share(family.pessimistic),
            format!("{:.1} %", 100.0 * family.max_error),
            format!("{:.1} %", 100.0 * family.max_optimistic_error),
        ]);
    }
    let mut text = format!("{table}\n\n{device}, {} placement, seed {}\n", report.placement, report.seed);
    for family in &report.families {
        let Some(counterexample) = &family.smallest_counterexample else { continue };
        let direction = family.counterexample_direction.unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\nsmallest {direction} counterexample of {}:\n{counterexample:#}", family.family);
        if let Some(shrunk) = &family.shrunk_counterexample {
            let _ = writeln!(text, "with shorter blocks:\n{shrunk:#}");
        }
    }
    text
}
