//! The times of a run keyed by runnable (host thread), for a tool chain that goes on with its own model.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::csv::{field, optional};
use super::summary::Summary;
use crate::device::CopyDirection;
use crate::time::{Duration, Instant};

/// The times of one runnable, from t = 0; `None` where one was not reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunnableTimes<'a> {
    /// Its name.
    pub runnable: &'a str,
    /// Blocks of its kernel.
    pub grid_size: u32,
    /// Threads of one block.
    pub block_size: u32,
    /// Shortest time of a block.
    pub block_best_ns: Duration,
    /// Longest time of a block.
    pub block_worst_ns: Duration,
    /// Bytes copied to the GPU.
    pub host_to_device_bytes: u64,
    /// Bytes copied from the GPU.
    pub device_to_host_bytes: u64,
    /// Its first operation was launched.
    pub launched_ns: Instant,
    /// Its first block started.
    pub kernel_start_ns: Option<Instant>,
    /// Its last block ended.
    pub kernel_finish_ns: Option<Instant>,
    /// Its last operation ended, copies included.
    pub finish_ns: Option<Instant>,
    /// From launch to the end of its last operation.
    pub response_ns: Option<Duration>,
    /// When the response time analysis has its kernel finish; `None` without an analysis.
    pub analysed_kernel_finish_ns: Option<Instant>,
}

/// The times of all host threads that launch a kernel, in declaration order; `analysed` has what a response time
/// analysis found, by kernel name. Of a thread that launches several kernels, the last counts.
#[must_use]
pub fn runnable_times<'a>(summary: &Summary<'a>, analysed: &BTreeMap<&str, Instant>) -> Vec<RunnableTimes<'a>> {
    let mut by_thread: BTreeMap<u32, RunnableTimes<'a>> = BTreeMap::new();
    for (kernel, (_, _, stated)) in summary.kernels().zip(summary.launches()) {
        by_thread.insert(
            kernel.launch.benchmark,
            RunnableTimes {
                runnable: kernel.launch.label,
                grid_size: kernel.blocks,
                block_size: kernel.threads,
                block_best_ns: stated.duration.best,
                block_worst_ns: stated.duration.worst,
                host_to_device_bytes: 0,
                device_to_host_bytes: 0,
                launched_ns: kernel.launched_ns,
                kernel_start_ns: kernel.first_start_ns,
                kernel_finish_ns: kernel.finish_ns,
                finish_ns: kernel.finish_ns,
                response_ns: kernel.response_ns,
                analysed_kernel_finish_ns: analysed.get(kernel.launch.name).copied(),
            },
        );
    }
    for (_, record, copy) in summary.copies() {
        let Some(times) = by_thread.get_mut(&record.origin.thread) else { continue };
        match copy.direction {
            CopyDirection::DeviceToHost => times.device_to_host_bytes += copy.bytes,
            _ => times.host_to_device_bytes += copy.bytes,
        }
        times.finish_ns = times.finish_ns.zip(record.finish()).map(|(one, other)| one.max(other));
        times.launched_ns = times.launched_ns.min(record.launched());
        times.response_ns = times.finish_ns.map(|finish| finish.since(times.launched_ns));
    }
    by_thread.into_values().collect()
}

/// One line for each runnable; empty where a time was not reached.
///
/// # Errors
/// Whatever `out` refuses.
pub fn runnable_times_csv(times: &[RunnableTimes<'_>], mut out: impl Write) -> io::Result<()> {
    writeln!(
        out,
        "runnable,grid_size,block_size,block_best_ns,block_worst_ns,host_to_device_bytes,device_to_host_bytes,\
         launched_ns,kernel_start_ns,kernel_finish_ns,finish_ns,response_ns,analysed_kernel_finish_ns"
    )?;
    for one in times {
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{},{},{}",
            field(one.runnable),
            one.grid_size,
            one.block_size,
            one.block_best_ns.as_ns(),
            one.block_worst_ns.as_ns(),
            one.host_to_device_bytes,
            one.device_to_host_bytes,
            one.launched_ns.as_ns(),
            optional(one.kernel_start_ns.map(Instant::as_ns)),
            optional(one.kernel_finish_ns.map(Instant::as_ns)),
            optional(one.finish_ns.map(Instant::as_ns)),
            optional(one.response_ns.map(Duration::as_ns)),
            optional(one.analysed_kernel_finish_ns.map(Instant::as_ns)),
        )?;
    }
    Ok(())
}

/// The same as one JSON document: `{"runnables": [...]}`.
///
/// # Errors
/// Whatever `out` refuses.
pub fn runnable_times_json(times: &[RunnableTimes<'_>], mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut out, &BTreeMap::from([("runnables", times)]))?;
    out.write_all(b"\n")
}
