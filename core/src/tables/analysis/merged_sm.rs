//! Finish times on one merged SM as columns and reports: of one analysis, beside a simulation, and over launch orders.
//! Times are in ns, empty where there is none. In JSON the elements of lists are the
//! results themselves.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::analysis::algorithm_2::AlgorithmStep;
use crate::analysis::{AnalysedKernel, Analysis, ComparedKernel, Comparison, LaunchOrders, OrderedKernel};
use crate::formats::{Column, DocumentWriter, MAX_ROWS, Page, Report, Rows, RowsPart, fields};
use crate::scenario::KernelLaunch;
use crate::spelling::formats;
use crate::tables::run::kernels::{OfLaunch, launch_columns};
use crate::tables::signed_difference;

impl OfLaunch for &AnalysedKernel<'_> {
    fn launch(&self) -> &KernelLaunch<'_> {
        &self.launch
    }
}

impl OfLaunch for &ComparedKernel<'_> {
    fn launch(&self) -> &KernelLaunch<'_> {
        &self.launch
    }
}

impl OfLaunch for &OrderedKernel<'_> {
    fn launch(&self) -> &KernelLaunch<'_> {
        &self.launch
    }
}

pub(crate) fn analysis_columns<'k, 'a: 'k>() -> Vec<Column<&'k AnalysedKernel<'a>>> {
    let mut columns = launch_columns();
    columns.extend([
        Column::table("blocks", |kernel: &&AnalysedKernel<'_>| kernel.blocks.into()),
        Column::new("threads", "threads", |kernel| kernel.threads.into()),
        Column::data("blocks", |kernel| kernel.blocks.into()),
        Column::data("g_max", |kernel| kernel.g_max.into()),
        Column::new("launched_ns", "launched", |kernel| kernel.launched_ns.into()),
        Column::new("released_ns", "released", |kernel| kernel.released_ns.into()),
        Column::new("finish_ns", "finish", |kernel| kernel.finish_ns.into()),
        Column::new("response_ns", "response", |kernel| kernel.response_ns.into()),
        Column::new("safe_finish_ns", "safe finish", |kernel| kernel.safe_finish_ns.into()),
        Column::new("deadline_ns", "deadline", |kernel| kernel.deadline_ns.into()),
        Column::new("schedulable", "merged SM in time", |kernel: &&AnalysedKernel<'_>| kernel.schedulable.into())
            .left(),
        Column::data("safely_schedulable", |kernel| kernel.safely_schedulable.into()),
    ]);
    columns
}

fn comparison_columns<'k, 'a: 'k>() -> Vec<Column<&'k ComparedKernel<'a>>> {
    let mut columns = launch_columns();
    columns.extend([
        Column::new("simulated_finish_ns", "simulated", |kernel: &&ComparedKernel<'_>| {
            kernel.simulated_finish_ns.into()
        }),
        Column::new("analysed_finish_ns", "analysed", |kernel| kernel.analysed_finish_ns.into()),
        Column::data("difference_ns", |kernel| kernel.difference_ns.into()),
        Column::table("difference", |kernel| kernel.difference_ns.map(signed_difference).into()),
        Column::table("the analysis is", |kernel: &&ComparedKernel<'_>| {
            match kernel.difference_ns {
                None => "",
                Some(0) => "equal",
                Some(..0) => "optimistic",
                Some(1..) => "pessimistic",
            }
            .into()
        })
        .left(),
        Column::data("safe_finish_ns", |kernel| kernel.safe_finish_ns.into()),
    ]);
    columns
}

fn orders_columns<'k, 'a: 'k>() -> Vec<Column<&'k OrderedKernel<'a>>> {
    let mut columns = launch_columns();
    columns.extend([
        Column::new("best_finish_ns", "best", |kernel: &&OrderedKernel<'_>| kernel.best_finish_ns.into()),
        Column::new("worst_finish_ns", "worst", |kernel| kernel.worst_finish_ns.into()),
        Column::data("best_order", |kernel: &&OrderedKernel<'_>| best_order(kernel, usize::MAX).into()),
        Column::table("order for the best", |kernel: &&OrderedKernel<'_>| best_order(kernel, MOST_THREADS).into())
            .left(),
        Column::data("worst_order", |kernel: &&OrderedKernel<'_>| worst_order(kernel, usize::MAX).into()),
        Column::table("order for the worst", |kernel: &&OrderedKernel<'_>| worst_order(kernel, MOST_THREADS).into())
            .left(),
    ]);
    columns
}

/// Threads of an order that a table names.
const MOST_THREADS: usize = 16;

fn best_order(kernel: &OrderedKernel<'_>, most: usize) -> String {
    order_of(&kernel.best_order, &kernel.best_ready_order, most)
}

fn worst_order(kernel: &OrderedKernel<'_>, most: usize) -> String {
    order_of(&kernel.worst_order, &kernel.worst_ready_order, most)
}

/// At most so many of the threads, and the `ready_order` where it is not the model's.
fn order_of(threads: &[&str], ready: &[u32], most: usize) -> String {
    let (shown, more) = threads.split_at(threads.len().min(most));
    let mut order = shown.join(" ");
    // Writing to a string cannot fail.
    if !more.is_empty() {
        let _ = write!(order, " ... and {} more", more.len());
    }
    if !ready.is_empty() {
        let _ = write!(order, ", ready_order {ready:?}");
    }
    order
}

impl Analysis<'_> {
    /// The kernels of an analysis without verdicts.
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write_kernels(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        part.write(&analysis_columns(), &self.kernels, out)
    }
}

/// What is to be known of finish times that are not exact.
const NOT_EXACT: &str = "kernels may finish later than these times, or earlier";

/// The kernels of an analysis, under what it is of.
pub(super) fn add_analysis(page: &mut Page, analysis: &Analysis<'_>) {
    if !analysis.of.uses_gpu() {
        return;
    }
    let (kernels, most) = (&analysis.kernels, page.most_rows(MAX_ROWS));
    page.blank();
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
pub(super) fn add_steps(page: &mut Page, analysis: &Analysis<'_>, steps: &[AlgorithmStep]) {
    for step in steps {
        let AlgorithmStep { t_a, g_f, to_place, next_t_a, next_g_f, .. } = step;
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
        if self.kernels.is_empty() {
            page.line("no kernel is launched: there are no finish times to compare");
            return;
        }
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
