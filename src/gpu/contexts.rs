//! The contexts of several processes on one GPU: rules T1 to T6, between the front and what the front hands over to.
//!
//! Each context has EE queues and SMs of its own, of which it sees the whole: the GPU's, while it is its turn. So a
//! context that is suspended costs nothing: its blocks are where they were, and what is going to complete is in a
//! calendar that stands still. Without several contexts that take turns there is one such back, and nothing else.

mod runlist;
mod time_sliced;
mod traded_copies;

pub use runlist::runlist;

use super::back::{Back, BackContext, Ready, SmBack};
use super::calendar::Event;
use super::catalogue::Known;
use super::error::RunError;
use super::observer::Observer;
use super::options::GpuOptions;
use crate::device::Device;
use crate::workload::{OperationId, ProcessId};
use time_sliced::TimeSliced;

/// The SMs and copy engines of a GPU, for one context or several.
#[derive(Debug, Clone)]
pub struct ContextBack {
    options: GpuOptions,
    /// Where contexts do not take turns: there is one process, or all are clients of MPS.
    one: SmBack,
    several: Option<Box<TimeSliced>>,
}

impl ContextBack {
    /// Idle SMs and copy engines, and one process.
    #[must_use]
    pub fn new(device: &Device, options: GpuOptions) -> Self {
        Self { options, one: SmBack::new(device, &options), several: None }
    }
}

impl Back for ContextBack {
    #[inline]
    fn enter<O: Observer>(&mut self, ready: Ready, context: &mut BackContext<'_, O>) {
        match &mut self.several {
            None => self.one.enter(ready, context),
            Some(several) => several.enter(ready, context),
        }
    }

    #[inline]
    fn complete<O: Observer>(&mut self, event: Event, context: &mut BackContext<'_, O>) -> Option<OperationId> {
        match &mut self.several {
            None => self.one.complete(event, context),
            Some(several) => several.complete(event, context),
        }
    }

    #[inline]
    fn dispatch<O: Observer>(&mut self, context: &mut BackContext<'_, O>) -> Result<Option<OperationId>, RunError> {
        match &mut self.several {
            None => self.one.dispatch(context),
            Some(several) => several.dispatch(context),
        }
    }

    #[inline]
    fn settle<O: Observer>(&mut self, context: &mut BackContext<'_, O>) -> Result<(), RunError> {
        match &mut self.several {
            None => self.one.settle(context),
            Some(several) => several.settle(context),
        }
    }

    fn know_processes(&mut self, catalogue: &Known) {
        let known = catalogue.catalogue();
        if known.sharing().mps {
            self.one.serve_clients(known.device(), known.processes());
        }
        self.several = known.turn_taking().map(|taking| Box::new(TimeSliced::new(known, &taking, &self.options)));
    }

    fn set_runnable(&mut self, process: ProcessId, runnable: bool) {
        if let Some(several) = &mut self.several {
            several.set_runnable(process, runnable);
        }
    }

    fn close<O: Observer>(&mut self, context: &mut BackContext<'_, O>) {
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
