//! `UUniFast`: utilizations with a given sum, uniform over all such vectors.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Vectors drawn before UUniFast-Discard gives up.
const MAX_DRAWS: u32 = 100_000;

/// `n` utilizations that add up to `total` (Bini and Buttazzo, "Measuring the Performance of Schedulability Tests",
/// Real-Time Systems 30, 2005). For `total` above 1 single ones may exceed 1; see `uunifast_discard`.
pub(crate) fn uunifast(n: usize, total: f64, numbers: &mut ChaCha8Rng) -> Vec<f64> {
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
