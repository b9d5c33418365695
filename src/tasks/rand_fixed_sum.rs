//! `RandFixedSum`: utilizations in [0, 1] with a given sum, uniform over all such vectors, also where UUniFast-Discard
//! would discard almost everything.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

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
