//! Tier 2: one component. The engine on small workloads, expansion of blocks, reading a scenario.

mod workloads;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gpusched::hosts::simulate;
use gpusched::workload::OperationId;

fn main() {
    divan::main();
}

/// A grid that fills the GPU: its cost must not grow with the number of blocks.
#[divan::bench(args = [100, 1 << 20, (1 << 31) - 1])]
fn simulate_one_grid(bencher: Bencher<'_, '_>, blocks: u32) {
    let scenario = workloads::one_grid(blocks);
    bencher.bench(|| simulate(black_box(&scenario)).map(|run| run.trace.waves()));
}

/// Expanding the blocks of one grid, one by one.
#[divan::bench]
fn expand_one_million_blocks(bencher: Bencher<'_, '_>) {
    let Ok(run) = simulate(&workloads::one_grid(1_000_000)) else { return };
    bencher
        .counter(ItemsCount::new(1_000_000_u32))
        .bench(|| run.trace.blocks(OperationId(0)).map(|block| block.start.as_ns()).max());
}

/// Three sizes: cost grows with events times log(queue).
#[divan::bench(args = [1_000, 10_000, 100_000])]
fn simulate_mixed_kernels(bencher: Bencher<'_, '_>, launches: u64) {
    let scenario = workloads::mixed(launches, 8, 8);
    bencher.counter(ItemsCount::new(launches)).bench(|| simulate(black_box(&scenario)).map(|run| run.trace.waves()));
}
