//! How long the rows of a study still take, whatever those that were computed first took.

use std::time::Duration;

/// Rows that are computed before the others, at most. What is ended before they are handed over computes them again.
const MOST_AHEAD: u64 = 64;
/// And at most one of so many.
const LEAST_STRETCH: u64 = 10;

/// How many rows follow one another of which one is computed ahead.
fn stretch(rows: u64) -> u64 {
    rows.div_ceil(MOST_AHEAD).max(LEAST_STRETCH)
}

/// In which order rows are computed.
#[derive(Debug)]
pub(super) struct Order {
    stretch: u64,
    /// The stretches of which one row is computed ahead, in the order in which that is done.
    ahead: Vec<u64>,
}

impl Order {
    pub(super) const AS_THEY_STAND: Self = Self { stretch: LEAST_STRETCH, ahead: Vec::new() };

    /// First the middle row of each stretch, the halves, quarters and so on of all of them in turns, then all others.
    pub(super) fn spread(rows: u64) -> Self {
        let stretch = stretch(rows);
        let mut ahead: Vec<u64> = (0..rows / stretch).collect();
        ahead.sort_unstable_by_key(|number| number.reverse_bits());
        Self { stretch, ahead }
    }

    fn in_turn(&self, turn: u64) -> Option<u64> {
        self.ahead.get(usize::try_from(turn).ok()?).copied()
    }

    /// Whether what is computed in turn number `turn` is ahead of others.
    pub(super) fn is_ahead(&self, turn: u64) -> bool {
        self.in_turn(turn).is_some()
    }

    /// The row that is computed in turn number `turn`. Behind the last turn it is a row behind the last.
    pub(super) fn row(&self, turn: u64) -> u64 {
        let (middle, stretches) = (self.stretch / 2, self.ahead.len() as u64);
        if let Some(number) = self.in_turn(turn) {
            return number * self.stretch + middle;
        }
        let turn = turn - stretches;
        let number = (turn / (self.stretch - 1)).min(stretches);
        let within = turn - number * (self.stretch - 1);
        let is_behind = number < stretches && within >= middle;
        number * self.stretch + within + u64::from(is_behind)
    }
}

/// What rows took that were computed, by stretch: those of one are mostly of one point, and take about as long as each
/// other.
#[derive(Debug)]
pub(super) struct Forecast {
    rows: u64,
    stretch: u64,
    /// Of each, rows that were computed, and what they took together \[s\]. The last one goes on to the end.
    computed: Vec<(u64, f64)>,
}

impl Forecast {
    /// Of so many rows none has been computed.
    pub(super) fn new(rows: u64) -> Self {
        let stretch = stretch(rows);
        let stretches = (0..(rows / stretch).max(1)).map(|_| (0, 0.0)).collect();
        Self { rows, stretch, computed: stretches }
    }

    /// A row was computed in so much time.
    pub(super) fn add(&mut self, row: u64, time: Duration) {
        let last = self.computed.len() - 1;
        let number = usize::try_from(row / self.stretch).map_or(last, |number| number.min(last));
        let (rows, seconds) = &mut self.computed[number];
        *rows += 1;
        *seconds += time.as_secs_f64();
    }

    /// How long all others still take, if those that were computed came one after the other or side by side within
    /// `elapsed`, and the others do as they did.
    pub(super) fn left(&self, elapsed: Duration) -> Duration {
        let (computed, spent) = self.computed.iter().fold((0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let mean = |(rows, seconds): (u64, f64)| seconds / rows.max(1) as f64;
        let (mut left, mut before) = (0.0, 0);
        for (index, &one) in self.computed.iter().enumerate() {
            let end = if index + 1 == self.computed.len() { self.rows } else { before + self.stretch };
            let of_each = if one.0 > 0 { mean(one) } else { mean((computed, spent)) };
            left += (end - before).saturating_sub(one.0) as f64 * of_each;
            before = end;
        }
        Duration::try_from_secs_f64(left * elapsed.as_secs_f64() / spent).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::experiments::study::compute::{Experiment, Layout, Shard, Work, Worker};

    #[test]
    fn every_row_has_its_turn_and_a_tenth_at_most_is_ahead() {
        for rows in (0..200).chain([639, 640, 641, 4_321]) {
            let order = Order::spread(rows);
            let mut all: Vec<u64> = (0..rows).map(|turn| order.row(turn)).collect();
            let ahead = (0..rows).take_while(|&turn| order.is_ahead(turn)).count();
            assert!(ahead as u64 <= MOST_AHEAD.min(rows / LEAST_STRETCH), "{ahead} of {rows}");
            assert!(all[ahead..].is_sorted(), "{rows}");
            all.sort_unstable();
            assert!(all.into_iter().eq(0..rows), "{rows}");
            assert!(order.row(rows) >= rows && order.row(rows + 5) >= rows, "{rows}");
            assert_eq!(Order::AS_THEY_STAND.row(rows), rows);
        }
    }

    /// Rows that take so long by a clock of their own \[us\].
    struct Slow<'a> {
        costs: &'a [u64],
        clock: &'a AtomicU64,
    }

    impl Experiment for Slow<'_> {
        fn worker(&self) -> Worker<'_> {
            Box::new(|_, samples| {
                let cost = usize::try_from(samples.start).ok().and_then(|sample| self.costs.get(sample));
                self.clock.fetch_add(*cost.ok_or("no such sample")?, Ordering::Relaxed);
                Ok(String::new())
            })
        }
    }

    /// After a tenth of the rows, how much longer it takes than is told then.
    fn error_after_a_tenth(costs: &[u64]) -> f64 {
        let clock = AtomicU64::new(7);
        let now = || Duration::from_micros(clock.load(Ordering::Relaxed));
        let told = Mutex::new(Vec::new());
        let note = |_, left| told.lock().expect("nobody panics").push(now() + left);
        let layout = Layout { points: 1, samples: costs.len() as u64, per_row: 1 };
        let experiment = Slow { costs, clock: &clock };
        let work = Work { experiment: &experiment, layout, shard: Shard::WHOLE, done: 0 };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let run = || work.run_watched(&now, &note, |_| Ok(()));
        assert!(pool.install(run).expect("it runs"));
        let told = told.into_inner().expect("nobody panics");
        assert_eq!((told.len(), told.last().copied()), (costs.len(), Some(now())));
        now().as_secs_f64() / told[costs.len() / 10 - 1].as_secs_f64()
    }

    #[test]
    fn after_a_tenth_of_the_work_it_is_known_within_a_factor_of_one_and_a_half_how_long_it_takes() {
        for seed in 0..40 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            // From 1 to 100 ms, as many of each decade.
            let mut costs: Vec<u64> =
                (0..600).map(|_| 1_000 * 10_u64.pow(random.random_range(0..2)) * random.random_range(1..=10)).collect();
            costs.shuffle(&mut random);
            let shuffled = error_after_a_tenth(&costs);
            costs.sort_unstable();
            let rising = error_after_a_tenth(&costs);
            costs.reverse();
            let falling = error_after_a_tenth(&costs);
            for (order, error) in [("shuffled", shuffled), ("rising", rising), ("falling", falling)] {
                assert!((1.0 / 1.5..1.5).contains(&error), "seed {seed}, {order}: {error}");
            }
        }
    }
}
