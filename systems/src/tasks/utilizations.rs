//! Dividing a utilization among tasks: real shares with a given sum (`UUniFast`, `RandFixedSum`), and the whole
//! execution times that come closest to them.

use num_integer::gcd;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::task_time::{TaskTime, common_multiple};

/// Vectors drawn before UUniFast-Discard gives up.
const MAX_DRAWS: u32 = 100_000;

/// `n` utilizations that add up to `total` (Bini and Buttazzo, "Measuring the Performance of Schedulability Tests",
/// Real-Time Systems 30, 2005). For `total` above 1 single ones may exceed 1; see `uunifast_discard`.
pub fn uunifast(n: usize, total: f64, numbers: &mut ChaCha8Rng) -> Vec<f64> {
    let mut utilizations = Vec::with_capacity(n);
    let mut rest = total;
    for left in (1..n).rev() {
        let next = rest * numbers.random::<f64>().powf(1.0 / left as f64);
        utilizations.push(rest - next);
        rest = next;
    }
    if n > 0 {
        utilizations.push(rest);
    }
    utilizations
}

/// The same, drawn again until none exceeds 1 (Davis and Burns, "Improved Priority Assignment for Global Fixed
/// Priority Pre-emptive Scheduling in Multiprocessor Real-Time Systems", Real-Time Systems 47, 2011). `None` if
/// 100,000 draws did not give one.
pub(crate) fn uunifast_discard(n: usize, total: f64, numbers: &mut ChaCha8Rng) -> Option<Vec<f64>> {
    if total > n as f64 {
        return None;
    }
    (0..MAX_DRAWS).map(|_| uunifast(n, total, numbers)).find(|drawn| drawn.iter().all(|&share| share <= 1.0))
}

/// `n` utilizations in [0, 1] that add up to `total`, 0 <= `total` <= `n` (Stafford's algorithm, as Emberson, Stafford
/// and Davis describe it in "Techniques for the Synthesis of Multiprocessor Tasksets", WATERS 2010).
///
/// The polytope is cut into simplexes by how many coordinates are passed on the way; a table holds the relative volumes
/// of those cuts, by which a walk from (n, k) down to (1, 1) chooses the simplex, and each step draws one coordinate.
pub(crate) fn rand_fixed_sum(n: usize, total: f64, numbers: &mut ChaCha8Rng) -> Vec<f64> {
    if n == 0 {
        return Vec::new();
    }
    let total = total.clamp(0.0, n as f64);
    // The cube corner layer in which the sum lies: k <= total <= k + 1.
    let k = (0..n - 1).find(|&k| total <= (k + 1) as f64).unwrap_or(n - 1);
    let turn_left = turns(n, total, k);

    let mut utilizations = vec![0.0; n];
    let (mut sum, mut product, mut rest) = (0.0, 1.0, total);
    let mut layer = k + 1;
    for row in (1..n).rev() {
        // In the lowest layer the probability is 0, but for rounding.
        let goes_left = numbers.random::<f64>() <= turn_left[row - 1][layer - 1] && layer > 1;
        let step = numbers.random::<f64>().powf(1.0 / row as f64);
        sum += (1.0 - step) * product * rest / (row + 1) as f64;
        product *= step;
        utilizations[n - row - 1] = sum + product * f64::from(u8::from(goes_left));
        if goes_left {
            rest -= 1.0;
            layer -= 1;
        }
    }
    utilizations[n - 1] = sum + product * rest;
    shuffle(&mut utilizations, numbers);
    utilizations
}

/// For each dimension and layer, the probability of passing a unit coordinate.
fn turns(n: usize, total: f64, k: usize) -> Vec<Vec<f64>> {
    let below: Vec<f64> = (0..n).map(|i| total - (k as f64 - i as f64)).collect();
    let above: Vec<f64> = (0..n).map(|i| (k + n) as f64 - i as f64 - total).collect();
    let mut volumes = vec![0.0; n + 1];
    volumes[1] = f64::MAX;
    let mut turns = vec![vec![0.0; n]; n - 1];
    for row in 2..=n {
        let mut next = vec![0.0; n + 1];
        for layer in 1..=row {
            let left = volumes[layer] * below[layer - 1] / row as f64;
            let right = volumes[layer - 1] * above[n - row + layer - 1] / row as f64;
            next[layer] = left + right;
            let whole = left + right + f64::MIN_POSITIVE;
            turns[row - 2][layer - 1] =
                if above[n - row + layer - 1] > below[layer - 1] { right / whole } else { 1.0 - left / whole };
        }
        volumes = next;
    }
    turns
}

/// Fisher and Yates.
fn shuffle(values: &mut [f64], numbers: &mut ChaCha8Rng) {
    for last in (1..values.len()).rev() {
        values.swap(last, numbers.random_range(0..=last));
    }
}

/// Residues tried for one task, at most.
const MAX_TRIED: u64 = 1_000;

/// C of each task, from its period and its share of the processor: whole, at least 1, close to share times period, and
/// together of utilization `permille` / 1000.
///
/// Rounding each C by itself would miss that by up to half a unit a task, and where all of the processor is asked for,
/// half of the sets would then be impossible. So what is missing, a whole number of units of 1 / H for the hyperperiod
/// H, is made up by a few units of C of the tasks with the shortest periods, as many as leave what those with longer
/// periods can make up. If that is not possible with every C at least 1, or H does not fit 62 bits, the task with the
/// longest period that can takes what is left, rounded down: the utilization is then as close below as one unit of its
/// C.
pub(super) fn whole_times(shares: &[f64], periods: &[TaskTime], permille: u32) -> Vec<TaskTime> {
    let periods: Vec<u64> = periods.iter().map(|period| period.units()).collect();
    units(shares, &periods, permille).into_iter().map(TaskTime::from_units).collect()
}

/// The same in units, which are divided and drawn here as numbers.
fn units(shares: &[f64], periods: &[u64], permille: u32) -> Vec<u64> {
    let rounded: Vec<u64> = shares.iter().zip(periods).map(|(share, &period)| nearest(share * period as f64)).collect();
    let Some(end) = common_multiple(periods.iter().copied()) else {
        return with_the_rest_in_the_longest(rounded, periods, f64::from(permille) / 1000.0);
    };
    let units: Vec<u64> = periods.iter().map(|period| end / period).collect();
    // Up to 2^62 times 1000.
    let target = u128::from(end) * u128::from(permille) / 1000;
    let used: u128 = rounded.iter().zip(&units).map(|(&wcet, &unit)| u128::from(wcet) * u128::from(unit)).sum();
    let Some(missing) = i128::try_from(target).ok().zip(i128::try_from(used).ok()).map(|(target, used)| target - used)
    else {
        return rounded;
    };
    exact(&rounded, &units, missing).unwrap_or_else(|| {
        let mut times = rounded;
        let mut by_unit: Vec<(&mut u64, u64)> = times.iter_mut().zip(units.iter().copied()).collect();
        crate::sorted::sort_by_key(&mut by_unit, |(_, unit)| *unit);
        for (wcet, unit) in by_unit {
            if let Some(enough) = changed(*wcet, missing.div_euclid(unit.into())) {
                *wcet = enough;
                break;
            }
        }
        times
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1, and periods are up to 2^48")]
fn nearest(time: f64) -> u64 {
    time.round().max(1.0) as u64
}

/// A time with some units more or fewer, if at least 1 is left.
fn changed(wcet: u64, units: i128) -> Option<u64> {
    u64::try_from(i128::from(wcet) + units).ok().filter(|&wcet| wcet > 0)
}

/// The times changed by whole units so that together they make up what is missing.
fn exact(times: &[u64], units: &[u64], mut missing: i128) -> Option<Vec<u64>> {
    let mut order: Vec<usize> = (0..units.len()).collect();
    crate::sorted::sort_by_key(&mut order, |&index| std::cmp::Reverse(units[index]));
    let mut times = times.to_vec();
    for (place, &index) in order.iter().enumerate() {
        let unit = i128::from(units[index]);
        // What the tasks after this one can make up are the multiples of this; 0 if there are none.
        let rest = i128::from(order[place + 1..].iter().fold(0, |common, &other| gcd(common, units[other])));
        let fits = |by: i128| {
            let left = missing - by * unit;
            let can_be_left = if rest == 0 { left == 0 } else { left % rest == 0 };
            can_be_left.then(|| changed(times[index], by)).flatten().map(|wcet| (wcet, left))
        };
        let (wcet, left) = if rest == 0 {
            fits(missing / unit)?
        } else {
            let tried = i128::from(MAX_TRIED).min(rest);
            (0..=tried).flat_map(|by| [by, -by]).find_map(fits)?
        };
        times[index] = wcet;
        missing = left;
    }
    (missing == 0).then_some(times)
}

/// The same where fractions have no common denominator that fits.
fn with_the_rest_in_the_longest(mut times: Vec<u64>, periods: &[u64], utilization: f64) -> Vec<u64> {
    let Some(longest) = (0..periods.len()).max_by_key(|&index| periods[index]) else { return times };
    let of_others: f64 =
        (0..periods.len()).filter(|&index| index != longest).map(|i| times[i] as f64 / periods[i] as f64).sum();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least 1, and periods are up to 2^48"
    )]
    let rest = ((utilization - of_others) * periods[longest] as f64).floor().max(1.0) as u64;
    times[longest] = rest;
    times
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PERIODS: [u64; 12] =
        [10_000, 15_000, 20_000, 25_000, 30_000, 40_000, 50_000, 60_000, 75_000, 100_000, 120_000, 150_000];

    /// Utilization in units of 1 / 600,000.
    fn load(times: &[u64], periods: &[u64]) -> u64 {
        times.iter().zip(periods).map(|(wcet, period)| wcet * (600_000 / period)).sum()
    }

    #[test]
    fn a_unit_of_one_task_makes_up_for_two_of_another() {
        // 1/3 and 1/6 of 0.5 are 3333.3 and 2500 (units of 1/30,000: 3 and 2): 3333 * 3 + 2500 * 2 = 14,999.
        // One unit is missing: one more of the first, one less of the second.
        assert_eq!(units(&[1.0 / 3.0, 1.0 / 6.0], &[10_000, 15_000], 500), [3334, 2499]);
        assert_eq!(units(&[0.25, 0.25], &[10_000, 10_000], 500), [2500, 2500]);
        assert_eq!(units(&[], &[], 500), [0; 0]);
    }

    #[test]
    fn no_task_gets_less_than_one_unit() {
        // Half a unit each of two that cannot have less than one.
        assert_eq!(units(&[0.0005, 0.0005], &[1_000, 1_000], 1), [1, 1]);
        assert_eq!(units(&[1e-9, 0.5], &[10_000, 15_000], 500), [2, 7497]);
    }

    proptest! {
        #[test]
        fn utilization_is_what_was_asked_for(
            parts in prop::collection::vec((0..12_usize, 0.1..1.0_f64), 1..6), permille in 300..1_001_u32,
        ) {
            let total: f64 = parts.iter().map(|part| part.1).sum();
            let asked = f64::from(permille) / 1000.0;
            let shares: Vec<f64> = parts.iter().map(|part| part.1 / total * asked).collect();
            let periods: Vec<u64> = parts.iter().map(|part| PERIODS[part.0]).collect();
            let times = units(&shares, &periods, permille);
            prop_assert_eq!(load(&times, &periods), 600 * u64::from(permille));
            for ((share, period), wcet) in shares.iter().zip(&periods).zip(&times) {
                prop_assert!((share * *period as f64 - *wcet as f64).abs() <= 100.0, "{times:?}");
            }
        }

        #[test]
        fn utilization_is_never_more_than_was_asked_for(
            parts in prop::collection::vec((1_000..1_000_000_000_000_u64, 0.1..1.0_f64), 1..6), permille in 300..1_001_u32,
        ) {
            let total: f64 = parts.iter().map(|part| part.1).sum();
            let asked = f64::from(permille) / 1000.0;
            let shares: Vec<f64> = parts.iter().map(|part| part.1 / total * asked).collect();
            let periods: Vec<u64> = parts.iter().map(|part| part.0).collect();
            let times = units(&shares, &periods, permille);
            let found: f64 = times.iter().zip(&periods).map(|(&wcet, &period)| wcet as f64 / period as f64).sum();
            let longest = periods.iter().copied().max().unwrap_or(1) as f64;
            prop_assert!(found <= asked + 1e-12 && found >= asked - 1.0 / longest - 1e-12, "{found} {asked}");
        }
    }
}
