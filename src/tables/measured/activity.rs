//! What a GPU did in two runs, side by side.

use std::collections::BTreeMap;

use crate::experiments::profile_replay::Activity;
use crate::formats::{Column, Page};
use crate::spelling::formats;
use crate::tables::signed;
use crate::time::Duration;

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
pub(super) fn activity_rows(one: &Activity, other: &Activity) -> [Vec<ActivityRow>; 2] {
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
pub(super) fn of_what_if<'r>() -> [Column<&'r ActivityRow>; 4] {
    [
        Column::table("time", |row: &&ActivityRow| row.what.clone().into()).left(),
        Column::table("base", |row: &&ActivityRow| Duration::from_ns(row.one).into()),
        Column::table("what if", |row: &&ActivityRow| Duration::from_ns(row.other).into()),
        Column::table("change", |row: &&ActivityRow| signed::difference(row.change()).into()),
    ]
}

/// Columns of a table whose sides are two recordings.
pub(super) fn of_profiles<'r>() -> [Column<&'r ActivityRow>; 4] {
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
pub(super) fn activity_table<'r>(
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
