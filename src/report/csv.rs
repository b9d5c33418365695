//! Comma-separated values.

use std::io::{self, Write};

use super::summary::Summary;
use crate::scenario::KernelLaunch;
use crate::workload::OperationId;

/// A field as RFC 4180 wants it.
pub(crate) fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// A field that may be empty.
pub(crate) fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// The fields by which every table knows a launch: id, kernel, benchmark, label, stream, iteration.
pub(crate) fn launch_fields(launch: &KernelLaunch<'_>) -> String {
    let KernelLaunch { id, benchmark, stream, iteration, .. } = launch;
    format!("{id},{},{benchmark},{},{stream},{iteration}", field(launch.title), field(launch.label))
}

/// The kernel launches of a run, or with `blocks` each block of them, one line each; times in ns, empty where an
/// instant was not reached.
///
/// # Errors
/// Whatever `out` refuses.
pub fn kernel_csv(summary: &Summary<'_>, blocks: bool, mut out: impl Write) -> io::Result<()> {
    if blocks {
        writeln!(out, "id,kernel,benchmark,iteration,block,sm,start_ns,end_ns")?;
        for kernel in summary.kernels() {
            let head = format!(
                "{},{},{},{}",
                kernel.launch.id,
                field(kernel.launch.title),
                kernel.launch.benchmark,
                kernel.launch.iteration
            );
            for block in summary.trace.blocks(OperationId(kernel.launch.id)) {
                writeln!(out, "{head},{},{},{},{}", block.index, block.sm, block.start.as_ns(), block.end.as_ns())?;
            }
        }
        return Ok(());
    }
    writeln!(
        out,
        "id,kernel,benchmark,label,stream,iteration,threads,blocks,launched_ns,queued_ns,first_start_ns,finish_ns,\
         response_ns,longest_wait_rule,longest_wait_ns,deadline_ns,schedulable,job_response_ns,job_met"
    )?;
    for kernel in summary.kernels() {
        let longest = summary.longest_wait(OperationId(kernel.launch.id));
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            launch_fields(&kernel.launch),
            kernel.threads,
            kernel.blocks,
            kernel.launched_ns.as_ns(),
            optional(kernel.queued_ns.map(super::super::time::Instant::as_ns)),
            optional(kernel.first_start_ns.map(super::super::time::Instant::as_ns)),
            optional(kernel.finish_ns.map(super::super::time::Instant::as_ns)),
            optional(kernel.response_ns.map(super::super::time::Duration::as_ns)),
            optional(longest.map(|(rule, _)| rule.name())),
            optional(longest.map(|(_, time)| time.as_ns())),
            optional(kernel.deadline_ns.map(super::super::time::Duration::as_ns)),
            optional(kernel.schedulable),
            optional(kernel.job_response_ns.map(super::super::time::Duration::as_ns)),
            optional(kernel.job_met),
        )?;
    }
    Ok(())
}
