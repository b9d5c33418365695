//! Tier 3: whole scenarios, from a description in memory to every block.

mod workloads;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gpusched::hosts::simulate;
use gpusched::scenario::Scenario;
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

/// One million one-block kernels in 64 streams. Items are kernels.
#[divan::bench(sample_count = 5)]
fn one_million_one_block_kernels(bencher: Bencher<'_, '_>) {
    let scenario = workloads::one_block_chains(1_000_000, 64);
    bencher.counter(ItemsCount::new(1_000_000_u32)).bench(|| every_block(black_box(&scenario)));
}
