//! A cursor on one JSON value, knowing where it stands in the text.

use std::borrow::Cow;

use serde::Deserialize;

use super::error::Problem;
use super::scan::{Field, Inside, Source, behind_string};
use crate::time::{Decimal, DecimalError, Duration, MAX_INPUT_NS};
use crate::words::did_you_mean;

/// One value of a [`Document`](super::Document).
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    source: &'a Source<'a>,
    /// Where it begins in the text, which 32 bits count \[bytes\].
    start: u32,
    /// Its number, if it is a list or object.
    container: u32,
}

impl<'a> Node<'a> {
    /// The value that begins at `start` in the text of `source`; `container` is its number if it is a list or object.
    pub(super) fn new(source: &'a Source<'a>, start: u32, container: u32) -> Self {
        Self { source, start, container }
    }

    /// The value of a field in the text of `source`.
    #[inline]
    pub(super) fn of_field(source: &'a Source<'a>, field: &Field) -> Self {
        Self::new(source, field.value, field.container)
    }

    /// The text in which it stands.
    pub(super) fn source(&self) -> &'a Source<'a> {
        self.source
    }

    /// What is in it, if it is a list or object.
    #[inline]
    pub(super) fn inside(&self) -> Inside<'a> {
        Inside::new(self.source, self.start(), self.container)
    }

    /// Whether it is the outermost object of the text: lists and objects are numbered as they begin.
    pub(super) fn is_root(&self) -> bool {
        self.is_object() && self.container == 0
    }

    /// Where it begins in the text \[bytes\].
    pub fn start(&self) -> usize {
        self.start as usize
    }

    /// The value as it is written.
    pub fn raw(&self) -> &'a str {
        let (start, text) = (self.start(), self.source.text);
        text.get(start..self.source.behind(start, self.container).0).unwrap_or_default()
    }

    /// The text from its beginning on.
    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.source.text.as_bytes().get(self.start()..).unwrap_or_default()
    }

    /// What tells kinds of values apart.
    #[inline]
    fn first_byte(&self) -> u8 {
        self.rest().first().copied().unwrap_or(0)
    }

    /// A problem with this value.
    pub fn problem(&self, what: impl Into<String>) -> Problem {
        Problem::at(self.start(), what)
    }

    /// A problem of the form "expected …, found …".
    pub fn expected(&self, expected: &str) -> Problem {
        self.problem(format!("expected {expected}, found {}", self.found()))
    }

    /// The same, where one of several names was expected, with those that may be meant.
    pub fn expected_name(&self, expected: &str, names: &[&str]) -> Problem {
        let near = self.text().map_or_else(|_| String::new(), |given| did_you_mean(&given, names.iter().copied()));
        self.problem(format!("expected {expected}, found {}{near}", self.found()))
    }

    /// One of a few names.
    ///
    /// # Errors
    /// [`Problem`] with all names if it is none of them.
    pub fn named<T>(&self, names: &[&str], find: impl Fn(&str) -> Option<T>) -> Result<T, Problem> {
        let known = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let name = self.string().map_err(|_| self.expected(&known))?;
        find(&name).ok_or_else(|| self.expected_name(&format!("one of {known}"), names))
    }

    /// What stands here, in a few words.
    pub fn found(&self) -> String {
        const SHOWN: usize = 40;
        let raw = self.raw();
        match self.first_byte() {
            b'{' => "an object".to_owned(),
            b'[' => "a list".to_owned(),
            _ if raw.chars().count() > SHOWN => format!("{}…", raw.chars().take(SHOWN).collect::<String>()),
            _ => raw.to_owned(),
        }
    }

    /// Whether this is `null`.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.first_byte() == b'n'
    }

    /// Whether this is an object.
    #[inline]
    pub fn is_object(&self) -> bool {
        self.first_byte() == b'{'
    }

    /// Whether this is a list.
    #[inline]
    pub fn is_list(&self) -> bool {
        self.first_byte() == b'['
    }

    /// Whether this is a string.
    pub fn is_string(&self) -> bool {
        self.first_byte() == b'"'
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
        if !self.is_string() {
            return Err(self.expected("a string"));
        }
        let text = self.source.text;
        let (end, is_plain) = behind_string(text.as_bytes(), self.start());
        let plain = if is_plain { text.get(self.start() + 1..end - 1).map(Cow::Borrowed) } else { None };
        plain.or_else(|| self.deserialize().map(Cow::Owned)).ok_or_else(|| self.expected("a string"))
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// [`Problem`] if this is neither.
    pub fn boolean(&self) -> Result<bool, Problem> {
        match self.first_byte() {
            b't' => Ok(true),
            b'f' => Ok(false),
            _ => Err(self.expected("true or false")),
        }
    }

    /// A whole number from `least` to `most`. `2.0` and `1e3` are whole numbers too.
    ///
    /// # Errors
    /// [`Problem`] naming the range.
    pub fn whole_number(&self, least: u64, most: u64) -> Result<u64, Problem> {
        let value = match leading_digits(self.rest()) {
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
        let raw = self.raw();
        let (sign, size) = raw.strip_prefix('-').map_or((1, raw), |size| (-1, size));
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
        if let Some((short, _)) = Decimal::short(self.rest()) {
            return Ok(short);
        }
        if !matches!(self.first_byte(), b'0'..=b'9' | b'-') {
            return Err(self.expected("a number"));
        }
        Decimal::parse(self.raw()).map_err(|why| match why {
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
        serde_json::from_str(self.raw()).ok()
    }
}

/// The number with which a value begins that is digits and nothing else, as most numbers are, unless they are more than
/// 64 bits always hold.
#[inline]
fn leading_digits(value: &[u8]) -> Option<u64> {
    const MOST: usize = 18;
    let (mut number, mut digits) = (0, 0);
    while let Some(digit) = value.get(digits).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        if digits == MOST {
            return None;
        }
        number = number * 10 + u64::from(digit);
        digits += 1;
    }
    let goes_on = matches!(value.get(digits), Some(b'.' | b'e' | b'E'));
    (digits > 0 && !goes_on).then_some(number)
}

fn whole(number: Decimal, most: u64) -> Option<u64> {
    let value = number.scaled(0, most).ok()?;
    // Shifting by more digits than a whole number can have tells whether something was rounded away.
    (number.scaled_exactly(0) == Some(u128::from(value))).then_some(value)
}
