//! JSON of PyTorch's profiler: a trace of Chrome's tracing page with CUPTI's records as arguments.
//!
//! One pass by a visitor: an event becomes a handful of slices of the file, and arguments are looked into only where an
//! event is of the GPU or of CUDA's runtime or driver.

mod arguments;
mod event;
mod value;
mod visit;

use serde::de::DeserializeSeed;
use serde_json::error::Category;

use super::builder::ProfileBuilder;
use super::error::GpuProfileError;
use super::model::{GpuProfile, ProfileFormat};
use event::{HIP_CALLS, NOT_NVIDIA};
use visit::{File, Header};

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
    let mut json = serde_json::Deserializer::from_slice(content);
    let result = File(&mut builder).deserialize(&mut json).and_then(|()| json.end());
    result.map_err(|error| broken(file, &error))?;
    let (strange, hip) = (builder.left_out(NOT_NVIDIA), builder.left_out(HIP_CALLS));
    if strange > 0 && hip > 0 {
        return Err(GpuProfileError::new(
            file,
            format!(
                "this is a profile of an AMD GPU ({hip} calls of HIP): its kernels ({strange}) state neither registers nor \
                 shared memory, without which nothing can be said of how many blocks an SM holds"
            ),
        ));
    }
    // CUPTI numbers the legacy default stream 7.
    for stream in builder.streams_mut() {
        stream.is_null = stream.number == 7;
    }
    builder.finish()
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
