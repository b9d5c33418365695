//! Comparing sums of fractions exactly.

use std::cmp::Ordering;

use num_integer::gcd;

/// A sum of fractions between two bounds, in units of 2^-32.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bounds {
    pub(super) low: u128,
    pub(super) high: u128,
}

/// One fraction in units of 2^-32, rounded down and up.
pub(super) fn scaled(numerator: u128, denominator: u64) -> Bounds {
    if let Some(small) = u64::try_from(numerator).ok().filter(|&small| small < 1 << 31) {
        let shifted = small << 32;
        let low = shifted / denominator;
        let high = low + u64::from(low * denominator != shifted);
        return Bounds { low: u128::from(low), high: u128::from(high) };
    }
    let denominator = u128::from(denominator);
    let (whole, rest) = (numerator / denominator, (numerator % denominator) << 32);
    // Numerators are below 2^96, so the shifted whole part may not fit; a bound that high is never close to anything.
    let whole = whole.checked_mul(1 << 32).unwrap_or(u128::MAX >> 8);
    Bounds { low: whole + rest / denominator, high: whole + rest.div_ceil(denominator) }
}

/// The sum of numerator / denominator, between bounds.
pub(super) fn sum(parts: impl Iterator<Item = (u128, u64)>) -> Bounds {
    parts.fold(Bounds::default(), |sum, (numerator, denominator)| {
        let part = scaled(numerator, denominator);
        Bounds { low: sum.low.saturating_add(part.low), high: sum.high.saturating_add(part.high) }
    })
}

/// Compares two sums of fractions (numerator, denominator), each denominator at least 1.
///
/// Almost always 32 fractional bits decide; else the sums are compared exactly. `None` if they agree in 32 bits and the
/// exact common denominator does not fit 128 bits.
pub(crate) fn compare_utilization(
    left: impl Iterator<Item = (u128, u64)> + Clone,
    right: impl Iterator<Item = (u128, u64)> + Clone,
) -> Option<Ordering> {
    let (l, r) = (sum(left.clone()), sum(right.clone()));
    if l.low > r.high {
        return Some(Ordering::Greater);
    }
    if l.high < r.low {
        return Some(Ordering::Less);
    }
    let (left, right) = (exact(left)?, exact(right)?);
    Some(left.0.checked_mul(right.1)?.cmp(&right.0.checked_mul(left.1)?))
}

/// The sum as one reduced fraction.
fn exact(parts: impl Iterator<Item = (u128, u64)>) -> Option<(u128, u128)> {
    let (mut numerator, mut denominator) = (0_u128, 1_u128);
    for (n, d) in parts {
        let d = u128::from(d);
        let common = gcd(denominator, d);
        numerator = numerator.checked_mul(d / common)?.checked_add(n.checked_mul(denominator / common)?)?;
        denominator = denominator.checked_mul(d / common)?;
        let common = gcd(numerator, denominator);
        (numerator, denominator) = (numerator / common, denominator / common);
    }
    Some((numerator, denominator))
}
