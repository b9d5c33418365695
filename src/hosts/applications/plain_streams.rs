//! Plain CUDA streams: what a user gets who installs no framework at all.
//!
//! Every application has a stream of its own, of the default priority, and submits everything at the instant of its
//! arrival. The hardware's rules do the rest: concurrency where blocks fit, and first in, first out between kernels
//! (X1). Neither class nor requirement is known to anybody.

use super::whole_application::Catalogue;
use crate::applications::ApplicationSet;
use crate::gpu::{GpuInterface, Host, RunError};

/// The applications in front of the GPU.
pub(super) fn plain_streams(set: &ApplicationSet) -> impl Host<Error = RunError> {
    PlainStreams { catalogue: Catalogue::new(set), arrived: Vec::new() }
}

#[derive(Debug)]
struct PlainStreams<'a> {
    catalogue: Catalogue<'a>,
    arrived: Vec<u32>,
}

impl Host for PlainStreams<'_> {
    type Error = RunError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        for (token, injection) in (0..).zip(&self.catalogue.set.injections) {
            gpu.wake_at(injection.arrival, token);
        }
        Ok(())
    }

    fn on_wake(&mut self, token: u64) {
        self.arrived.extend(u32::try_from(token));
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        for number in std::mem::take(&mut self.arrived) {
            self.catalogue.submit_whole(gpu, number)?;
        }
        Ok(())
    }
}
