//! Applications under GPU-EvR and the schedulers it is compared with.

#![allow(clippy::expect_used, reason = "the inputs are known to be sound")]

use divan::{Bencher, black_box};
use gpusched::applications::{ApplicationSet, Injections, Outcome};
use gpusched::experiments::evr::SweepOptions;
use gpusched::experiments::study::sample_applications;
use gpusched::hosts::gpu_evr::EvrRules;
use gpusched::hosts::{Scheduler, UsageDetail};
use gpusched::time::Duration;

fn main() {
    divan::main();
}

const GAP: Duration = Duration::from_ns(500_000_000);

/// The shipped set, with launches cut so that no application has more than about 10^4 blocks.
fn ten_thousand_blocks() -> ApplicationSet {
    let text = ApplicationSet::builtin_json("rodinia-like-k20m").expect("built in");
    let mut set = ApplicationSet::from_json("thirteen", text, None).expect("sound");
    for application in &mut set.applications {
        let total: u64 = application.kernels.iter().map(|k| u64::from(k.blocks) * u64::from(k.launches)).sum();
        for kernel in &mut application.kernels {
            let share = u64::from(kernel.launches) * 10_000 / total.max(10_000);
            kernel.launches = u32::try_from(share).unwrap_or(1).max(1);
        }
    }
    set.reprofile().expect("short");
    set
}

/// 1,000 injected applications of up to 10^4 blocks on 13 SMs, from the injections to the outcome.
#[divan::bench(args = Scheduler::ALL, sample_count = 10)]
fn one_thousand_applications(bencher: Bencher<'_, '_>, scheduler: Scheduler) {
    let mut set = ten_thousand_blocks();
    set.injections = Injections::Random { count: 1_000, gap: GAP }.draw(&set, 1, 0).expect("few");
    bencher.bench(|| {
        let usage = scheduler.usage(black_box(&set), EvrRules::default(), UsageDetail::Totals).expect("it runs");
        Outcome::of_usage(&set, scheduler.name(), usage).met
    });
}

/// The sweep behind Figures 3 to 5 with 200 seeds, all four schedulers, on all processors.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn figure_3_with_200_seeds() -> usize {
    let text = ApplicationSet::builtin_json("rodinia-like-k20m").expect("built in");
    let set = ApplicationSet::from_json("thirteen", text, None).expect("sound");
    let injections = (1..=10).map(|tens| Injections::Random { count: 10 * tens, gap: GAP });
    let points = injections.map(|injections| {
        sample_applications(&set, injections, &SweepOptions::default(), &mut |_| {}).expect("it runs").len()
    });
    points.sum()
}
