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
fn counts(verdicts: impl Iterator<Item = Option<Verdict>> + Clone) -> String {
    let of = |wanted: Verdict| verdicts.clone().filter(|verdict| *verdict == Some(wanted)).count();
    let without = verdicts.clone().filter(Option::is_none).count();
    let mut text = format!(
        "deadlines: {} proven, {} missed, {} open",
        of(Verdict::Proven),
        of(Verdict::Missed),
        of(Verdict::Open)
    );
    if without > 0 {
        text += &format!("; {without} without a deadline");
    }
    text
}

/// The verdicts on jobs as a table, and how many there are of each kind.
#[must_use]
pub fn verdict_table(jobs: &[JobVerdict]) -> String {
    let rest = jobs.len().saturating_sub(MAX_ROWS);
    let mut text = table(&job_columns(), jobs.iter().take(MAX_ROWS)).trim_fmt() + "\n";
    if rest > 0 {
        text += &format!(" ... and {rest} more jobs; --format json lists all of them\n");
    }
    text + &counts(jobs.iter().map(|job| job.verdict)) + "\n"
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
    let text = table(&stream_columns(), streams).trim_fmt() + "\n";
    text + &counts(streams.iter().map(|stream| stream.verdict)) + "\n"
}

/// The verdicts on sporadic streams as CSV; times in ns, empty where there is none.
///
/// # Errors
/// Whatever `out` refuses.
pub fn sporadic_csv(streams: &[SporadicVerdict], out: impl Write) -> io::Result<()> {
    write_csv(&stream_columns(), streams, out)
}
