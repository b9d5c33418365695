//! Verdicts on jobs and on sporadic streams.

use std::io::{self, Write};

use super::columns::{Column, table, write_csv};
use crate::analysis::{JobVerdict, SporadicVerdict, Verdict};

/// Rows beyond which a table is no longer something to read.
const MAX_ROWS: usize = 1_000;

fn job_columns<'a>() -> [Column<&'a JobVerdict>; 7] {
    [
        Column::new("stream", "jobs of", |row: &&JobVerdict| row.stream.as_str().into()).left(),
        Column::new("job", "job", |row| row.job.into()),
        Column::new("released_ns", "released", |row| row.released_ns.into()),
        Column::new("worst_found_ns", "worst found", |row| row.worst_found_ns.into()),
        Column::new("bound_ns", "bound", |row| row.bound_ns.into()),
        Column::new("deadline_ns", "deadline", |row| row.deadline_ns.into()),
        Column::new("verdict", "verdict", |row: &&JobVerdict| row.verdict.map(Verdict::name).into()).left(),
    ]
}

fn stream_columns<'a>() -> [Column<&'a SporadicVerdict>; 7] {
    [
        Column::new("stream", "jobs of", |row: &&SporadicVerdict| row.stream.as_str().into()).left(),
        Column::new("period_ns", "period", |row| row.period_ns.into()),
        Column::new("jitter_ns", "jitter", |row| row.jitter_ns.into()),
        Column::new("worst_found_ns", "worst found", |row| row.worst_found_ns.into()),
        Column::new("bound_ns", "bound", |row| row.bound_ns.into()),
        Column::new("deadline_ns", "deadline", |row| row.deadline_ns.into()),
        Column::new("verdict", "verdict", |row: &&SporadicVerdict| row.verdict.map(Verdict::name).into()).left(),
    ]
}

/// How many are proven, missed and open: what a reader wants to know first.
fn counts(verdicts: &[Option<Verdict>]) -> String {
    let of = |wanted: Option<Verdict>| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    let [proven, missed, open] = [Verdict::Proven, Verdict::Missed, Verdict::Open].map(|verdict| of(Some(verdict)));
    let without = match of(None) {
        0 => String::new(),
        count => format!("; {count} without a deadline"),
    };
    format!("deadlines: {proven} proven, {missed} missed, {open} open{without}\n")
}

/// The verdicts on jobs as a table, and how many there are of each kind.
#[must_use]
pub fn verdict_table(jobs: &[JobVerdict]) -> String {
    let rest = jobs.len().saturating_sub(MAX_ROWS);
    let rows = table(&job_columns(), jobs.iter().take(MAX_ROWS)).trim_fmt();
    let more = match rest {
        0 => String::new(),
        rest => format!(" ... and {rest} more jobs; --format json lists all of them\n"),
    };
    let verdicts: Vec<Option<Verdict>> = jobs.iter().map(|job| job.verdict).collect();
    format!("{rows}\n{more}{}", counts(&verdicts))
}

/// The verdicts on jobs as CSV; times in ns, empty where there is none.
///
/// # Errors
/// Whatever `out` refuses.
pub fn verdict_csv(jobs: &[JobVerdict], out: impl Write) -> io::Result<()> {
    write_csv(&job_columns(), jobs, out)
}

/// The verdicts on sporadic streams as a table, and how many there are of each kind.
#[must_use]
pub fn sporadic_table(streams: &[SporadicVerdict]) -> String {
    let verdicts: Vec<Option<Verdict>> = streams.iter().map(|stream| stream.verdict).collect();
    format!("{}\n{}", table(&stream_columns(), streams).trim_fmt(), counts(&verdicts))
}

/// The verdicts on sporadic streams as CSV; times in ns, empty where there is none.
///
/// # Errors
/// Whatever `out` refuses.
pub fn sporadic_csv(streams: &[SporadicVerdict], out: impl Write) -> io::Result<()> {
    write_csv(&stream_columns(), streams, out)
}
