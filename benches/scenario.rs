//! Tier 3: whole scenarios, from a description in memory to every block.

mod workloads;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gpusched::hosts::{AnyRun, HeldAtMost, SimulateOptions, simulate, simulate_any_length};
use gpusched::scenario::Scenario;
use gpusched::time::Instant;
use gpusched::workload::OperationId;

fn main() {
    divan::main();
}

/// Simulates and expands every block, as `--blocks` does; gives something that depends on each of them.
fn every_block(scenario: &Scenario) -> u64 {
    let Ok(run) = simulate(scenario) else { return 0 };
    let operations = (0..).map(OperationId).take(run.trace.operations().len());
    operations
        .flat_map(|id| run.trace.blocks(id))
        .map(|block| block.end.as_ns() ^ u64::from(block.sm))
        .fold(0, u64::wrapping_add)
}

/// 20,000 kernels of 8 blocks in 8 streams, mixed sizes, every block expanded. Items are blocks.
#[divan::bench]
fn twenty_thousand_kernels_of_eight_blocks(bencher: Bencher<'_, '_>) {
    let scenario = workloads::mixed(20_000, 8, 8);
    bencher.counter(ItemsCount::new(160_000_u32)).bench(|| every_block(black_box(&scenario)));
}

/// 10 s of four processes that fill the GPU, in slices of 1 ms. Goal: under 0.5 s.
#[divan::bench]
fn ten_seconds_of_four_processes(bencher: Bencher<'_, '_>) {
    let scenario = workloads::filling_processes(4);
    bencher.bench(|| simulate(black_box(&scenario)).map(|run| run.trace.turns().len()));
}

/// A stream that asks for 1.2 times what there is, of which sums are kept. Items are jobs: the time of one does not
/// depend on how many there are.
#[divan::bench(args = [150_000, 300_000, 600_000], sample_count = 5)]
fn a_backlog_that_grows(bencher: Bencher<'_, '_>, jobs: u64) {
    let scenario = workloads::overload(jobs);
    let run = || simulate_any_length(black_box(&scenario), SimulateOptions::of(&scenario), HeldAtMost::default());
    bencher.counter(ItemsCount::new(jobs)).bench(|| run().map(|run| AnyRun::from(&run).misses()));
}

/// One million one-block kernels in 64 streams. Items are kernels.
#[divan::bench(sample_count = 5)]
fn one_million_one_block_kernels(bencher: Bencher<'_, '_>) {
    let scenario = workloads::one_block_chains(1_000_000, 64);
    bencher.counter(ItemsCount::new(1_000_000_u32)).bench(|| every_block(black_box(&scenario)));
}

/// What the engine is measured against below, and how many blocks it has.
const ENGINE: [&str; 2] = ["twenty_thousand_kernels_of_eight_blocks", "one_million_one_block_kernels"];

fn engine_work(name: &str) -> (Scenario, u32) {
    if name == ENGINE[0] {
        (workloads::mixed(20_000, 8, 8), 160_000)
    } else {
        (workloads::one_block_chains(1_000_000, 64), 1_000_000)
    }
}

/// When blocks that run together begin and end, in the order in which they begin.
fn events(scenario: &Scenario) -> Vec<(Instant, Instant)> {
    let Ok(run) = simulate(scenario) else { return Vec::new() };
    let operations = (0..).map(OperationId).take(run.trace.operations().len());
    let mut events: Vec<(Instant, Instant)> = Vec::new();
    for id in operations {
        let first = events.len();
        for block in run.trace.blocks(id) {
            let event = (block.start, block.end);
            if events[first..].last() != Some(&event) {
                events.push(event);
            }
        }
    }
    events.sort_by_key(|&(start, _)| start);
    events
}

/// The engine alone, with its record and without every block. Items are blocks. Goal: within 2 times
/// [`floor_of_the_engine`].
#[divan::bench(args = ENGINE, sample_count = 20)]
fn engine(bencher: Bencher<'_, '_>, work: &str) {
    let (scenario, blocks) = engine_work(work);
    bencher.counter(ItemsCount::new(blocks)).bench(|| simulate(black_box(&scenario)).map(|run| run.trace.waves()));
}

/// The same events through a bare heap: what it takes to have them in order, without rules, SMs, streams and record.
#[divan::bench(args = ENGINE, sample_count = 20)]
fn floor_of_the_engine(bencher: Bencher<'_, '_>, work: &str) {
    let (scenario, blocks) = engine_work(work);
    let events = events(&scenario);
    bencher.counter(ItemsCount::new(blocks)).bench(|| {
        let (mut heap, mut ends) = (BinaryHeap::<Reverse<(Instant, u32)>>::new(), 0_u64);
        for (number, &(start, end)) in (0_u32..).zip(black_box(&events)) {
            while let Some(&Reverse((next, _))) = heap.peek()
                && next <= start
            {
                heap.pop();
                ends ^= next.as_ns();
            }
            heap.push(Reverse((end, number)));
        }
        std::iter::from_fn(|| heap.pop()).fold(ends, |ends, Reverse((end, _))| ends ^ end.as_ns())
    });
}
