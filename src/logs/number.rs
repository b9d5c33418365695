//! Numbers and lists of a log, accepting anything in their place.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::clock::LogTime;

/// Marks a time that is none.
pub(super) const NO_TIME: LogTime = LogTime::MIN;
/// Marks an SM id that is none.
pub(super) const NO_SM: u32 = u32::MAX;

/// Seconds beyond which the difference of two times would not fit 64-bit nanoseconds.
const MAX_SECONDS: f64 = 4.6e9;
const NS_PER_SECOND: f64 = 1e9;

/// A value that should be a number.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Number(pub(super) Option<f64>);

impl Number {
    /// As seconds \[ns\]. An `f64` of seconds is exact to the nanosecond for the first 100 days.
    pub(super) fn time_ns(self) -> LogTime {
        match self.0 {
            Some(seconds) if seconds.abs() < MAX_SECONDS => {
                #[expect(clippy::cast_possible_truncation, reason = "below 2^62, as was checked")]
                let ns = (seconds * NS_PER_SECOND).round() as i64;
                LogTime::from_ns(ns)
            }
            _ => NO_TIME,
        }
    }

    /// As a whole number up to `most`.
    pub(super) fn whole(self, most: u64) -> Option<u64> {
        let value = self.0.filter(|value| *value >= 0.0 && value.fract() == 0.0 && *value <= most as f64)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
        let whole = value as u64;
        Some(whole.min(most))
    }

    /// As an SM id.
    fn sm(self) -> u32 {
        self.whole(u64::from(NO_SM - 1)).and_then(|sm| u32::try_from(sm).ok()).unwrap_or(NO_SM)
    }
}

/// What values come to that are not what was expected.
macro_rules! passed_over {
    ($nothing:expr; $($visit:ident($value:ty)),+) => {
        $(fn $visit<E>(self, _: $value) -> Result<Self::Value, E> {
            Ok($nothing)
        })+

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($nothing)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($nothing)
        }
    };
}

/// Visits any value for which a number was expected.
impl<'de> Visitor<'de> for Number {
    type Value = Self;

    passed_over!(Self(None); visit_bool(bool), visit_str(&str));

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self, E> {
        Ok(Self(Some(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self, E> {
        Ok(Self(Some(value as f64)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self, E> {
        Ok(Self(Some(value as f64)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self(None))
    }
}

impl<'de> DeserializeSeed<'de> for Number {
    type Value = Self;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Calls a function with each element of a list; anything but a list has none.
pub(super) struct EachNumber<F>(pub(super) F);

impl<'de, F: FnMut(Number)> DeserializeSeed<'de> for EachNumber<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(Number)> Visitor<'de> for EachNumber<F> {
    type Value = ();

    passed_over!((); visit_f64(f64), visit_u64(u64), visit_i64(i64), visit_bool(bool), visit_str(&str));

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(number) = list.next_element_seed(Number(None))? {
            (self.0)(number);
        }
        Ok(())
    }
}

/// Block times, flat in the file, into pairs; an odd last one is kept with [`NO_TIME`]. Gives the number of entries.
pub(super) fn push_time(times: &mut Vec<[LogTime; 2]>, count: &mut usize, number: Number) {
    let time = number.time_ns();
    match times.last_mut().filter(|_| *count % 2 == 1) {
        Some(last) => last[1] = time,
        None => times.push([time, NO_TIME]),
    }
    *count += 1;
}

/// An SM id into a list.
pub(super) fn push_sm(sms: &mut Vec<u32>, number: Number) {
    sms.push(number.sm());
}
