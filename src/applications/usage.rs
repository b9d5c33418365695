//! What a run's outcome is computed from: sums by application, without the run.

use super::segments::{Segment, SmCount, busy_ns, sm_counts_of_all};
use crate::time::Instant;
use crate::trace::Trace;

/// Sums over a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// When the run ended.
    pub end: Instant,
    /// SMs of the device.
    pub sms: u32,
    /// For how long SMs had blocks, added over the SMs \[ns\].
    pub busy_ns: u128,
    /// Of each injection.
    pub applications: Vec<ApplicationUsage>,
    /// Of each injection, on how many SMs its blocks ran over time, the last entry being 0; empty if that was not
    /// asked for.
    pub sms_over_time: Vec<Vec<SmCount>>,
}

/// What one injected application took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ApplicationUsage {
    /// When the first of its operations began.
    pub start: Option<Instant>,
    /// When the last of those that have completed did.
    pub end: Option<Instant>,
    /// Operations that have not completed.
    pub unfinished: u32,
    /// The sum over all SMs of the time in which one ran its blocks \[ns\].
    pub sm_time_ns: u128,
}

impl Usage {
    /// Reads off a trace whose operations name their injection, of which there are `injections`, as their origin's
    /// thread. `segments` are those of the trace.
    pub fn of(trace: &Trace, segments: &[Segment], injections: usize) -> Self {
        let mut applications = vec![ApplicationUsage::default(); injections];
        for segment in segments {
            if let Some(application) = applications.get_mut(segment.injection as usize) {
                application.sm_time_ns += u128::from(segment.duration().as_ns());
            }
        }
        for record in trace.operations() {
            let Some(application) = applications.get_mut(record.origin.thread as usize) else { continue };
            application.start = [application.start, record.first_start()].into_iter().flatten().min();
            application.end = application.end.max(record.finish());
            application.unfinished += u32::from(record.finish().is_none());
        }
        Self {
            end: trace.end(),
            sms: trace.sms(),
            busy_ns: busy_ns(segments),
            applications,
            sms_over_time: sm_counts_of_all(segments, injections),
        }
    }
}
