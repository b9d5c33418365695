//! The same operations without a model of sharing: each starts once its launch, its stream and the events that it waits
//! for let it, and takes as long as its waves take alone. The stream queues and hosts are those of every run; only what
//! is behind them has no limits.

use crate::device::KernelOccupancy;
use crate::effort::Progress;
use crate::gpu::{Backend, BackendContext, Event, Gpu, Observer, ReadyOperation, RunError};
use crate::hosts::{ProgramError, SimulateOptions, trace_on};
use crate::scenario::Scenario;
use crate::time::Duration;
use crate::trace::{Recorder, Trace};
use crate::workload::{OperationId, OperationKind};

/// Runs a scenario.
///
/// # Errors
/// As [`simulate`](crate::hosts::simulate).
pub(super) fn unshared(scenario: &Scenario, completed: Progress<'_>) -> Result<Trace, ProgramError> {
    let device = scenario.device().without_channels();
    let recorder = Recorder::new(device.sms, scenario.placement, scenario.seed);
    let gpu = Gpu::with_backend(Unlimited::default(), recorder, &device, SimulateOptions::of(scenario).gpu);
    trace_on(gpu, scenario, completed)
}

/// As many SMs and copy engines as anybody wants.
#[derive(Debug, Default)]
struct Unlimited {
    /// The first that would end after the end of time.
    overflow: Option<OperationId>,
}

impl Backend for Unlimited {
    fn enter<O: Observer>(&mut self, ready: ReadyOperation, context: &mut BackendContext<'_, O>) {
        let ReadyOperation { operation, kind, .. } = ready;
        let takes = match kind {
            OperationKind::Kernel(kernel) => {
                let (kernel, device) = (&context.catalogue.kernels()[kernel.index()], context.catalogue.device());
                let waves = KernelOccupancy::new(&kernel.shape, kernel.blocks, device.sms, device).waves;
                kernel.duration.worst.checked_mul(u64::from(waves))
            }
            OperationKind::Copy(copy) => Some(context.catalogue.copies()[copy.index()].time()),
            OperationKind::Memset | OperationKind::Record(_) | OperationKind::Wait(_) => Some(Duration::ZERO),
        };
        context.observer.dispatched(operation, context.now);
        context.observer.fully_dispatched(operation, context.now);
        match takes.and_then(|takes| context.now.checked_add(takes)) {
            Some(end) => context.calendar.complete_at(end, Event::Wave(operation.0)),
            None => self.overflow = self.overflow.or(Some(operation)),
        }
    }

    fn dispatch<O: Observer>(&mut self, _context: &mut BackendContext<'_, O>) -> Result<Option<OperationId>, RunError> {
        self.overflow.map_or(Ok(None), |operation| Err(RunError::TimeOverflow { operation }))
    }

    fn clear(&mut self) {
        self.overflow = None;
    }
}
