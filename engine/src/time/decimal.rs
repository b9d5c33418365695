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
    /// The number with which `bytes` begin, and how long it is, if it is short: digits, with a point among them or not,
    /// and no exponent behind them. Most numbers are.
    #[inline]
    pub(crate) fn short(bytes: &[u8]) -> Option<(Self, usize)> {
        // More digits than 64 bits always hold are none of its matter.
        const MOST: usize = 19;
        let (mut digits, mut exponent, mut length, mut point) = (0_u64, 0, 0, None);
        while let Some(&byte) = bytes.get(length) {
            let digit = byte.wrapping_sub(b'0');
            if digit < 10 {
                digits = digits * 10 + u64::from(digit);
                exponent -= i32::from(point.is_some());
            } else if byte == b'.' && point.is_none() {
                point = Some(length);
            } else {
                break;
            }
            length += 1;
            if length == MOST {
                return None;
            }
        }
        let has_digits = length > 0 && point != Some(0) && point != Some(length - 1);
        let goes_on = matches!(bytes.get(length), Some(b'.' | b'e' | b'E'));
        (has_digits && !goes_on).then_some((Self { digits: u128::from(digits), exponent, exact: true }, length))
    }

    /// Reads `12`, `0.5`, `1.5e-3`. A minus sign is allowed only in front of zero.
    ///
    /// # Errors
    /// [`DecimalError`] for anything else.
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        if let Some((short, length)) = Self::short(text.as_bytes())
            && length == text.len()
        {
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
                Some(divisor) => self.digits / divisor + u128::from(self.digits % divisor >= divisor / 2),
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
