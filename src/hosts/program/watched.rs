//! A host whose operations are counted as they complete.

use std::sync::atomic::{AtomicU64, Ordering};

use super::ProgramError;
use crate::gpu::{GpuEvent, GpuInterface, Host};

/// Another host, and how many operations have completed.
pub(super) struct Watched<'w, H> {
    pub(super) host: H,
    pub(super) completed: &'w AtomicU64,
}

impl<H: Host<Error = ProgramError>> Host for Watched<'_, H> {
    type Error = ProgramError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), ProgramError> {
        self.host.start(gpu)
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        if matches!(event, GpuEvent::Completed(_)) {
            self.completed.fetch_add(1, Ordering::Relaxed);
        }
        self.host.on_event(event, gpu);
    }

    fn on_wake(&mut self, token: u64) {
        self.host.on_wake(token);
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), ProgramError> {
        self.host.act(gpu)
    }
}
