//! What a profile recorded, as a trace beside that of its simulation, so that both can be drawn.

use crate::profile::{GpuProfile, Import, UNSEEN};
use crate::time::Instant;
use crate::trace::{Observed, ObservedSpan, OperationRecord, Trace, TraceFull};
use crate::workload::{OperationId, OperationKind};

/// The operations of `trace`, which is a simulation of `import`, as they were recorded: submitted when their calls
/// began (or when they began, if the profile has no call), begun and ended as the profile says. On which SMs their
/// blocks ran nobody recorded.
///
/// # Errors
/// As [`Trace::with_observed`].
pub fn recorded_trace(profile: &GpuProfile, import: &Import, trace: &Trace) -> Result<Trace, TraceFull> {
    let mut observed = Observed::default();
    let at = |ns: u64| Instant::from_ns(ns.saturating_sub(import.base_ns));
    for (id, _, index) in submitted_operations(import, trace) {
        let Some(recorded) = profile.operations.get(index as usize) else { continue };
        let call = recorded.call.and_then(|call| profile.calls.get(call as usize));
        let launched = call.map_or(recorded.start_ns, |call| call.start_ns.min(recorded.start_ns));
        observed.launches.push((id, at(launched)));
        let (start, end) = (at(recorded.start_ns), at(recorded.end_ns()));
        observed.spans.push(ObservedSpan { operation: id, start, end });
    }
    trace.with_observed(&observed)
}

/// The operations of a simulation of `import` that stand for one of the profile, and for which.
pub(super) fn submitted_operations<'a>(
    import: &'a Import,
    trace: &'a Trace,
) -> impl Iterator<Item = (OperationId, &'a OperationRecord, u32)> {
    let mut next: Vec<usize> = vec![0; import.submitted.len()];
    trace.numbered().filter_map(move |(id, record)| {
        // Records and waits are no operations of the profile.
        if matches!(record.kind, OperationKind::Record(_) | OperationKind::Wait(_)) {
            return None;
        }
        let thread = record.origin.thread as usize;
        let index = *import.submitted.get(thread)?.get(next[thread])?;
        next[thread] += 1;
        (index != UNSEEN).then_some((id, record, index))
    })
}
