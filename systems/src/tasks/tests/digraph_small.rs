//! The digraph test on sets small enough for it.

use proptest::prelude::*;

use super::*;

/// Every division of every job into whole units, one after another, with the demand of each written out as the
/// definition has it.
mod plain {
    use std::ops::Range;

    use super::super::super::digraph::{Cycle, instants};
    use super::*;

    /// Puts `amount` into the first of the given chunks that have room for it.
    fn pack(cycle: &Cycle, chunks: Range<usize>, mut amount: TaskTime, work: &mut [TaskTime]) {
        for at in chunks {
            work[at] = amount.min(cycle.chunks[at].length());
            amount -= work[at];
        }
    }

    /// The lexicographically next smaller division of one job; false if there is none.
    fn advance(cycle: &Cycle, job: &Range<usize>, work: &mut [TaskTime]) -> bool {
        let (mut room_behind, mut work_behind) = (TaskTime::ZERO, TaskTime::ZERO);
        for at in job.clone().rev() {
            if work[at] > TaskTime::ZERO && room_behind > TaskTime::ZERO {
                work[at] -= TaskTime::UNIT;
                pack(cycle, at + 1..job.end, work_behind + TaskTime::UNIT, work);
                return true;
            }
            room_behind += cycle.chunks[at].length() - work[at];
            work_behind += work[at];
        }
        false
    }

    /// dbf* of a task at `t` when its chunks execute `work`.
    fn demand(cycle: &Cycle, work: &[TaskTime], t: TaskTime) -> TaskTime {
        let executing = || (0..work.len()).filter(|&chunk| work[chunk] > TaskTime::ZERO);
        let of_window = |first| {
            let count = |last| t.checked_sub(cycle.window(first, last)).map_or(0, |since| since / cycle.period + 1);
            executing().map(|last| count(last) * work[last]).sum()
        };
        executing().map(of_window).max().unwrap_or_default()
    }

    /// All divisions of a task, or `None` if they are more than 500.
    fn divisions(cycle: &Cycle) -> Option<Vec<Vec<TaskTime>>> {
        let mut all = vec![vec![TaskTime::ZERO; cycle.chunks.len()]];
        for job in &cycle.jobs {
            let mut longer = Vec::new();
            for mut work in all {
                pack(cycle, job.clone(), cycle.wcet, &mut work);
                longer.push(work.clone());
                while advance(cycle, job, &mut work) {
                    longer.push(work.clone());
                }
                if longer.len() > 500 {
                    return None;
                }
            }
            all = longer;
        }
        Some(all)
    }

    /// Whether some division passes; `None` if they are too many to be tried.
    pub(super) fn passes(tasks: &[Timing], reservation: Reservation) -> Option<bool> {
        passes_at(tasks, reservation, None)
    }

    /// The same for the demand at given instants only.
    pub(super) fn passes_at(tasks: &[Timing], reservation: Reservation, at: Option<&[TaskTime]>) -> Option<bool> {
        let cycles: Vec<Cycle> = tasks.iter().filter_map(|task| Cycle::new(task, reservation).ok()).collect();
        if cycles.len() < tasks.len() {
            return None;
        }
        let instants = at.map_or_else(|| instants(&cycles), |at| Some(at.to_vec()))?;
        let mut sums = vec![vec![TaskTime::ZERO; instants.len()]];
        for cycle in &cycles {
            let mut longer = Vec::new();
            for work in divisions(cycle)? {
                let own: Vec<TaskTime> = instants.iter().map(|&t| demand(cycle, &work, t)).collect();
                for others in &sums {
                    let sum: Vec<TaskTime> = own.iter().zip(others).map(|(&own, &others)| own + others).collect();
                    longer.push(sum);
                }
                if longer.len() > 20_000 {
                    return None;
                }
            }
            sums = longer;
        }
        Some(sums.iter().any(|sum| sum.iter().zip(&instants).all(|(demand, t)| demand <= t)))
    }
}

/// The same with all times `factor` times as long.
fn longer(set: &[Timing], reservation: Reservation, factor: u64) -> (Vec<Timing>, Reservation) {
    let task = |task: &Timing| Timing {
        wcet: factor * task.wcet,
        period: factor * task.period,
        deadline: factor * task.deadline,
    };
    let Reservation { offset, budget, period } = reservation;
    let reservation = Reservation { offset: factor * offset, budget: factor * budget, period: factor * period };
    (set.iter().map(task).collect(), reservation)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// Whole units of a set three times as long are thirds.
    #[test]
    fn what_passes_in_whole_units_halves_or_thirds_passes(
        set in random_tasks(3, 6), reservation in random_reservation(6), parts in 1..4_u64,
    ) {
        let verdict = digraph::test(&set, reservation);
        let (parted, longer_reservation) = longer(&set, reservation, parts);
        if plain::passes(&parted, longer_reservation) == Some(true) && verdict.answer() != YES {
            let is_too_much = matches!(verdict, TaskVerdict::No(Rejection::Utilization { .. }));
            prop_assert!(is_too_much, "{:?}", verdict);
        }
        prop_assert_eq!(digraph::test(&parted, longer_reservation).answer(), verdict.answer());
    }

    #[test]
    fn the_instants_of_a_refusal_are_enough_to_refuse_every_whole_division(
        set in random_tasks(3, 6), reservation in random_reservation(6),
    ) {
        if let TaskVerdict::No(Rejection::EveryDivision { instants }) = digraph::test(&set, reservation) {
            prop_assert!(plain::passes_at(&set, reservation, Some(&instants)) != Some(true), "{:?}", instants);
        }
    }
}

#[test]
fn lemma_3_accepts_two_equal_tasks_if_each_split_job_is_halved() {
    // Both have jobs of two chunks of one unit each; a whole unit of both in one of them is one too much.
    let set = tasks(&[(1, 3, 3), (1, 3, 3)]);
    let reservation = Reservation::new(0, 3, 4);
    assert_eq!(exact::test(&set, reservation), TaskVerdict::Yes);
    assert_eq!(plain::passes(&set, reservation), NO);
    let (halves, longer_reservation) = longer(&set, reservation, 2);
    assert_eq!(plain::passes(&halves, longer_reservation), YES);
    assert_eq!(digraph::test(&set, reservation), TaskVerdict::Yes);
}

/// Lemma 3's "only if": feasible sets that it refuses, with deadlines at the ends of periods, as section 6.3 has them.
///
/// By hand for the first. Task 1 has one unit in each of [0, 2), [2, 4), [5, 6), [6, 8), [8, 9) of every 10: 3 in the 4
/// from 5 to 9, so task 2 may demand 1 in any 4. It has one unit in each of [0, 4), [5, 8), [16, 19) of every 20, one
/// in parts in [8, 9) and [10, 12), and one in parts in [12, 14) and [15, 16). From 5 to 9, nothing is left for [8, 9);
/// from 15 to 19, nothing for [15, 16); so 2 are in the 4 from 10 to 14.
#[test]
fn lemma_3_refuses_feasible_sets_however_they_are_divided() {
    for (set, reservation) in [
        (tasks(&[(1, 2, 2), (1, 4, 4)]), Reservation::new(0, 4, 5)),
        (tasks(&[(1, 8, 8), (2, 6, 6)]), Reservation::new(0, 2, 4)),
    ] {
        assert_eq!(exact::test(&set, reservation), TaskVerdict::Yes);
        for parts in 1..=4 {
            let (parted, longer_reservation) = longer(&set, reservation, parts);
            assert_eq!(plain::passes(&parted, longer_reservation), NO, "{parts}");
        }
        assert!(matches!(digraph::test(&set, reservation), TaskVerdict::No(Rejection::EveryDivision { .. })));
    }
    let by_hand = digraph::test(&tasks(&[(1, 2, 2), (1, 4, 4)]), Reservation::new(0, 4, 5));
    assert_eq!(by_hand, TaskVerdict::No(Rejection::EveryDivision { instants: vec![time(4)] }));
}

#[test]
fn a_set_with_more_divisions_than_can_be_tried_one_by_one_has_an_answer() {
    let set: Vec<Timing> = [(14, 76, 120), (5, 22, 40), (2, 28, 30)].map(|(c, d, t)| Timing::new(c, t, d)).to_vec();
    // The budget of 33 is at the end of its period, and no smaller one is enough by simulation either.
    assert_eq!(digraph::test(&set, Reservation::new(17, 33, 50)), TaskVerdict::Yes);
    assert!(matches!(digraph::test(&set, Reservation::new(18, 32, 50)), TaskVerdict::No(_)));
    assert!(matches!(exact::test(&set, Reservation::new(18, 32, 50)), TaskVerdict::No(_)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_set_that_the_digraph_test_accepts_misses(
        set in random_tasks(3, 6), reservation in random_reservation(6),
    ) {
        let verdict = digraph::test(&set, reservation);
        prop_assert!(!verdict.is_yes() || exact::test(&set, reservation).is_yes());
    }
}

#[test]
fn chunks_can_accept_what_the_digraph_test_accepts_too() {
    for (set, reservation) in [
        (tasks(&[(4, 5, 10), (6, 40, 40)]), Reservation::new(0, 16, 20)),
        (tasks(&[(1, 3, 3)]), Reservation::new(0, 3, 4)),
    ] {
        assert_eq!(chunks::test(&set, reservation), TaskVerdict::Yes);
        assert_eq!(digraph::test(&set, reservation), TaskVerdict::Yes);
    }
}

#[test]
fn a_set_that_would_take_too_long_gets_no_answer() {
    let set = tasks(&[(300, 997, 997), (300, 1009, 1009)]);
    assert!(matches!(digraph::test(&set, Reservation::new(0, 500, 600)), TaskVerdict::Unknown(_)));
}
