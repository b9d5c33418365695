//! A cursor on one JSON value, knowing where it stands in the text.

use std::borrow::Cow;

use serde::Deserialize;

use super::error::Problem;
use super::source::Source;
use crate::time::{Decimal, DecimalError, Duration, MAX_INPUT_NS};

/// One value of a [`Document`](super::Document).
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    source: &'a Source<'a>,
    raw: &'a str,
    /// Its number, if it is a list or object.
    container: usize,
}

impl<'a> Node<'a> {
    /// The value that begins at `start` in the text of `source`; `container` is its number if it is a list or object.
    pub(super) fn new(source: &'a Source<'a>, start: usize, container: usize) -> Self {
        Self { source, raw: source.raw(start, container), container }
    }

    /// The text in which it stands.
    pub(super) fn source(&self) -> &'a Source<'a> {
        self.source
    }

    /// Its number among the lists and objects of the text, if it is one.
    pub(super) fn container(&self) -> usize {
        self.container
    }

    /// Where it begins in the text \[bytes\].
    pub(super) fn start(&self) -> usize {
        self.raw.as_ptr() as usize - self.source.text.as_ptr() as usize
    }

    /// The value as it is written.
    #[must_use]
    pub fn raw(&self) -> &'a str {
        self.raw
    }

    /// A problem with this value.
    #[must_use]
    pub fn problem(&self, what: impl Into<String>) -> Problem {
        Problem { offset: self.start(), what: what.into(), help: None }
    }

    /// A problem of the form "expected …, found …".
    #[must_use]
    pub fn expected(&self, expected: &str) -> Problem {
        self.problem(format!("expected {expected}, found {}", self.found()))
    }

    /// What stands here, in a few words.
    #[must_use]
    pub fn found(&self) -> String {
        const SHOWN: usize = 40;
        match self.raw.as_bytes().first() {
            Some(b'{') => "an object".to_owned(),
            Some(b'[') => "a list".to_owned(),
            _ if self.raw.chars().count() > SHOWN => {
                format!("{}…", self.raw.chars().take(SHOWN).collect::<String>())
            }
            _ => self.raw.to_owned(),
        }
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.raw == "null"
    }

    /// Whether this is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.raw.starts_with('{')
    }

    /// Whether this is a list.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.raw.starts_with('[')
    }

    /// Whether this is a string.
    #[must_use]
    pub fn is_string(&self) -> bool {
        self.raw.starts_with('"')
    }

    /// A string.
    ///
    /// # Errors
    /// [`Problem`] if this is no string.
    pub fn string(&self) -> Result<String, Problem> {
        self.text().map(Cow::into_owned)
    }

    /// A string, borrowed from the file unless it has escapes.
    ///
    /// # Errors
    /// [`Problem`] if this is no string.
    pub fn text(&self) -> Result<Cow<'a, str>, Problem> {
        let quoted = self.raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let text = match quoted {
            Some(plain) if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
            Some(_) => self.deserialize().map(Cow::Owned),
            None => None,
        };
        text.ok_or_else(|| self.expected("a string"))
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// [`Problem`] if this is neither.
    pub fn boolean(&self) -> Result<bool, Problem> {
        self.deserialize().ok_or_else(|| self.expected("true or false"))
    }

    /// A whole number from `least` to `most`. `2.0` and `1e3` are whole numbers too.
    ///
    /// # Errors
    /// [`Problem`] naming the range.
    pub fn whole_number(&self, least: u64, most: u64) -> Result<u64, Problem> {
        let value = match Decimal::plain_digits(self.raw) {
            Some(value) => Some(value),
            None => self.decimal().ok().and_then(|number| whole(number, most)),
        };
        let value = value.filter(|value| (least..=most).contains(value));
        value.ok_or_else(|| self.expected(&format!("a whole number from {least} to {most}")))
    }

    /// A whole number that fits 32 bits.
    ///
    /// # Errors
    /// As [`Node::whole_number`].
    pub fn whole_u32(&self, least: u32, most: u32) -> Result<u32, Problem> {
        let value = self.whole_number(u64::from(least), u64::from(most))?;
        u32::try_from(value).map_err(|_| self.expected("a number of 32 bits"))
    }

    /// A whole number that may be negative. `-2.0` is one too.
    ///
    /// # Errors
    /// [`Problem`] naming the range.
    pub fn signed_number(&self, least: i64, most: i64) -> Result<i64, Problem> {
        let (sign, size) = self.raw.strip_prefix('-').map_or((1, self.raw), |size| (-1, size));
        let is_number = size.starts_with(|c: char| c.is_ascii_digit());
        let size = Decimal::parse(size).ok().filter(|_| is_number).and_then(|size| whole(size, u64::MAX));
        size.and_then(|size| i64::try_from(sign * i128::from(size)).ok())
            .filter(|value| (least..=most).contains(value))
            .ok_or_else(|| self.expected(&format!("a whole number from {least} to {most}")))
    }

    /// A finite number, as its exact decimal value.
    ///
    /// # Errors
    /// [`Problem`] if this is no number, or a negative one.
    pub fn decimal(&self) -> Result<Decimal, Problem> {
        let is_number = self.raw.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        if !is_number {
            return Err(self.expected("a number"));
        }
        Decimal::parse(self.raw).map_err(|why| match why {
            DecimalError::Negative => self.expected("a number that is not negative"),
            _ => self.expected("a number"),
        })
    }

    /// A number of seconds, rounded to the nearest nanosecond.
    ///
    /// # Errors
    /// [`Problem`] if this is no number, is negative, or more than 2^63 ns.
    pub fn seconds(&self) -> Result<Duration, Problem> {
        let time = self.decimal()?.scaled(9, MAX_INPUT_NS);
        time.map(Duration::from_ns).map_err(|_| self.expected("seconds, from 0 to 9223372036.854775808 (2^63 ns)"))
    }

    /// A number of nanoseconds, rounded to whole ones.
    ///
    /// # Errors
    /// [`Problem`] if this is no number, is negative, or more than 2^63 ns.
    pub fn nanoseconds(&self) -> Result<Duration, Problem> {
        let time = self.decimal()?.scaled(0, MAX_INPUT_NS);
        time.map(Duration::from_ns).map_err(|_| self.expected("nanoseconds, from 0 to 2^63"))
    }

    /// A time with a unit, as a string: `"250 ms"`.
    ///
    /// # Errors
    /// [`Problem`] if this is no such string.
    pub fn time(&self) -> Result<Duration, Problem> {
        let text = self.text().map_err(|_| self.expected("a time as a string, for example \"250 ms\""))?;
        Duration::parse(&text).map_err(|error| self.problem(error.to_string()))
    }

    fn deserialize<T: Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.raw).ok()
    }
}

/// A number that is whole and at most `most`.
fn whole(number: Decimal, most: u64) -> Option<u64> {
    let value = number.scaled(0, most).ok()?;
    // Shifting by more digits than a whole number can have tells whether something was rounded away.
    (number.scaled_exactly(0) == Some(u128::from(value))).then_some(value)
}
