//! The columns of what analyses find; times in ns, empty where there is none. In JSON the elements of lists are the
//! results themselves.

use std::io::{self, Write};

use crate::analysis::{AnalysedKernel, Analysis, ComparedKernel, OrderedKernel};
use crate::experiments::validation::FamilyReport;
use crate::formats::{Column, RowsPart};
use crate::scenario::KernelLaunch;
use crate::tables::run::launches::{OfLaunch, launch_columns};
use crate::tables::signed;

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

pub(crate) fn comparison_columns<'k, 'a: 'k>() -> Vec<Column<&'k ComparedKernel<'a>>> {
    let mut columns = launch_columns();
    columns.extend([
        Column::new("simulated_finish_ns", "simulated", |kernel: &&ComparedKernel<'_>| {
            kernel.simulated_finish_ns.into()
        }),
        Column::new("analysed_finish_ns", "analysed", |kernel| kernel.analysed_finish_ns.into()),
        Column::data("difference_ns", |kernel| kernel.difference_ns.into()),
        Column::table("difference", |kernel| kernel.difference_ns.map(signed::difference).into()),
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

pub(crate) fn orders_columns<'k, 'a: 'k>() -> Vec<Column<&'k OrderedKernel<'a>>> {
    let mut columns = launch_columns();
    columns.extend([
        Column::new("best_finish_ns", "best", |kernel: &&OrderedKernel<'_>| kernel.best_finish_ns.into()),
        Column::new("worst_finish_ns", "worst", |kernel| kernel.worst_finish_ns.into()),
        Column::new("best_order", "order for the best", |kernel: &&OrderedKernel<'_>| {
            order_of(&kernel.best_order, &kernel.best_ready_order).into()
        })
        .left(),
        Column::new("worst_order", "order for the worst", |kernel: &&OrderedKernel<'_>| {
            order_of(&kernel.worst_order, &kernel.worst_ready_order).into()
        })
        .left(),
    ]);
    columns
}

/// The threads, and the `ready_order` where it is not the model's.
fn order_of(threads: &[&str], ready: &[u32]) -> String {
    let threads = threads.join(" ");
    if ready.is_empty() { threads } else { format!("{threads}, ready_order {ready:?}") }
}

pub(crate) fn campaign_columns<'k>() -> [Column<&'k FamilyReport>; 13] {
    [
        Column::new("family", "family", |family: &&FamilyReport| family.family.into()).left(),
        Column::new("samples", "samples", |family| family.samples.into()),
        Column::data("equal", |family| family.equal.into()),
        Column::table("equal", |family| share(family, family.equal).into()),
        Column::data("optimistic", |family| family.optimistic.into()),
        Column::table("optimistic", |family| share(family, family.optimistic).into()),
        Column::data("pessimistic", |family| family.pessimistic.into()),
        Column::table("pessimistic", |family| share(family, family.pessimistic).into()),
        Column::data("max_error", |family| family.max_error.into()),
        Column::table("largest error", |family| percent(family.max_error).into()),
        Column::data("max_optimistic_error", |family| family.max_optimistic_error.into()),
        Column::table("largest unsafe error", |family| percent(family.max_optimistic_error).into()),
        Column::data("max_error_ns", |family| family.max_error_ns.into()),
    ]
}

fn share(family: &FamilyReport, count: u64) -> String {
    if count == family.samples {
        return "100 %".to_owned();
    }
    format!("{:.3} %", 100.0 * count as f64 / family.samples.max(1) as f64)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
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
