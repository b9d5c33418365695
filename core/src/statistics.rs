//! What samples say: means and spreads, shares, percentiles, and confidence intervals.

use serde::Serialize;

use crate::proven::Proven;

/// Mean and spread of one quantity over the samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Statistic {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the samples.
    pub deviation: f64,
    /// The smallest sample.
    pub least: f64,
    /// The largest sample.
    pub most: f64,
}

impl Statistic {
    /// Of these samples; all 0 if there are none.
    pub fn of(samples: &[f64]) -> Self {
        let mut moments = Moments::default();
        for sample in samples {
            moments.add(*sample);
        }
        moments.statistic()
    }
}

/// Mean and spread of samples that come one by one (B. P. Welford, "Note on a method for calculating corrected sums of
/// squares and products", Technometrics 4, 1962): exact enough for any number of them, and nothing is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(hidden)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
    least: f64,
    most: f64,
}

impl Default for Moments {
    fn default() -> Self {
        Self { count: 0, mean: 0.0, squares: 0.0, least: f64::INFINITY, most: f64::NEG_INFINITY }
    }
}

impl Moments {
    #[doc(hidden)]
    pub fn add(&mut self, sample: f64) {
        self.count += 1;
        let before = sample - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (sample - self.mean);
        self.least = self.least.min(sample);
        self.most = self.most.max(sample);
    }

    /// How many were added.
    #[doc(hidden)]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Of what was added; all 0 if nothing was.
    #[doc(hidden)]
    pub fn statistic(&self) -> Statistic {
        if self.count == 0 {
            return Statistic { mean: 0.0, deviation: 0.0, least: 0.0, most: 0.0 };
        }
        let deviation = if self.count > 1 { (self.squares / (self.count - 1) as f64).sqrt() } else { 0.0 };
        Statistic { mean: self.mean, deviation, least: self.least, most: self.most }
    }

    /// The mean of what was added, as what samples say.
    pub fn measure(&self) -> Measure {
        Measure::Mean { statistic: self.statistic(), count: self.count }
    }
}

/// What samples say of one quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// So many of so many samples.
    Share {
        /// How many.
        count: u64,
        /// Of how many.
        of: u64,
    },
    /// So many of the parts of runs that are independent, while the parts of one run are not: jobs that miss deadlines.
    PartsOfRuns(PartsOfRuns),
    /// A number that each sample has.
    Mean {
        /// Mean and spread.
        statistic: Statistic,
        /// How many samples.
        count: u64,
    },
    /// The largest value of any sample, of which nothing can be said beyond the samples.
    Largest(f64),
}

/// What runs had of something, and how many of it were of some kind, one run after the other. The sums are exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartsOfRuns {
    runs: u64,
    count: u64,
    of: u64,
    count_squares: u128,
    products: u128,
    of_squares: u128,
}

impl PartsOfRuns {
    /// Adds a run with `count` of `of` parts.
    #[doc(hidden)]
    pub fn add(&mut self, count: u64, of: u64) {
        self.runs += u64::from(of > 0);
        self.count += count;
        self.of += of;
        let [count, of] = [count, of].map(u128::from);
        self.count_squares += count * count;
        self.products += count * of;
        self.of_squares += of * of;
    }

    /// How many runs had any of the parts, how many parts were of the kind, and how many there were.
    #[doc(hidden)]
    pub fn sums(&self) -> (u64, u64, u64) {
        (self.runs, self.count, self.of)
    }

    /// Wilson's interval for as many independent parts as would spread as much as the runs do (W. G. Cochran, "Sampling
    /// techniques", 1977, 6.3, is the variance of the ratio of two sums; L. Kish, "Survey sampling", 1965, 8.2, the
    /// number of parts that it is worth), with Student's quantile. Where no part of any run, or each, is of the kind,
    /// nothing spreads, and a run counts as one part.
    fn interval(&self) -> Option<(f64, f64)> {
        if self.runs < 3 {
            return None;
        }
        let (runs, of) = (self.runs as f64, self.of as f64);
        let share = self.count as f64 / of;
        if self.count == 0 || self.count == self.of {
            return Some(wilson(share, runs));
        }
        let [count_squares, products, of_squares] =
            [self.count_squares, self.products, self.of_squares].map(|sum| sum as f64);
        let residuals = (count_squares - 2.0 * share * products + share * share * of_squares).max(0.0);
        let variance = runs / (runs - 1.0) * residuals / (of * of);
        let worth = share * (1.0 - share) / variance * (Z / student(self.runs - 1)).powi(2);
        // Runs that are all alike: below what the sums round to.
        Some(if residuals <= 1e-9 * count_squares { (share, share) } else { wilson(share, worth) })
    }
}

/// Two-sided quantile of the normal distribution for 95 %.
const Z: f64 = 1.959_963_984_540_054;

impl Measure {
    /// The value: a share from 0 to 1, a mean, or a maximum; `None` without samples.
    pub fn value(&self) -> Option<f64> {
        match *self {
            Self::Share { count, of } | Self::PartsOfRuns(PartsOfRuns { count, of, .. }) => {
                (of > 0).then(|| count as f64 / of as f64)
            }
            Self::Mean { statistic, count } => (count > 0).then_some(statistic.mean),
            Self::Largest(value) => Some(value),
        }
    }

    /// Whether the value is a share.
    #[doc(hidden)]
    pub fn is_share(&self) -> bool {
        matches!(self, Self::Share { .. } | Self::PartsOfRuns(_))
    }

    /// The 95 % confidence interval of the share or mean.
    ///
    /// For shares Wilson's score interval, which holds near 0 and 1 too (E. B. Wilson, "Probable inference, the law of
    /// succession, and statistical inference", J. Am. Stat. Assoc. 22, 1927); for parts of runs over the runs,
    /// from 3 of them; for means Student's, from 3 samples.
    pub fn interval(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Share { count, of } => (of > 0).then(|| wilson(count as f64 / of as f64, of as f64)),
            Self::PartsOfRuns(parts) => parts.interval(),
            Self::Mean { statistic, count } if count >= 3 => {
                let half = student(count - 1) * statistic.deviation / (count as f64).sqrt();
                Some((statistic.mean - half, statistic.mean + half))
            }
            Self::Mean { .. } | Self::Largest(_) => None,
        }
    }
}

/// Of a share `p` of `n` samples.
fn wilson(p: f64, n: f64) -> (f64, f64) {
    let shrink = 1.0 + Z * Z / n;
    let middle = (p + Z * Z / (2.0 * n)) / shrink;
    let half = Z / shrink * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    // Exactly 0 and 1 at the ends, which rounding would miss.
    let low = if p <= 0.0 { 0.0 } else { middle - half };
    let high = if p >= 1.0 { 1.0 } else { middle + half };
    (low, high)
}

/// Two-sided 95 % quantile of Student's distribution, to 1 % from 2 degrees of freedom: Abramowitz and Stegun,
/// "Handbook of Mathematical Functions", 1964, 26.7.5.
fn student(freedom: u64) -> f64 {
    let (z, v) = (Z, freedom as f64);
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
        (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1_482.0 * z.powi(5) - 1_920.0 * z.powi(3) - 945.0 * z) / 92_160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / v) + z
}

/// The smallest of `sorted` values that at least `percent` of 100 of them do not exceed; `None` if there are none.
#[doc(hidden)]
pub fn nearest_rank<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    sorted.get(usize::try_from(rank(sorted.len() as u64, percent)).ok()? - 1).copied()
}

/// How many of so many values are at most the smallest that `percent` of 100 of them do not exceed, if all differ; at
/// least one.
#[doc(hidden)]
pub fn rank(values: u64, percent: usize) -> u64 {
    let rank = (u128::from(values) * percent.min(100) as u128).div_ceil(100).max(1);
    u64::try_from(rank).proven("no more than the values, or one")
}

/// The middle one of `sorted` values, the upper of two; `None` if there are none. For a time that is to stand for all
/// of them, where rather too long is safer than too short.
#[doc(hidden)]
pub fn upper_median<T: Copy>(sorted: &[T]) -> Option<T> {
    sorted.get(sorted.len() / 2).copied()
}

/// Pearson's correlation of pairs of samples; `None` where one side is always the same.
#[doc(hidden)]
pub fn correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    let pairs = || one.iter().zip(other);
    let count = pairs().count() as f64;
    let (mean, other_mean) =
        (pairs().map(|(x, _)| x).sum::<f64>() / count, pairs().map(|(_, y)| y).sum::<f64>() / count);
    let sum = |part: fn(f64, f64) -> f64| pairs().map(|(x, y)| part(x - mean, y - other_mean)).sum::<f64>();
    let (squares, other_squares) = (sum(|x, _| x * x), sum(|_, y| y * y));
    let deviations = (squares * other_squares).sqrt();
    (deviations > 0.0).then(|| sum(|x, y| x * y) / deviations)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64, by: f64) {
        assert!((one - other).abs() <= by, "{one} is not {other}");
    }

    #[test]
    fn wilson_intervals_are_those_of_newcombe_1998() {
        // R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Stat. Med. 17, 1998, Table I,
        // method 3.
        for (count, of, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
        {
            let (found_low, found_high) = wilson(f64::from(count) / f64::from(of), f64::from(of));
            near(found_low, low, 5e-5);
            near(found_high, high, 5e-5);
        }
        assert_eq!(wilson(1.0, 7.0).1.to_bits(), 1.0_f64.to_bits());
    }

    fn parts(runs: impl IntoIterator<Item = (u64, u64)>) -> (f64, f64) {
        let mut parts = PartsOfRuns::default();
        runs.into_iter().for_each(|(count, of)| parts.add(count, of));
        Measure::PartsOfRuns(parts).interval().unwrap_or((f64::NAN, f64::NAN))
    }

    #[test]
    fn parts_of_runs_are_as_sure_as_the_runs_are_alike() {
        // By hand: residuals 0, 1 and -1 of 8 parts, variance 3/64, worth 16/3 parts less Student's (1.960/4.303)^2.
        let (low, high) = parts([(1, 2), (3, 4), (0, 2)]);
        near(low, 0.059, 0.005);
        near(high, 0.941, 0.005);
        // 50 runs that do not differ.
        let share = 8.0 / 21.0;
        assert_eq!(parts([(8, 21); 50]), (share, share));
        // Runs of one part each are independent parts.
        let (low, high) = parts((0..100).map(|run| (u64::from(run % 10 < 3), 1)));
        let (expected_low, expected_high) = wilson(0.3, 100.0);
        near(low, expected_low, 0.002);
        near(high, expected_high, 0.002);
        // Of none in any of 20 runs Newcombe's 0 of 20, however many parts a run has.
        near(parts([(0, 1_000); 20]).1, 0.1611, 5e-5);
        assert!(parts([(1, 2), (0, 2)]).0.is_nan(), "two runs say nothing");
    }

    #[test]
    fn the_nearest_rank_is_the_lower_of_two_middle_values_and_the_upper_median_the_upper() {
        assert_eq!((nearest_rank(&[1, 2], 50), upper_median(&[1, 2])), (Some(1), Some(2)));
        assert_eq!((nearest_rank(&[1, 2, 3], 50), upper_median(&[1, 2, 3])), (Some(2), Some(2)));
        assert_eq!([25, 26, 100].map(|percent| nearest_rank(&[1, 2, 3, 4], percent)), [Some(1), Some(2), Some(4)]);
        assert_eq!((nearest_rank::<u64>(&[], 50), upper_median::<u64>(&[])), (None, None));
    }

    #[test]
    fn student_quantiles_are_those_of_printed_tables() {
        for (freedom, quantile) in [(2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (29, 2.045), (100, 1.984)] {
            near(student(freedom), quantile, 0.01 * quantile);
        }
    }

    #[test]
    fn correlation_is_one_along_a_line_and_none_of_what_is_always_the_same() {
        near(correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]).expect("they vary"), 1.0, 1e-12);
        near(correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]).expect("they vary"), -1.0, 1e-12);
        // Deviations -1, 0, 1 and -1, 2, -1: they are at right angles.
        near(correlation(&[1.0, 2.0, 3.0], &[0.0, 3.0, 0.0]).expect("they vary"), 0.0, 1e-12);
        assert_eq!(correlation(&[1.0, 2.0], &[5.0, 5.0]), None);
    }
}
