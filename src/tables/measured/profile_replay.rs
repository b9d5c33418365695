//! A replayed profile as JSON, CSV and for people.

use std::io;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::experiments::profile_replay::{ProfileReplay, ReplayErrors, ReplayedKernel};
use crate::formats::{Column, Objects, Page, RowsPart, TableStyle, add_rest};
use crate::profile::{BlockTimeSource, short_name};
use crate::time::Duration;

fn columns<'k>() -> [Column<&'k ReplayedKernel>; 10] {
    [
        Column::data("name", |kernel: &&ReplayedKernel| (&*kernel.name).into()),
        Column::table("kernel", |kernel: &&ReplayedKernel| short_name(&kernel.name).into()).left(),
        Column::new("stream", "stream", |kernel: &&ReplayedKernel| (&*kernel.stream).into()).left(),
        Column::new("block_time", "block time", |kernel: &&ReplayedKernel| {
            match kernel.source {
                BlockTimeSource::Alone => "alone",
                BlockTimeSource::SameKernelAlone => "same_kernel_alone",
                BlockTimeSource::UpperBound => "upper_bound",
                BlockTimeSource::OtherProfile => "other_profile",
            }
            .into()
        })
        .left(),
        Column::new("recorded_start_ns", "recorded start [ns]", |kernel| kernel.recorded_start_ns.into()),
        Column::new("simulated_start_ns", "simulated", |kernel| kernel.simulated_start_ns.into()),
        Column::new("start_error_ns", "error", |kernel| kernel.start_error_ns().into()),
        Column::new("recorded_duration_ns", "recorded duration [ns]", |kernel| kernel.recorded_duration_ns.into()),
        Column::new("simulated_duration_ns", "simulated", |kernel| kernel.simulated_duration_ns.into()),
        Column::new("duration_error_ns", "error", |kernel| kernel.duration_error_ns().into()),
    ]
}

/// Kernels of a table at most: those with the largest errors of duration.
const SHOWN: usize = 20;

/// The errors over all kernels, and those that are furthest off.
#[must_use]
pub fn profile_replay_table(replay: &ProfileReplay, style: TableStyle) -> String {
    let mut page = Page::new(style);
    let mut worst: Vec<&ReplayedKernel> = replay.kernels.iter().collect();
    worst.sort_by_key(|kernel| std::cmp::Reverse(kernel.duration_error_ns().unsigned_abs()));
    let shown = page.most_rows(SHOWN);
    let rest = worst.len().saturating_sub(shown);
    worst.truncate(shown);
    let line = |what: &str, errors: &ReplayErrors| {
        let [start, start_95, duration, duration_95] = [
            errors.median_start_error_ns,
            errors.p95_start_error_ns,
            errors.median_duration_error_ns,
            errors.p95_duration_error_ns,
        ]
        .map(Duration::from_ns);
        format!(
            "{what}: {} kernels, start off by {start} (95 %: {start_95}), duration by {duration} (95 %: {duration_95})",
            errors.kernels
        )
    };
    page.line(&line("alone", &replay.alone));
    page.line(&line("overlapped", &replay.overlapped));
    page.item(&line("block time from launches alone", &replay.predicted));
    page.item(&line("the same without sharing", &replay.predicted_without_sharing));
    if replay.unfinished > 0 {
        page.line(&format!("{} kernels did not end before the horizon", replay.unfinished));
    }
    page.blank();
    page.trimmed_table(&columns(), worst);
    add_rest(&mut page, rest, "kernels, whose durations are closer", "--format json or --format csv");
    page.finish()
}

/// All kernels for programs.
///
/// # Errors
/// Whatever `out` refuses.
pub fn profile_replay_rows(replay: &ProfileReplay, part: RowsPart<'_>, out: impl io::Write) -> io::Result<()> {
    part.write(&columns(), &replay.kernels, out)
}

/// The whole as one JSON document.
#[derive(Debug)]
pub struct ProfileReplayDocument<'r> {
    /// The device's name.
    pub device: &'r str,
    /// What is reported.
    pub replay: &'r ProfileReplay,
    /// What its user should know.
    pub notes: &'r [String],
}

impl Serialize for ProfileReplayDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let replay = self.replay;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("device", self.device)?;
        map.serialize_entry("alone", &replay.alone)?;
        map.serialize_entry("overlapped", &replay.overlapped)?;
        map.serialize_entry("predicted", &replay.predicted)?;
        map.serialize_entry("predicted_without_sharing", &replay.predicted_without_sharing)?;
        map.serialize_entry("unfinished", &replay.unfinished)?;
        map.serialize_entry("kernels", &Objects::new(&columns(), || replay.kernels.iter()))?;
        map.serialize_entry("notes", self.notes)?;
        map.end()
    }
}
