//! A host of which is told, while it runs, how far it is.

use crate::effort::Progress;
use crate::gpu::{GpuEvent, GpuInterface, Host};

/// Another host, and the instant \[ns\] that its run has come to.
pub(super) struct Timed<'w, H> {
    pub(super) host: H,
    pub(super) reached: Progress<'w>,
}

impl<H: Host> Host for Timed<'_, H> {
    type Error = H::Error;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), H::Error> {
        self.host.start(gpu)
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        self.host.on_event(event, gpu);
    }

    fn on_wake(&mut self, token: u64) {
        self.host.on_wake(token);
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), H::Error> {
        self.reached.reach(gpu.now().as_ns());
        self.host.act(gpu)
    }
}
