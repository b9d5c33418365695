//! A second, independent simulator, written from the published rules alone and as plainly as possible.
//!
//! It shares no code with the engine beyond the input types: it does its own resource accounting, looks at every
//! block and every queue again at every event, and knows no shortcuts. It is slow and meant to be obviously right; the
//! engine has to agree with it on every instant, every block and every wait.
//!
//! Not covered, because they draw random numbers: which SM `random` placement picks, and varying block times. An
//! adversary may choose both, and what else a scenario leaves open.

mod adversary;
mod clients;
mod clusters;
mod contexts;
mod copies;
mod gpu;
mod outcome;
mod placement;
mod programmatic;
mod queues;
mod resources;
mod threads;
mod turns;
mod waiting;

pub(crate) use adversary::{Adversary, Arrival, Open, arrivals, only_submits};
pub(crate) use outcome::{Outcome, ReferenceStand};
pub(crate) use resources::{Free, Need};

use gpu::ReferenceGpu;
use gpusched::scenario::Scenario;
use gpusched::time::Duration;
use threads::Threads;

use crate::generate::Case;

/// More instants than any scenario of these tests has: beyond it is one without an end.
const MOST_INSTANTS: u32 = 1_000_000;

/// Simulates a scenario event by event.
pub(crate) fn run(scenario: &Scenario) -> Outcome {
    run_against(scenario, None)
}

/// The same, with what the scenario leaves open chosen by an adversary, up to the end or where that has had enough.
pub(crate) fn run_against(scenario: &Scenario, adversary: Option<Adversary>) -> Outcome {
    let horizon = scenario.horizon.map_or(u64::MAX, Duration::as_ns);
    let mut gpu = ReferenceGpu::new(scenario, adversary);
    let mut threads = Threads::new(&scenario.threads);
    let mut end = 0;
    for instants in 0.. {
        assert!(instants < MOST_INSTANTS, "no end of it: {:?}", Case(scenario.clone()));
        let of_gpu = [gpu.next_completion(), gpu.next_end_of_latency(), gpu.next_beside(), gpu.next_freed()];
        let next = of_gpu.into_iter().flatten().chain(threads.next_wake()).min();
        // Where all that is left waits, only turns go on, without an end.
        let turn = gpu.next_end_of_turn().filter(|_| next.is_some() || !gpu.stands_still());
        let Some(next) = next.into_iter().chain(turn).min() else { break };
        if next > horizon || gpu.is_given_up() {
            let horizon = horizon.min(next);
            gpu.note_waits_until(horizon);
            gpu.pass_time_until(horizon);
            return Outcome::of(gpu, threads, horizon, false);
        }
        gpu.note_waits_until(next);
        gpu.pass_time_until(next);
        end = next;
        // Launch latencies, gaps and latencies of triggers that end now.
        gpu.begin_beside();
        gpu.promote();
        gpu.end_switches();
        loop {
            gpu.begin_beside();
            gpu.complete_what_is_due();
            gpu.note_triggers();
            gpu.look_at_values();
            while threads.one_may_run(&gpu) && !gpu.is_given_up() {
                threads.act(&mut gpu);
                gpu.look_at_values();
            }
            gpu.enter_ready();
            gpu.settle_turns();
            if gpu.is_a_timer_over() {
                // Its block ends before anything else of its context begins.
                if !gpu.contexts.share_a_runlist {
                    gpu.start_copies();
                }
                continue;
            }
            gpu.start_copies();
            gpu.dispatch();
            gpu.note_triggers();
            if gpu.next_completion() != Some(next) && gpu.next_beside() != Some(next) {
                break;
            }
        }
        gpu.note_reasons();
    }
    gpu.note_waits_until(end);
    Outcome::of(gpu, threads, end, true)
}
