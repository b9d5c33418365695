//! A profile simulated again, beside its recording or without the changes that were asked for, and two profiles side by
//! side.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::experiments::profile_replay::{
    Activity, HeldOut, HeldOutErrors, KernelChange, ProfileComparison, ProfileReplay, ReplayErrors, ReplayedKernel,
};
use crate::formats::{Column, DocumentWriter, Page, Report, Rows, fields};
use crate::profile::{ToldBy, short_name};
use crate::run::Summary;
use crate::scenario::Scenario;
use crate::spelling::{formats, option};
use crate::time::Duration;
use crate::words::counted;
use gpusched_core::tables::{
    AskedWaits, add_stream_waits, blame_columns, signed_difference, signed_time, stream_waits,
};

fn columns<'k>() -> [Column<&'k ReplayedKernel>; 16] {
    [
        Column::data("name", |kernel: &&ReplayedKernel| (&*kernel.name).into()),
        Column::table("kernel", |kernel: &&ReplayedKernel| short_name(&kernel.name).into()).names(),
        Column::new("stream", "stream", |kernel: &&ReplayedKernel| (&*kernel.stream).into()).left(),
        Column::new("block_time", "block time", |kernel: &&ReplayedKernel| kernel.source.name().into()).left(),
        Column::data("recorded_start_ns", |kernel| kernel.recorded_start_ns.into()),
        Column::table("start recorded", |kernel: &&ReplayedKernel| signed_time(kernel.recorded_start_ns.into()).into()),
        Column::data("simulated_start_ns", |kernel| kernel.simulated_start_ns.into()),
        Column::table("simulated", |kernel| Duration::from_ns(kernel.simulated_start_ns).into()),
        Column::data("start_error_ns", |kernel| kernel.start_error_ns().into()),
        Column::table("off by", |kernel| signed_difference(kernel.start_error_ns().into()).into()),
        Column::data("recorded_duration_ns", |kernel| kernel.recorded_duration_ns.into()),
        Column::table("duration recorded", |kernel| Duration::from_ns(kernel.recorded_duration_ns).into()),
        Column::data("simulated_duration_ns", |kernel| kernel.simulated_duration_ns.into()),
        Column::table("simulated", |kernel| Duration::from_ns(kernel.simulated_duration_ns).into()),
        Column::data("duration_error_ns", |kernel| kernel.duration_error_ns().into()),
        Column::table("off by", |kernel| signed_difference(kernel.duration_error_ns().into()).into()),
    ]
}

/// Kernels of a table at most: of a replay those with the largest errors of duration, or of start where durations are
/// fitted; of two profiles those whose total times change most.
const SHOWN: usize = 20;

/// A profile whose launches were simulated.
#[derive(Debug)]
pub struct ProfileReplayDocument<'r> {
    /// What was simulated.
    pub scenario: &'r Scenario,
    /// What is reported.
    pub replay: &'r ProfileReplay,
    /// How kernels were told that overlapped others.
    pub kernel_times: ToldBy,
    /// What the first half says of the second, where that can be checked.
    pub held_out: Option<&'r HeldOut>,
    /// The same with launches at their recorded times, where those of hosts that wait as recorded are far off.
    pub recorded_launches: Option<&'r ProfileReplay>,
    /// The same without the changes that were asked for, if there are any.
    pub base: Option<&'r ProfileReplay>,
    /// What is asked about the waits of the simulation.
    pub waits: AskedWaits<'r>,
}

impl ProfileReplayDocument<'_> {
    fn summary(&self) -> Summary<'_> {
        self.replay.summary(self.scenario)
    }
}

/// The errors over all kernels, and the kernels: for people those that are furthest off.
impl Report for ProfileReplayDocument<'_> {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "kernels";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("device", &self.scenario.device().name)?;
        fields!(to, self.replay => activity, all, alone, overlapped, predicted, predicted_without_sharing, unfinished);
        fields!(to, self => kernel_times, held_out);
        to.entry("recorded_launches", &self.recorded_launches.map(|replay| &replay.all))?;
        to.entry("base", &self.base.map(|base| &base.activity))?;
        to.entry("base_all", &self.base.map(|base| base.all))?;
        to.entry("recorded_makespan_ns", &self.replay.recorded_makespan_ns())?;
        to.entry("simulated_makespan_ns", &self.replay.simulated_makespan_ns())?;
        to.rows("stream_waits", &blame_columns(), stream_waits(&self.summary()))?;
        to.rows("kernels", &columns(), &self.replay.kernels)?;
        self.waits.document(to, &self.summary())?;
        to.entry("notes", &self.scenario.notes)
    }

    fn text(&self, page: &mut Page) {
        let replay = self.replay;
        // Durations that are fitted are off by roundings.
        let by_starts = replay.predicted.kernels == 0 && replay.has_host_calls && self.base.is_none();
        let mut worst: Vec<&ReplayedKernel> = replay.kernels.iter().collect();
        crate::sorted::sort_by_key(&mut worst, |kernel| {
            let off = if by_starts { kernel.start_error_ns() } else { kernel.duration_error_ns() };
            std::cmp::Reverse(off.unsigned_abs())
        });
        // What was changed is no error.
        let close = self.base.unwrap_or(replay);
        let (alone, overlapped, predicted) = (&close.alone, &close.overlapped, &close.predicted);
        if let Some(base) = self.base {
            page.line(&answer(base, replay));
        }
        self.waits.add_answers(page, &self.summary());
        if let Some(held_out) = self.held_out {
            page.line(&held_out.verdict(self.kernel_times));
        }
        if close.all.kernels > 0 {
            page.line(&closeness(close));
        }
        if let Some(errors) = self.recorded_launches.map(|replay| replay.all) {
            let [median, off] = [errors.median_start_error_ns, errors.p95_start_error_ns].map(Duration::from_ns);
            page.item(&format!("with {} recorded: to within {off}, by {median} in the median", option("launches")));
        }
        for (what, errors) in [("alone, durations fitted", alone), ("overlapped", overlapped)] {
            if errors.kernels > 0 {
                page.line(&line(what, errors));
            }
        }
        if predicted.kernels > 0 {
            page.item(&line("block time from other launches", predicted));
        }
        if close.predicted_without_sharing.kernels > 0 {
            page.item(&line("the same without sharing", &close.predicted_without_sharing));
        }
        let absent = match (alone.kernels, overlapped.kernels, predicted.kernels) {
            (0, 0, _) => "no kernel ended",
            (0, _, 0) => {
                "no kernel ran alone: each overlapped another, and none has its block time from another launch"
            }
            (0, ..) => "no kernel ran alone: each overlapped another",
            (_, 0, _) => "no kernel overlapped another: nothing is told of sharing",
            (.., 0) => "no kernel that overlapped another has its block time from another launch: nothing is predicted",
            _ => "",
        };
        if !absent.is_empty() {
            page.line(absent);
        }
        if replay.unfinished > 0 {
            page.line(&format!("{} did not end before the horizon", counted(replay.unfinished, "kernel")));
        }
        if let Some((held_out, slow_down)) = self.held_out.and_then(|held_out| Some((held_out, held_out.slow_down?))) {
            page.blank();
            page.line(&format!(
                "{} of the second half, as the first half tells them; recorded slow-down x{slow_down:.2}:",
                counted(held_out.kernels, "overlapped kernel")
            ));
            let rows = held_out.errors.iter().map(|errors| HeldOutRow { errors, recorded_ns: held_out.recorded_ns });
            page.trimmed_table(&held_out_columns(), rows);
        }
        if let Some(base) = self.base {
            page.blank();
            activity_table(page, &activity_rows(&base.activity, &replay.activity), &of_what_if());
        }
        add_stream_waits(page, &self.summary());
        page.blank();
        let rest = if by_starts { " kernels, whose starts are closer" } else { " kernels, whose durations are closer" };
        page.first_rows(SHOWN, &columns(), worst, rest, &formats(&["json", "csv"]));
        self.waits.add_tables(page, &self.summary());
    }
}

/// One time instead of another, and by how much.
fn instead_of(one_ns: u64, other_ns: u64) -> String {
    let [one, other] = [one_ns, other_ns].map(Duration::from_ns);
    let change = i128::from(other_ns) - i128::from(one_ns);
    let percent = change as f64 * 100.0 / one_ns.max(1) as f64;
    let share = if percent.abs() < 0.05 { "less than 0.1 %".to_owned() } else { format!("{percent:+.1} %") };
    if change == 0 {
        format!("{one} as before")
    } else {
        format!("{other} instead of {one} ({}, {share})", signed_difference(change))
    }
}

/// What a what-if comes to, or why the profile cannot tell.
fn answer(base: &ProfileReplay, replay: &ProfileReplay) -> String {
    let [one, other] = [base, replay].map(|replay| replay.activity.makespan_ns);
    let changed = instead_of(one, other);
    if base.activity == replay.activity {
        return "the what-if changes none of these times: either nothing waits for what was changed, nor runs in other \
                waves, or kernels keep their durations whatever is changed (the notes say which)"
            .to_owned();
    }
    if !base.has_host_calls {
        return format!(
            "what if: {changed}; launches stay where they were recorded, as no host calls are replayed: how much earlier \
             they could be, this profile cannot tell"
        );
    }
    let off = base.all.p95_start_error_ns;
    if other != one && other.abs_diff(one) < off {
        return format!(
            "what if: {changed}; this profile cannot tell, because the replay itself is off by {}",
            Duration::from_ns(off)
        );
    }
    format!("what if: {changed}")
}

/// How close the replay comes to the recording, and so from what difference on a what-if says something; or that starts
/// are not predicted, as the host's calls are unknown.
fn closeness(replay: &ProfileReplay) -> String {
    let [off, recorded, simulated] =
        [replay.all.p95_start_error_ns, replay.recorded_makespan_ns(), replay.simulated_makespan_ns()]
            .map(Duration::from_ns);
    if !replay.has_host_calls {
        let told = if replay.predicted.kernels > 0 { "no start is predicted" } else { "nothing is predicted" };
        return format!(
            "starts are the recorded ones, as the file has no host calls: {told} (95 % of starts are simulated within \
             {off}); the recording lasts {recorded} (simulated {simulated})"
        );
    }
    let trust = if replay.is_far_off() {
        "do not trust what-ifs that change less than that"
    } else if replay.predicted.kernels < replay.all.kernels {
        "what-ifs that change less than that say nothing, and others may be off by more, as durations are fitted to this \
         recording"
    } else {
        "what-ifs that change less than that say nothing"
    };
    format!(
        "replayed to within {off} of the recording (95 % of starts), which lasts {recorded} (simulated {simulated}): {trust}"
    )
}

/// What one way says of the second half, whose kernels take that long in all.
#[derive(Debug, Clone, Copy)]
struct HeldOutRow<'r> {
    errors: &'r HeldOutErrors,
    recorded_ns: u64,
}

fn held_out_columns<'r>() -> [Column<HeldOutRow<'r>>; 5] {
    [
        Column::table("told by", |row: &HeldOutRow<'_>| row.errors.kernel_times.words().into()).left(),
        Column::table("durations off by", |row: &HeldOutRow<'_>| {
            format!("{:.1} %", row.errors.duration_error_ns as f64 * 100.0 / row.recorded_ns.max(1) as f64).into()
        }),
        Column::table("starts off by", |row: &HeldOutRow<'_>| {
            Duration::from_ns(row.errors.median_start_error_ns).into()
        }),
        Column::table("makespan off by", |row: &HeldOutRow<'_>| {
            signed_difference(row.errors.makespan_error_ns.into()).into()
        }),
        Column::table("correlation of slow-downs", |row: &HeldOutRow<'_>| {
            row.errors.slow_down_correlation.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}")).into()
        }),
    ]
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
        "{what}: {}, start off by {start} (95 %: {start_95}), duration by {duration} (95 %: {duration_95})",
        counted(errors.kernels, "kernel")
    )
}

/// One sum in both runs \[ns\].
#[derive(Debug)]
pub(super) struct ActivityRow {
    what: String,
    one: u64,
    other: u64,
}

impl ActivityRow {
    fn change(&self) -> i128 {
        i128::from(self.other) - i128::from(self.one)
    }
}

/// The sums of two runs, and those of their streams.
fn activity_rows(one: &Activity, other: &Activity) -> [Vec<ActivityRow>; 2] {
    let row =
        |what: &str, sum: fn(&Activity) -> u64| ActivityRow { what: what.to_owned(), one: sum(one), other: sum(other) };
    let sums = vec![
        row("makespan", |activity| activity.makespan_ns),
        row("a kernel runs, no collective", |activity| activity.compute_ns),
        row("a collective runs", |activity| activity.communication_ns),
        row("a collective and no other kernel (exposed)", |activity| activity.exposed_communication_ns),
        row("a copy or memset runs", |activity| activity.copies_ns),
        row("two operations or more run (overlap)", |activity| activity.overlap_ns),
        row("nothing runs", |activity| activity.idle_ns),
    ];
    let mut streams: BTreeMap<&str, [[u64; 2]; 2]> = BTreeMap::new();
    let mut names: Vec<&str> = Vec::new();
    for (side, activity) in [one, other].into_iter().enumerate() {
        for stream in &activity.streams {
            names.push(&stream.stream);
            let of_stream = streams.entry(&stream.stream).or_default();
            of_stream[side] = [stream.busy_ns, stream.end_ns];
        }
    }
    let of_streams = names.into_iter().filter_map(|name| Some((name, streams.remove(name)?)));
    let of_streams = of_streams.flat_map(|(name, [[busy, end], [other_busy, other_end]])| {
        [("busy", busy, other_busy), ("ends", end, other_end)].map(|(what, one, other)| ActivityRow {
            what: format!("{name}: {what}"),
            one,
            other,
        })
    });
    [sums, of_streams.collect()]
}

/// Columns of a table whose sides are the recording without changes and with them.
fn of_what_if<'r>() -> [Column<&'r ActivityRow>; 4] {
    [
        Column::table("time", |row: &&ActivityRow| row.what.clone().into()).left(),
        Column::table("base", |row: &&ActivityRow| Duration::from_ns(row.one).into()),
        Column::table("what if", |row: &&ActivityRow| Duration::from_ns(row.other).into()),
        Column::table("change", |row: &&ActivityRow| signed_difference(row.change()).into()),
    ]
}

/// Columns of a table whose sides are two recordings.
fn of_profiles<'r>() -> [Column<&'r ActivityRow>; 4] {
    let [time, _, _, change] = of_what_if();
    [
        time,
        Column::table("first", |row: &&ActivityRow| Duration::from_ns(row.one).into()),
        Column::table("second", |row: &&ActivityRow| Duration::from_ns(row.other).into()),
        change,
    ]
}

/// Rows about streams at most.
const STREAM_ROWS: usize = 20;

/// Writes the table for people, streams by how much they change.
fn activity_table<'r>(
    page: &mut Page,
    [sums, streams]: &'r [Vec<ActivityRow>; 2],
    columns: &[Column<&'r ActivityRow>],
) {
    let mut of_streams: Vec<&ActivityRow> = streams.iter().collect();
    if of_streams.len() > STREAM_ROWS {
        crate::sorted::sort_by_key(&mut of_streams, |row| std::cmp::Reverse(row.change().unsigned_abs()));
    }
    let left_out = of_streams.len().saturating_sub(STREAM_ROWS);
    page.trimmed_table(columns, sums.iter().chain(of_streams.into_iter().take(STREAM_ROWS)));
    page.rest(left_out, " times of streams, which change less", &formats(&["json"]));
}

fn change_columns<'k>() -> [Column<&'k KernelChange>; 11] {
    [
        Column::data("name", |kernel: &&KernelChange| (&*kernel.name).into()),
        Column::table("kernel", |kernel: &&KernelChange| short_name(&kernel.name).into()).names(),
        Column::new("first_launches", "launches, first", |kernel| kernel.launches[0].into()),
        Column::new("second_launches", "second", |kernel| kernel.launches[1].into()),
        Column::data("first_ns", |kernel| kernel.total_ns[0].into()),
        Column::table("total time, first", |kernel| Duration::from_ns(kernel.total_ns[0]).into()),
        Column::data("second_ns", |kernel| kernel.total_ns[1].into()),
        Column::table("second", |kernel| Duration::from_ns(kernel.total_ns[1]).into()),
        Column::data("first_median_ns", |kernel| kernel.median_ns[0].into()),
        Column::data("second_median_ns", |kernel| kernel.median_ns[1].into()),
        Column::table("change", |kernel| signed_difference(kernel.change_ns()).into()),
    ]
}

impl ProfileComparison {
    /// The kernel whose total time changes most, behind the times of the whole.
    fn most_changed(&self) -> String {
        let most = self.kernels.iter().max_by_key(|kernel| kernel.change_ns().unsigned_abs());
        most.filter(|kernel| kernel.change_ns() != 0).map_or_else(String::new, |kernel| {
            format!(
                "; of all kernels {} changes most, by {}",
                short_name(&kernel.name),
                signed_difference(kernel.change_ns())
            )
        })
    }
}

/// What both GPUs did in sums, and the kernels, for people those whose total time changes most.
impl Report for ProfileComparison {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "kernels";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        fields!(to, self => files, first, second, collectives);
        to.rows("kernels", &change_columns(), &self.kernels)
    }

    fn text(&self, page: &mut Page) {
        let [first, second] = &self.files;
        let [one, other] = [&self.first, &self.second].map(|activity| activity.makespan_ns);
        let takes = if one == other { "as long".to_owned() } else { instead_of(one, other) };
        page.line(&format!("the second profile takes {takes}{}", self.most_changed()));
        page.line(&format!("recorded: first {first}, second {second}"));
        activity_table(page, &activity_rows(&self.first, &self.second), &of_profiles());
        page.blank();
        if let Some(split) = &self.collectives {
            let ([first, second], time) = (split.ranks, Duration::from_ns);
            page.line(&match split.matched {
                0 => format!(
                    "no collectives of ranks {first} and {second} go together: waiting is not told from transfer"
                ),
                matched => format!(
                    "{} of ranks {first} and {second}, ending together: transfer {}; waiting, at least, \
                     as other ranks may come later: rank {first} {}, rank {second} {}",
                    counted(matched, "collective"),
                    time(split.transfer_ns),
                    time(split.waiting_ns[0]),
                    time(split.waiting_ns[1]),
                ),
            });
            if split.unmatched != [0, 0] {
                let [first, second] = split.unmatched;
                page.line(&format!(
                    "not split: {first} and {second} of functions that they launched differently often"
                ));
            }
            page.blank();
        } else if self.first.communication_ns > 0 && self.second.communication_ns > 0 {
            page.line(
                "the profiles do not state that they are of two ranks of one run: waiting of collectives is not told from \
                 transfer",
            );
            page.blank();
        }
        let mut most: Vec<&KernelChange> = self.kernels.iter().collect();
        crate::sorted::sort_by_key(&mut most, |kernel| Reverse(kernel.change_ns().unsigned_abs()));
        let rest = " kernels, whose total time changes less";
        page.first_rows(SHOWN, &change_columns(), most, rest, &formats(&["json", "csv"]));
    }
}
