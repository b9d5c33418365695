//! Numbers of a model, in the forms of all schema versions: ticks and the bounds between which they lie, frequencies,
//! by which ticks become time, and times.

use std::fmt;

use roxmltree::Node;
use serde::{Serialize, Serializer};

use super::xml::{self, Problem};
use crate::time::{Decimal, DecimalError, Duration, MAX_INPUT_NS};

/// Ticks (or instructions, or units of another execution need), exact to a millionth.
///
/// Constants and bounds of a model are whole; averages need not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Ticks {
    millionths: u128,
}

/// Parts of one tick that are told apart.
const SCALE: u128 = 1_000_000;

impl Ticks {
    /// A whole number of ticks.
    pub(crate) const fn new(ticks: u64) -> Self {
        Self { millionths: ticks as u128 * SCALE }
    }

    /// A number of millionths of a tick.
    pub(crate) const fn from_millionths(millionths: u128) -> Self {
        Self { millionths }
    }

    /// Millionths of a tick.
    pub(crate) const fn millionths(self) -> u128 {
        self.millionths
    }

    /// The sum, held at the largest that can be represented.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self { millionths: self.millionths.saturating_add(other.millionths) }
    }
}

impl fmt::Display for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.millionths / SCALE, self.millionths % SCALE);
        if rest == 0 { write!(f, "{whole}") } else { f.write_str(format!("{whole}.{rest:06}").trim_end_matches('0')) }
    }
}

impl Serialize for Ticks {
    /// A whole number where it is one.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.millionths / SCALE) {
            Ok(whole) if self.millionths.is_multiple_of(SCALE) => serializer.serialize_u64(whole),
            _ => serializer.serialize_f64(self.millionths as f64 / SCALE as f64),
        }
    }
}

/// What a model says of an amount of work; `None` where it says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct TickRange {
    /// At least.
    pub lower: Option<Ticks>,
    /// The constant, or the average.
    pub value: Option<Ticks>,
    /// At most.
    pub upper: Option<Ticks>,
}

impl TickRange {
    /// No work.
    pub(crate) const ZERO: Self = Self::constant(Ticks::new(0));

    /// Always the same.
    pub(crate) const fn constant(ticks: Ticks) -> Self {
        Self { lower: Some(ticks), value: Some(ticks), upper: Some(ticks) }
    }

    /// One after the other.
    pub(crate) fn then(self, other: Self) -> Self {
        let sum = |a: Option<Ticks>, b: Option<Ticks>| Some(a?.plus(b?));
        Self {
            lower: sum(self.lower, other.lower),
            value: sum(self.value, other.value),
            upper: sum(self.upper, other.upper),
        }
    }

    /// One or the other, nobody knows how often.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            lower: self.lower.zip(other.lower).map(|(a, b)| a.min(b)),
            value: self.value.filter(|_| self == other),
            upper: self.upper.zip(other.upper).map(|(a, b)| a.max(b)),
        }
    }

    /// The same with each number replaced by what `change` makes of it.
    pub(super) fn map(self, change: impl Fn(Ticks) -> Option<Ticks>) -> Option<Self> {
        let change = |ticks: Option<Ticks>| ticks.map_or(Some(None), |ticks| change(ticks).map(Some));
        Some(Self { lower: change(self.lower)?, value: change(self.value)?, upper: change(self.upper)? })
    }
}

/// A clock frequency above zero, exact to a millionth of a hertz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frequency {
    microhertz: u64,
}

/// AMALTHEA's units, longest name first so that `Hz` does not match in place of `kHz`; each with its power of ten
/// \[Hz\].
const UNITS: [(&str, i32); 4] = [("GHz", 9), ("MHz", 6), ("kHz", 3), ("Hz", 0)];

impl Frequency {
    /// A number with a unit: `1.3GHz`, `500 MHz`. `None` for all else, and for zero, for less than a millionth of a
    /// hertz and for more than 18 THz.
    pub fn parse(text: &str) -> Option<Self> {
        let trimmed = text.trim();
        let (number, unit) = UNITS.iter().find_map(|(unit, _)| Some((trimmed.strip_suffix(unit)?, *unit)))?;
        Self::from_parts(Decimal::parse(number.trim_end()).ok()?, unit)
    }

    /// `number` of `unit`; `None` if the unit is unknown or the result cannot be held.
    pub(super) fn from_parts(number: Decimal, unit: &str) -> Option<Self> {
        let (_, power) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let microhertz = number.scaled(power + 6, u64::MAX).ok().filter(|&microhertz| microhertz > 0)?;
        Some(Self { microhertz })
    }

    /// This frequency times `millionths` / 10^6 (a prescaler); `None` if the result is zero or cannot be held.
    pub(super) fn times(self, millionths: u128) -> Option<Self> {
        let product = u128::from(self.microhertz).checked_mul(millionths)? / 1_000_000;
        u64::try_from(product).ok().filter(|&microhertz| microhertz > 0).map(|microhertz| Self { microhertz })
    }

    /// How long `ticks` take, rounded up to a whole nanosecond; `None` past the end of representable time.
    pub(super) fn duration(self, ticks: Ticks) -> Option<Duration> {
        let scaled = ticks.millionths().checked_mul(1_000_000_000)?;
        let ns = scaled.div_ceil(u128::from(self.microhertz));
        u64::try_from(ns).ok().map(Duration::from_ns)
    }

    /// Hertz, for reports.
    pub fn hertz(self) -> f64 {
        self.microhertz as f64 / 1e6
    }
}

impl fmt::Display for Frequency {
    /// The shortest exact decimal in the largest unit that is not larger than the value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = |power: i32| 10_u64.pow((power + 6).unsigned_abs());
        let found = UNITS.into_iter().find(|(_, power)| self.microhertz >= scale(*power));
        let (unit, power) = found.unwrap_or(("Hz", 0));
        let (whole, rest) = (self.microhertz / scale(power), self.microhertz % scale(power));
        let width = (power + 6).unsigned_abs() as usize;
        let digits = format!("{whole}.{rest:0width$}");
        write!(f, "{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Serialize for Frequency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const HERTZ: u64 = 1_000_000;
        if self.microhertz.is_multiple_of(HERTZ) {
            serializer.serialize_u64(self.microhertz / HERTZ)
        } else {
            serializer.serialize_f64(self.hertz())
        }
    }
}

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

/// AMALTHEA's time units, each with its power of ten \[ns\].
const TIME_UNITS: [(&str, i32); 5] = [("s", 9), ("ms", 6), ("us", 3), ("ns", 0), ("ps", -3)];

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
    let Some((_, power)) = TIME_UNITS.iter().find(|(name, _)| *name == unit) else {
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
pub(super) fn time_bounds(node: Node<'_, '_>) -> Result<(Option<Duration>, Option<Duration>), Problem> {
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

/// Reads the constant or distribution that `node` is.
pub(super) fn read_range(node: Node<'_, '_>) -> Result<TickRange, Unreadable> {
    let range = match xml::type_of(node) {
        Some("DiscreteValueConstant" | "InstructionsConstant" | "NeedConstant") => constant(node)?,
        Some("InstructionsDeviation" | "NeedDeviation") => match xml::child(node, "deviation") {
            Some(deviation) => old_deviation(deviation)?,
            None => TickRange::default(),
        },
        Some("DiscreteValueBoundaries") => tick_bounds(node)?,
        Some("DiscreteValueUniformDistribution") => uniform(tick_bounds(node)?),
        Some("DiscreteValueStatistics" | "DiscreteValueWeibullEstimatorsDistribution") => {
            TickRange { value: real_ticks(node, "average")?, ..tick_bounds(node)? }
        }
        Some("DiscreteValueGaussDistribution") => TickRange { value: real_ticks(node, "mean")?, ..tick_bounds(node)? },
        Some("DiscreteValueBetaDistribution") => beta(node, tick_bounds(node)?)?,
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
    Ok(TickRange::constant(whole_ticks(node, "value")?.unwrap_or_default()))
}

fn tick_bounds(node: Node<'_, '_>) -> Result<TickRange, Problem> {
    let (lower, upper) = (whole_ticks(node, "lowerBound")?, whole_ticks(node, "upperBound")?);
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
    let (alpha, beta) = (millionths(node, "alpha")?, millionths(node, "beta")?);
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
        let first = whole_ticks(entry, "lowerBound")?.unwrap_or_default();
        let last = whole_ticks(entry, "upperBound")?.unwrap_or_default();
        let count = u128::from(whole(entry, "occurrences")?.unwrap_or(0));
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
        Some(object) => real_ticks(object, "value").map(|ticks| Some(ticks.unwrap_or_default())),
        None => Ok(None),
    };
    let bounds = TickRange { lower: object(node, "lowerBound")?, value: None, upper: object(node, "upperBound")? };
    let Some(distribution) = xml::child(node, "distribution") else { return Ok(bounds) };
    Ok(match xml::type_of(distribution) {
        Some("WeibullEstimators") => TickRange { value: object(distribution, "mean")?, ..bounds },
        Some("GaussDistribution") => TickRange { value: real_ticks(distribution, "mean")?, ..bounds },
        Some("UniformDistribution") => uniform(bounds),
        Some("BetaDistribution") => beta(distribution, bounds)?,
        _ => bounds,
    })
}
