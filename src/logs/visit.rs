//! One pass over the JSON of a log. Everything read so far stays when the text turns out to be broken.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::clock::LogTime;
use super::number::{EachNumber, NO_TIME, Number, push_sm, push_time};
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
    let (mut draft, mut json) = (Draft::default(), serde_json::Deserializer::from_slice(text));
    FileSeed { draft: &mut draft }.deserialize(&mut json).and_then(|()| json.end()).ok()?;
    Some(draft)
}

/// Reads a whole file into a draft.
pub(super) struct FileSeed<'a> {
    pub(super) draft: &'a mut Draft,
}

impl<'de> DeserializeSeed<'de> for FileSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FileSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a log: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { draft } = self;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            count_turn();
            draft.keys += 1;
            draft.ends_in_times = key == "times";
            match &*key {
                "scenario_name" => draft.scenario_name = map.next_value::<Text>()?.0,
                "benchmark_name" => draft.benchmark_name = map.next_value::<Text>()?.0,
                "label" => draft.label = map.next_value::<Text>()?.0,
                "max_resident_threads" => {
                    draft.max_resident_threads = map.next_value_seed(Number(None))?.whole(u64::from(u32::MAX));
                }
                "PID" => draft.pid = map.next_value_seed(Number(None))?.whole(1 << 52),
                "TID" => draft.tid = map.next_value_seed(Number(None))?.whole(1 << 52),
                "mps_sms" => draft.mps_sms = map.next_value_seed(Number(None))?.whole(u64::from(u32::MAX)),
                "left_out_at_horizon" => {
                    draft.left_out_at_horizon = map.next_value_seed(Number(None))?.whole(u64::from(u32::MAX));
                }
                "times" => {
                    let entries = draft.entries.get_or_insert_default();
                    map.next_value_seed(TimesSeed { entries })?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Reads the list `times`.
struct TimesSeed<'a> {
    entries: &'a mut Vec<Entry>,
}

impl<'de> DeserializeSeed<'de> for TimesSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for TimesSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(entry) = list.next_element_seed(EntrySeed)? {
            count_turn();
            self.entries.push(entry);
        }
        Ok(())
    }
}

/// Reads an entry of `times`.
struct EntrySeed;

impl<'de> DeserializeSeed<'de> for EntrySeed {
    type Value = Entry;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Entry, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EntrySeed {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry, A::Error> {
        let mut entry = Entry::default();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            count_turn();
            entry.filled = true;
            entry.read(&key, &mut map)?;
        }
        Ok(entry)
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
