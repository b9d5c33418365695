//! TimeGraph, as GPU-EvR was compared with it: one application at a time on the whole GPU, the highest class first.
//!
//! Kato, Lakshmanan, Rajkumar and Ishikawa, "TimeGraph: GPU Scheduling for Real-Time Multi-Tasking Environments",
//! USENIX ATC 2011, schedule GPU commands by task priority. Lee and Al Faruque (DATE 2014) compare with it as a
//! framework that handles one application at a time; its reservations, which bound the GPU time of a task, play no part
//! there and none here. A running application is never preempted.

use super::one_at_a_time::OneAtATime;
use crate::applications::{ApplicationSet, Class, Injection};
use crate::gpu::{Host, RunError};

/// The scheduler in front of the GPU. Within a class, first come, first served.
pub(super) fn timegraph(set: &ApplicationSet) -> impl Host<Error = RunError> {
    OneAtATime::new(set, class_of)
}

fn class_of(set: &ApplicationSet, injection: &Injection) -> Class {
    set.of(injection).map_or(Class::Low, |(application, _)| application.class)
}
