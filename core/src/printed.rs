//! Values printed in papers, each beside the value that gpusched computes, and whether the two agree.

use std::fmt;

use crate::time::{Duration, Instant};

/// A value, as print gives it or as it comes out here.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number and its unit, which is empty of counts and ratios.
    Number(f64, &'static str),
    /// An instant since the start, or a length of time.
    Time(Duration),
    /// What a test answers, or whether a sentence is true.
    Verdict(bool),
    /// Anything else: a name, an order, a list.
    Words(String),
}

impl Value {
    /// Whether it is as print says, numbers within a tolerance in their unit and times within one in seconds.
    fn is_within(&self, tolerance: f64, printed: &Self) -> bool {
        // Numbers of print are decimal, so that sums of them are not what their binary forms add up to.
        let near = |here: f64, printed: f64| (here - printed).abs() <= tolerance + 1e-9 * printed.abs().max(1.0);
        match (self, printed) {
            (Self::Number(here, unit), Self::Number(printed, other)) => unit == other && near(*here, *printed),
            (Self::Time(here), Self::Time(printed)) => {
                let apart = here.as_ns().abs_diff(printed.as_ns());
                apart == 0 || apart as f64 <= tolerance * 1e9
            }
            (here, printed) => here == printed,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number, "") => write!(f, "{number}"),
            Self::Number(number, unit) => write!(f, "{number} {unit}"),
            Self::Time(time) => write!(f, "{time}"),
            Self::Verdict(verdict) => f.write_str(if *verdict { "yes" } else { "no" }),
            Self::Words(words) => f.write_str(words),
        }
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Self {
        Self::Number(f64::from(count), "")
    }
}

impl From<Instant> for Value {
    fn from(instant: Instant) -> Self {
        Self::Time(instant.since(Instant::ZERO))
    }
}

impl From<Duration> for Value {
    fn from(time: Duration) -> Self {
        Self::Time(time)
    }
}

impl From<bool> for Value {
    fn from(verdict: bool) -> Self {
        Self::Verdict(verdict)
    }
}

impl From<&str> for Value {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

impl From<String> for Value {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

/// A value that print gives, beside what comes out here.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// Where print has it, such as `Table 5, row 3` or `Sec. 4.2, second paragraph`.
    pub place: String,
    /// Of what it is.
    pub what: String,
    /// As print gives it.
    pub printed: Value,
    /// How far off a number may be, in its unit, or a time, in seconds: print rounds, and pictures are read by eye.
    pub tolerance: f64,
    /// What comes out here; `None` if it does not come about.
    pub here: Option<Value>,
}

impl Printed {
    /// A value that has to come out exactly.
    pub fn new(
        place: impl Into<String>,
        what: impl Into<String>,
        printed: impl Into<Value>,
        here: impl Into<Value>,
    ) -> Self {
        let (place, what) = (place.into(), what.into());
        Self { place, what, printed: printed.into(), tolerance: 0.0, here: Some(here.into()) }
    }

    /// The same, which may be off by so much.
    pub fn within(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// The same, of something that may not come about here.
    pub fn or_nothing(
        place: impl Into<String>,
        what: impl Into<String>,
        printed: impl Into<Value>,
        here: Option<Value>,
    ) -> Self {
        Self { place: place.into(), what: what.into(), printed: printed.into(), tolerance: 0.0, here }
    }

    /// Whether it comes out here as print has it.
    pub fn agrees(&self) -> bool {
        self.here.as_ref().is_some_and(|here| here.is_within(self.tolerance, &self.printed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_be_off_by_its_tolerance_and_has_to_have_the_unit_of_print() {
        let read = |here: f64| Printed::new("Fig. 1", "share", Value::Number(98.4, "%"), Value::Number(here, "%"));
        assert!(read(98.4).agrees() && !read(98.5).agrees());
        assert!(read(98.5).within(0.1).agrees() && read(98.3).within(0.1).agrees());
        assert!(!read(98.6).within(0.1).agrees());
        assert!(!Printed::new("Fig. 1", "share", Value::Number(98.4, "%"), Value::Number(98.4, "ms")).agrees());
        assert!(Printed::new("Table 1", "sum", Value::Number(0.3, ""), Value::Number(0.1 + 0.2, "")).agrees());
    }

    #[test]
    fn times_are_compared_to_the_nanosecond_unless_they_are_read_from_a_picture() {
        let at = |ns| Printed::new("Fig. 2", "end", Duration::from_ns(1_000), Duration::from_ns(ns));
        assert!(at(1_000).agrees() && !at(1_001).agrees());
        assert!(at(1_500).within(500e-9).agrees() && !at(1_501).within(500e-9).agrees());
    }

    #[test]
    fn what_did_not_come_about_does_not_agree() {
        assert!(!Printed::or_nothing("Fig. 2", "end of K3", Instant::ZERO, None).within(1e9).agrees());
        assert!(!Printed::new("Sec. 3", "passes", true, false).agrees());
        assert!(!Printed::new("Sec. 3", "order", "A, B", "B, A").agrees());
        assert!(!Printed::new("Sec. 3", "order", 1_u32, true).agrees());
    }
}
