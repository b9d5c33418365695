//! By what reports name a kernel launch.

use serde::Serialize;

use super::Scenario;
use crate::workload::{Kernel, Origin, StreamId};

/// Which launch of which kernel: what every kernel entry of every report begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KernelLaunch<'a> {
    /// Number of the entry, unique in its report: that of the operation, in launch order, unless the report says
    /// otherwise.
    pub id: u32,
    /// Index of the host thread (the examiner's benchmark).
    pub benchmark: u32,
    /// The host thread's label.
    pub label: &'a str,
    /// Name of the function.
    pub name: &'a str,
    /// What tables and figures call it.
    pub title: &'a str,
    /// Index of the stream among those of the scenario, -1 for the NULL stream.
    pub stream: i64,
    /// Iteration or job of the host thread, from 0.
    pub iteration: u32,
}

impl<'a> KernelLaunch<'a> {
    /// The launch of `kernel` into `stream` by a thread of `scenario`.
    #[must_use]
    pub fn new(scenario: &'a Scenario, id: u32, kernel: &'a Kernel, stream: StreamId, origin: Origin) -> Self {
        Self {
            id,
            benchmark: origin.thread,
            label: scenario.threads.get(origin.thread as usize).map_or("", |thread| &thread.label),
            name: &kernel.name,
            title: &kernel.title,
            stream: i64::from(stream.0) - 1,
            iteration: origin.iteration,
        }
    }
}
