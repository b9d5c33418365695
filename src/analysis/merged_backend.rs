//! The merged SM as what is behind the stream queues: kernels are placed on it the moment they enter the EE queue.
//!
//! Kernels leave the one EE queue in the order in which they enter it, so when a kernel enters, everything that
//! decides its finish is known. The host threads of a scenario run in front of this as they do in front of the
//! simulated SMs, and the stream queues between are the same; there is only one priority.

use super::merged_resources::{MergedResources, PooledKernel};
use super::merged_sm::{MergedKernel, MergedSm};
use crate::gpu::{Backend, BackendContext, Event, ReadyOperation, RunError};
use crate::time::{Duration, Instant};
use crate::trace::{Launch, Observer};
use crate::workload::{OperationId, OperationKind, Origin, StreamId};

/// What the blocks of all kernels run on.
#[derive(Debug, Clone)]
pub(super) enum Merged {
    /// Equal blocks.
    Slots(MergedSm),
    /// Blocks that differ, or SM masks.
    Resources(MergedResources),
}

impl Merged {
    /// Places a kernel; `None`: it would finish after the end of time.
    pub(super) fn place(&mut self, cost: &PooledKernel) -> Option<Instant> {
        let placed = match self {
            Self::Slots(sm) => {
                sm.place(&MergedKernel { release: cost.release, block_time: cost.block_time, blocks: cost.blocks })
            }
            Self::Resources(sm) => sm.place(cost),
        };
        placed.ok()
    }
}

/// What the kernels and copies of a scenario take, by their ids.
#[derive(Debug)]
pub(super) struct Costs {
    /// SMs on which blocks run at once, at most.
    pub(super) sms: u32,
    /// The release is set when a kernel enters the EE queue.
    pub(super) kernels: Vec<PooledKernel>,
    /// How long a copy takes, and its engine.
    pub(super) copies: Vec<(Duration, usize)>,
}

/// The merged SM, and copy engines beside it.
#[derive(Debug)]
pub(super) struct MergedBackend<'a> {
    costs: &'a Costs,
    merged: Merged,
    /// When each copy engine has done what it has.
    engines: Vec<Instant>,
    /// Kernels and copies in the order in which they entered, and when each is analysed to finish.
    pub(super) entered: Vec<(OperationId, Instant)>,
    /// The first that would finish after the end of time.
    overflow: Option<OperationId>,
}

impl<'a> MergedBackend<'a> {
    /// An idle one.
    pub(super) fn new(costs: &'a Costs, merged: Merged, engines: u32) -> Self {
        let engines = vec![Instant::ZERO; engines as usize];
        Self { costs, merged, engines, entered: Vec::new(), overflow: None }
    }

    /// When an operation that enters at `now` is analysed to finish.
    fn finish(&mut self, kind: OperationKind, now: Instant) -> Option<Instant> {
        match kind {
            OperationKind::Kernel(kernel) => {
                let cost = self.costs.kernels.get(kernel.index())?;
                self.merged.place(&PooledKernel { release: now, ..*cost })
            }
            OperationKind::Copy(copy) => {
                let &(duration, engine) = self.costs.copies.get(copy.index())?;
                let engine = self.engines.get_mut(engine)?;
                *engine = now.max(*engine).checked_add(duration)?;
                Some(*engine)
            }
            OperationKind::Memset | OperationKind::Record(_) | OperationKind::Wait(_) => Some(now),
        }
    }
}

impl Backend for MergedBackend<'_> {
    /// Places a kernel or a copy; its completion is known at once.
    fn enter<O: Observer>(&mut self, ready: ReadyOperation, context: &mut BackendContext<'_, O>) {
        match self.finish(ready.kind, context.now) {
            Some(finish) => {
                self.entered.push((ready.operation, finish));
                context.calendar.complete_at(finish, Event::Wave(ready.operation.0));
            }
            None => self.overflow = self.overflow.or(Some(ready.operation)),
        }
    }

    fn dispatch<O: Observer>(&mut self, _context: &mut BackendContext<'_, O>) -> Result<Option<OperationId>, RunError> {
        match self.overflow {
            Some(operation) => Err(RunError::TimeOverflow { operation }),
            None => Ok(None),
        }
    }

    fn clear(&mut self) {
        match &mut self.merged {
            Merged::Slots(sm) => sm.clear(),
            Merged::Resources(sm) => sm.reset(),
        }
        self.engines.fill(Instant::ZERO);
        self.entered.clear();
        self.overflow = None;
    }
}

/// An analysed operation; an instant that was not reached is `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Analysed {
    pub(super) kind: OperationKind,
    pub(super) stream: StreamId,
    pub(super) origin: Origin,
    pub(super) launched: Instant,
    /// When it entered the EE or CE queue: the release r of the analysis.
    pub(super) queued: Option<Instant>,
    /// When it is analysed to finish.
    pub(super) finish: Option<Instant>,
}

/// Keeps what the analysis has to know of each operation.
#[derive(Debug, Clone, Default)]
pub(super) struct Walk {
    pub(super) operations: Vec<Analysed>,
}

impl Observer for Walk {
    fn launched(&mut self, _operation: OperationId, launch: &Launch) {
        let &Launch { kind, stream, origin, at } = launch;
        self.operations.push(Analysed { kind, stream, origin, launched: at, queued: None, finish: None });
    }

    fn queued(&mut self, operation: OperationId, _order: Option<u32>, at: Instant) {
        if let Some(analysed) = self.operations.get_mut(operation.index()) {
            analysed.queued = Some(at);
        }
    }

    fn finished(&mut self, operation: OperationId, at: Instant) {
        if let Some(analysed) = self.operations.get_mut(operation.index()) {
            analysed.finish = Some(at);
        }
    }

    fn clear(&mut self) {
        self.operations.clear();
    }

    fn reserve(&mut self, launches: usize) {
        self.operations.reserve(launches);
    }
}
