//! How many warps one kind of unit serves per cycle.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use num_integer::gcd;

/// The report's sigma of one kind of unit: the number of units divided by the warp size (Berezovskyi, Bletsas and
/// Andersson, "Makespan computation for GPU threads running on a single streaming multiprocessor", HURRAY-TR-120710,
/// 2012, Eq. 1 and 2). 1/n, or any fraction from 1 on.
///
/// 16 load/store units and warps of 32 threads give 1/2: a warp's instruction takes two turns. 48 units give 3/2: a
/// warp needs 32 of them in one cycle, so they serve one warp, and 16 are left over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sigma {
    /// In lowest terms; the numerator is 1 or at least the denominator.
    numerator: NonZeroU32,
    denominator: NonZeroU32,
}

/// A sigma that is zero, no number, or a fraction below 1 that is not one over a whole number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found {found:?}; expected a number from 1, or one over a whole number, such as 2, 3/2, 1/2 or 0.5{hint}")]
pub struct SigmaError {
    found: String,
    hint: &'static str,
}

impl Sigma {
    /// One warp per cycle.
    pub const ONE: Sigma = Sigma { numerator: NonZeroU32::MIN, denominator: NonZeroU32::MIN };

    /// Warps per cycle once fractions below 1 are written as repeated instructions: whole warps, so 1 for 3/2.
    pub fn capacity(self) -> NonZeroU32 {
        NonZeroU32::new(self.numerator.get() / self.denominator.get()).unwrap_or(NonZeroU32::MIN)
    }

    /// How many times an instruction is written: n for 1/n, 1 from 1 on.
    pub fn repetitions(self) -> NonZeroU32 {
        if self.numerator < self.denominator { self.denominator } else { NonZeroU32::MIN }
    }

    /// Whether units are left over that are too few for a warp: above 1 and not whole.
    pub fn has_rest(self) -> bool {
        self.numerator > self.denominator && self.denominator > NonZeroU32::MIN
    }

    /// The report's `ceil(W / sigma)`, with sigma as it stands.
    pub fn rounds(self, warps: u32) -> u64 {
        (u64::from(warps) * u64::from(self.denominator.get())).div_ceil(u64::from(self.numerator.get()))
    }

    fn from_fraction(numerator: u64, denominator: u64) -> Option<Self> {
        let common = gcd(numerator, denominator);
        let lowest = |n: u64| u32::try_from(n.checked_div(common)?).ok().and_then(NonZeroU32::new);
        let sigma = Self { numerator: lowest(numerator)?, denominator: lowest(denominator)? };
        (sigma.numerator == NonZeroU32::MIN || sigma.numerator >= sigma.denominator).then_some(sigma)
    }
}

impl FromStr for Sigma {
    type Err = SigmaError;

    /// Reads `2`, `3/2` or `0.5`.
    fn from_str(text: &str) -> Result<Self, SigmaError> {
        let digits = |part: &str| {
            let plain = !part.is_empty() && part.len() <= 9 && part.bytes().all(|byte| byte.is_ascii_digit());
            if plain { part.parse::<u64>().ok() } else { None }
        };
        let fraction = if let Some((numerator, denominator)) = text.split_once('/') {
            digits(numerator).zip(digits(denominator))
        } else if let Some((whole, decimals)) = text.split_once('.') {
            // At most nine decimals, so neither the power nor the product leaves 64 bits.
            digits(whole).zip(digits(decimals)).and_then(|(units, parts)| {
                let denominator = 10_u64.pow(u32::try_from(decimals.len()).ok()?);
                Some((units * denominator + parts, denominator))
            })
        } else {
            digits(text).map(|whole| (whole, 1))
        };
        let sigma = fraction.and_then(|(numerator, denominator)| Self::from_fraction(numerator, denominator));
        let hint = if text.contains('.') { " (write 1/3 for a third)" } else { "" };
        sigma.ok_or_else(|| SigmaError { found: text.to_owned(), hint })
    }
}

impl fmt::Display for Sigma {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { numerator, denominator } = self;
        if denominator.get() == 1 { write!(out, "{numerator}") } else { write!(out, "{numerator}/{denominator}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigma_is_one_over_a_whole_number_or_any_fraction_from_1_on() {
        for (text, shown) in [
            ("1", "1"),
            ("2/1", "2"),
            ("1/2", "1/2"),
            ("0.5", "1/2"),
            ("2/4", "1/2"),
            ("0.125", "1/8"),
            ("48/32", "3/2"),
            ("1.5", "3/2"),
        ] {
            assert_eq!(text.parse::<Sigma>().map(|sigma| sigma.to_string()).as_deref(), Ok(shown), "{text}");
        }
        for text in ["", "0", "0.0", "0/0", "0/1", "1/0", "2/3", "0.3", "-1", "x", "1/2/3", "1e3", "99999999999"] {
            assert!(text.parse::<Sigma>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_warp_needs_all_its_units_in_one_cycle_if_there_are_enough() {
        let of = |text: &str| {
            let sigma: Sigma = text.parse().unwrap();
            (sigma.capacity().get(), sigma.repetitions().get(), sigma.has_rest(), sigma.rounds(4))
        };
        assert_eq!(of("3/2"), (1, 1, true, 3));
        assert_eq!(of("7/3"), (2, 1, true, 2));
        assert_eq!(of("2"), (2, 1, false, 2));
        assert_eq!(of("1/2"), (1, 2, false, 8));
    }
}
