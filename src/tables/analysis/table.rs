//! The results of the analyses as tables and text for people.

use std::fmt::Write;

use super::columns::{analysis_columns, campaign_columns, comparison_columns, orders_columns};
use crate::analysis::printed::Turn;
use crate::analysis::{Analysis, Comparison, LaunchOrders};
use crate::experiments::validation::CampaignReport;
use crate::formats::{MAX_ROWS, Page, TableStyle, add_rest};

/// The kernels of an analysis.
#[must_use]
pub(super) fn analysis_table(analysis: &Analysis<'_>, style: TableStyle) -> String {
    let mut page = Page::new(style);
    let most = page.most_rows(MAX_ROWS);
    page.table(&analysis_columns(), analysis.kernels.iter().take(most));
    add_rest(
        &mut page,
        analysis.kernels.len().saturating_sub(most),
        "kernel launches",
        "--format json or --format csv",
    );
    page.blank();
    let device = analysis.device;
    page.line(&match (analysis.exact, analysis.g_max) {
        (true, Some(g_max)) => {
            format!("exact on {device} (g_max = {g_max}): every work-conserving placement gives these times")
        }
        (_, Some(g_max)) => format!("not exact on {device} (g_max = {g_max})"),
        (_, None) => format!("not exact on {device}"),
    });
    if let Some(threads) = analysis.utilization_threads {
        let share = 100.0 * threads / f64::from(analysis.thread_slots);
        page.line(&format!("utilization {threads:.1} of {} threads ({share:.1} %)", analysis.thread_slots));
    }
    page.finish()
}

/// Every turn of the printed algorithm's loop, as the thesis shows them in section 3.5.
#[must_use]
pub(super) fn steps_text(analysis: &Analysis<'_>, steps: &[Turn]) -> String {
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
            analysis.title_of(step),
            pairs.join(", "),
        );
    }
    text
}

/// The kernels of a comparison.
#[must_use]
pub fn comparison_table(comparison: &Comparison<'_>, style: TableStyle) -> String {
    let mut page = Page::new(style);
    let most = page.most_rows(MAX_ROWS);
    page.table(&comparison_columns(), comparison.kernels.iter().take(most));
    add_rest(
        &mut page,
        comparison.kernels.len().saturating_sub(most),
        "kernel launches",
        "--format json or --format csv",
    );
    let promise = if comparison.exact { "is exact" } else { "does not promise to be exact" };
    let result = if comparison.equal { "all finish times agree" } else { "finish times differ" };
    page.blank();
    page.line(&format!("{result}; the analysis {promise} here"));
    page.finish()
}

/// The kernels of an exploration of launch orders.
#[must_use]
pub fn orders_table(orders: &LaunchOrders<'_>, style: TableStyle) -> String {
    let mut page = Page::new(style);
    page.table(&orders_columns(), &orders.kernels);
    let tried = orders.orders_tried;
    let what = if orders.exhaustive { format!("all {tried} orders") } else { format!("{tried} random orders") };
    page.blank();
    page.line(&format!("{what} tried"));
    page.finish()
}

/// The families of a campaign.
#[must_use]
pub fn campaign_table(report: &CampaignReport, device: &str, style: TableStyle) -> String {
    let mut page = Page::new(style);
    page.table(&campaign_columns(), &report.families);
    page.blank();
    page.line(&format!("{device}, {} placement, seed {}", report.placement, report.seed));
    for family in &report.families {
        let Some(counterexample) = &family.smallest_counterexample else { continue };
        let direction = family.counterexample_direction.unwrap_or_default();
        page.blank();
        page.line(&format!("smallest {direction} counterexample of {}:", family.family));
        page.code(&format!("{counterexample:#}\n"));
        if let Some(shrunk) = &family.shrunk_counterexample {
            page.line("with shorter blocks:");
            page.code(&format!("{shrunk:#}\n"));
        }
    }
    page.finish()
}
