//! JSON of PyTorch's profiler: a trace of Chrome's tracing page with CUPTI's records as arguments.
//!
//! One pass by a visitor: an event becomes a handful of slices of the file, and arguments are looked into only where an
//! event is of the GPU or of CUDA's runtime or driver.

use std::borrow::Cow;
use std::fmt;

use event::{DistributedInfo, Event, HIP_CALLS, NOT_NVIDIA, Properties};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::builder::ProfileBuilder;
use super::gpu_profile::{GpuProfile, GpuProfileError, ProfileFormat};
use crate::device::{ComputeCapability, GpuProperties};
use crate::limits::count_turn;
use crate::proven::OrMost;
use crate::scenario::is_key_of_scenarios;

mod event;

/// Whether this is JSON with a trace's keys at the top, or a list.
pub(super) fn is_likely(content: &[u8]) -> bool {
    let first = content.iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        Some(b'[') => true,
        Some(b'{') => Header::has_trace_keys(content),
        _ => false,
    }
}

pub(super) fn read(file: &str, content: &[u8]) -> Result<GpuProfile, GpuProfileError> {
    let mut builder = ProfileBuilder::new(file, ProfileFormat::Kineto);
    events(content, &mut builder)?;
    if lacks_shapes(&builder.profile).is_some() {
        builder = ProfileBuilder::new(file, ProfileFormat::Kineto);
        builder.keeps_bare_kernels = true;
        events(content, &mut builder)?;
    }
    // CUPTI numbers the legacy default stream 7.
    for stream in builder.streams_mut() {
        stream.is_null = stream.number == 7;
    }
    builder.finish()
}

/// Why nothing can be said of a profile but what was recorded, if so.
pub(super) fn lacks_shapes(profile: &GpuProfile) -> Option<String> {
    let [strange, hip] = [NOT_NVIDIA, HIP_CALLS].map(|why| profile.left_out.get(why).copied().unwrap_or(0));
    (strange > 0 && hip > 0).then(|| {
        format!(
            "this is a profile of an AMD GPU ({hip} calls of HIP): its kernels ({strange}) state neither registers nor \
             shared memory, without which nothing can be said of how many blocks an SM holds"
        )
    })
}

fn events<'a>(content: &'a [u8], builder: &mut ProfileBuilder<'a>) -> Result<(), GpuProfileError> {
    let mut json = serde_json::Deserializer::from_slice(content);
    let result = json.deserialize_any(TraceFile(builder)).and_then(|()| json.end());
    result.map_err(|error| broken(&builder.profile.file, &error))
}

fn broken(file: &str, error: &serde_json::Error) -> GpuProfileError {
    let (line, column) = (error.line(), error.column());
    if error.classify() == Category::Eof {
        return GpuProfileError::new(file, format!("the JSON is cut off at line {line}, column {column}"))
            .with_help("a profiler that is killed leaves such a file; record it again");
    }
    let message = error.to_string();
    let what = message.split(" at line ").next().unwrap_or(&message);
    GpuProfileError::new(file, format!("line {line}, column {column}: {what}"))
}

/// An object with `traceEvents`, or a bare list of events.
struct TraceFile<'b, 'a>(&'b mut ProfileBuilder<'a>);

impl<'a> Visitor<'a> for TraceFile<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with \"traceEvents\", or a list of events")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        let mut events = false;
        while let Some(key) = map.next_key::<Cow<'a, str>>()? {
            count_turn();
            match &*key {
                "traceEvents" => {
                    events = true;
                    map.next_value_seed(Events(self.0))?;
                }
                "deviceProperties" => {
                    for properties in map.next_value::<Vec<Properties>>()? {
                        add_gpu(properties, self.0);
                    }
                }
                "distributedInfo" => self.0.profile.rank = map.next_value::<DistributedInfo>()?.rank,
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        if events { Ok(()) } else { Err(M::Error::missing_field("traceEvents")) }
    }

    fn visit_seq<S: SeqAccess<'a>>(self, seq: S) -> Result<(), S::Error> {
        Events(self.0).visit_seq(seq)
    }
}

struct Events<'b, 'a>(&'b mut ProfileBuilder<'a>);

impl<'a> DeserializeSeed<'a> for Events<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for Events<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<S: SeqAccess<'a>>(self, mut seq: S) -> Result<(), S::Error> {
        while let Some(event) = seq.next_element::<Event<'a>>()? {
            count_turn();
            event.add_to(self.0);
        }
        Ok(())
    }
}

fn add_gpu(properties: Properties, builder: &mut ProfileBuilder<'_>) {
    let number = properties.id.unwrap_or(u32::try_from(builder.profile.gpus.len()).or_most());
    let compute_capability = properties.compute_major.zip(properties.compute_minor);
    let gpu = GpuProperties {
        name: properties.name,
        compute_capability: compute_capability.map(|(major, minor)| ComputeCapability { major, minor }),
        sms: properties.num_sms,
        warp_size: properties.warp_size,
        threads_per_sm: properties.max_threads_per_multiprocessor,
        threads_per_block: properties.max_threads_per_block,
        registers_per_sm: properties.regs_per_multiprocessor,
        registers_per_block: properties.regs_per_block,
        shared_memory_per_sm: properties.shared_mem_per_multiprocessor,
        shared_memory_per_block: properties.shared_mem_per_block_optin,
        memory_bytes: properties.total_global_mem,
        ..GpuProperties::default()
    };
    builder.profile.gpus.insert(number, gpu);
}

/// The keys at the top of an object, as far as they tell a trace.
struct Header;

/// Keys that Kineto writes at the top and other inputs do not have.
const TRACE_KEYS: [&str; 5] =
    ["traceEvents", "deviceProperties", "distributedInfo", "baseTimeNanoseconds", "cuda_runtime_version"];

impl Header {
    /// Whether one of them stands at the top of the object, as far as it can be read, and before any key by which
    /// scenario files are known: those can be long too.
    fn has_trace_keys(content: &[u8]) -> bool {
        let mut found = false;
        let mut json = serde_json::Deserializer::from_slice(content);
        // The visitor ends with an error as soon as it has found such a key, so that no large file is read twice.
        let _ = json.deserialize_map(Keys(&mut found));
        found
    }
}

struct Keys<'f>(&'f mut bool);

impl<'a> Visitor<'a> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<Cow<'a, str>>()? {
            count_turn();
            *self.0 = TRACE_KEYS.contains(&&*key);
            if *self.0 || is_key_of_scenarios(&key) {
                return Err(M::Error::custom("found"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
