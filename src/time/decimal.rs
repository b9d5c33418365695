//! Exact decimal numbers, read from text without going through binary floating point.

use thiserror::Error;

/// A non-negative decimal number: `digits` times ten to the power of `exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    digits: u128,
    exponent: i32,
    /// Whether digits beyond the ones kept were all zero; they decide how a half is rounded.
    exact: bool,
}

/// Why a text is no number that we accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecimalError {
    /// Not a finite decimal number (`NaN` and `inf` among them).
    #[error("not a number")]
    NotANumber,
    /// Below zero.
    #[error("negative")]
    Negative,
    /// Larger than the caller can hold.
    #[error("too large")]
    TooLarge,
}

/// Significant digits kept; more than any input needs, fewer than a `u128` holds after scaling.
const KEPT_DIGITS: u32 = 27;

impl Decimal {
    /// The value of a text of digits and nothing else, as most numbers are, unless they are more than 64 bits always hold.
    pub(crate) fn plain_digits(text: &str) -> Option<u64> {
        const MOST: usize = 18;
        if text.is_empty() || text.len() > MOST {
            return None;
        }
        let digit = |byte: u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
        text.bytes().try_fold(0, |number, byte| Some(number * 10 + digit(byte)?))
    }

    /// A whole number.
    pub(crate) fn whole(number: u64) -> Self {
        Self { digits: u128::from(number), exponent: 0, exact: true }
    }

    /// The value of a text of few digits with a point among them.
    fn short_fraction(text: &str) -> Option<Self> {
        const MOST: usize = 18;
        let bytes = text.as_bytes();
        let point = bytes.iter().position(|byte| *byte == b'.').filter(|&at| at > 0 && bytes.len() <= MOST)?;
        let mut digits = 0;
        for byte in bytes[..point].iter().chain(&bytes[point + 1..]) {
            digits = digits * 10 + byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        }
        let places = i32::try_from(bytes.len() - point - 1).ok().filter(|places| *places > 0)?;
        Some(Self { digits: u128::from(digits), exponent: -places, exact: true })
    }

    /// Reads `12`, `0.5`, `1.5e-3`. A minus sign is allowed only in front of zero.
    ///
    /// # Errors
    /// [`DecimalError`] for anything else.
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        if let Some(digits) = Self::plain_digits(text) {
            return Ok(Self::whole(digits));
        }
        if let Some(short) = Self::short_fraction(text) {
            return Ok(short);
        }
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], parse_exponent(&unsigned[at + 1..])?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return Err(DecimalError::NotANumber);
        }
        let mut number = Self { digits: 0, exponent, exact: true };
        let mut kept = 0;
        for (is_fraction, byte) in whole.bytes().map(|b| (false, b)).chain(fraction.bytes().map(|b| (true, b))) {
            if !byte.is_ascii_digit() {
                return Err(DecimalError::NotANumber);
            }
            let digit = u128::from(byte - b'0');
            if kept < KEPT_DIGITS {
                number.digits = number.digits * 10 + digit;
                kept += u32::from(number.digits != 0);
                number.exponent = number.exponent.saturating_sub(i32::from(is_fraction));
            } else {
                number.exact &= digit == 0;
                number.exponent = number.exponent.saturating_add(i32::from(!is_fraction));
            }
        }
        if negative && (number.digits != 0 || !number.exact) {
            return Err(DecimalError::Negative);
        }
        Ok(number)
    }

    /// This number times ten to the power of `shift`, rounded to the nearest integer, halves upwards.
    ///
    /// # Errors
    /// [`DecimalError::TooLarge`] when the result is more than `most`.
    pub fn scaled(self, shift: i32, most: u64) -> Result<u64, DecimalError> {
        if self.digits == 0 {
            return Ok(0);
        }
        let power = self.exponent.saturating_add(shift);
        if let Some(whole) = self.scaled_up(power) {
            return if whole <= most { Ok(whole) } else { Err(DecimalError::TooLarge) };
        }
        let rounded = match u32::try_from(power) {
            Ok(0) => self.digits,
            Ok(power) => {
                let factor = 10_u128.checked_pow(power);
                factor.and_then(|factor| self.digits.checked_mul(factor)).ok_or(DecimalError::TooLarge)?
            }
            Err(_) => match 10_u128.checked_pow(power.unsigned_abs()) {
                // Dropped digits lie below the kept ones, so they never turn "below half" into "half".
                Some(divisor) => {
                    let quotient = self.digits / divisor;
                    quotient + u128::from(self.digits % divisor >= divisor / 2)
                }
                None => 0,
            },
        };
        u64::try_from(rounded).ok().filter(|&n| n <= most).ok_or(DecimalError::TooLarge)
    }
}

impl Decimal {
    /// Its digits times ten to the power of `power`, where 64 bits hold all of that.
    fn scaled_up(self, power: i32) -> Option<u64> {
        let factor = 10_u64.checked_pow(u32::try_from(power).ok()?)?;
        u64::try_from(self.digits).ok()?.checked_mul(factor)
    }

    /// This number times ten to the power of `shift`, or `None` where that is no whole number (or a huge one).
    #[must_use]
    pub fn scaled_exactly(self, shift: i32) -> Option<u128> {
        if self.digits == 0 {
            return self.exact.then_some(0);
        }
        let power = self.exponent.saturating_add(shift);
        if power == 0 || !self.exact {
            return self.exact.then_some(self.digits);
        }
        let factor = 10_u128.checked_pow(power.unsigned_abs());
        match factor {
            Some(factor) if power >= 0 => self.digits.checked_mul(factor),
            Some(factor) => self.digits.is_multiple_of(factor).then(|| self.digits / factor),
            None => None,
        }
    }
}

/// An exponent, held within a range in which no later addition can overflow.
fn parse_exponent(text: &str) -> Result<i32, DecimalError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(DecimalError::NotANumber);
    }
    let magnitude = digits.parse::<i32>().unwrap_or(i32::MAX).min(1_000_000);
    Ok(if text.starts_with('-') { -magnitude } else { magnitude })
}
