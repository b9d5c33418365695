//! Schedulers that give the whole GPU to one application at a time, and take it from none.

use std::collections::BTreeSet;

use super::whole_application::Catalogue;
use crate::applications::{ApplicationSet, Injection};
use crate::gpu::{GpuEvent, GpuInterface, Host, RunError};
use crate::workload::OperationId;

/// Whenever the GPU has nothing to do, submits the waiting application with the smallest rank, as a whole; of equals
/// the one that arrived first.
#[derive(Debug)]
pub(super) struct OneAtATime<'a, R> {
    catalogue: Catalogue<'a>,
    rank: fn(&ApplicationSet, &Injection) -> R,
    waiting: BTreeSet<(R, u32)>,
    /// The last operation of the application that has the GPU.
    running: Option<OperationId>,
}

impl<'a, R: Ord> OneAtATime<'a, R> {
    pub(super) fn new(set: &'a ApplicationSet, rank: fn(&ApplicationSet, &Injection) -> R) -> Self {
        Self { catalogue: Catalogue::new(set), rank, waiting: BTreeSet::new(), running: None }
    }
}

impl<R: Ord> Host for OneAtATime<'_, R> {
    type Error = RunError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        for (token, injection) in (0..).zip(&self.catalogue.set.injections) {
            gpu.wake_at(injection.arrival, token);
        }
        Ok(())
    }

    fn on_event(&mut self, event: GpuEvent, _gpu: &impl GpuInterface) {
        if let GpuEvent::Completed(operation) = event
            && self.running == Some(operation)
        {
            self.running = None;
        }
    }

    fn on_wake(&mut self, token: u64) {
        let Ok(number) = u32::try_from(token) else { return };
        let rank = (self.rank)(self.catalogue.set, &self.catalogue.injection(number));
        self.waiting.insert((rank, number));
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        if self.running.is_none()
            && let Some((_, number)) = self.waiting.pop_first()
        {
            self.running = self.catalogue.submit_whole(gpu, number)?;
        }
        Ok(())
    }
}
