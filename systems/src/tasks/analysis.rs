//! All tests on one task set.

use super::reservation::{LinearSupply, PeriodicResource, Reservation, Reservations, SupplyBound};
use super::task_set::{Allocation, Task, TaskSet, Timing};
use super::task_time::{TaskTime, compare_utilization};
use super::verdict::TaskVerdict;
use super::{chunks, demand, digraph, exact, harmonic, streams};
use crate::effort;
use crate::limits::count_turn;
use crate::named::named;

named! {
    /// A test of tasks in a reservation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ReservationTest: ALL, from_name {
        /// The supply bound function (RTNS 2020, Theorem 3): dbf(t) <= sbf(t) at every absolute deadline t.
        ///
        /// Exact for sporadic tasks whose releases are not tied to the reservation's clock: sbf is attained by the
        /// interval that begins where the budget ends. For periodic tasks released at 0 it ignores that the schedule of
        /// the reservation is known.
        Sbf = "sbf",
        /// The linear lower bound of sbf (Eq. 10; SBF* in the paper's figures): dbf(t) <= max(0, (Q / P)(t - (P - Q))).
        ///
        /// The printed Eq. 10 is zero up to the reservation's offset and negative from there to P - Q.
        SbfLinear = "sbf-linear",
        Chunks = "chunks",
        Harmonic = "harmonic",
        Digraph = "digraph",
        Exact = "exact",
        /// The periodic resource of Shin and Lee (RTSS 2003, the paper's reference \[19\]), of which only budget and
        /// period are known. What it refuses and [`Self::Sbf`] accepts is what time-triggering is worth.
        PeriodicResource = "periodic-resource",
        /// Theorem 5 as printed, unsound.
        ChunksAsPrinted = "chunks-as-printed",
        /// Theorem 6 as printed, unsound for D < T.
        HarmonicAsPrinted = "harmonic-as-printed",
    }
}

impl ReservationTest {
    /// Those whose yes proves that no deadline is missed.
    pub fn sound() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|test| test.is_sound())
    }

    /// Whether a yes proves that no deadline is missed. The others are the paper's text taken literally, where that is
    /// wrong: they are there to be compared, and have no part in a verdict.
    pub const fn is_sound(self) -> bool {
        !matches!(self, Self::ChunksAsPrinted | Self::HarmonicAsPrinted)
    }

    /// Whether it holds for sporadic tasks and any offsets, not only for synchronous periodic tasks.
    pub const fn is_for_sporadic(self) -> bool {
        matches!(self, Self::Sbf | Self::SbfLinear | Self::PeriodicResource)
    }

    /// Whether the answer can only change from no to yes when the budget grows at the same offset, or at the same end.
    pub const fn is_monotone_in_budget(self) -> bool {
        matches!(self, Self::Sbf | Self::SbfLinear | Self::PeriodicResource | Self::Exact)
    }

    /// Applies it.
    pub fn apply(self, tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
        match self {
            Self::Sbf => demand::within(tasks, &SupplyBound(reservation)),
            Self::SbfLinear => demand::within(tasks, &LinearSupply(reservation)),
            Self::Chunks => chunks::test(tasks, reservation),
            Self::Harmonic => harmonic::test(tasks, reservation),
            Self::Digraph => digraph::test(tasks, reservation),
            Self::Exact => exact::test(tasks, reservation),
            Self::PeriodicResource => demand::within(tasks, &PeriodicResource(reservation)),
            Self::ChunksAsPrinted => chunks::test_as_printed(tasks, reservation),
            Self::HarmonicAsPrinted => harmonic::test_as_printed(tasks, reservation),
        }
    }
}

/// The tasks that are scheduled together in one reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partition {
    /// Which SMs.
    pub allocation: Allocation,
    /// In which reservation.
    pub reservation: Reservation,
}

/// What all tests say about one set. Tasks in reasons are numbered as in the set.
#[derive(Debug, Clone, PartialEq)]
pub struct TestResults {
    /// Whether no SM is asked for more than it has (Lemma 2, sharpened).
    pub necessary: Option<bool>,
    /// Non-preemptive EDF in one stream (Theorem 1, corrected).
    pub single_stream: TaskVerdict,
    /// EDF in streams of as many priorities as the set says (Lemma 1, corrected).
    pub multi_stream: TaskVerdict,
    /// Lemma 1 as printed, unsound; there if it was asked for.
    pub multi_stream_as_printed: Option<TaskVerdict>,
    /// Each test of the set's reservations, partition by partition; empty if the set has no reservations.
    pub in_reservations: Vec<(ReservationTest, Vec<(Partition, TaskVerdict)>)>,
}

impl TestResults {
    /// The name of Lemma 1 as printed in options and reports.
    pub const MULTI_STREAM_AS_PRINTED: &'static str = "multi-stream-as-printed";

    /// Applies the given tests of reservations and all others that are sound.
    pub fn new(set: &TaskSet, tests: &[ReservationTest]) -> Self {
        let with_costs = with_costs(set);
        let apply = |reservations: &Reservations| {
            let verdicts = |test: ReservationTest| {
                Partition::of(set, reservations).map(move |part| (part, part.verdict(set, test)))
            };
            tests.iter().map(|&test| (test, verdicts(test).collect())).collect()
        };
        Self {
            necessary: necessary(set),
            single_stream: streams::non_preemptive(&set.timings()),
            multi_stream: multi_stream(set, &with_costs),
            multi_stream_as_printed: None,
            in_reservations: set.reservations.as_ref().map_or_else(Vec::new, apply),
        }
    }

    /// The same with what Lemma 1 says of `set` as printed.
    pub fn with_multi_stream_as_printed(self, set: &TaskSet) -> Self {
        let verdict = streams::limited_preemption_as_printed(&with_costs(set), set.priority_levels);
        Self { multi_stream_as_printed: Some(verdict), ..self }
    }

    /// The answer of a test for all partitions together: no if one is refused, yes if all pass. None of a test that is
    /// not sound.
    pub fn all_pass(test: ReservationTest, verdicts: &[(Partition, TaskVerdict)]) -> Option<bool> {
        if !test.is_sound() {
            return None;
        }
        let answers = || verdicts.iter().map(|(_, verdict)| verdict.answer());
        if answers().any(|answer| answer == Some(false)) {
            return Some(false);
        }
        answers().all(|answer| answer == Some(true)).then_some(true)
    }
}

/// EDF in streams of several priorities. What it accepts is proved for tasks of all SMs with blocks of one shape.
fn multi_stream(set: &TaskSet, with_costs: &[(Timing, TaskTime)]) -> TaskVerdict {
    let verdict = streams::limited_preemption(with_costs, set.priority_levels);
    if !verdict.is_yes() || set.priority_levels <= 1 {
        return verdict;
    }
    let shape = |task: &Task| task.kernel.map(|kernel| kernel.shape);
    let first = set.tasks.first().and_then(shape);
    let other = set.tasks.iter().find_map(|task| match task.allocation {
        Allocation::Sm(_) if set.sms > 1 => {
            Some((task, "is bound to one SM, and the test is proved for tasks of all SMs"))
        }
        _ if shape(task) != first => {
            Some((task, "has blocks of another shape than the first, and the test is proved for blocks of one shape"))
        }
        _ => None,
    });
    other.map_or(verdict, |(task, why)| TaskVerdict::Unknown(format!("{} {why}", task.name)))
}

fn with_costs(set: &TaskSet) -> Vec<(Timing, TaskTime)> {
    set.tasks.iter().map(|task| (task.timing, task.preemption_cost)).collect()
}

impl Partition {
    /// What options and reports call it: `sm0`, or `all`.
    pub fn name(&self) -> String {
        match self.allocation {
            Allocation::Sm(sm) => format!("sm{sm}"),
            Allocation::All => "all".to_owned(),
        }
    }

    /// The partitions of a set: each SM in `R_L`, then the gang tasks in `R_B`.
    pub fn of(set: &TaskSet, reservations: &Reservations) -> impl Iterator<Item = Self> + use<> {
        let Reservations { single, all } = *reservations;
        (0..set.sms)
            .map(move |sm| Self { allocation: Allocation::Sm(sm), reservation: single })
            .chain([Self { allocation: Allocation::All, reservation: all }])
    }

    /// What `test` says about this partition of `set`.
    pub fn verdict(&self, set: &TaskSet, test: ReservationTest) -> TaskVerdict {
        let indexes = set.allocated_to(self.allocation);
        if indexes.is_empty() {
            return TaskVerdict::Yes;
        }
        let is_covered = |&index: &usize| test.is_for_sporadic() || set.tasks[index].is_synchronous_periodic();
        if let Some(&other) = indexes.iter().find(|index| !is_covered(index)) {
            let name = &set.tasks[other].name;
            return TaskVerdict::Unknown(format!("only for periodic tasks released at 0, which {name} is not"));
        }
        test.apply(&set.timings_of(self.allocation), self.reservation).renumbered(&indexes)
    }
}

/// Budgets tried one by one, at most, where the answer need not be monotone.
const MAX_TRIED: u64 = 20_000;

/// What a test needs with a given period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallestBudget {
    /// The test.
    pub test: ReservationTest,
    /// `Q_L`: the smallest budget of R(0, Q, P) with which every SM's tasks pass; `None`: none does, or it was not
    /// found.
    pub single: Option<TaskTime>,
    /// `Q_B`: the smallest budget of R(P - Q, Q, P) with which the gang tasks pass.
    pub all: Option<TaskTime>,
    /// Whether both fit into one period.
    pub fits: bool,
}

/// For each test, the smallest budgets of two reservations of one period that pass it, `R_L` at the period's beginning
/// and `R_B` at its end.
///
/// Where more service can never hurt, by bisection. The answers of the other tests need not be monotone in the budget;
/// there every budget is tried, from the smallest, and the search is given up after 20,000. Tests that are not sound
/// are left out. What is stopped or too much by [`effort`] is not found.
pub fn smallest_budgets(set: &TaskSet, period: TaskTime, tests: &[ReservationTest]) -> Vec<SmallestBudget> {
    let passes = |test: ReservationTest, allocation: Allocation, reservation: Reservation| {
        set.timings_of(allocation).is_empty()
            || Partition { allocation, reservation }.verdict(set, test) == TaskVerdict::Yes
    };
    tests
        .iter()
        .filter(|test| test.is_sound())
        .map(|&test| {
            let on_sms = |budget: TaskTime| {
                (0..set.sms)
                    .all(|sm| passes(test, Allocation::Sm(sm), Reservation { offset: TaskTime::ZERO, budget, period }))
            };
            let gang = |budget: TaskTime| {
                let offset = (period - budget) % period;
                passes(test, Allocation::All, Reservation { offset, budget, period })
            };
            let single = smallest(period, test, on_sms);
            let all = smallest(period, test, gang);
            let fits = single.zip(all).is_some_and(|(single, all)| single + all <= period);
            SmallestBudget { test, single, all, fits }
        })
        .collect()
}

fn smallest(period: TaskTime, test: ReservationTest, passes: impl Fn(TaskTime) -> bool) -> Option<TaskTime> {
    if !test.is_monotone_in_budget() {
        return (0..=period.units().min(MAX_TRIED))
            .map(TaskTime::from_units)
            .map_while(|budget| effort::check().is_ok().then_some(budget))
            .find(|&budget| passes(budget));
    }
    if !passes(period) {
        return None;
    }
    let (mut low, mut high) = (0, period.units());
    while low < high {
        count_turn();
        let middle = low + (high - low) / 2;
        if passes(TaskTime::from_units(middle)) { high = middle } else { low = middle + 1 }
    }
    Some(TaskTime::from_units(low))
}

/// Whether no SM is asked for more than it has. `None` if that is too close to tell in 128 bits.
///
/// What no gang schedule can do without (RTNS 2020, Lemma 2, sharpened).
///
/// Every SM has to serve its own tasks and all gang tasks: `U_p` + `U_B` <= 1 for each SM p. Summed up over m SMs this
/// gives the paper's condition, sum of `U_p` + m `U_B` <= m, which can hold while one SM is overloaded.
pub fn necessary(set: &TaskSet) -> Option<bool> {
    let all = set.timings_of(Allocation::All);
    let mut answer = Some(true);
    for sm in 0..set.sms {
        let own = set.timings_of(Allocation::Sm(sm));
        let load = own.iter().chain(&all).map(Timing::load);
        match compare_utilization(load, std::iter::once((1, 1))) {
            Some(order) if order.is_gt() => return Some(false),
            Some(_) => {}
            None => answer = None,
        }
    }
    answer
}
