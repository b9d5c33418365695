//! Tier 2: one component. The engine on small workloads, expansion of blocks, reading a scenario.

mod workloads;

use std::num::NonZeroU32;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gpusched::analysis::{MergedKernel, finish_times};
use gpusched::device::Device;
use gpusched::experiments::validation::{Campaign, Family};
use gpusched::hosts::simulate;
use gpusched::pictures::timeline::{Timeline, TimelineOptions};
use gpusched::run::Summary;
use gpusched::time::{Duration, Instant};
use gpusched::workload::{OperationId, Placement};

const EIGHT: NonZeroU32 = NonZeroU32::MIN.saturating_add(7);

fn main() {
    divan::main();
}

/// Kernels of 10 to 20 ns, as in the generator of the thesis' appendix.
fn task_set(kernels: usize, largest_grid: u32, seed: u64) -> Vec<MergedKernel> {
    // A small generator of its own: numbers that look random are enough (Knuth's constants, MMIX).
    let mut state = seed;
    let mut number = |range: std::ops::RangeInclusive<u32>| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let high = state >> 32;
        range.start() + (high % u64::from(range.end() - range.start() + 1)) as u32
    };
    let kernel = |_| MergedKernel {
        release: Instant::ZERO,
        block_time: Duration::from_ns(number(10..=20).into()),
        blocks: number(2..=largest_grid),
    };
    (0..kernels).map(kernel).collect()
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
    let scenario = workloads::one_grid(1_000_000);
    let Ok(run) = simulate(&scenario) else { return };
    bencher
        .counter(ItemsCount::new(1_000_000_u32))
        .bench(|| run.trace.blocks(OperationId(0)).map(|block| block.start.as_ns()).max());
}

/// The figure of 100,000 blocks as SVG, from a finished run. `one_by_one` has a box for each block, `merged` one shape
/// for each SM and kernel, `panels` is merged with queues and occupancy. Targets: one by one under 1 s, merged under
/// 200 ms.
#[divan::bench(args = ["one_by_one", "merged", "panels"], sample_count = 10)]
fn draw_one_hundred_thousand_blocks(bencher: Bencher<'_, '_>, form: &str) {
    let scenario = workloads::mixed(12_500, 8, 8);
    let Ok(run) = simulate(&scenario) else { return };
    let summary = Summary::of(&run);
    let panels = form == "panels";
    let most_boxes = if form == "one_by_one" { u64::MAX } else { TimelineOptions::default().most_boxes };
    // As wide as it takes for every block to be wide enough for a box of its own.
    let width = if form == "one_by_one" { 200_000 } else { TimelineOptions::default().width };
    let options =
        TimelineOptions { most_boxes, width, queues: panels, occupancy: panels, ..TimelineOptions::default() };
    bencher.counter(ItemsCount::new(100_000_u32)).bench(|| {
        let timeline = Timeline::new(black_box(&summary), &options)?;
        Ok::<_, gpusched::pictures::timeline::TimelineError>(timeline.draw(&summary, &options).to_svg().len())
    });
}

/// Three sizes: cost grows with events times log(queue).
#[divan::bench(args = [1_000, 10_000, 100_000])]
fn simulate_mixed_kernels(bencher: Bencher<'_, '_>, launches: u64) {
    let scenario = workloads::mixed(launches, 8, 8);
    bencher.counter(ItemsCount::new(launches)).bench(|| simulate(black_box(&scenario)).map(|run| run.trace.waves()));
}

/// 400,000 wake-ups of a host that does nothing, with and without a kernel that waits at the head of its EE queue. What
/// waits must cost next to nothing: SMs are looked at again only when blocks have completed or a kernel has arrived.
#[divan::bench(args = ["nothing_waits", "blocked_head"])]
fn wake_ups(bencher: Bencher<'_, '_>, beside: &str) {
    let scenario = workloads::idle_wake_ups(400_000, beside == "blocked_head");
    bencher
        .counter(ItemsCount::new(400_000_u32))
        .bench(|| simulate(black_box(&scenario)).map(|run| run.iterations.len()));
}

/// One million kernels with a mean grid of 100 on `g_max` = 8, by the fast algorithm.
#[divan::bench(sample_count = 10)]
fn analyse_one_million_kernels(bencher: Bencher<'_, '_>) {
    let set = task_set(1_000_000, 198, 1);
    bencher.counter(ItemsCount::new(1_000_000_u32)).bench(|| finish_times(EIGHT, black_box(&set)));
}

/// One grid beside a kernel that holds a place for long: its cost must not grow with the number of blocks.
#[divan::bench(args = [100, 1 << 20, (1 << 31) - 1])]
fn analyse_one_grid(bencher: Bencher<'_, '_>, blocks: u32) {
    let kernel = |ns, blocks| MergedKernel { release: Instant::ZERO, block_time: Duration::from_ns(ns), blocks };
    let set = [kernel(1_000_000_000, 1), kernel(1, blocks)];
    bencher.bench(|| finish_times(EIGHT, black_box(&set)));
}

/// The cost of a kernel must not grow with their number.
#[divan::bench(args = [100, 1_000, 10_000])]
fn analyse_fast(bencher: Bencher<'_, '_>, kernels: usize) {
    let set = task_set(kernels, 20, 1);
    bencher.counter(ItemsCount::new(kernels)).bench(|| finish_times(EIGHT, black_box(&set)));
}

/// Random scenarios of ten kernels, drawn, analysed and simulated on one core. Items are scenarios.
#[divan::bench(args = Family::ALL.map(Family::name))]
fn validate_ten_kernels(bencher: Bencher<'_, '_>, family: &str) {
    let (Ok(Some(device)), Some(family)) = (Device::builtin("tx2"), Family::from_name(family)) else { return };
    let campaign = Campaign { device, placement: Placement::MostRoom, families: vec![family], samples: 256, seed: 0 };
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else { return };
    bencher.counter(ItemsCount::new(256_u32)).bench(|| pool.install(|| campaign.run(&|_| {}).is_ok()));
}
