//! The tests against slow answers that share no code with them: every integer instant, and EDF unit by unit.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::reservation::PeriodicResource;
use super::*;

/// (C, T, D) as numbers.
fn units(task: &Timing) -> (u64, u64, u64) {
    (task.wcet.units(), task.period.units(), task.deadline.units())
}

/// dbf(t) by counting jobs.
fn demand(tasks: &[Timing], t: u64) -> u64 {
    let of = |(wcet, period, deadline)| wcet * (0..=t).filter(|k| k * period + deadline <= t).count() as u64;
    tasks.iter().map(|task| of(units(task))).sum()
}

/// Service in [from, to) by counting units.
fn service(reservation: Reservation, from: u64, to: u64) -> u64 {
    (from..to).filter(|&t| is_served(reservation, t)).count() as u64
}

fn is_served(reservation: Reservation, t: u64) -> bool {
    let [offset, budget, period] = [reservation.offset, reservation.budget, reservation.period].map(TaskTime::units);
    (t % period + period - offset) % period < budget
}

/// EDF unit by unit for jobs (release, absolute deadline, C); whether all are in time.
pub(super) fn edf_meets(mut jobs: Vec<(u64, u64, u64)>, served: impl Fn(u64) -> bool) -> bool {
    let end = jobs.iter().map(|job| job.1).max().unwrap_or(0);
    for t in (0..end).filter(|&t| served(t)) {
        let ready = jobs.iter_mut().filter(|job| job.0 <= t && job.2 > 0);
        if let Some(job) = ready.min_by_key(|job| job.1) {
            if job.1 <= t {
                return false;
            }
            job.2 -= 1;
        }
    }
    jobs.iter().all(|job| job.2 == 0)
}

/// Jobs of a synchronous periodic set with releases before `end`.
pub(super) fn synchronous(tasks: &[Timing], end: u64) -> Vec<(u64, u64, u64)> {
    let of = |task: &Timing| {
        let (wcet, period, deadline) = units(task);
        (0..end.div_ceil(period)).map(move |k| (k * period, k * period + deadline, wcet))
    };
    tasks.iter().flat_map(of).collect()
}

fn cycle(tasks: &[Timing], reservation: Reservation) -> u64 {
    hyperperiod(tasks.iter().map(|task| task.period).chain([reservation.period])).expect("it is small").units()
}

/// Sets of the campaign; `GPUSCHED_TASK_SETS=1000000 cargo test --release` for a longer one.
fn sets() -> u64 {
    std::env::var("GPUSCHED_TASK_SETS").ok().and_then(|text| text.parse().ok()).unwrap_or(15_000)
}

#[test]
fn no_set_that_a_reservation_test_accepts_misses() {
    let cheap: Vec<_> = ReservationTest::sound().filter(|&test| test != ReservationTest::Digraph).collect();
    let mut accepted = vec![0_u64; cheap.len()];
    for seed in 0..sets() {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        let (set, reservation) = random_set(&mut numbers);
        let exact = exact::test(&set, reservation).is_yes();
        for (&test, accepted) in cheap.iter().zip(&mut accepted) {
            let passes = test.apply(&set, reservation).is_yes();
            *accepted += u64::from(passes);
            assert!(exact || !passes, "{} accepts {set:?} in {reservation:?}, seed {seed}", test.name());
        }
    }
    assert!(accepted.iter().all(|&accepted| accepted * 50 > sets()), "accepted: {accepted:?}");
}

/// Small sets, half of them harmonic, of which each test accepts a few percent.
fn random_set(numbers: &mut ChaCha8Rng) -> (Vec<Timing>, Reservation) {
    let period = numbers.random_range(1..=12);
    let is_harmonic = numbers.random();
    let count = numbers.random_range(1..=3);
    let task = |numbers: &mut ChaCha8Rng| {
        let mut longest = numbers.random_range(2..=24_u64);
        while is_harmonic && !longest.is_multiple_of(period) && !period.is_multiple_of(longest) {
            longest = numbers.random_range(1..=24);
        }
        let deadline = numbers.random_range(longest.div_ceil(2)..=longest);
        Timing::new(numbers.random_range(1..=deadline.div_ceil(3)), longest, deadline)
    };
    let set = (0..count).map(|_| task(numbers)).collect();
    (set, Reservation::new(numbers.random_range(0..period), numbers.random_range(period / 2..=period), period))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn exact_equals_a_simulation_unit_by_unit(
        set in random_tasks(4, 8), reservation in random_reservation(8),
    ) {
        let jobs = synchronous(&set, cycle(&set, reservation));
        let meets = edf_meets(jobs, |t| is_served(reservation, t));
        prop_assert_eq!(exact::test(&set, reservation).answer(), Some(meets));
    }

    #[test]
    fn no_harmonic_set_that_a_reservation_test_accepts_misses(
        base in 1..4_u64,
        period in 1..5_u64,
        shape in prop::collection::vec((0..6_usize, 0..40_u64, 1..6_u64), 1..4),
        placement in (0..20_u64, 0..20_u64),
    ) {
        let period = base * period * 2;
        let divisors: Vec<u64> = (1..=4 * period).filter(|t| t % period == 0 || period % t == 0).collect();
        let set: Vec<Timing> = shape
            .iter()
            .map(|&(which, deadline, wcet)| {
                let t = divisors[which * 7 % divisors.len()];
                let deadline = t - deadline % t;
                Timing::new(wcet.min(deadline), t, deadline)
            })
            .collect();
        let offset = placement.0 % period;
        let reservation = Reservation::new(offset, placement.1 % (period - offset + 1), period);
        let verdict = harmonic::test(&set, reservation);
        prop_assert!(verdict.answer().is_some());
        prop_assert!(!verdict.is_yes() || exact::test(&set, reservation).is_yes());
    }

    #[test]
    fn no_set_that_sbf_accepts_misses_with_sporadic_releases(
        set in random_tasks(3, 10),
        reservation in random_reservation(10),
        gaps in prop::collection::vec(prop::collection::vec(0..4_u64, 6), 3),
        first in prop::collection::vec(0..12_u64, 3),
    ) {
        if ReservationTest::Sbf.apply(&set, reservation).answer() == YES {
            let mut jobs = Vec::new();
            for ((task, gaps), &first) in set.iter().zip(&gaps).zip(&first) {
                let (wcet, period, deadline) = units(task);
                let mut release = first;
                for gap in gaps {
                    jobs.push((release, release + deadline, wcet));
                    release += period + gap.saturating_sub(1);
                }
            }
            prop_assert!(edf_meets(jobs, |t| is_served(reservation, t)));
        }
    }

    #[test]
    fn a_periodic_resource_supplies_what_shin_and_lee_write(reservation in random_reservation(12), t in 0..60_u64) {
        let (budget, period) = (reservation.budget.units(), reservation.period.units());
        let gap = period - budget;
        // k = max(ceil((t - gap) / period), 1), and the interval in which the supply grows.
        let k = t.saturating_sub(gap).div_ceil(period).max(1);
        let grows = ((k + 1) * period - 2 * budget)..=((k + 1) * period - budget);
        let printed = if grows.contains(&t) { t - (k + 1) * gap } else { (k - 1) * budget };
        let supply = PeriodicResource(reservation);
        let t = time(t);
        prop_assert_eq!(supply.within(t), time(printed));
        prop_assert!(supply.within(t) <= SupplyBound(reservation).within(t));
        let needed = supply.time_for(t);
        prop_assert!(needed == TaskTime::MAX || supply.within(needed) >= t);
        let is_least = [time(0), TaskTime::MAX].contains(&needed) || supply.within(needed - time(1)) < t;
        prop_assert!(is_least);
    }

    /// The least that any placement of the budget leaves an interval: it comes first in one period and last in the
    /// next.
    #[test]
    fn a_periodic_resource_supplies_the_least_of_all_placements(
        budget in 1..5_u64, more in 0..4_u64, t in 0..24_u64, from in 0..9_u64, places in prop::collection::vec(0..5_u64, 6),
    ) {
        let period = budget + more;
        let is_served = |at: u64| {
            let start = places[usize::try_from(at / period).unwrap_or(0) % places.len()] % (more + 1);
            (start..start + budget).contains(&(at % period))
        };
        let served = (from..from + t).filter(|&at| is_served(at)).count() as u64;
        prop_assert!(PeriodicResource(Reservation::new(0, budget, period)).within(time(t)) <= time(served));
    }

    #[test]
    fn sbf_equals_every_integer_instant_and_every_interval(
        set in random_tasks(3, 8), reservation in random_reservation(8),
    ) {
        let cycle = cycle(&set, reservation);
        let worst = |t: u64| (0..reservation.period.units()).map(|from| service(reservation, from, from + t)).min();
        let load: u64 = set.iter().map(units).map(|(wcet, period, _)| wcet * (cycle / period)).sum();
        let fits = load <= cycle / reservation.period.units() * reservation.budget.units();
        let holds = fits && (0..=cycle).all(|t| Some(demand(&set, t)) <= worst(t));
        prop_assert_eq!(ReservationTest::Sbf.apply(&set, reservation).answer(), Some(holds));
        prop_assert_eq!(ReservationTest::Sbf.apply(&set, reservation).answer(), Some(holds));
    }

    #[test]
    fn non_preemptive_edf_equals_every_integer_instant(set in random_tasks(4, 12)) {
        let cycle = hyperperiod(set.iter().map(|task| task.period)).expect("it is small").units();
        let tasks: Vec<_> = set.iter().map(units).collect();
        let load: u64 = tasks.iter().map(|(wcet, period, _)| wcet * (cycle / period)).sum();
        let is_deadline = |t: u64| {
            tasks.iter().any(|&(_, period, deadline)| t >= deadline && (t - deadline).is_multiple_of(period))
        };
        let blocking = |t| tasks.iter().filter(|task| task.2 > t).map(|task| task.0).max().unwrap_or(0);
        let holds = load <= cycle
            && (0..=cycle).filter(|&t| is_deadline(t)).all(|t| demand(&set, t) + blocking(t) <= t);
        prop_assert_eq!(streams::non_preemptive(&set).answer(), Some(holds));
    }
}
