//! Global EDF, as GPU-EvR was compared with it: one application at a time on the whole GPU, the earliest due first.
//!
//! Elliott and Anderson, "Globally Scheduled Real-Time Multiprocessor Systems with GPUs", RTNS 2010, treat the GPU as a
//! resource that jobs of a globally EDF-scheduled system lock. Lee and Al Faruque (DATE 2014) compare with it as a
//! framework that handles one application at a time; the CPUs play no part there and none here. A running application
//! is never preempted.

use super::one_at_a_time::OneAtATime;
use crate::applications::{ApplicationSet, Injection};
use crate::gpu::{Host, RunError};
use crate::time::Instant;

/// The scheduler in front of the GPU. Of applications due at one instant, first come, first served.
pub(super) fn global_edf(set: &ApplicationSet) -> impl Host<Error = RunError> {
    OneAtATime::new(set, due)
}

fn due(_set: &ApplicationSet, injection: &Injection) -> Instant {
    injection.due()
}
