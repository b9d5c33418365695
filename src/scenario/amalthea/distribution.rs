//! Constants and distributions of ticks, in the forms of all schema versions.

use roxmltree::Node;

use super::error::Problem;
use super::ticks::{TickRange, Ticks};
use super::{numbers, xml};

/// Reads the constant or distribution that `node` is.
pub(super) fn read(node: Node<'_, '_>) -> Result<TickRange, Unreadable> {
    let range = match xml::type_of(node) {
        Some("DiscreteValueConstant" | "InstructionsConstant" | "NeedConstant") => constant(node)?,
        Some("InstructionsDeviation" | "NeedDeviation") => match xml::child(node, "deviation") {
            Some(deviation) => old_deviation(deviation)?,
            None => TickRange::default(),
        },
        Some("DiscreteValueBoundaries") => bounds(node)?,
        Some("DiscreteValueUniformDistribution") => uniform(bounds(node)?),
        Some("DiscreteValueStatistics" | "DiscreteValueWeibullEstimatorsDistribution") => {
            TickRange { value: numbers::real_ticks(node, "average")?, ..bounds(node)? }
        }
        Some("DiscreteValueGaussDistribution") => {
            TickRange { value: numbers::real_ticks(node, "mean")?, ..bounds(node)? }
        }
        Some("DiscreteValueBetaDistribution") => beta(node, bounds(node)?)?,
        Some("DiscreteValueHistogram") => histogram(node)?,
        Some(other) => return Err(Unreadable::Type(other.to_owned())),
        None if node.has_attribute("value") => constant(node)?,
        None => return Err(Unreadable::Type(format!("{} without xsi:type", node.tag_name().name()))),
    };
    match (range.lower, range.upper) {
        (Some(lower), Some(upper)) if lower > upper => Err(Unreadable::Wrong(Problem::at(
            node.range().start,
            format!("the lower bound, {lower}, is above the upper bound, {upper}"),
        ))),
        _ => Ok(range),
    }
}

/// Why a constant or distribution cannot be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// Of a type that gpusched does not know.
    Type(String),
    /// Its numbers are wrong.
    Wrong(Problem),
}

impl From<Problem> for Unreadable {
    fn from(problem: Problem) -> Self {
        Self::Wrong(problem)
    }
}

/// EMF leaves out attributes that have their default, which for `value` is 0.
fn constant(node: Node<'_, '_>) -> Result<TickRange, Problem> {
    Ok(TickRange::constant(numbers::whole_ticks(node, "value")?.unwrap_or_default()))
}

fn bounds(node: Node<'_, '_>) -> Result<TickRange, Problem> {
    let (lower, upper) = (numbers::whole_ticks(node, "lowerBound")?, numbers::whole_ticks(node, "upperBound")?);
    Ok(TickRange { lower, value: None, upper })
}

/// The mean of a uniform distribution is the middle.
fn uniform(bounds: TickRange) -> TickRange {
    let middle = bounds.lower.zip(bounds.upper).map(|(lower, upper)| middle(lower, upper));
    TickRange { value: middle, ..bounds }
}

fn middle(lower: Ticks, upper: Ticks) -> Ticks {
    Ticks::from_millionths(lower.plus(upper).millionths() / 2)
}

/// The mean of a beta distribution over the bounds: lower + (upper - lower) alpha / (alpha + beta).
fn beta(node: Node<'_, '_>, bounds: TickRange) -> Result<TickRange, Problem> {
    let (alpha, beta) = (numbers::millionths(node, "alpha")?, numbers::millionths(node, "beta")?);
    let value = || {
        let (lower, upper) = (bounds.lower?.millionths(), bounds.upper?.millionths());
        let (alpha, both) = (alpha?, alpha?.checked_add(beta?)?);
        let above = upper.checked_sub(lower)?.checked_mul(alpha)?.checked_div(both)?;
        Some(Ticks::from_millionths(lower.checked_add(above)?))
    };
    Ok(TickRange { value: value(), ..bounds })
}

/// The mean of a histogram takes each of its intervals at the middle, by its number of occurrences.
fn histogram(node: Node<'_, '_>) -> Result<TickRange, Problem> {
    let (mut lower, mut upper) = (None, None);
    let (mut sum, mut occurrences) = (Some(0_u128), 0_u128);
    for entry in xml::children_named(node, "entries") {
        let first = numbers::whole_ticks(entry, "lowerBound")?.unwrap_or_default();
        let last = numbers::whole_ticks(entry, "upperBound")?.unwrap_or_default();
        let count = u128::from(numbers::whole(entry, "occurrences")?.unwrap_or(0));
        lower = Some(lower.map_or(first, |lowest: Ticks| lowest.min(first)));
        upper = Some(upper.map_or(last, |highest: Ticks| highest.max(last)));
        sum = middle(first, last).millionths().checked_mul(count).zip(sum).and_then(|(a, b)| a.checked_add(b));
        occurrences = occurrences.saturating_add(count);
    }
    let value = sum.and_then(|sum| sum.checked_div(occurrences)).map(Ticks::from_millionths);
    Ok(TickRange { lower, value, upper })
}

/// `deviation` of schema versions up to 0.9.2: bounds as child elements, and the kind of distribution beside them.
fn old_deviation(node: Node<'_, '_>) -> Result<TickRange, Problem> {
    let object = |parent: Node<'_, '_>, name: &str| match xml::child(parent, name) {
        Some(object) => numbers::real_ticks(object, "value").map(|ticks| Some(ticks.unwrap_or_default())),
        None => Ok(None),
    };
    let bounds = TickRange { lower: object(node, "lowerBound")?, value: None, upper: object(node, "upperBound")? };
    let Some(distribution) = xml::child(node, "distribution") else { return Ok(bounds) };
    Ok(match xml::type_of(distribution) {
        Some("WeibullEstimators") => TickRange { value: object(distribution, "mean")?, ..bounds },
        Some("GaussDistribution") => TickRange { value: numbers::real_ticks(distribution, "mean")?, ..bounds },
        Some("UniformDistribution") => uniform(bounds),
        Some("BetaDistribution") => beta(distribution, bounds)?,
        _ => bounds,
    })
}
