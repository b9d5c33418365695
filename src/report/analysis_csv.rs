//! The results of the analyses as comma-separated values; times in ns, empty where there is none.

use std::io::{self, Write};

use super::csv::{field, launch_fields, optional};
use crate::analysis::{Analysis, Comparison, LaunchOrders};
use crate::experiments::validation::CampaignReport;
use crate::time::{Duration, Instant};

fn instant(value: Option<Instant>) -> String {
    optional(value.map(Instant::as_ns))
}

/// The kernels of an analysis.
///
/// # Errors
/// Whatever `out` refuses.
pub fn analysis_csv(analysis: &Analysis<'_>, mut out: impl Write) -> io::Result<()> {
    writeln!(
        out,
        "id,kernel,benchmark,label,stream,iteration,threads,blocks,g_max,launched_ns,released_ns,finish_ns,response_ns,\
         safe_finish_ns,deadline_ns,schedulable,safely_schedulable"
    )?;
    for kernel in &analysis.kernels {
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{},{}",
            launch_fields(&kernel.launch),
            kernel.threads,
            kernel.blocks,
            kernel.g_max,
            kernel.launched_ns.as_ns(),
            instant(kernel.released_ns),
            instant(kernel.finish_ns),
            optional(kernel.response_ns.map(Duration::as_ns)),
            instant(kernel.safe_finish_ns),
            optional(kernel.deadline_ns.map(Duration::as_ns)),
            optional(kernel.schedulable),
            optional(kernel.safely_schedulable),
        )?;
    }
    Ok(())
}

/// The kernels of a comparison.
///
/// # Errors
/// Whatever `out` refuses.
pub fn comparison_csv(comparison: &Comparison<'_>, mut out: impl Write) -> io::Result<()> {
    writeln!(
        out,
        "id,kernel,benchmark,label,stream,iteration,simulated_finish_ns,analysed_finish_ns,difference_ns,safe_finish_ns"
    )?;
    for kernel in &comparison.kernels {
        writeln!(
            out,
            "{},{},{},{},{}",
            launch_fields(&kernel.launch),
            instant(kernel.simulated_finish_ns),
            instant(kernel.analysed_finish_ns),
            optional(kernel.difference_ns),
            instant(kernel.safe_finish_ns),
        )?;
    }
    Ok(())
}

/// The kernels of an exploration of launch orders.
///
/// # Errors
/// Whatever `out` refuses.
pub fn orders_csv(orders: &LaunchOrders<'_>, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "id,kernel,benchmark,label,stream,iteration,best_finish_ns,worst_finish_ns,best_order,worst_order")?;
    for kernel in &orders.kernels {
        writeln!(
            out,
            "{},{},{},{},{}",
            launch_fields(&kernel.launch),
            instant(kernel.best_finish_ns),
            instant(kernel.worst_finish_ns),
            field(&kernel.best_order.join(" ")),
            field(&kernel.worst_order.join(" ")),
        )?;
    }
    Ok(())
}

/// The families of a campaign.
///
/// # Errors
/// Whatever `out` refuses.
pub fn campaign_csv(report: &CampaignReport, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "family,samples,equal,optimistic,pessimistic,max_error,max_optimistic_error,max_error_ns")?;
    for family in &report.families {
        writeln!(
            out,
            "{},{},{},{},{},{},{},{}",
            family.family,
            family.samples,
            family.equal,
            family.optimistic,
            family.pessimistic,
            family.max_error,
            family.max_optimistic_error,
            family.max_error_ns,
        )?;
    }
    Ok(())
}
