//! How many warps one kind of unit serves per cycle.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// The report's sigma of one kind of unit: warps served per cycle, a whole number or one over a whole number.
///
/// It is the number of units divided by the warp size (Berezovskyi, Bletsas and Andersson, "Makespan computation for
/// GPU threads running on a single streaming multiprocessor", HURRAY-TR-120710, 2012, Eq. 1 and 2). 16 load/store
/// units and warps of 32 threads give 1/2: a warp's instruction then takes two turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sigma {
    /// So many warps per cycle.
    Whole(NonZeroU32),
    /// One warp per so many cycles; at least 2.
    OneOver(NonZeroU32),
}

/// A sigma that is zero, or neither a whole number nor one over a whole number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found {found:?}; expected a whole number from 1 or one over a whole number, such as 2, 1/2 or 0.5{hint}")]
pub struct SigmaError {
    found: String,
    hint: &'static str,
}

impl Sigma {
    /// One warp per cycle.
    pub const ONE: Sigma = Sigma::Whole(NonZeroU32::MIN);

    /// Warps per cycle once fractions are written as repeated instructions: 1 for a fraction.
    #[must_use]
    pub fn capacity(self) -> NonZeroU32 {
        match self {
            Self::Whole(capacity) => capacity,
            Self::OneOver(_) => NonZeroU32::MIN,
        }
    }

    /// How many times an instruction is written: 1 for a whole number, n for 1/n.
    #[must_use]
    pub fn repetitions(self) -> NonZeroU32 {
        match self {
            Self::Whole(_) => NonZeroU32::MIN,
            Self::OneOver(turns) => turns,
        }
    }

    fn from_fraction(numerator: u64, denominator: u64) -> Option<Self> {
        if numerator == 0 || denominator == 0 {
            return None;
        }
        let whole = |n: u64| u32::try_from(n).ok().and_then(NonZeroU32::new);
        if numerator.is_multiple_of(denominator) {
            whole(numerator / denominator).map(Self::Whole)
        } else if denominator.is_multiple_of(numerator) {
            whole(denominator / numerator).map(Self::OneOver)
        } else {
            None
        }
    }
}

impl FromStr for Sigma {
    type Err = SigmaError;

    /// Reads `2`, `1/2` or `0.5`.
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
        match self {
            Self::Whole(capacity) => write!(out, "{capacity}"),
            Self::OneOver(turns) => write!(out, "1/{turns}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigma_is_a_whole_number_or_one_over_one() {
        for (text, shown) in
            [("1", "1"), ("2/1", "2"), ("1/2", "1/2"), ("0.5", "1/2"), ("2/4", "1/2"), ("0.125", "1/8")]
        {
            assert_eq!(text.parse::<Sigma>().map(|sigma| sigma.to_string()).as_deref(), Ok(shown), "{text}");
        }
        for text in ["", "0", "0.0", "0/1", "1/0", "2/3", "1.5", "0.3", "-1", "x", "1/2/3", "1e3", "99999999999"] {
            assert!(text.parse::<Sigma>().is_err(), "{text}");
        }
    }
}
