//! Golden values of the paper, and pairs of independent answers.

use proptest::prelude::*;

use super::exact::Miss;
use super::reservation::PeriodicResource;
use super::task_time::compare_utilization;
use super::*;

mod brute_force;
mod digraph_small;
mod preemptive_rta;

/// (C, D, T), as the paper prints them.
fn task((wcet, deadline, period): (u64, u64, u64)) -> Timing {
    Timing::new(wcet, period, deadline)
}

fn tasks(list: &[(u64, u64, u64)]) -> Vec<Timing> {
    list.iter().copied().map(task).collect()
}

fn answers(tasks: &[Timing], reservation: Reservation) -> Vec<Option<bool>> {
    ReservationTest::ALL.iter().map(|test| test.apply(tasks, reservation).answer()).collect()
}

const fn time(units: u64) -> TaskTime {
    TaskTime::from_units(units)
}

const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

#[test]
fn theorem_5_first_set_is_refused_by_sbf_and_accepted_by_chunks() {
    // Erratum 14: the paper has it the other way round.
    let set = tasks(&[(4, 5, 10), (6, 40, 40)]);
    let reservation = Reservation::new(0, 16, 20);
    assert_eq!(chunks::converted(&set[0], reservation), Ok(task((4, 5, 10))));
    // Erratum 14: T' is 40, not 20.
    assert_eq!(chunks::converted(&set[1], reservation), Ok(task((6, 16, 40))));
    assert_eq!(answers(&set, reservation)[..3], [NO, NO, YES]);
    assert_eq!(exact::test(&set, reservation), TaskVerdict::Yes);
    let TaskVerdict::No(Rejection::Demand { task, instant, demand, supply, .. }) =
        ReservationTest::Sbf.apply(&set, reservation)
    else {
        panic!("refused for its demand")
    };
    assert_eq!((task, instant, demand, supply), (0, 5.0, 4.0, 1.0));
}

#[test]
fn theorem_5_second_set_is_accepted_by_sbf_and_refused_by_chunks() {
    let set = tasks(&[(3, 10, 10), (4, 15, 15)]);
    let reservation = Reservation::new(0, 8, 12);
    assert_eq!(ReservationTest::Sbf.apply(&set, reservation), TaskVerdict::Yes);
    assert_eq!(chunks::converted(&set[0], reservation), Ok(task((3, 4, 4))));
    assert_eq!(chunks::test(&set, reservation).answer(), NO);
    assert_eq!(exact::test(&set, reservation), TaskVerdict::Yes);
}

#[test]
fn table_1_the_last_job_of_tau_1_misses_its_deadline() {
    let set = tasks(&[(3, 10, 10), (5, 15, 15)]);
    // At 49 tau2, released at 45, has the same deadline and runs first, until 54; the budget ends at 56.
    let run = exact::simulate(&set, Reservation::new(0, 8, 12), time(60));
    assert_eq!(run.miss, Some(Miss { task: 0, release: time(50), deadline: time(60), left: time(1) }));
    assert_eq!(exact::test(&tasks(&[(4, 12, 12)]), Reservation::new(8, 4, 12)), TaskVerdict::Yes);
    assert_eq!(exact::test(&tasks(&[(1, 10, 10)]), Reservation::new(0, 8, 12)), TaskVerdict::Yes);
}

#[test]
fn figure_3_the_chunks_of_tau_1() {
    let task = task((3, 10, 10));
    let reservation = Reservation::new(0, 8, 12);
    let chunks: Vec<Vec<(u64, u64)>> = chunks::jobs(&task, time(60))
        .map(|job| job.chunks(reservation).map(|chunk| (chunk.start.units(), chunk.end.units())).collect())
        .collect();
    let expected: Vec<Vec<(u64, u64)>> = vec![
        vec![(0, 8)],
        vec![(12, 20)],
        vec![(24, 30)],
        vec![(30, 32), (36, 40)],
        vec![(40, 44), (48, 50)],
        vec![(50, 56)],
    ];
    assert_eq!(chunks, expected);
}

#[test]
fn supply_in_a_reservation_that_wraps_around_its_period() {
    let reservation = Reservation::new(8, 6, 10);
    let supplied: Vec<u64> = (0..=12).map(|t| reservation.supplied(time(t)).units()).collect();
    assert_eq!(supplied, [0, 1, 2, 3, 4, 4, 4, 4, 4, 5, 6, 7, 8]);
    assert_eq!(
        reservation.served(time(0), time(20)).collect::<Vec<_>>(),
        [(0, 4), (8, 14), (18, 20)].map(|(from, to)| (time(from), time(to)))
    );
}

#[test]
fn a_periodic_resource_waits_twice_as_long_as_a_time_triggered_reservation() {
    // Shin and Lee's own example, budget 3 of 5: nothing for 4, then 3 of every 5.
    let supply = PeriodicResource(Reservation::new(0, 3, 5));
    assert_eq!([4, 5, 6, 7, 9, 10, 12, 14].map(|t| supply.within(time(t)).units()), [0, 1, 2, 3, 3, 4, 6, 6]);
    let set = tasks(&[(3, 10, 10), (4, 15, 15)]);
    // Theorem 5's second set: sbf(10) = 4 >= 3, but the periodic resource supplies 2 by then.
    assert!(matches!(
        ReservationTest::PeriodicResource.apply(&set, Reservation::new(0, 8, 12)),
        TaskVerdict::No(Rejection::Demand { task: 0, instant: 10.0, demand: 3.0, supply: 2.0, .. })
    ));
}

#[test]
fn algorithm_1_as_printed_loses_a_job_without_chunk_and_accepts_what_misses() {
    // The job released at 5 lies in [5, 10), outside the budget [0, 5) of every 10.
    let set = tasks(&[(1, 5, 5)]);
    let reservation = Reservation::new(0, 5, 10);
    assert_eq!(chunks::test_as_printed(&set, reservation), TaskVerdict::Yes);
    assert_eq!(
        chunks::test(&set, reservation),
        TaskVerdict::No(Rejection::NoService { task: 0, release: time(5), deadline: time(10) })
    );
    let missed = Rejection::Miss { task: 0, release: time(5), deadline: time(10), left: time(1) };
    assert_eq!(exact::test(&set, reservation), TaskVerdict::No(missed));
    // A task of which no job has a chunk leaves nothing.
    let none = tasks(&[(1, 5, 10)]);
    assert_eq!(chunks::test_as_printed(&none, Reservation::new(5, 5, 10)), TaskVerdict::Yes);
    assert_eq!(exact::test(&none, Reservation::new(5, 5, 10)).answer(), NO);
}

#[test]
fn theorem_6_as_printed_accepts_a_deadline_before_the_budget() {
    let set = tasks(&[(1, 1, 2)]);
    let reservation = Reservation::new(1, 1, 2);
    assert_eq!(harmonic::test_as_printed(&set, reservation), TaskVerdict::Yes);
    assert_eq!(harmonic::test(&set, reservation).answer(), NO);
    assert_eq!(exact::test(&set, reservation).answer(), NO);
    // The quotient 3 / 2 is taken as it is; rounded down it would be 1, and accepted.
    assert_eq!(harmonic::test_as_printed(&tasks(&[(3, 4, 4)]), Reservation::new(0, 1, 2)).answer(), NO);
    assert_eq!(harmonic::test_as_printed(&tasks(&[(1, 4, 4)]), Reservation::new(0, 1, 2)).answer(), YES);
}

#[test]
fn a_budget_as_printed_is_less_than_one_unit_and_nothing_passes() {
    // Q_L = U_1 / (U_1 + U_B) without the factor of the period, rounded down to 0; even 1 unit of 10 is too little.
    let set = tasks(&[(2, 10, 10)]);
    for budget in [0, 1] {
        for test in ReservationTest::sound() {
            assert_eq!(test.apply(&set, Reservation::new(0, budget, 10)).answer(), NO, "{}", test.name());
        }
    }
}

#[test]
fn supply_bound_function_by_the_paper() {
    let supply = SupplyBound(Reservation::new(0, 16, 20));
    assert_eq!([4, 5, 20, 24, 25, 40].map(|t| supply.within(time(t)).units()), [0, 1, 16, 16, 17, 32]);
    let linear = LinearSupply(Reservation::new(0, 16, 20));
    assert_eq!([4, 5, 20, 24, 44].map(|t| linear.within(time(t)).units()), [0, 0, 12, 16, 32]);
}

#[test]
fn limited_preemption_blocks_twice() {
    let set: Vec<_> = [(2, 10, 1), (4, 8, 4), (4, 14, 2)].map(|(c, d, pc)| (Timing::new(c, 24, d), time(pc))).into();
    let TaskVerdict::No(Rejection::Demand { instant, demand, blocking, supply, .. }) =
        streams::limited_preemption(&set, 2)
    else {
        panic!("refused for its demand")
    };
    assert_eq!((instant, demand, blocking, supply), (8.0, 6.0, time(4), 8.0));
    let timings: Vec<_> = set.iter().map(|(task, _)| *task).collect();
    assert_eq!(streams::non_preemptive(&timings), TaskVerdict::Yes);
}

#[test]
fn the_quotient_of_the_harmonic_test_is_an_exact_fraction() {
    // Erratum 16: floor(3 / 4) = 0 would accept this; the task has two instances of length 1 for 3 units of work.
    assert_eq!(harmonic::test(&tasks(&[(3, 4, 4)]), Reservation::new(0, 1, 2)).answer(), NO);
    assert_eq!(exact::test(&tasks(&[(3, 4, 4)]), Reservation::new(0, 1, 2)).answer(), NO);
    // As printed, D is ignored: this task's whole deadline lies before the budget.
    assert_eq!(harmonic::test(&tasks(&[(1, 1, 2)]), Reservation::new(1, 1, 2)).answer(), NO);
    assert_eq!(exact::test(&tasks(&[(1, 1, 2)]), Reservation::new(1, 1, 2)).answer(), NO);
    // 3 units in 2 instances of length 2.
    assert_eq!(harmonic::test(&tasks(&[(3, 8, 8)]), Reservation::new(0, 2, 4)).answer(), YES);
    let two = tasks(&[(3, 8, 8), (1, 4, 4)]);
    let TaskVerdict::No(Rejection::Demand { instant, demand, supply, .. }) =
        harmonic::test(&two, Reservation::new(0, 2, 4))
    else {
        panic!("refused for its demand")
    };
    assert_eq!((instant, demand, supply), (2.0, 2.5, 2.0));
    assert_eq!(harmonic::test(&tasks(&[(1, 3, 3)]), Reservation::new(0, 2, 4)).answer(), None);
    assert_eq!(harmonic::test(&tasks(&[(1, 4, 4)]), Reservation::new(3, 2, 4)).answer(), None);
}

#[test]
fn the_papers_choice_of_the_reservation_has_the_factor_of_the_period() {
    // Erratum 15. U_L = 0.6, U_B = 0.2: three quarters of 40.
    let mut set = TaskSet { sms: 2, tasks: Vec::new(), reservations: None, priority_levels: 2 };
    set.tasks.push(Task::new("a", Timing::new(6, 10, 10), 0, Allocation::Sm(0)));
    set.tasks.push(Task::new("b", Timing::new(1, 10, 10), 0, Allocation::Sm(1)));
    set.tasks.push(Task::new("c", Timing::new(4, 20, 20), 0, Allocation::All));
    let chosen = Reservations::proportional(&set, time(40));
    assert_eq!(chosen.single, Reservation::new(0, 30, 40));
    assert_eq!(chosen.all, Reservation::new(30, 10, 40));
    assert_eq!(Reservations::proportional(&set, time(41)).single.budget, time(30));
}

#[test]
fn one_overloaded_sm_fails_the_necessary_condition_that_the_paper_lets_pass() {
    let mut set = TaskSet { sms: 2, tasks: Vec::new(), reservations: None, priority_levels: 2 };
    set.tasks.push(Task::new("a", Timing::new(9, 10, 10), 0, Allocation::Sm(0)));
    set.tasks.push(Task::new("b", Timing::new(1, 10, 10), 0, Allocation::All));
    assert_eq!(necessary(&set), YES);
    set.tasks.push(Task::new("c", Timing::new(1, 10, 10), 0, Allocation::Sm(0)));
    // 1.0 + 2 * 0.1 <= 2, but SM 0 has 1.1 to do.
    assert_eq!(necessary(&set), NO);
}

#[test]
fn smallest_budgets_of_theorem_5() {
    let mut set = TaskSet { sms: 1, tasks: Vec::new(), reservations: None, priority_levels: 2 };
    for (index, timing) in tasks(&[(4, 5, 10), (6, 40, 40)]).into_iter().enumerate() {
        set.tasks.push(Task::new(&format!("tau{index}"), timing, 0, Allocation::Sm(0)));
    }
    let found =
        smallest_budgets(&set, time(20), &[ReservationTest::Sbf, ReservationTest::Chunks, ReservationTest::Exact]);
    // sbf(5) = 5 - (20 - Q) >= 4; the second job has to be done by 15, of which 4 remain after 10.
    assert_eq!(
        found.iter().map(|budget| budget.single).collect::<Vec<_>>(),
        [19, 14, 14].map(|budget| Some(time(budget)))
    );
    assert!(found.iter().all(|budget| budget.all == Some(time(0))));
}

#[test]
fn sums_of_utilization_are_compared_exactly() {
    let thirds = [(1_u128, 3_u64), (1, 3), (1, 3)];
    assert_eq!(compare_utilization(thirds.into_iter(), [(1, 1)].into_iter()), Some(std::cmp::Ordering::Equal));
    let almost = [(1_u128, 3_u64), (1, 3), (333_333_333_333, 1_000_000_000_000)];
    assert_eq!(compare_utilization(almost.into_iter(), [(1, 1)].into_iter()), Some(std::cmp::Ordering::Less));
}

#[test]
fn a_hyperperiod_that_does_not_fit_is_said_so() {
    let primes = [281_474_976_710_597, 281_474_976_710_591, 281_474_976_710_567];
    assert_eq!(hyperperiod(primes.map(time)), None);
    let set: Vec<Timing> = primes.iter().map(|&prime| Timing::new(1, prime, prime)).collect();
    assert!(matches!(exact::test(&set, Reservation::new(0, 1, 2)), TaskVerdict::Unknown(_)));
    // A shorter interval decides, so the others have an answer.
    assert_eq!(ReservationTest::Sbf.apply(&set, Reservation::new(0, 1, 2)), TaskVerdict::Yes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn more_time_never_hurts_and_more_work_never_helps(
        set in random_tasks(4, 12),
        reservation in random_reservation(12),
        which in 0..4_usize,
    ) {
        let which = which % set.len();
        let harder = [
            (set[which].wcet < set[which].deadline)
                .then(|| Timing { wcet: set[which].wcet + time(1), ..set[which] }),
            (set[which].deadline > time(1)).then(|| Timing { deadline: set[which].deadline - time(1), ..set[which] }),
            (set[which].period > set[which].deadline).then(|| Timing { period: set[which].period - time(1), ..set[which] }),
        ];
        for changed in harder.into_iter().flatten() {
            let mut other = set.clone();
            other[which] = changed;
            for passes in [
                |tasks: &[Timing], reservation| ReservationTest::Sbf.apply(tasks, reservation).answer(),
                |tasks: &[Timing], reservation| ReservationTest::SbfLinear.apply(tasks, reservation).answer(),
                |tasks: &[Timing], _| streams::non_preemptive(tasks).answer(),
            ] {
                prop_assert!(passes(&other, reservation) != YES || passes(&set, reservation) == YES);
            }
        }
    }

    #[test]
    fn one_priority_level_is_the_non_preemptive_test(set in random_tasks(4, 12), cost in 0..4_u64) {
        let with_costs: Vec<_> = set.iter().map(|&task| (task, time(cost))).collect();
        prop_assert_eq!(streams::limited_preemption(&with_costs, 1), streams::non_preemptive(&set));
    }

    /// Section 6.3 assumes D = T; there Theorem 6 is right as printed, with exact fractions.
    #[test]
    fn theorem_6_as_printed_is_the_corrected_one_if_deadlines_are_periods(
        mut set in random_tasks(3, 12), period in 1..12_u64, offset in 0..12_u64, budget in 0..12_u64,
    ) {
        for task in &mut set {
            task.deadline = task.period;
        }
        let offset = offset % period;
        let reservation = Reservation::new(offset, budget % (period - offset + 1), period);
        let (printed, corrected) =
            (harmonic::test_as_printed(&set, reservation).answer(), harmonic::test(&set, reservation).answer());
        prop_assert_eq!(printed, corrected);
        prop_assert!(printed != YES || exact::test(&set, reservation).is_yes());
    }

    #[test]
    fn chunks_as_printed_differ_only_if_a_job_has_no_chunk(
        set in random_tasks(3, 12), reservation in random_reservation(12),
    ) {
        let (printed, ours) = (chunks::test_as_printed(&set, reservation), chunks::test(&set, reservation));
        if !matches!(ours, TaskVerdict::No(Rejection::NoService { .. })) {
            prop_assert_eq!(printed, ours);
        }
    }

    #[test]
    fn the_linear_bound_never_exceeds_sbf(reservation in random_reservation(12), t in 0..60_u64) {
        let (supply, linear, t) = (SupplyBound(reservation), LinearSupply(reservation), time(t));
        prop_assert!(linear.within(t) <= supply.within(t));
        for supply in [&supply as &dyn Supply, &linear] {
            let needed = supply.time_for(t);
            prop_assert!(needed == TaskTime::MAX || supply.within(needed) >= t);
            let is_least = [time(0), TaskTime::MAX].contains(&needed) || supply.within(needed - time(1)) < t;
            prop_assert!(is_least);
        }
    }
}

/// Up to `most` tasks with periods up to `longest`.
fn random_tasks(most: usize, longest: u64) -> impl Strategy<Value = Vec<Timing>> {
    let task = (1..=longest)
        .prop_flat_map(|period| (Just(period), 1..=period))
        .prop_flat_map(|(period, deadline)| (Just(period), Just(deadline), 1..=deadline.div_ceil(2)));
    prop::collection::vec(task.prop_map(|(period, deadline, wcet)| Timing::new(wcet, period, deadline)), 1..=most)
}

/// Any reservation with a period up to `longest`, also one that reaches past the end of its period.
fn random_reservation(longest: u64) -> impl Strategy<Value = Reservation> {
    (1..=longest)
        .prop_flat_map(|period| (0..period, 0..=period, Just(period)))
        .prop_map(|(offset, budget, period)| Reservation::new(offset, budget, period))
}
