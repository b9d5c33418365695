//! Tier 1: one operation. The event calendar against a plain binary heap, in the hold model: take the next event out,
//! enter one later event, at a constant number of events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use divan::{Bencher, black_box};
use gpusched::gpu::{Calendar, Event, Phase};
use gpusched::time::Instant;

fn main() {
    divan::main();
}

const HOLDS: u32 = 10_000;
const SIZES: [u32; 4] = [4, 64, 1_024, 65_536];

/// Pseudo-random increments, the same for both queues.
fn increment(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 44
}

#[divan::bench(args = SIZES)]
fn hold_calendar(bencher: Bencher<'_, '_>, size: u32) {
    let mut state = 1;
    let mut calendar = Calendar::new();
    for event in 0..size {
        let at = Instant::from_ns(increment(&mut state));
        calendar.push(Event::Wave(event), at, Phase::Completion, u64::from(event));
    }
    let mut sequence = u64::from(size);
    bencher.counter(divan::counter::ItemsCount::new(HOLDS)).bench_local(|| {
        for _ in 0..HOLDS {
            let Some((at, phase, event)) = calendar.pop() else { return };
            sequence += 1;
            let later = Instant::from_ns(at.as_ns() + increment(&mut state));
            calendar.push(black_box(event), later, phase, sequence);
        }
    });
}

#[divan::bench(args = SIZES)]
fn hold_binary_heap(bencher: Bencher<'_, '_>, size: u32) {
    let mut state = 1;
    let mut heap = BinaryHeap::new();
    for event in 0..size {
        heap.push(Reverse((Instant::from_ns(increment(&mut state)), Phase::Completion, u64::from(event), event)));
    }
    let mut sequence = u64::from(size);
    bencher.counter(divan::counter::ItemsCount::new(HOLDS)).bench_local(|| {
        for _ in 0..HOLDS {
            let Some(Reverse((at, phase, _, event))) = heap.pop() else { return };
            sequence += 1;
            let later = Instant::from_ns(at.as_ns() + increment(&mut state));
            heap.push(Reverse((later, phase, sequence, black_box(event))));
        }
    });
}
