//! One pass over the JSON of a log, in which anything may stand in place of a number or a list. Everything read so far
//! stays when the text turns out to be broken.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::log::LogTime;
use crate::limits::count_turn;

/// What was read of a file so far.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Draft {
    pub(super) scenario_name: Option<String>,
    pub(super) benchmark_name: Option<String>,
    pub(super) label: Option<String>,
    pub(super) max_resident_threads: Option<u64>,
    pub(super) pid: Option<u64>,
    pub(super) tid: Option<u64>,
    pub(super) mps_sms: Option<u64>,
    pub(super) left_out_at_horizon: Option<u64>,
    /// Entries of `times`; `None`: the key is not there.
    pub(super) entries: Option<Vec<Entry>>,
    /// Keys at the top.
    pub(super) keys: usize,
    /// Whether the last key at the top was that of `entries`.
    pub(super) ends_in_times: bool,
}

impl Draft {
    /// Reads a text into it; of one that is broken, what stands before that.
    pub(super) fn read(&mut self, text: &[u8]) -> serde_json::Result<()> {
        let mut json = serde_json::Deserializer::from_slice(text);
        json.deserialize_map(&mut *self)?;
        json.end()
    }

    /// Adds what stands behind it in the same file.
    pub(super) fn extend(&mut self, behind: Self) {
        self.scenario_name = behind.scenario_name.or(self.scenario_name.take());
        self.benchmark_name = behind.benchmark_name.or(self.benchmark_name.take());
        self.label = behind.label.or(self.label.take());
        self.max_resident_threads = behind.max_resident_threads.or(self.max_resident_threads);
        self.pid = behind.pid.or(self.pid);
        self.tid = behind.tid.or(self.tid);
        self.mps_sms = behind.mps_sms.or(self.mps_sms);
        self.left_out_at_horizon = behind.left_out_at_horizon.or(self.left_out_at_horizon);
        match (&mut self.entries, behind.entries) {
            (Some(entries), Some(more)) => entries.extend(more),
            (entries, more) => *entries = entries.take().or(more),
        }
        self.keys += behind.keys;
        self.ends_in_times = behind.ends_in_times;
    }
}

/// One entry of `times`: the first is empty, then come iterations and kernels.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Entry {
    /// Whether it has any key.
    pub(super) filled: bool,
    pub(super) execute_ns: Option<[LogTime; 2]>,
    /// Keys that only kernels have are there.
    pub(super) is_kernel: bool,
    pub(super) name: Option<String>,
    pub(super) block_count: Option<u64>,
    pub(super) threads: Option<u64>,
    pub(super) shared_memory_bytes: Option<u64>,
    pub(super) launch_ns: Vec<LogTime>,
    pub(super) times: Vec<[LogTime; 2]>,
    /// Numbers in `block_times`.
    pub(super) time_count: usize,
    pub(super) sms: Vec<u32>,
}

/// What stands in a text that is a log and nothing else; `None`: it is broken, or not a log.
pub(super) fn any_log(text: &[u8]) -> Option<Draft> {
    let mut draft = Draft::default();
    draft.read(text).ok()?;
    Some(draft)
}

/// Reads a log into the draft.
impl<'de> Visitor<'de> for &mut Draft {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a log: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            count_turn();
            self.keys += 1;
            self.ends_in_times = key == "times";
            let mut number = |most: u64| map.next_value_seed(Number(None)).map(|number| number.whole(most));
            match &*key {
                "scenario_name" => self.scenario_name = map.next_value::<Text>()?.0,
                "benchmark_name" => self.benchmark_name = map.next_value::<Text>()?.0,
                "label" => self.label = map.next_value::<Text>()?.0,
                "max_resident_threads" => self.max_resident_threads = number(u64::from(u32::MAX))?,
                "PID" => self.pid = number(1 << 52)?,
                "TID" => self.tid = number(1 << 52)?,
                "mps_sms" => self.mps_sms = number(u64::from(u32::MAX))?,
                "left_out_at_horizon" => self.left_out_at_horizon = number(u64::from(u32::MAX))?,
                "times" => map.next_value_seed(Entries(self.entries.get_or_insert_default()))?,
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(())
    }
}

/// Reads the list `times`.
struct Entries<'a>(&'a mut Vec<Entry>);

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(entry) = list.next_element_seed(Entry::default())? {
            count_turn();
            self.0.push(entry);
        }
        Ok(())
    }
}

/// Reads an entry of `times`.
impl<'de> DeserializeSeed<'de> for Entry {
    type Value = Self;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Entry {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            count_turn();
            self.filled = true;
            self.read(&key, &mut map)?;
        }
        Ok(self)
    }
}

impl Entry {
    /// Reads the value of one key.
    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let mut number = |most: u64| map.next_value_seed(Number(None)).map(|number| number.whole(most));
        match key {
            "block_count" => self.block_count = number(u64::from(u32::MAX))?,
            "thread_count" => self.threads = number(u64::from(u32::MAX))?,
            "shared_memory" => self.shared_memory_bytes = number(u64::from(u32::MAX))?,
            "kernel_name" => self.name = map.next_value::<Text>()?.0,
            "cuda_launch_times" => {
                self.launch_ns.clear();
                let times = &mut self.launch_ns;
                map.next_value_seed(EachNumber(|number: Number| times.push(number.time_ns())))?;
            }
            "execute_times" => {
                let mut pair = Vec::new();
                map.next_value_seed(EachNumber(|number: Number| pair.push(number.time_ns())))?;
                if let [start, end] = pair[..] {
                    self.execute_ns = Some([start, end]).filter(|pair| !pair.contains(&NO_TIME));
                }
            }
            "block_times" => {
                (self.times, self.time_count) = (Vec::new(), 0);
                let (times, count) = (&mut self.times, &mut self.time_count);
                map.next_value_seed(EachNumber(|number| push_time(times, count, number)))?;
            }
            "block_smids" => {
                self.sms = Vec::new();
                let sms = &mut self.sms;
                map.next_value_seed(EachNumber(|number| push_sm(sms, number)))?;
            }
            _ => {
                map.next_value::<IgnoredAny>()?;
                return Ok(());
            }
        }
        self.is_kernel |= key != "execute_times";
        Ok(())
    }
}

/// A value that should be a string; numbers are taken for one, anything else for none.
struct Text(Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Ok(Self(match value {
            serde_json::Value::String(text) => Some(text),
            serde_json::Value::Number(number) => Some(number.to_string()),
            _ => None,
        }))
    }
}

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
