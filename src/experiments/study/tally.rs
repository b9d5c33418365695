//! What the rows of a point add up to, with confidence intervals.

use crate::experiments::evr::Statistic;

/// Sums up rows of one point, in their order.
pub trait Tally: Send {
    /// Adds a row; `None` if its values are not those of the command.
    fn add(&mut self, samples: u64, values: &str) -> Option<()>;

    /// What came out, by name. The names are the same for every point.
    fn measures(&self) -> Vec<(&'static str, Measure)>;
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

/// Two-sided quantile of the normal distribution for 95 %.
const Z: f64 = 1.959_963_984_540_054;

impl Measure {
    /// The value: a share from 0 to 1, a mean, or a maximum; `None` without samples.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        match *self {
            Self::Share { count, of } => (of > 0).then(|| count as f64 / of as f64),
            Self::Mean { statistic, count } => (count > 0).then_some(statistic.mean),
            Self::Largest(value) => Some(value),
        }
    }

    /// The 95 % confidence interval of the share or mean.
    ///
    /// For shares Wilson's score interval, which holds near 0 and 1 too (E. B. Wilson, "Probable inference, the law of
    /// succession, and statistical inference", J. Am. Stat. Assoc. 22, 1927); for means Student's, from 3 samples.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Share { count, of } => (of > 0).then(|| wilson(count, of)),
            Self::Mean { statistic, count } if count >= 3 => {
                let half = student(count - 1) * statistic.deviation / (count as f64).sqrt();
                Some((statistic.mean - half, statistic.mean + half))
            }
            Self::Mean { .. } | Self::Largest(_) => None,
        }
    }
}

fn wilson(count: u64, of: u64) -> (f64, f64) {
    let (n, p) = (of as f64, count as f64 / of as f64);
    let shrink = 1.0 + Z * Z / n;
    let middle = (p + Z * Z / (2.0 * n)) / shrink;
    let half = Z / shrink * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    // Exactly 0 and 1 at the ends, which rounding would miss.
    let low = if count == 0 { 0.0 } else { middle - half };
    let high = if count == of { 1.0 } else { middle + half };
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
            let (found_low, found_high) = wilson(count, of);
            near(found_low, low, 5e-5);
            near(found_high, high, 5e-5);
        }
        assert_eq!(wilson(7, 7).1.to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn student_quantiles_are_those_of_printed_tables() {
        for (freedom, quantile) in [(2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (29, 2.045), (100, 1.984)] {
            near(student(freedom), quantile, 0.01 * quantile);
        }
    }
}
