//! A second, independent simulator, written from the published rules alone and as plainly as possible.
//!
//! It shares no code with the engine beyond the input types: it does its own resource accounting, looks at every
//! block and every queue again at every event, and knows no shortcuts. It is slow and meant to be obviously right; the
//! engine has to agree with it on every instant, every block and every wait.
//!
//! Not covered, because they draw random numbers: which SM `random` placement picks, and varying block times.

mod gpu;
mod outcome;
mod placement;
mod queues;
mod resources;
mod threads;

pub(crate) use outcome::{Outcome, ReferenceIteration};
pub(crate) use resources::{Free, Need};

use gpu::ReferenceGpu;
use gpusched::scenario::Scenario;
use gpusched::time::Duration;
use threads::Threads;

/// Simulates a scenario event by event.
pub(crate) fn run(scenario: &Scenario) -> Outcome {
    let horizon = scenario.horizon.map_or(u64::MAX, Duration::as_ns);
    let mut gpu = ReferenceGpu::new(scenario);
    let mut threads = Threads::new(&scenario.threads);
    let mut end = 0;
    loop {
        let next = gpu.next_completion().into_iter().chain(gpu.next_end_of_latency()).chain(threads.next_wake()).min();
        let Some(next) = next else { break };
        if next > horizon {
            gpu.note_waits_until(horizon);
            return Outcome { operations: gpu.operations, iterations: threads.iterations, end: horizon, done: false };
        }
        gpu.note_waits_until(next);
        gpu.now = next;
        end = next;
        // Launch latencies and gaps that end now.
        gpu.promote();
        loop {
            gpu.complete_what_is_due();
            threads.act(&mut gpu);
            gpu.start_copies();
            gpu.dispatch();
            if gpu.next_completion() != Some(next) {
                break;
            }
        }
        gpu.note_reasons();
    }
    gpu.note_waits_until(end);
    Outcome { operations: gpu.operations, iterations: threads.iterations, end, done: true }
}
