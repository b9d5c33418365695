//! Names: of host threads, and of kernel launches in reports.

use serde::ser::{Serialize, SerializeStruct, Serializer};
use thiserror::Error;

use super::host_thread::HostThread;
use super::model::Scenario;
use crate::words::{did_you_mean, listed};
use crate::workload::{CheckedKernel, CheckedStream, Origin, StreamId};

/// Which launch of which kernel: what every kernel entry of every report begins with. There may be millions: what it is
/// called stays with the thread and the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelLaunch<'a> {
    /// Number of the entry, unique in its report: that of the operation, in launch order, unless the report says
    /// otherwise.
    pub id: u32,
    /// Index of the host thread (the examiner's benchmark).
    pub benchmark: u32,
    /// Index of the stream among those of the scenario behind the first, -1 for the NULL stream of its process.
    pub stream: i64,
    /// Iteration or job of the host thread, from 0.
    pub iteration: u32,
    thread: Option<&'a HostThread>,
    kernel: &'a CheckedKernel,
    declared: Option<&'a CheckedStream>,
}

impl<'a> KernelLaunch<'a> {
    /// The launch of `kernel` into `stream` by a thread of `scenario`.
    pub fn new(scenario: &'a Scenario, id: u32, kernel: &'a CheckedKernel, stream: StreamId, origin: Origin) -> Self {
        Self {
            id,
            benchmark: origin.thread,
            stream: scenario.stream_number(stream),
            iteration: origin.iteration,
            thread: scenario.threads.get(origin.thread as usize),
            kernel,
            declared: scenario.streams().get(stream.index()),
        }
    }

    /// The host thread's label.
    pub fn label(&self) -> &'a str {
        self.thread.map_or("", |thread| &thread.label)
    }

    /// The stream's name.
    pub fn stream_name(&self) -> &'a str {
        self.declared.map_or("", |stream| &stream.name)
    }

    /// Name of the function.
    pub fn name(&self) -> &'a str {
        &self.kernel.name
    }

    /// What tables and figures call it.
    pub fn title(&self) -> &'a str {
        &self.kernel.title
    }
}

impl Serialize for KernelLaunch<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut launch = serializer.serialize_struct("KernelLaunch", 7)?;
        launch.serialize_field("id", &self.id)?;
        launch.serialize_field("benchmark", &self.benchmark)?;
        launch.serialize_field("label", self.label())?;
        launch.serialize_field("name", self.name())?;
        launch.serialize_field("title", self.title())?;
        launch.serialize_field("stream", &self.stream)?;
        launch.serialize_field("iteration", &self.iteration)?;
        launch.end()
    }
}

/// Something is asked or stated of what is not there.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no stream with operations and no host is called {name:?}{near}; there are {known}")]
pub struct UnknownStream {
    /// What it is said to be called.
    pub name: String,
    /// Which of those that there are may be meant.
    pub near: String,
    /// Which there are.
    pub known: String,
}

impl Scenario {
    /// The index of the host thread with a name.
    ///
    /// # Errors
    /// [`UnknownStream`]
    pub fn thread_named(&self, name: &str) -> Result<u32, UnknownStream> {
        let mut known = (0..).zip(&self.threads);
        let found = known.find(|(_, thread)| *thread.label == *name);
        found.map(|(thread, _)| thread).ok_or_else(|| self.no_thread_named(name.to_owned()))
    }

    /// What is said of a name that no host thread has.
    pub(crate) fn no_thread_named(&self, name: String) -> UnknownStream {
        let all = || self.threads.iter().map(|thread| &*thread.label);
        let (near, known) = (did_you_mean(&name, all()), listed(all()));
        UnknownStream { name, near, known }
    }
}
