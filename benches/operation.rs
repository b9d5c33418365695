//! Tier 1: one instant. Wake-ups of a host in the hold model: the next one comes, and asks for a later one, at a
//! constant number of them.

use divan::Bencher;
use gpusched::device::Device;
use gpusched::gpu::{GpuInterface, GpuOptions, Host, RunError, Simulated};
use gpusched::time::Instant;

fn main() {
    divan::main();
}

const HOLDS: u32 = 100_000;

/// Asks for so many wake-ups, and for another one at each, until it has had [`HOLDS`].
struct Holds {
    state: u64,
    size: u32,
    woken: u32,
    due: Vec<u64>,
}

impl Holds {
    /// Pseudo-random.
    fn next(&mut self, now: Instant) -> Instant {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Instant::from_ns(now.as_ns() + (self.state >> 44))
    }
}

impl Host for Holds {
    type Error = RunError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        for token in 0..u64::from(self.size) {
            gpu.wake_at(self.next(Instant::ZERO), token);
        }
        Ok(())
    }

    fn on_wake(&mut self, token: u64) {
        self.woken += 1;
        self.due.push(token);
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        while let Some(token) = self.due.pop() {
            if self.woken < HOLDS {
                gpu.wake_at(self.next(gpu.now()), token);
            }
        }
        Ok(())
    }
}

#[divan::bench(args = [4, 64, 1_024, 65_536])]
fn hold_wake_ups(bencher: Bencher<'_, '_>, size: u32) {
    let Ok(Some(tx2)) = Device::builtin("tx2") else { return };
    bencher.counter(divan::counter::ItemsCount::new(HOLDS)).bench(|| {
        Simulated::of(&tx2, GpuOptions::default(), Holds { state: 1, size, woken: 0, due: Vec::new() }).is_ok()
    });
}
