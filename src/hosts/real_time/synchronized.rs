//! How late a scheduler learns that a job is done.

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::gpu::{GpuEvent, GpuInterface, Host};
use crate::tasks::TaskTime;
use crate::time::{Duration, Instant};
use crate::workload::OperationId;

/// The wake-up of this host; those that it wraps count theirs from 0.
const TOKEN: u64 = u64::MAX;

/// A scheduler that is told of a completion only when `cudaStreamSynchronize` returns, up to a given time after it
/// (RTNS 2020, section 7.2: the primitive "may have unpredictable timing behavior", and response times include it).
/// Until then the job's stream counts as occupied.
#[derive(Debug)]
pub(super) struct Synchronized<H> {
    inner: H,
    most: TaskTime,
    numbers: ChaCha8Rng,
    /// Completions that were not told yet, by when they will be.
    waiting: BTreeSet<(Instant, OperationId)>,
}

impl<H> Synchronized<H> {
    /// `inner` learns of completions after a time that is uniform between 0 and `most` \[ns\], drawn from `seed`.
    pub(super) fn new(inner: H, most: TaskTime, seed: u64) -> Self {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        // Tasks draw their delays from the streams that are numbered from 0.
        numbers.set_stream(u64::MAX);
        Self { inner, most, numbers, waiting: BTreeSet::new() }
    }

    /// The scheduler.
    pub(super) fn into_inner(self) -> H {
        self.inner
    }
}

impl<H: Host> Host for Synchronized<H> {
    type Error = H::Error;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), Self::Error> {
        self.inner.start(gpu)
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        match event {
            GpuEvent::Completed(operation) if self.most > TaskTime::ZERO => {
                let delay = Duration::from_ns(self.numbers.random_range(0..=self.most.units()));
                self.waiting.insert((gpu.now() + delay, operation));
            }
            event => self.inner.on_event(event, gpu),
        }
    }

    fn on_wake(&mut self, token: u64) {
        if token != TOKEN {
            self.inner.on_wake(token);
        }
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), Self::Error> {
        while let Some((_, operation)) = self.waiting.first().copied().filter(|(at, _)| *at <= gpu.now()) {
            self.waiting.pop_first();
            self.inner.on_event(GpuEvent::Completed(operation), gpu);
        }
        self.inner.act(gpu)?;
        if let Some(&(at, _)) = self.waiting.first() {
            gpu.wake_at(at, TOKEN);
        }
        Ok(())
    }
}
