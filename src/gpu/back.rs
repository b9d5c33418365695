//! What is behind the stream queues: where ready operations run, and when they complete.

mod assign;
mod clients;
mod copy_engine;
mod ee_queue;
mod random;
mod shared_link;
mod sm;
mod sm_back;

pub use sm_back::SmBack;

use super::calendar::{Calendar, Event};
use super::catalogue::Known;
use super::error::RunError;
use super::observer::Observer;
use crate::time::Instant;
use crate::workload::{OperationId, OperationKind, ProcessId, StreamId};

/// What a back works with, at one instant.
#[derive(Debug)]
pub struct BackContext<'a, O> {
    /// The present instant.
    pub now: Instant,
    /// Nothing happens after this instant.
    pub horizon: Instant,
    /// Streams, kernels and copies.
    pub catalogue: &'a Known,
    /// Where completions are entered.
    pub calendar: &'a mut Calendar,
    /// Who is told.
    pub observer: &'a mut O,
}

/// An operation that has passed the front's rules: a kernel that enters its EE queue (G2), a copy that enters its CE
/// queue (C1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// Which.
    pub operation: OperationId,
    /// A kernel or a copy; what needs no engine ends in the front.
    pub kind: OperationKind,
    /// Its stream.
    pub stream: StreamId,
}

/// Runs what the front hands over. The simulated SMs and copy engines are one, [`SmBack`]; an analysis may put another
/// behind the same stream queues and the same hosts.
pub trait Back {
    /// Takes over a ready operation. Operations of one instant come in their order.
    fn enter<O: Observer>(&mut self, ready: Ready, context: &mut BackContext<'_, O>);

    /// What it entered in the calendar has come. Gives the operation that is complete by that, if one is.
    fn complete<O: Observer>(&mut self, event: Event, context: &mut BackContext<'_, O>) -> Option<OperationId>;

    /// Starts what may start at this instant, until a kernel is fully dispatched, which is returned. `None`: nothing
    /// more can start.
    ///
    /// # Errors
    /// [`RunError`] if what starts cannot be represented.
    fn dispatch<O: Observer>(&mut self, context: &mut BackContext<'_, O>) -> Result<Option<OperationId>, RunError>;

    /// The host has answered to all that was dispatched at this instant: what comes next is in the calendar.
    ///
    /// # Errors
    /// [`RunError`] if what follows from that cannot be represented.
    fn settle<O: Observer>(&mut self, context: &mut BackContext<'_, O>) -> Result<(), RunError> {
        let _ = context;
        Ok(())
    }

    /// The processes that are known, or how they share the GPU, have changed; nothing was submitted yet.
    fn know_processes(&mut self, catalogue: &Known) {
        let _ = catalogue;
    }

    /// The context of a process is taken off the runlist, or put back.
    fn set_runnable(&mut self, process: ProcessId, runnable: bool) {
        let _ = (process, runnable);
    }

    /// The run is over: tells the observer what still waits.
    fn close<O: Observer>(&mut self, context: &mut BackContext<'_, O>);

    /// Idle again at t = 0.
    fn clear(&mut self);
}
