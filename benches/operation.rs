//! Tier 1: one operation. The event calendar, completions (a binary heap) and wake-ups (a keyed queue), in the hold
//! model: take the next event out, enter one later event, at a constant number of events.

use divan::{Bencher, black_box};
use gpusched::gpu::{Calendar, Event};
use gpusched::time::Instant;

fn main() {
    divan::main();
}

const HOLDS: u32 = 10_000;
const SIZES: [u32; 4] = [4, 64, 1_024, 65_536];

/// Pseudo-random increments, the same for both.
fn increment(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 44
}

#[divan::bench(args = SIZES)]
fn hold_completions(bencher: Bencher<'_, '_>, size: u32) {
    let mut state = 1;
    let mut calendar = Calendar::new();
    for event in 0..size {
        calendar.complete_at(Instant::from_ns(increment(&mut state)), Event::Wave(event));
    }
    bencher.counter(divan::counter::ItemsCount::new(HOLDS)).bench_local(|| {
        for _ in 0..HOLDS {
            let Some(at) = calendar.next() else { return };
            let Some(event) = calendar.pop_completion(at) else { return };
            calendar.complete_at(Instant::from_ns(at.as_ns() + increment(&mut state)), black_box(event));
        }
    });
}

#[divan::bench(args = SIZES)]
fn hold_wake_ups(bencher: Bencher<'_, '_>, size: u32) {
    let mut state = 1;
    let mut calendar = Calendar::new();
    for token in 0..u64::from(size) {
        calendar.wake_at(Instant::from_ns(increment(&mut state)), token);
    }
    bencher.counter(divan::counter::ItemsCount::new(HOLDS)).bench_local(|| {
        for _ in 0..HOLDS {
            let Some(at) = calendar.next() else { return };
            let Some(token) = calendar.pop_wake(at) else { return };
            calendar.wake_at(Instant::from_ns(at.as_ns() + increment(&mut state)), black_box(token));
        }
    });
}
