//! A replayed profile as JSON, CSV and for people.

use std::io::{self, Write};

use crate::experiments::profile_replay::{ProfileReplay, ReplayErrors, ReplayedKernel};
use crate::formats::{Column, DocumentWriter, Page, Report, Rows, RowsPart, fields};
use crate::profile::{BlockTimeSource, short_name};
use crate::spelling::formats;
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

/// A profile whose launches were simulated.
#[derive(Debug)]
pub struct ProfileReplayDocument<'r> {
    /// The device's name.
    pub device: &'r str,
    /// What is reported.
    pub replay: &'r ProfileReplay,
    /// What its user should know.
    pub notes: &'r [String],
}

/// The errors over all kernels, and the kernels: for people those that are furthest off.
impl Report for ProfileReplayDocument<'_> {
    const IS_INDENTED: bool = true;

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("device", self.device)?;
        fields!(to, self.replay => alone, overlapped, predicted, predicted_without_sharing, unfinished);
        to.rows("kernels", &columns(), &self.replay.kernels)?;
        to.entry("notes", self.notes)
    }

    fn rows(&self, part: RowsPart<'_>, out: impl Write) -> io::Result<()> {
        part.write(&columns(), &self.replay.kernels, out)
    }

    fn text(&self, page: &mut Page) {
        let replay = self.replay;
        let mut worst: Vec<&ReplayedKernel> = replay.kernels.iter().collect();
        worst.sort_by_key(|kernel| std::cmp::Reverse(kernel.duration_error_ns().unsigned_abs()));
        page.line(&line("alone", &replay.alone));
        page.line(&line("overlapped", &replay.overlapped));
        page.item(&line("block time from launches alone", &replay.predicted));
        page.item(&line("the same without sharing", &replay.predicted_without_sharing));
        if replay.unfinished > 0 {
            page.line(&format!("{} kernels did not end before the horizon", replay.unfinished));
        }
        page.blank();
        let rest = " kernels, whose durations are closer";
        page.first_rows(SHOWN, &columns(), worst, rest, &formats(&["json", "csv"]));
    }
}

fn line(what: &str, errors: &ReplayErrors) -> String {
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
}
