//! Tells by the content of a file which profiler wrote it, and reads it.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;

use super::gpu_profile::{GpuProfile, GpuProfileError, ProfileFormat};
#[cfg(feature = "nsight")]
use super::nsight;
use super::{kineto, nvprof};
use crate::effort::{self, Counted};
use crate::json::without_byte_order_mark;

/// The first bytes of a gzip stream.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The first bytes of an SQLite database.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// Uncompressed, a profile may be this large \[bytes\]: a few hundred kilobytes of gzip can claim to be more.
const MAX_BYTES: u64 = 1 << 32;

/// The content of a file, decompressed if it is gzip.
///
/// # Errors
/// [`GpuProfileError`] for a gzip stream that is cut off, damaged, or holds more than 4 GiB.
pub(crate) fn uncompressed<'b>(file: &str, bytes: Cow<'b, [u8]>) -> Result<Cow<'b, [u8]>, GpuProfileError> {
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    let mut content = Vec::new();
    let most = effort::left(Counted::Bytes).map_or(MAX_BYTES, |left| MAX_BYTES.min(left.saturating_add(1)));
    let mut decoder = MultiGzDecoder::new(&*bytes).take(most);
    decoder.read_to_end(&mut content).map_err(|error| {
        let kept = content.len();
        if error.kind() == std::io::ErrorKind::UnexpectedEof {
            GpuProfileError::new(file, format!("the gzip stream is cut off after {kept} bytes of content"))
                .with_help("a profiler that is killed leaves such a file; record it again")
        } else {
            GpuProfileError::new(file, format!("the gzip stream is damaged after {kept} bytes of content: {error}"))
        }
    })?;
    effort::spend(Counted::Bytes, content.len() as u64).map_err(|over| GpuProfileError::new(file, over.to_string()))?;
    if content.len() as u64 == MAX_BYTES {
        return Err(GpuProfileError::new(file, "it holds more than 4 GiB once decompressed"));
    }
    Ok(Cow::Owned(content))
}

impl ProfileFormat {
    /// The format of an uncompressed file, or `None` if it is no profile.
    pub(crate) fn of(content: &[u8]) -> Option<Self> {
        let content = without_byte_order_mark(content);
        if content.starts_with(SQLITE) {
            Some(Self::NsightSystems)
        } else if nvprof::is_likely(content) {
            Some(Self::Nvprof)
        } else if kineto::is_likely(content) {
            Some(Self::Kineto)
        } else {
            None
        }
    }
}

impl GpuProfile {
    /// Reads an uncompressed profile; `file` is its name in errors.
    ///
    /// # Errors
    /// [`GpuProfileError`] if it is cut off or damaged, comes from a GPU that is not NVIDIA's, or holds no kernels.
    pub fn read(file: &str, content: &[u8]) -> Result<Self, GpuProfileError> {
        let profile = Self::read_as_recorded(file, content)?;
        match kineto::lacks_shapes(&profile) {
            Some(why) => Err(GpuProfileError::new(file, why)
                .with_help("gpusched compare sets two such profiles side by side, as recorded")),
            None => Ok(profile),
        }
    }

    /// The same, also of a GPU that is not NVIDIA's: for sums of what was recorded, and for nothing else.
    ///
    /// # Errors
    /// [`GpuProfileError`] if it is cut off or damaged, or holds no kernels.
    #[doc(hidden)]
    pub fn read_as_recorded(file: &str, content: &[u8]) -> Result<Self, GpuProfileError> {
        let content = without_byte_order_mark(content);
        match ProfileFormat::of(content) {
            Some(ProfileFormat::Kineto) => kineto::read(file, content),
            Some(ProfileFormat::Nvprof) => nvprof::read(file, content),
            #[cfg(feature = "nsight")]
            Some(ProfileFormat::NsightSystems) => nsight::read(file, content),
            #[cfg(not(feature = "nsight"))]
            Some(ProfileFormat::NsightSystems) => {
                let scenario = std::path::Path::new(file).with_extension("scenario.json").display().to_string();
                let help = format!(
                    "the command, which has the feature nsight by default, makes a scenario that is read here of an export \
                     of Nsight Systems: gpusched import {file:?} --out {scenario:?}"
                );
                let what = "this is an SQLite database, which this build does not read";
                Err(GpuProfileError::new(file, what).with_help(help))
            }
            None => Err(GpuProfileError::new(
                file,
                "this is no profile: neither Kineto JSON, nor an SQLite export of Nsight Systems, nor nvprof's CSV",
            )),
        }
    }
}
