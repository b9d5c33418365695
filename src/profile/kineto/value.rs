//! Values of events, read from the text of the file without a float in between.

use serde_json::value::RawValue;

use crate::time::{Decimal, DecimalError};

/// A number, or a string that holds one.
fn number(raw: &RawValue) -> &str {
    raw.get().trim_matches('"')
}

/// A whole number that is not negative.
pub(super) fn whole(raw: Option<&RawValue>) -> Option<u64> {
    let text = number(raw?);
    text.parse().ok().or_else(|| u64::try_from(Decimal::parse(text).ok()?.scaled_exactly(0)?).ok())
}

/// As [`whole`], of 32 bits.
pub(super) fn whole_u32(raw: Option<&RawValue>) -> Option<u32> {
    u32::try_from(whole(raw)?).ok()
}

/// A whole number that may be negative.
pub(super) fn signed(raw: Option<&RawValue>) -> Option<i64> {
    number(raw?).parse().ok()
}

/// Microseconds as nanoseconds, exact to the nanosecond.
pub(super) fn microseconds(raw: Option<&RawValue>) -> Result<u64, DecimalError> {
    let raw = raw.ok_or(DecimalError::NotANumber)?;
    Decimal::parse(number(raw))?.scaled(3, u64::MAX >> 1)
}

/// A list of one to three numbers that are not 0.
pub(super) fn sides(raw: Option<&RawValue>) -> Option<Vec<u32>> {
    let sides: Vec<u32> = serde_json::from_str(raw?.get()).ok()?;
    Some(sides).filter(|sides| (1..=3).contains(&sides.len()) && !sides.contains(&0))
}

/// A string without its quotes; `None` where there are escapes in it.
pub(super) fn plain_text(raw: Option<&RawValue>) -> Option<&str> {
    let text = raw?.get().strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains('\\')).then_some(text)
}

/// A string, decoded.
pub(super) fn text(raw: &RawValue) -> String {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| number(raw).to_owned())
}
