//! The makespan of warps: exact search, the proven bound, constructed schedules. Tiers 1 (bound) to 3 (whole answers).

#![allow(clippy::expect_used, reason = "the strings are known to be sound")]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gpusched::effort::Progress;
use gpusched::warps::{
    KernelString, MakespanSearch, Objective, Question, SearchLimits, SearchSize, Unit, answer, bound, construct,
};

fn main() {
    divan::main();
}

fn string(text: &str) -> KernelString {
    KernelString::parse(text, &[Unit::new('L'), Unit::new('C')]).expect("sound")
}

/// The bound for 600 warps: microseconds at most.
#[divan::bench(args = ["LLCLL", "LCLCL", "LLCLLCLLCLLCLLCLLCLLCL"])]
fn bound_of_600_warps(bencher: Bencher<'_, '_>, text: &str) {
    let string = string(text);
    bencher.bench(|| bound(black_box(&string), black_box(600)));
}

/// Three sizes. Items are states.
#[divan::bench(args = [10, 20, 30])]
fn exact_worst_case_of_five_instructions(bencher: Bencher<'_, '_>, warps: u32) {
    let string = string("LCLCL");
    let states = SearchSize::of(&string, warps).states.unwrap_or(0);
    bencher.counter(ItemsCount::new(states)).bench(|| {
        MakespanSearch::run(&string, warps, Objective::WorstCase, &SearchLimits::DEFAULT, Progress::NONE)
            .map(|search| search.reached())
    });
}

/// Longer strings, about as many states. Items are states.
#[divan::bench(args = [("LLC", 100), ("LLCLLC", 20), ("LCLCLCLC", 12)])]
fn exact_worst_case_by_length(bencher: Bencher<'_, '_>, (text, warps): (&str, u32)) {
    let string = string(text);
    let states = SearchSize::of(&string, warps).states.unwrap_or(0);
    bencher.counter(ItemsCount::new(states)).bench(|| {
        MakespanSearch::run(&string, warps, Objective::WorstCase, &SearchLimits::DEFAULT, Progress::NONE)
            .map(|search| search.reached())
    });
}

/// A schedule for 600 warps that reaches the bound.
#[divan::bench]
fn constructed_schedule_of_600_warps(bencher: Bencher<'_, '_>) {
    let string = string("LLCLL");
    bencher.bench(|| construct(black_box(&string), 600, Objective::WorstCase));
}

/// What `gpusched warps LCLCL --warps 30` computes: worst case, best case, schedule, estimate.
#[divan::bench]
fn whole_answer_of_five_instructions_and_30_warps(bencher: Bencher<'_, '_>) {
    let string = string("LCLCL");
    let question = Question { warps: 30, estimate_from: None, limits: SearchLimits::DEFAULT };
    bencher.bench(|| answer(black_box(&string), &question, Progress::NONE));
}
