//! Random task sets (RTNS 2020, section 7.1.1).

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::reservation::Reservations;
use super::task_set::{Allocation, MAX_TIME, Task, TaskSet, Timing};
use super::task_time::TaskTime;
use super::utilizations::{rand_fixed_sum, uunifast, uunifast_discard, whole_times};
use crate::named::named;

named! {
    /// How a utilization is divided among tasks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Utilizations: ALL, from_name, Serialize {
        /// `uunifast`.
        UUniFast = "uunifast",
        /// `uunifast_discard`.
        UUniFastDiscard = "uunifast-discard",
        /// `rand_fixed_sum`.
        RandFixedSum = "rand-fixed-sum",
    }
}

/// How periods are drawn, of tasks and of the reservation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Periods {
    /// Uniform from a list.
    List(Vec<TaskTime>),
    /// The reservation's uniform from a list, each task's uniform from those in the list that divide it or are
    /// multiples of it.
    Harmonic(Vec<TaskTime>),
    /// The logarithm uniform between two periods; rounded to a multiple of the first.
    LogUniform(TaskTime, TaskTime),
}

/// The period of the reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReservationPeriod {
    /// Drawn like any other, as in the paper.
    Drawn,
    /// The shortest that can be drawn.
    Shortest,
    /// This one, whether or not a task can have it too.
    Fixed(TaskTime),
}

/// A distribution of task sets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Generator {
    /// SMs.
    pub sms: u32,
    /// Tasks bound to each SM.
    pub tasks_per_sm: usize,
    /// Tasks that take all SMs.
    pub gang_tasks: usize,
    /// Utilization of each SM's own tasks \[thousandths\].
    pub single_permille: u32,
    /// Utilization of the gang tasks \[thousandths\].
    pub gang_permille: u32,
    /// How utilization is divided.
    pub utilizations: Utilizations,
    /// How periods are drawn.
    pub periods: Periods,
    /// The reservation's period.
    pub reservation: ReservationPeriod,
    /// D is uniform between this share of T \[percent\] and T.
    pub deadline_percent: u32,
}

impl Generator {
    /// Set number `index` under `seed`: the stated utilizations hold exactly where whole execution times can have them
    /// (always with periods from a list, but for tasks of a few units), else as closely from below; with the paper's
    /// choice of the reservation. It depends on nothing else, so any sample can be drawn again alone. `None` if the
    /// utilization cannot be divided so.
    pub fn sample(&self, seed: u64, index: u64) -> Option<TaskSet> {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        numbers.set_stream(index);
        let period = self.reservation_period(&mut numbers);
        let priority_levels = TaskSet::PRIORITY_LEVELS;
        let mut set = TaskSet { sms: self.sms, tasks: Vec::new(), reservations: None, priority_levels };
        let partitions = (0..self.sms).map(|sm| (Allocation::Sm(sm), self.tasks_per_sm, self.single_permille));
        for (allocation, count, permille) in partitions.chain([(Allocation::All, self.gang_tasks, self.gang_permille)])
        {
            let shares = self.divide(count, f64::from(permille) / 1000.0, &mut numbers)?;
            let drawn: Vec<(TaskTime, TaskTime)> =
                shares.iter().map(|_| self.period_and_deadline(period, &mut numbers)).collect();
            let periods: Vec<TaskTime> = drawn.iter().map(|(period, _)| *period).collect();
            for ((period, deadline), wcet) in drawn.into_iter().zip(whole_times(&shares, &periods, permille)) {
                let timing = Timing { wcet, period, deadline };
                set.tasks.push(Task::new(&format!("tau{}", set.tasks.len() + 1), timing, 0, allocation));
            }
        }
        set.reservations = Some(Reservations::proportional(&set, period));
        Some(set)
    }

    fn divide(&self, count: usize, total: f64, numbers: &mut ChaCha8Rng) -> Option<Vec<f64>> {
        match self.utilizations {
            Utilizations::UUniFast => Some(uunifast(count, total, numbers)),
            Utilizations::UUniFastDiscard => uunifast_discard(count, total, numbers),
            Utilizations::RandFixedSum => (total <= count as f64).then(|| rand_fixed_sum(count, total, numbers)),
        }
    }

    fn reservation_period(&self, numbers: &mut ChaCha8Rng) -> TaskTime {
        match (&self.periods, self.reservation) {
            (Periods::List(list) | Periods::Harmonic(list), ReservationPeriod::Drawn) => pick(list, numbers),
            (Periods::LogUniform(least, most), ReservationPeriod::Drawn) => log_uniform(*least, *most, numbers),
            (Periods::List(list) | Periods::Harmonic(list), ReservationPeriod::Shortest) => {
                list.iter().copied().min().unwrap_or(TaskTime::UNIT).clamp(TaskTime::UNIT, MAX_TIME)
            }
            (Periods::LogUniform(least, _), ReservationPeriod::Shortest) => (*least).clamp(TaskTime::UNIT, MAX_TIME),
            (_, ReservationPeriod::Fixed(period)) => period.clamp(TaskTime::UNIT, MAX_TIME),
        }
    }

    fn period_and_deadline(&self, reservation: TaskTime, numbers: &mut ChaCha8Rng) -> (TaskTime, TaskTime) {
        let period = match &self.periods {
            Periods::List(list) => pick(list, numbers),
            Periods::Harmonic(list) => {
                let harmonic: Vec<TaskTime> = list
                    .iter()
                    .copied()
                    .filter(|period| period.is_multiple_of(reservation) || reservation.is_multiple_of(*period))
                    .collect();
                pick(&harmonic, numbers)
            }
            Periods::LogUniform(least, most) => log_uniform(*least, *most, numbers),
        };
        let shortest = (period.units() * u64::from(self.deadline_percent.min(100))).div_ceil(100).max(1);
        (period, TaskTime::from_units(numbers.random_range(shortest..=period.units())))
    }
}

/// One of a list, uniformly; 1 if it is empty.
fn pick(list: &[TaskTime], numbers: &mut ChaCha8Rng) -> TaskTime {
    if list.is_empty() {
        TaskTime::UNIT
    } else {
        list[numbers.random_range(0..list.len())].clamp(TaskTime::UNIT, MAX_TIME)
    }
}

fn log_uniform(least: TaskTime, most: TaskTime, numbers: &mut ChaCha8Rng) -> TaskTime {
    let (least, most) = (least.clamp(TaskTime::UNIT, MAX_TIME), most.clamp(TaskTime::UNIT, MAX_TIME));
    let exponent = numbers.random::<f64>() * (most.max(least).as_f64() / least.as_f64()).ln();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 2^48")]
    let steps = exponent.exp().round().max(1.0) as u64;
    (steps * least).min(MAX_TIME)
}
