//! A replayed profile as JSON, CSV and for people.

use crate::experiments::profile_replay::{ProfileReplay, ReplayErrors, ReplayedKernel};
use crate::formats::{Column, DocumentWriter, Page, Report, Rows, fields};
use crate::profile::short_name;
use crate::spelling::formats;
use crate::tables::signed;
use crate::time::Duration;

fn columns<'k>() -> [Column<&'k ReplayedKernel>; 16] {
    [
        Column::data("name", |kernel: &&ReplayedKernel| (&*kernel.name).into()),
        Column::table("kernel", |kernel: &&ReplayedKernel| short_name(&kernel.name).into()).names(),
        Column::new("stream", "stream", |kernel: &&ReplayedKernel| (&*kernel.stream).into()).left(),
        Column::new("block_time", "block time", |kernel: &&ReplayedKernel| kernel.source.name().into()).left(),
        Column::data("recorded_start_ns", |kernel| kernel.recorded_start_ns.into()),
        Column::table("start recorded", |kernel: &&ReplayedKernel| {
            signed::time(kernel.recorded_start_ns.into()).into()
        }),
        Column::data("simulated_start_ns", |kernel| kernel.simulated_start_ns.into()),
        Column::table("simulated", |kernel| Duration::from_ns(kernel.simulated_start_ns).into()),
        Column::data("start_error_ns", |kernel| kernel.start_error_ns().into()),
        Column::table("off by", |kernel| signed::difference(kernel.start_error_ns().into()).into()),
        Column::data("recorded_duration_ns", |kernel| kernel.recorded_duration_ns.into()),
        Column::table("duration recorded", |kernel| Duration::from_ns(kernel.recorded_duration_ns).into()),
        Column::data("simulated_duration_ns", |kernel| kernel.simulated_duration_ns.into()),
        Column::table("simulated", |kernel| Duration::from_ns(kernel.simulated_duration_ns).into()),
        Column::data("duration_error_ns", |kernel| kernel.duration_error_ns().into()),
        Column::table("off by", |kernel| signed::difference(kernel.duration_error_ns().into()).into()),
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
    const TABLE: &'static str = "kernels";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("device", self.device)?;
        fields!(to, self.replay => all, alone, overlapped, predicted, predicted_without_sharing, held_out, unfinished);
        to.entry("recorded_makespan_ns", &self.replay.recorded_makespan_ns())?;
        to.entry("simulated_makespan_ns", &self.replay.simulated_makespan_ns())?;
        to.rows("kernels", &columns(), &self.replay.kernels)?;
        to.entry("notes", self.notes)
    }

    fn text(&self, page: &mut Page) {
        let replay = self.replay;
        let mut worst: Vec<&ReplayedKernel> = replay.kernels.iter().collect();
        worst.sort_by_key(|kernel| std::cmp::Reverse(kernel.duration_error_ns().unsigned_abs()));
        let (alone, overlapped, predicted) = (&replay.alone, &replay.overlapped, &replay.predicted);
        if replay.all.kernels > 0 {
            page.line(&within(replay));
        }
        if replay.held_out.kernels > 0 {
            page.line(&beside_median(replay));
        }
        for (what, errors) in [("alone", alone), ("overlapped", overlapped)] {
            if errors.kernels > 0 {
                page.line(&line(what, errors));
            }
        }
        if predicted.kernels > 0 {
            page.item(&line("block time from launches alone", predicted));
            page.item(&line("the same without sharing", &replay.predicted_without_sharing));
        }
        let absent = match (alone.kernels, overlapped.kernels, predicted.kernels) {
            (0, 0, _) => "no kernel ended",
            (0, _, 0) => {
                "no kernel ran alone: each overlapped another, and none has its block time from a launch alone"
            }
            (0, ..) => "no kernel ran alone: each overlapped another",
            (_, 0, _) => "no kernel overlapped another: nothing is told of sharing",
            (.., 0) => "no kernel that overlapped another has its block time from a launch alone: nothing is predicted",
            _ => "",
        };
        if !absent.is_empty() {
            page.line(absent);
        }
        if replay.unfinished > 0 {
            page.line(&format!("{} kernels did not end before the horizon", replay.unfinished));
        }
        page.blank();
        let rest = " kernels, whose durations are closer";
        page.first_rows(SHOWN, &columns(), worst, rest, &formats(&["json", "csv"]));
    }
}

/// How close the replay comes to the recording, and so from what difference on a what-if says something.
fn within(replay: &ProfileReplay) -> String {
    let [off, recorded, simulated] =
        [replay.all.p95_start_error_ns, replay.recorded_makespan_ns(), replay.simulated_makespan_ns()]
            .map(Duration::from_ns);
    let trust = if replay.is_far_off() {
        "do not trust what-ifs that change less than that"
    } else {
        "what-ifs that change less than that say nothing"
    };
    format!(
        "replayed to within {off} of the recording (95 % of starts), which lasts {recorded} (simulated {simulated}): {trust}"
    )
}

/// Whether sharing explains more than a median does.
fn beside_median(replay: &ProfileReplay) -> String {
    let held_out = &replay.held_out;
    let percent = |error: u64| format!("{:.1} %", error as f64 * 100.0 / held_out.recorded_ns.max(1) as f64);
    let simulated = percent(held_out.simulated_error_ns);
    let median = percent(held_out.median_error_ns);
    let lead =
        if replay.median_predicts_as_well() { "sharing of SMs explains no more than a median here: " } else { "" };
    format!(
        "{lead}durations of {} overlapped kernels of the second half are off by {simulated} of their sum as simulated, by \
         {median} if taken as the median of the same kernel overlapped in the first half",
        held_out.kernels
    )
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
