//! Deadlines of jobs.

use serde::Serialize;

use crate::run::{Summary, due_jobs};
use crate::time::Instant;

/// Jobs that had not begun when the run ended and are listed one by one, at most.
const MOST_NOT_BEGUN: u64 = 10_000;

#[derive(Debug, Serialize)]
pub(super) struct Deadlines {
    /// Columns, one entry for each job, in order of time.
    stream: Vec<u32>,
    due_ns: Vec<Instant>,
    missed: Vec<bool>,
    text: Vec<String>,
    /// Jobs that had not begun and are in none of the columns because they are too many.
    left_out: u64,
}

impl Deadlines {
    pub(super) fn new(summary: &Summary<'_>) -> Self {
        let mut columns =
            Self { stream: Vec::new(), due_ns: Vec::new(), missed: Vec::new(), text: Vec::new(), left_out: 0 };
        let mut rest = MOST_NOT_BEGUN;
        for jobs in due_jobs(summary) {
            let listed = if jobs.count == 1 { 1 } else { jobs.count.min(rest) };
            rest -= if jobs.count == 1 { 0 } else { listed };
            columns.left_out += jobs.count - listed;
            for number in 0..listed {
                columns.stream.push(jobs.stream.0);
                columns.due_ns.push(jobs.due_of(number));
                columns.missed.push(jobs.is_missed());
                columns.text.push(jobs.sentence(number, summary.scenario));
            }
        }
        columns
    }
}
