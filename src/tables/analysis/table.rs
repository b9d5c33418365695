//! The reports of analyses of launch orders, comparisons and campaigns, and the parts of that of one analysis.

use std::io::{self, Write};

use super::columns::{analysis_columns, campaign_columns, comparison_columns, orders_columns};
use crate::analysis::printed::Turn;
use crate::analysis::{Analysis, Comparison, LaunchOrders};
use crate::experiments::validation::CampaignReport;
use crate::formats::{DocumentWriter, MAX_ROWS, Page, Report, Rows, RowsPart, fields};
use crate::spelling::formats;

/// What is to be known of finish times that are not exact.
const NOT_EXACT: &str = "kernels may finish later than these times, or earlier";

/// The kernels of an analysis, under what it is of.
pub(super) fn add_analysis(page: &mut Page, analysis: &Analysis<'_>) {
    let (kernels, most) = (&analysis.kernels, page.most_rows(MAX_ROWS));
    page.line("finish times on one merged SM, which has the resources of all SMs (releases in the declared order):");
    page.table(&analysis_columns(), kernels.iter().take(most));
    page.rest(kernels.len().saturating_sub(most), " kernel launches", &formats(&["json", "csv"]));
    page.blank();
    let device = analysis.device;
    page.line(&match (analysis.exact, analysis.g_max) {
        (true, Some(g_max)) => {
            format!("exact on {device} (g_max = {g_max}): every work-conserving placement gives these times")
        }
        (_, Some(g_max)) => format!("not exact on {device} (g_max = {g_max}): {NOT_EXACT}"),
        (_, None) => format!("not exact on {device}: {NOT_EXACT}"),
    });
    if let Some(threads) = analysis.utilization_threads {
        let share = 100.0 * threads / f64::from(analysis.thread_slots);
        page.line(&format!("utilization {threads:.1} of {} threads ({share:.1} %)", analysis.thread_slots));
    }
}

/// Every turn of the printed algorithm's loop, as the thesis shows them in section 3.5.
pub(super) fn add_steps(page: &mut Page, analysis: &Analysis<'_>, steps: &[Turn]) {
    for step in steps {
        let Turn { t_a, g_f, to_place, next_t_a, next_g_f, .. } = step;
        let pairs: Vec<String> = step.h.iter().map(|(t, g)| format!("({t}, {g})")).collect();
        let answer = match step.finish {
            Some(finish) => format!("yes, f = {finish}"),
            None => "no".to_owned(),
        };
        page.code(&format!(
            "{}: t_a = {t_a}, g_f = {g_f}, {to_place} to place; g_f >= {to_place}? {answer}; \
             h = {{{}}}, t_a = {next_t_a}, g_f = {next_g_f}\n",
            analysis.title_of(step),
            pairs.join(", "),
        ));
    }
}

impl Report for Comparison<'_> {
    const TABLE: &'static str = "kernels";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        fields!(to, self => scenario, device, placement, equal, exact, optimistic, pessimistic);
        to.elements("kernels", &self.kernels, &comparison_columns(), &self.kernels)?;
        to.entry("notes", &self.notes)
    }

    fn text(&self, page: &mut Page) {
        let most = page.most_rows(MAX_ROWS);
        page.table(&comparison_columns(), self.kernels.iter().take(most));
        page.rest(self.kernels.len().saturating_sub(most), " kernel launches", &formats(&["json", "csv"]));
        let promise = if self.exact { "is exact" } else { "does not promise to be exact" };
        let result = if self.equal { "all finish times agree" } else { "finish times differ" };
        page.blank();
        page.line(&format!("{result}; the analysis {promise} here"));
    }
}

impl Report for LaunchOrders<'_> {
    const TABLE: &'static str = "kernels";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        fields!(to, self => scenario, device, method, orders, orders_tried, exhaustive, seed);
        to.elements("kernels", &self.kernels, &orders_columns(), &self.kernels)?;
        to.entry("notes", &self.notes)
    }

    fn text(&self, page: &mut Page) {
        page.table(&orders_columns(), &self.kernels);
        let tried = self.orders_tried;
        page.blank();
        let is_drawn = self.seed.is_some();
        page.line(&match tried {
            1 if self.exhaustive => "the only order tried".to_owned(),
            1 if is_drawn => "1 random order tried".to_owned(),
            1 => "1 order tried".to_owned(),
            _ if self.exhaustive => format!("all {tried} orders tried"),
            _ if is_drawn => format!("{tried} random orders tried"),
            _ => format!("{tried} orders tried, each kept throughout a run"),
        });
    }
}

impl Report for CampaignReport {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        fields!(to, self => device, placement, seed, stopped);
        to.list("families", &self.families)
    }

    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        part.write(&campaign_columns(), &self.families, out)
    }

    fn text(&self, page: &mut Page) {
        page.table(&campaign_columns(), &self.families);
        page.blank();
        page.line(&format!("{}, {} placement, seed {}", self.device_title, self.placement, self.seed));
        for family in &self.families {
            let found = family.smallest_counterexample.as_ref().zip(family.counterexample_direction);
            let Some((counterexample, direction)) = found else { continue };
            page.blank();
            page.line(&format!("smallest {direction} counterexample of {}:", family.family));
            page.code(&format!("{counterexample:#}\n"));
            if let Some(shrunk) = &family.shrunk_counterexample {
                page.line("with shorter blocks:");
                page.code(&format!("{shrunk:#}\n"));
            }
        }
    }
}
