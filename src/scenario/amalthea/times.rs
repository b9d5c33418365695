//! Times in stimuli and requirements.

use roxmltree::Node;

use super::error::Problem;
use super::xml;
use crate::time::{Decimal, Duration, MAX_INPUT_NS};

/// AMALTHEA's time units, each with its power of ten \[ns\].
const UNITS: [(&str, i32); 5] = [("s", 9), ("ms", 6), ("us", 3), ("ns", 0), ("ps", -3)];

/// The time that `node` states in `value` and `unit`. EMF leaves out a value of 0, and 0 needs no unit.
pub(super) fn time(node: Node<'_, '_>) -> Result<Duration, Problem> {
    const EXPECTED: &str = "expected a time of a whole number of nanoseconds from 0 to 2^63 ns";
    let Some(text) = node.attribute("value") else { return Ok(Duration::ZERO) };
    let wrong = |attribute| Problem::at(xml::offset(node, attribute), format!("{EXPECTED}, found {text:?}"));
    let number = Decimal::parse(text.trim()).map_err(|_| wrong("value"))?;
    if number.scaled_exactly(0) == Some(0) {
        return Ok(Duration::ZERO);
    }
    let unit = node.attribute("unit").unwrap_or_default();
    let Some((_, power)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(Problem::at(
            xml::offset(node, "unit"),
            format!("expected a unit of time, s, ms, us, ns or ps, found {unit:?}"),
        ));
    };
    let ns = number.scaled_exactly(*power).and_then(|ns| u64::try_from(ns).ok()).filter(|&ns| ns <= MAX_INPUT_NS);
    ns.map(Duration::from_ns).ok_or_else(|| wrong("value"))
}

/// The time that the child element `name` states.
pub(super) fn child_time(node: Node<'_, '_>, name: &str) -> Result<Option<Duration>, Problem> {
    xml::child(node, name).map(time).transpose()
}

/// The least and the most of a constant or distribution of times, in the forms of all schema versions; `None` where it
/// states none.
pub(super) fn bounds(node: Node<'_, '_>) -> Result<(Option<Duration>, Option<Duration>), Problem> {
    if let Some(value) = child_time(node, "value")? {
        return Ok((Some(value), Some(value)));
    }
    let holder = xml::child(node, "deviation").unwrap_or(node);
    let (mut lower, mut upper) = (child_time(holder, "lowerBound")?, child_time(holder, "upperBound")?);
    for entry in xml::children_named(node, "entries") {
        let (first, last) = (child_time(entry, "lowerBound")?, child_time(entry, "upperBound")?);
        lower = lower.map_or(first, |lowest| first.map(|first| lowest.min(first)));
        upper = upper.map_or(last, |highest| last.map(|last| highest.max(last)));
    }
    Ok((lower, upper))
}
