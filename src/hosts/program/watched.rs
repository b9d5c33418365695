//! A host whose operations are counted as they complete, and that can be stopped.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::ProgramError;
use crate::gpu::{GpuEvent, Host, Target};

/// Another host, how many operations have completed, and whether somebody wants it to end.
pub(super) struct Watched<'w, H> {
    pub(super) host: H,
    pub(super) completed: &'w AtomicU64,
    pub(super) stop: &'w AtomicBool,
}

impl<H: Host<Error = ProgramError>> Host for Watched<'_, H> {
    type Error = ProgramError;

    fn start(&mut self, gpu: &mut impl Target) -> Result<(), ProgramError> {
        self.host.start(gpu)
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl Target) {
        if matches!(event, GpuEvent::Completed(_)) {
            self.completed.fetch_add(1, Ordering::Relaxed);
        }
        self.host.on_event(event, gpu);
    }

    fn on_wake(&mut self, token: u64) {
        self.host.on_wake(token);
    }

    fn act(&mut self, gpu: &mut impl Target) -> Result<(), ProgramError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(ProgramError::Stopped { at: gpu.now() });
        }
        self.host.act(gpu)
    }
}
