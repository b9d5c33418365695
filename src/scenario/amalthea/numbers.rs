//! Numbers in attributes.

use roxmltree::Node;

use super::error::Problem;
use super::ticks::Ticks;
use super::xml;
use crate::time::{Decimal, DecimalError};

/// The largest number that AMALTHEA's `long` holds.
const MOST: u128 = i64::MAX as u128;

fn decimal(node: Node<'_, '_>, attribute: &str, text: &str, expected: &str) -> Result<Decimal, Problem> {
    Decimal::parse(text.trim()).map_err(|error| {
        let why = if error == DecimalError::Negative { "which is negative" } else { "which is no number" };
        Problem::at(xml::offset(node, attribute), format!("expected {expected}, found {text:?}, {why}"))
    })
}

/// A whole number from 0 to 2^63 - 1 in an attribute of `node`; absent: `None`.
pub(super) fn whole(node: Node<'_, '_>, attribute: &str) -> Result<Option<u64>, Problem> {
    const EXPECTED: &str = "a whole number from 0 to 2^63 - 1";
    let Some(text) = node.attribute(attribute) else { return Ok(None) };
    let number = decimal(node, attribute, text, EXPECTED)?.scaled_exactly(0).filter(|&number| number <= MOST);
    let number = number.and_then(|number| u64::try_from(number).ok());
    number.map(Some).ok_or_else(|| {
        Problem::at(xml::offset(node, attribute), format!("{attribute}: expected {EXPECTED}, found {text:?}"))
    })
}

pub(super) fn whole_ticks(node: Node<'_, '_>, attribute: &str) -> Result<Option<Ticks>, Problem> {
    Ok(whole(node, attribute)?.map(Ticks::new))
}

/// A number from 0 in millionths, rounded to the nearest.
pub(super) fn millionths(node: Node<'_, '_>, attribute: &str) -> Result<Option<u128>, Problem> {
    Ok(real_ticks(node, attribute)?.map(Ticks::millionths))
}

/// A number of ticks that need not be whole (an average), to the nearest millionth.
pub(super) fn real_ticks(node: Node<'_, '_>, attribute: &str) -> Result<Option<Ticks>, Problem> {
    const EXPECTED: &str = "a number from 0 to 2^63";
    let Some(text) = node.attribute(attribute) else { return Ok(None) };
    let number = decimal(node, attribute, text, EXPECTED)?;
    let refused = || Problem::at(xml::offset(node, attribute), format!("expected {EXPECTED}, found {text:?}"));
    // A whole number may have more digits than its millionths in 64 bits.
    let millionths = match number.scaled_exactly(0) {
        Some(whole) if whole <= MOST => whole * 1_000_000,
        Some(_) => return Err(refused()),
        None => u128::from(number.scaled(6, u64::MAX).map_err(|_| refused())?),
    };
    Ok(Some(Ticks::from_millionths(millionths)))
}
