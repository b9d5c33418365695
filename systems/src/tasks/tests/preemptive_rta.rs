//! Against the crate `response-time-analysis` (Bozhko and Brandenburg, "Abstract Response-Time Analysis: A Formal
//! Foundation for the Busy-Window Principle", ECRTS 2020), which computes response times instead of demand.

use proptest::prelude::*;
use response_time_analysis::arrival::Sporadic;
use response_time_analysis::demand::RBF;
use response_time_analysis::edf::{fully_nonpreemptive, fully_preemptive};
use response_time_analysis::time::{Duration, Service};
use response_time_analysis::wcet::Scalar;

use super::*;

fn duration(time: TaskTime) -> Duration {
    Duration::from(time.units())
}

fn arrivals(set: &[Timing]) -> Vec<Sporadic> {
    set.iter().map(|task| Sporadic::new_zero_jitter(duration(task.period))).collect()
}

/// Whether every response time under preemptive EDF is within the deadline.
fn preemptive(set: &[Timing]) -> bool {
    let demands: Vec<_> = arrivals(set)
        .into_iter()
        .zip(set)
        .map(|(a, task)| RBF::new(a, Scalar::new(Service::from(task.wcet.units()))))
        .collect();
    let task = |index: usize| fully_preemptive::Task { rbf: &demands[index], deadline: duration(set[index].deadline) };
    (0..set.len()).all(|own| {
        let others: Vec<_> = (0..set.len()).filter(|&other| other != own).map(task).collect();
        let response = fully_preemptive::dedicated_uniproc_rta(&task(own), &others, duration(time(100_000)));
        response.is_ok_and(|response| response <= duration(set[own].deadline))
    })
}

/// The same under non-preemptive EDF.
fn non_preemptive(set: &[Timing]) -> bool {
    let arrivals = arrivals(set);
    let task = |index: usize| fully_nonpreemptive::Task {
        wcet: Scalar::new(Service::from(set[index].wcet.units())),
        arrivals: &arrivals[index],
        deadline: duration(set[index].deadline),
    };
    (0..set.len()).all(|own| {
        let others: Vec<_> = (0..set.len()).filter(|&other| other != own).map(task).collect();
        let response = fully_nonpreemptive::dedicated_uniproc_rta(&task(own), &others, duration(time(100_000)));
        response.is_ok_and(|response| response <= duration(set[own].deadline))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn demand_on_a_processor_of_ones_own_agrees_with_response_times(set in random_tasks(4, 12)) {
        prop_assert_eq!(ReservationTest::Sbf.apply(&set, Reservation::new(0, 1, 1)).answer(), Some(preemptive(&set)));
    }

    /// That analysis lets a job block for C - 1, ours for C, so ours never accepts more.
    #[test]
    fn non_preemptive_demand_is_never_more_optimistic_than_response_times(set in random_tasks(4, 12)) {
        prop_assert!(streams::non_preemptive(&set).answer() != YES || non_preemptive(&set));
    }
}
