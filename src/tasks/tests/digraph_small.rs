//! The digraph test on sets small enough for it.

use proptest::prelude::*;

use super::*;

/// Every division of every job, one after another, with the demand of each written out as the definition has it.
mod plain {
    use super::super::super::digraph::{Cycle, instants};
    use super::*;

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
                cycle.pack(job.clone(), cycle.wcet, &mut work);
                longer.push(work.clone());
                while cycle.advance(job, &mut work) {
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
        let cycles: Vec<Cycle> = tasks.iter().filter_map(|task| Cycle::new(task, reservation).ok()).collect();
        if cycles.len() < tasks.len() {
            return None;
        }
        let instants = instants(&cycles)?;
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn divisions_that_are_ruled_out_together_would_not_pass(
        set in generators::tasks(3, 6), reservation in generators::reservation(6),
    ) {
        let verdict = digraph::test(&set, reservation);
        if let Some(passes) = plain::passes(&set, reservation)
            && !matches!(verdict, TaskVerdict::No(Rejection::Utilization { .. }))
        {
            prop_assert_eq!(verdict.answer(), Some(passes), "{:?}", verdict);
        }
    }
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
        set in generators::tasks(3, 6), reservation in generators::reservation(6),
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
