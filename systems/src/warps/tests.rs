//! The worst-case makespan of warps on one SM: golden values of the report and the errata, and the exact search, the
//! bounds and the schedules against each other and against a plain search over explicit warps.

use std::collections::HashMap;

use super::bound::{best_case_bound, change_weight, changes_bound, pessimistic_as_printed, waiting_bound};
use super::{
    KernelString, MakespanSearch, Objective, SearchLimits, Sigma, Unit, bound, construct, estimate, pessimistic, verify,
};
use crate::effort::Progress;

mod ilp;

fn units(sigma_l: &str, sigma_c: &str) -> [Unit; 2] {
    let unit = |letter, sigma: &str| Unit { sigma: sigma.parse::<Sigma>().expect("sound"), ..Unit::new(letter) };
    [unit('L', sigma_l), unit('C', sigma_c)]
}

fn string(text: &str) -> KernelString {
    KernelString::parse(text, &units("1", "1")).expect("sound")
}

fn search(string: &KernelString, warps: u32, objective: Objective) -> MakespanSearch<'_> {
    MakespanSearch::run(string, warps, objective, &SearchLimits::DEFAULT, Progress::NONE).expect("small")
}

fn makespans(string: &KernelString, warps: u32, objective: Objective) -> Vec<u64> {
    search(string, warps, objective).makespans().split_off(1)
}

/// Every string over L and C of this length.
fn strings(length: u32) -> impl Iterator<Item = String> {
    let letter = |bits: u32| move |index| if bits >> index & 1 == 0 { 'L' } else { 'C' };
    (0..1_u32 << length).map(move |bits| (0..length).map(letter(bits)).collect())
}

#[test]
fn golden_worst_and_best_cases() {
    let worst = |text, warps| makespans(&string(text), warps, Objective::WorstCase);
    let best = |text, warps| makespans(&string(text), warps, Objective::BestCase);
    assert_eq!(worst("LLC", 4), [3, 5, 7, 9]);
    assert_eq!(pessimistic(&string("LLC"), 4), 12);
    assert_eq!(worst("LLCLL", 4), [5, 9, 13, 17]);
    assert_eq!(best("LLCLL", 4), [5, 8, 12, 16]);
    assert_eq!(worst("LCLCL", 4), [5, 6, 11, 14]);
    assert_eq!(best("LCLCL", 4), [5, 6, 9, 12]);
    assert_eq!(worst("LLCC", 4), [4, 7, 10, 13]);
}

/// 48 CUDA cores, which section 3 gives to compute capability 2.1: a warp of 32 threads leaves 16 over.
#[test]
fn the_pessimistic_value_as_printed_is_no_bound_for_48_cores() {
    let string = KernelString::parse("C", &units("1", "48/32")).expect("sound");
    assert_eq!(makespans(&string, 6, Objective::WorstCase), [1, 2, 3, 4, 5, 6]);
    assert_eq!(pessimistic(&string, 4), 4);
    assert_eq!(pessimistic_as_printed(&string, 4), Some(3));
    // The other reading, three half-warps per cycle.
    let halves = KernelString::parse("CC", &units("1", "3")).expect("sound");
    assert_eq!(makespans(&halves, 6, Objective::WorstCase)[5], 5);
    assert_eq!(pessimistic_as_printed(&string, 6), Some(4));
    // With one and two thirds as many cores as threads of a warp likewise: 12 L turns and ceil(18 / 5) C.
    let both = KernelString::parse("LC", &units("1/2", "5/3")).expect("sound");
    assert_eq!((pessimistic_as_printed(&both, 6), pessimistic(&both, 6)), (Some(16), 18));
    assert_eq!(pessimistic_as_printed(&KernelString::parse("L", &units("1", "3/2")).expect("sound"), 6), None);
}

/// Eq. 14 to 37 for two warps of "C", every schedule of up to four cycles: G is 1 where as many warps run as sigma
/// says, and no warp waits where it is 0.
#[test]
fn the_printed_program_has_no_schedule_for_48_cores() {
    let schedules = |(cores, warp_size): (u32, u32)| {
        let mut found = Vec::new();
        for (first, second) in (1..=4).flat_map(|first| (1..=4).map(move |second| (first, second))) {
            let running = |cycle| u32::from(first == cycle) + u32::from(second == cycle);
            let is_full = |cycle| running(cycle) * warp_size == cores;
            let fits = (1..=4).all(|cycle| running(cycle) * warp_size <= cores);
            let is_work_conserving = (1..first).all(is_full) && (1..second).all(is_full);
            found.extend((fits && is_work_conserving).then_some((first, second)));
        }
        found
    };
    assert!(schedules((48, 32)).is_empty());
    assert_eq!(schedules((32, 32)), [(1, 2), (2, 1)]);
    assert_eq!(schedules((64, 32)), [(1, 1)]);
}

#[test]
fn the_pessimistic_value_is_no_bound_for_sigma_2() {
    let string = KernelString::parse("LL", &units("2", "1")).expect("sound");
    assert_eq!(pessimistic(&string, 4), 4);
    assert_eq!(makespans(&string, 4, Objective::WorstCase), [2, 2, 4, 5]);
    assert_eq!(waiting_bound(&string, 4), 5);
}

#[test]
fn errata_19_the_estimate_is_no_bound() {
    let lcl = string("LCL");
    let exact = search(&lcl, 4, Objective::WorstCase).makespans();
    assert_eq!((exact[2], exact[4]), (4, 9));
    assert_eq!(estimate(4, &exact[..3]).expect("known").cycles, 8);
    let lclcl = string("LCLCL");
    let exact = search(&lclcl, 4, Objective::WorstCase).makespans();
    assert_eq!((exact[2], exact[4]), (6, 14));
    assert_eq!(estimate(4, &exact[..3]).expect("known").cycles, 12);
}

#[test]
fn the_errata_s_witness_for_14_cycles_keeps_the_model() {
    // One warp per cycle on each unit, from the errata; - is an idle unit.
    let (on_l, on_c) = ("0 1 0 1 2 0 2 1 2 3 - 3 - 3", "- 0 1 0 1 2 - 2 - - 3 - 3 -");
    let mut done = [0_usize; 4];
    let cycles = on_l.split(' ').zip(on_c.split(' ')).map(|pair| {
        let warps = [pair.0, pair.1].into_iter().filter_map(|warp| warp.parse::<u32>().ok());
        let issues: Vec<_> = warps.map(|warp| crate::warps::Issue { warp, step: done[warp as usize] }).collect();
        for issue in &issues {
            done[issue.warp as usize] += 1;
        }
        issues
    });
    let schedule = crate::warps::Schedule { warps: 4, cycles: cycles.collect() };
    assert_eq!(verify(&string("LCLCL"), &schedule), Ok(14));
}

#[test]
fn lcl_is_the_shortest_string_whose_estimate_fails_and_four_its_fewest_warps() {
    for length in 1..=3 {
        for text in strings(length) {
            let exact = search(&string(&text), 8, Objective::WorstCase).makespans();
            let failing = (1..=8).find(|&warps: &usize| {
                let known = &exact[..warps];
                let warps = u32::try_from(warps).expect("small");
                estimate(warps, known).is_some_and(|estimate| estimate.cycles < exact[warps as usize])
            });
            let expected = if text == "LCL" || text == "CLC" { Some(4) } else { None };
            assert_eq!(failing, expected, "{text}");
        }
    }
}

/// Longest and shortest way from these explicit warps to the end, trying every selection of warps.
fn plain(string: &KernelString, done: &[usize], known: &mut HashMap<Vec<usize>, (u64, u64)>) -> (u64, u64) {
    let steps = string.steps();
    if done.iter().all(|&done| done == steps.len()) {
        return (0, 0);
    }
    if let Some(&result) = known.get(done) {
        return result;
    }
    let waits_for = |warp: usize| steps.get(done[warp]).map(|step| step.unit);
    // Every subset of the warps that is work-conserving, by its bits.
    let allowed = |subset: &u32| {
        string.units().iter().enumerate().all(|(unit, kind)| {
            let ready: Vec<usize> = (0..done.len()).filter(|&warp| waits_for(warp) == Some(unit)).collect();
            let taken = |warp: &&usize| subset >> **warp & 1 == 1;
            let holders_go_on = ready.iter().filter(|&&warp| steps[done[warp]].held).all(|warp| taken(&warp));
            let served = ready.iter().filter(taken).count();
            holders_go_on && served == ready.len().min(kind.capacity as usize)
        }) && (0..done.len()).all(|warp| waits_for(warp).is_some() || subset >> warp & 1 == 0)
    };
    let (mut longest, mut shortest) = (0, u64::MAX);
    for subset in (0..1_u32 << done.len()).filter(allowed) {
        let next: Vec<usize> = (0..).zip(done).map(|(warp, &done)| done + (subset >> warp & 1) as usize).collect();
        let (long, short) = plain(string, &next, known);
        longest = longest.max(long + 1);
        shortest = shortest.min(short + 1);
    }
    known.insert(done.to_vec(), (longest, shortest));
    (longest, shortest)
}

fn search_equals_plain_search(string: &KernelString, warps: u32) {
    let worst = search(string, warps, Objective::WorstCase);
    let best = search(string, warps, Objective::BestCase);
    for count in 1..=warps {
        let (longest, shortest) = plain(string, &vec![0; count as usize], &mut HashMap::new());
        let case = format!("{string:?} with {count} warps");
        assert_eq!(worst.makespan(count), Some(longest), "{case}");
        assert_eq!(best.makespan(count), Some(shortest), "{case}");
        for (search, makespan) in [(&worst, longest), (&best, shortest)] {
            let schedule = search.schedule(count).expect("searched");
            assert_eq!(schedule.makespan(), makespan, "{case}");
            assert_eq!(verify(string, &schedule), Ok(makespan), "{case}");
        }
        assert!(bound(string, count).cycles >= longest, "{case}");
        assert!(best_case_bound(string, count) <= shortest, "{case}");
        for objective in [Objective::WorstCase, Objective::BestCase] {
            let constructed = construct(string, count, objective).expect("small");
            assert!((shortest..=longest).contains(&constructed.cycles), "{case}");
            assert_eq!(verify(string, &constructed.schedule), Ok(constructed.cycles), "{case}");
        }
    }
}

fn search_equals_plain_search_up_to(length: u32, warps: u32) {
    for length in 1..=length {
        for text in strings(length) {
            for (sigma_l, sigma_c) in [("1", "1"), ("2", "1"), ("2", "2"), ("1", "3"), ("3/2", "5/2")] {
                let string = KernelString::parse(&text, &units(sigma_l, sigma_c)).expect("sound");
                search_equals_plain_search(&string, warps);
            }
        }
    }
}

#[test]
fn search_equals_plain_search_over_explicit_warps() {
    search_equals_plain_search_up_to(4, 4);
}

/// Long: `cargo test --release --test suite -- --ignored search_equals_plain_search`.
#[test]
#[ignore = "minutes"]
fn search_equals_plain_search_up_to_length_5_and_6_warps() {
    search_equals_plain_search_up_to(5, 6);
}

#[test]
fn search_equals_plain_search_with_more_units_and_longer_instructions() {
    let unit = |letter, sigma: &str, cycles| Unit { letter, sigma: sigma.parse().expect("sound"), cycles };
    let units = [unit('L', "1/2", 1), unit('C', "1", 1), unit('S', "2", 2), unit('T', "3", 1)];
    for text in ["LCS", "SLC", "TSC", "C3L", "SCS", "TTL", "S3C", "LSTC"] {
        let string = KernelString::parse(text, &units).expect("sound");
        let (interruptible, held) = (string.clone(), string.uninterrupted());
        search_equals_plain_search(&interruptible, 3);
        search_equals_plain_search(&held, 3);
        for warps in 1..=4 {
            let worst = |string| search(string, warps, Objective::WorstCase).makespan(warps);
            let best = |string| search(string, warps, Objective::BestCase).makespan(warps);
            assert!(worst(&held) <= worst(&interruptible), "{text}: a held instruction is one of the schedules");
            assert!(best(&held) >= best(&interruptible), "{text}");
        }
    }
}

/// Compares the bound with the exact value for every string that starts with L (the other half mirrors it).
fn bound_meets_exact_value(length: u32, warps: u32) {
    for text in strings(length).filter(|text| text.starts_with('L')) {
        let string = string(&text);
        let search = search(&string, warps, Objective::WorstCase);
        for count in 1..=warps {
            let exact = search.makespan(count).expect("searched");
            let bound = changes_bound(&string, count).expect("two units");
            assert!(exact <= bound, "{text}, {count} warps: {exact} cycles, bound {bound}");
            assert!(exact <= waiting_bound(&string, count), "{text}, {count} warps");
            if count >= 3 {
                assert_eq!(exact, bound, "{text}, {count} warps: the bound was met in every case so far");
            }
        }
    }
}

#[test]
fn the_proven_bound_equals_the_exact_value_from_three_warps_on() {
    for length in 1..=6 {
        bound_meets_exact_value(length, 6);
    }
    for length in 7..=8 {
        bound_meets_exact_value(length, 4);
    }
}

/// Long: `cargo test --release --test suite -- --ignored the_proven_bound`.
#[test]
#[ignore = "minutes"]
fn the_proven_bound_equals_the_exact_value_up_to_length_10() {
    for (length, warps) in [(6, 16), (7, 12), (8, 10), (9, 7), (10, 6)] {
        bound_meets_exact_value(length, warps);
    }
}

#[test]
fn one_warp_takes_its_own_length_and_none_takes_nothing() {
    for text in strings(4) {
        let string = string(&text);
        assert_eq!(search(&string, 1, Objective::WorstCase).makespans(), [0, 4]);
        assert_eq!(bound(&string, 0).cycles, 0);
        assert_eq!(pessimistic(&string, 0), 0);
        assert_eq!(construct(&string, 0, Objective::WorstCase).expect("small").cycles, 0);
    }
}

#[test]
fn constructed_schedules_reach_the_bound_where_search_cannot_go() {
    for text in ["LLC", "LLCLL", "LCLCL", "LLCC", "LLCLLCLL", "LCL"] {
        let string = string(text);
        let constructed = construct(&string, 300, Objective::WorstCase).expect("not too large");
        assert_eq!(verify(&string, &constructed.schedule), Ok(constructed.cycles), "{text}");
        assert_eq!(constructed.cycles, bound(&string, 300).cycles, "{text}: so the worst case is known");
        let short = construct(&string, 300, Objective::BestCase).expect("not too large");
        assert_eq!(verify(&string, &short.schedule), Ok(short.cycles), "{text}");
        assert_eq!(short.cycles, best_case_bound(&string, 300), "{text}: so the best case is known");
    }
}

#[test]
fn a_search_that_is_too_large_is_refused_by_its_own_estimate() {
    let llcll = string("LLCLL");
    let refused = MakespanSearch::run(&llcll, 600, Objective::WorstCase, &SearchLimits::DEFAULT, Progress::NONE)
        .expect_err("too large");
    // C(605, 5).
    assert_eq!(refused.size.states, Some(664_353_676_371));
    let many = KernelString::parse(&"LC".repeat(10), &units("40", "40")).expect("sound");
    let refused = MakespanSearch::run(
        &many,
        41,
        Objective::WorstCase,
        &SearchLimits { memory_bytes: u64::MAX, time: None },
        Progress::NONE,
    );
    assert!(refused.is_err(), "too many choices in one state");
    assert!(SearchLimits::default() == SearchLimits::DEFAULT);
}

#[test]
fn a_search_out_of_time_keeps_what_it_has() {
    let llcll = string("LLCLL");
    let limits = SearchLimits { time: Some(std::time::Duration::ZERO), ..SearchLimits::DEFAULT };
    let search = MakespanSearch::run(&llcll, 40, Objective::WorstCase, &limits, Progress::NONE).expect("fits");
    assert!(search.reached() < 40);
    assert_eq!(search.makespan(40), None);
    assert_eq!(search.schedule(40), None);
    assert_eq!(search.makespan(0), Some(0));
}

/// Follows the proof of the bound `(I - M) W + M` in `docs/warps.md`, section 4.2, through one schedule: between two
/// cycles of a single unit all warps but the last to finish do no more of the letter that is not next than there are
/// cycles of both, and each of them does it M times at least in all.
fn check_letters(string: &KernelString, warps: usize, choices: &[usize]) {
    let (steps, mut done, mut cycles) = (string.steps(), vec![0_usize; warps], Vec::new());
    let mut choices = choices.iter().cycle();
    while done.iter().any(|&done| done < steps.len()) {
        let before = done.clone();
        let mut served = [None; 2];
        for (unit, served) in served.iter_mut().enumerate() {
            let ready = |&warp: &usize| steps.get(before[warp]).is_some_and(|step| step.unit == unit);
            let ready: Vec<usize> = (0..warps).filter(ready).collect();
            if let Some(&choice) = choices.next().filter(|_| !ready.is_empty()) {
                *served = Some(ready[choice % ready.len()]);
                done[ready[choice % ready.len()]] += 1;
            }
        }
        cycles.push(served);
    }
    let alone = |cycle: &[Option<usize>; 2]| cycle.iter().flatten().count() == 1;
    let singles: Vec<usize> = (0..cycles.len()).filter(|&cycle| alone(&cycles[cycle])).collect();
    assert_eq!((singles.first(), singles.last()), (Some(&0), Some(&(cycles.len() - 1))));
    let letter = |cycle: usize| usize::from(cycles[cycle][0].is_none());
    let last = cycles[cycles.len() - 1].iter().flatten().next().copied();
    let others = || (0..warps).filter(|&warp| Some(warp) != last);
    let mut in_all = vec![0; warps];
    for pair in singles.windows(2) {
        let (a, b, both) = (letter(pair[0]), letter(pair[1]), &cycles[pair[0] + 1..pair[1]]);
        let mut not_next = vec![0; warps];
        cycles[pair[0]..pair[1]].iter().filter_map(|cycle| cycle[1 - b]).for_each(|warp| not_next[warp] += 1);
        assert!(others().map(|warp| not_next[warp]).sum::<usize>() <= both.len(), "{string}: {a} to {b}");
        others().for_each(|warp| in_all[warp] += not_next[warp]);
    }
    for warp in others() {
        assert!(in_all[warp] as u64 >= change_weight(string), "{string}: warp {warp} of {warps}, {cycles:?}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 2_000, ..Default::default() })]

    #[test]
    fn each_step_of_the_bounds_proof_holds_in_random_schedules(
        text in "[LC]{1,12}",
        warps in 1..8_usize,
        choices in proptest::collection::vec(0..1000_usize, 1..64),
    ) {
        check_letters(&string(&text), warps, &choices);
    }
}
