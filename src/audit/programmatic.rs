//! Programmatic dependent launches (PDL) of simulated runs: when a kernel had triggered, and how long blocks stood.

use super::observation::{ObservedKernel, ObservedOperation};
use crate::device::Device;
use crate::logs::LogTime;
use crate::time::Duration;
use crate::workload::Programmatic;

/// When the kernel behind `before` may begin, if that triggers; `None`: not before it has completed, as far as is
/// known.
pub(super) fn triggered(before: &ObservedOperation, device: &Device) -> Option<LogTime> {
    let kernel = before.kernel().filter(|kernel| kernel.programmatic.trigger.is_some() && kernel.is_whole())?;
    let mut last = LogTime::MIN;
    for (number, block) in kernel.blocks.iter().enumerate() {
        let stated = kernel.stated_time(number)?;
        if stated.varies() {
            // Nobody saw how much of its time it stood.
            return None;
        }
        let took = Duration::from_ns(block.end_ns.since(block.start_ns).unsigned_abs());
        let stood = Duration::from_ns(took.as_ns().saturating_sub(stated.best.as_ns()));
        last = last.max(block.start_ns.after(kernel.programmatic.triggers_after(stated.best, stood)?));
    }
    Some(last.after(device.pdl_trigger_latency))
}

/// When waits of blocks return behind `before`, whose last block ended at `finish`; `None`: they do not wait for it.
pub(super) fn released(before: &ObservedOperation, finish: Option<LogTime>, device: &Device) -> Option<LogTime> {
    before.kernel()?;
    // It never ended: they stand for good.
    Some(finish.map_or(LogTime::MAX, |finish| finish.after(device.pdl_wait_latency)))
}

/// How long a block of so much run time takes that began at `start`, if waits return at `released`.
pub(super) fn takes(kernel: &ObservedKernel, start: LogTime, run: Duration, released: Option<LogTime>) -> u64 {
    let Programmatic { wait, is_dependent, .. } = kernel.programmatic;
    let Some(released) = released.filter(|_| is_dependent) else { return run.as_ns() };
    let waits_from = start.after(wait.of(run));
    let stood = released.since(waits_from).max(0).unsigned_abs();
    run.as_ns().saturating_add(stood)
}
