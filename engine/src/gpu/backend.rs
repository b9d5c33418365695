//! Backends, behind the stream queues: where ready operations run, and when they complete.

mod assign;
mod clients;
mod copy_engine;
mod dependent_blocks;
mod sm;
mod sm_backend;

pub(super) use copy_engine::write_queue;
pub(crate) use sm_backend::SmBackend;

use super::calendar::{Calendar, Event};
use super::catalogue::GpuCatalogue;
use super::counters::Counters;
use super::host::RunError;
use crate::time::Instant;
use crate::trace::{Observer, TraceFull};
use crate::workload::{OperationId, OperationKind, ProcessId, StreamId};

/// What a backend works with, at one instant.
#[derive(Debug)]
pub struct BackendContext<'a, O> {
    /// The present instant.
    pub now: Instant,
    /// Nothing happens after this instant.
    pub horizon: Instant,
    /// Streams, kernels and copies.
    pub catalogue: &'a GpuCatalogue,
    /// Where completions are entered.
    pub calendar: &'a mut Calendar,
    /// Counters on which blocks, streams and hosts wait.
    pub(crate) counters: &'a mut Counters,
    /// Who is told.
    pub observer: &'a mut O,
}

/// An operation that has passed the frontend's rules: a kernel that enters its EE queue (G2), a copy that enters its CE
/// queue (C1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyOperation {
    /// Which.
    pub operation: OperationId,
    /// A kernel or a copy; what needs no engine ends in the frontend.
    pub kind: OperationKind,
    /// Its stream.
    pub stream: StreamId,
    /// PDL: when the wait of its blocks returns, if it is launched programmatically; `None`: the kernel before it in
    /// its stream has not completed, and [`Backend::release`] will tell.
    pub released: Option<Instant>,
}

/// Runs what the frontend hands over. The simulated SMs and copy engines are one, `SmBackend`; an analysis may put
/// another behind the same stream queues and the same hosts.
pub trait Backend {
    /// Takes over a ready operation. Operations of one instant come in their order.
    fn enter<O: Observer>(&mut self, ready: ReadyOperation, context: &mut BackendContext<'_, O>);

    /// An event that this backend put into the calendar is due. Gives the operation that is complete now, if any: by
    /// default the one whose number the event of a wave or copy carries.
    fn complete<O: Observer>(&mut self, event: Event, context: &mut BackendContext<'_, O>) -> Option<OperationId> {
        let _ = context;
        match event {
            Event::Wave(number) | Event::TimedWave(number) | Event::Copy(number) => Some(OperationId(number)),
            Event::Point(_) | Event::Context | Event::Turn | Event::Freed => None,
        }
    }

    /// Starts what may start at this instant, until a kernel is fully dispatched, which is returned. `None`: nothing
    /// more can start.
    ///
    /// # Errors
    /// [`RunError`] if what starts cannot be represented.
    fn dispatch<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<Option<OperationId>, RunError>;

    /// The host has answered to all that was dispatched at this instant: what comes next is in the calendar.
    ///
    /// # Errors
    /// [`RunError`] if what follows from that cannot be represented.
    fn finish_instant<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), RunError> {
        let _ = context;
        Ok(())
    }

    /// PDL: the kernel before `operation` in its stream has completed, and waits of its blocks return at `at`.
    ///
    /// # Errors
    /// [`RunError`] if what follows from that cannot be represented.
    fn release<O: Observer>(
        &mut self,
        operation: OperationId,
        at: Instant,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), RunError> {
        let _ = (operation, at, context);
        Ok(())
    }

    /// PDL: a kernel of which it has become known when the last of its blocks triggers, and when; each once.
    fn next_trigger(&mut self) -> Option<(OperationId, Instant)> {
        None
    }

    /// The processes that are known, or how they share the GPU, have changed; nothing was submitted yet.
    fn set_processes(&mut self, catalogue: &GpuCatalogue) {
        let _ = catalogue;
    }

    /// The context of a process is taken off the runlist, or put back.
    fn set_runnable(&mut self, process: ProcessId, runnable: bool) {
        let _ = (process, runnable);
    }

    /// The run is over: tells the observer what still waits.
    ///
    /// # Errors
    /// [`TraceFull`] if there is no room to note it.
    fn close<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), TraceFull> {
        let _ = context;
        Ok(())
    }

    /// Idle again at t = 0.
    fn clear(&mut self);
}
