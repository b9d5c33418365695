//! The same operations without a model of sharing: each starts once its launch, its stream and the events that it waits
//! for let it, and takes as long as it does alone. The stream queues are those of every run; only what is behind them
//! has no limits.

use crate::device::KernelOccupancy;
use crate::gpu::{
    Backend, BackendContext, Event, Gpu, GpuInterface, GpuOptions, Host, Observer, ReadyOperation, RunError,
};
use crate::hosts::{ProgramError, register_work};
use crate::scenario::Scenario;
use crate::time::{Duration, Instant};
use crate::trace::{Recorder, Trace};
use crate::workload::{OperationId, OperationKind};

/// Runs what `trace`, a run of `scenario`, submitted, at the same instants.
///
/// # Errors
/// [`ProgramError`], if it does not end within representable time.
pub(super) fn unshared(scenario: &Scenario, trace: &Trace) -> Result<Trace, ProgramError> {
    let device = scenario.device().without_channels();
    let recorder = Recorder::new(device.sms, scenario.placement, scenario.seed);
    let mut gpu = Gpu::with_backend(Unlimited::default(), recorder, &device, GpuOptions::default());
    register_work(scenario, &mut gpu)?;
    gpu.run(&mut AsLaunched { trace, next: 0 })?;
    Ok(gpu.into_trace())
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

/// Submits what another run submitted, when it did.
struct AsLaunched<'t> {
    trace: &'t Trace,
    next: usize,
}

impl Host for AsLaunched<'_> {
    type Error = ProgramError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), ProgramError> {
        gpu.wake_at(Instant::ZERO, 0);
        Ok(())
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), ProgramError> {
        while let Some(record) = self.trace.operations().get(self.next) {
            if record.launched() > gpu.now() {
                gpu.wake_at(record.launched(), 0);
                break;
            }
            gpu.submit(record.stream, record.kind, record.origin)?;
            self.next += 1;
        }
        Ok(())
    }
}
