//! The contexts of several processes on one GPU: rules T1 to T6, between the frontend and its backend.
//!
//! Each context has EE queues and SMs of its own, of which it sees the whole: the GPU's, while it is its turn. So a
//! context that is suspended costs nothing: its blocks are where they were, and what is going to complete is in a
//! calendar that stands still. Without several contexts that take turns there is one such backend, and nothing else.

mod runlist;
mod time_sliced;
mod traded_copies;

pub use runlist::runlist;

use super::backend::{Backend, BackendContext, ReadyOperation, SmBackend};
use super::calendar::{Calendar, Event};
use super::catalogue::GpuCatalogue;
use super::host::{GpuOptions, RunError};
use crate::canonical::Canonical;
use crate::device::Device;
use crate::time::Instant;
use crate::trace::{Observer, TraceFull};
use crate::workload::{OperationId, ProcessId};
use time_sliced::TimeSliced;

/// The SMs and copy engines of a GPU, for one context or several.
#[derive(Debug, Clone)]
pub struct ContextBackend {
    options: GpuOptions,
    /// Where contexts do not take turns: there is one process, or all are clients of MPS.
    one: SmBackend,
    several: Option<Box<TimeSliced>>,
}

impl ContextBackend {
    /// Idle SMs and copy engines, and one process.
    pub(crate) fn new(device: &Device, options: GpuOptions) -> Self {
        Self { options, one: SmBackend::new(device, &options), several: None }
    }

    /// Writes which block time is drawn next, where contexts do not take turns.
    pub(super) fn write_drawn(&self, to: &mut Canonical) {
        self.one.write_drawn(to);
    }

    /// Writes the state with what is in the calendar.
    pub(super) fn write_state(&self, now: Instant, calendar: &Calendar, to: &mut Canonical) {
        let Self { options: _, one, several } = self;
        match several {
            None => one.write_state(now, calendar, to),
            // Nothing ever came to the one.
            Some(several) => several.write_state(now, calendar, to),
        }
    }
}

impl Backend for ContextBackend {
    #[inline]
    fn enter<O: Observer>(&mut self, ready: ReadyOperation, context: &mut BackendContext<'_, O>) {
        match &mut self.several {
            None => self.one.enter(ready, context),
            Some(several) => several.enter(ready, context),
        }
    }

    #[inline]
    fn complete<O: Observer>(&mut self, event: Event, context: &mut BackendContext<'_, O>) -> Option<OperationId> {
        match &mut self.several {
            None => self.one.complete(event, context),
            Some(several) => several.complete(event, context),
        }
    }

    #[inline]
    fn dispatch<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<Option<OperationId>, RunError> {
        match &mut self.several {
            None => self.one.dispatch(context),
            Some(several) => several.dispatch(context),
        }
    }

    #[inline]
    fn finish_instant<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), RunError> {
        match &mut self.several {
            None => self.one.finish_instant(context),
            Some(several) => several.finish_instant(context),
        }
    }

    fn release<O: Observer>(
        &mut self,
        operation: OperationId,
        at: Instant,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), RunError> {
        self.one.release(operation, at, context)
    }

    fn next_trigger(&mut self) -> Option<(OperationId, Instant)> {
        self.one.next_trigger()
    }

    fn set_processes(&mut self, catalogue: &GpuCatalogue) {
        let known = catalogue.catalogue();
        if known.sharing().mps && known.device().gpus() == 1 {
            self.one.serve_clients(known);
        }
        self.several = known.turn_taking().map(|taking| Box::new(TimeSliced::new(known, &taking, &self.options)));
    }

    fn set_runnable(&mut self, process: ProcessId, runnable: bool) {
        if let Some(several) = &mut self.several {
            several.set_runnable(process, runnable);
        }
    }

    fn close<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), TraceFull> {
        match &mut self.several {
            None => self.one.close(context),
            Some(several) => several.close(context),
        }
    }

    fn clear(&mut self) {
        match &mut self.several {
            None => self.one.clear(),
            Some(several) => several.clear(),
        }
    }
}
