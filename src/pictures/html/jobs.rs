//! Deadlines of jobs, and response times.

use serde::Serialize;

use super::instants::Exact;
use crate::run::{Responses, Summary, due_jobs};
use crate::time::Duration;

/// Jobs that had not begun when the run ended and are listed one by one, at most.
const MOST_NOT_BEGUN: u64 = 10_000;

#[derive(Debug, Serialize)]
pub(super) struct Deadlines {
    /// Columns, one entry for each job, in order of time.
    stream: Vec<u32>,
    due_ns: Vec<Exact>,
    missed: Vec<bool>,
    text: Vec<String>,
    /// Jobs that had not begun and are in none of the columns because they are too many.
    left_out: Exact,
}

impl Deadlines {
    pub(super) fn new(summary: &Summary<'_>) -> Self {
        let mut columns =
            Self { stream: Vec::new(), due_ns: Vec::new(), missed: Vec::new(), text: Vec::new(), left_out: Exact(0) };
        let mut rest = MOST_NOT_BEGUN;
        for jobs in due_jobs(summary) {
            let listed = if jobs.count == 1 { 1 } else { jobs.count.min(rest) };
            rest -= if jobs.count == 1 { 0 } else { listed };
            columns.left_out.0 += jobs.count - listed;
            for number in 0..listed {
                columns.stream.push(jobs.stream.0);
                columns.due_ns.push(Exact(jobs.due_of(number).as_ns()));
                columns.missed.push(jobs.is_missed());
                columns.text.push(jobs.sentence(number, summary.scenario));
            }
        }
        columns
    }
}

/// Response times of the jobs of one stream or host; those of streams without deadline and with one job are told with
/// their kernels.
#[derive(Debug, Serialize)]
pub(super) struct ResponseRow<'a> {
    stream: &'a str,
    jobs: Exact,
    unfinished: Exact,
    min_ns: Option<Exact>,
    mean_ns: Option<Exact>,
    p95_ns: Option<Exact>,
    p99_ns: Option<Exact>,
    max_ns: Option<Exact>,
    deadline_ns: Option<Exact>,
    misses: Option<Exact>,
}

impl<'a> ResponseRow<'a> {
    pub(super) fn rows(summary: &Summary<'a>) -> Vec<Self> {
        let rows = summary.responses();
        rows.iter().filter(|row| row.is_worth_showing()).map(Self::new).collect()
    }

    fn new(row: &Responses<'a>) -> Self {
        let exact = |time: Option<Duration>| time.map(|time| Exact(time.as_ns()));
        Self {
            stream: row.stream,
            jobs: Exact(row.jobs),
            unfinished: Exact(row.unfinished),
            min_ns: exact(row.min_ns),
            mean_ns: exact(row.mean_ns),
            p95_ns: exact(row.p95_ns),
            p99_ns: exact(row.p99_ns),
            max_ns: exact(row.max_ns),
            deadline_ns: exact(row.deadline_ns),
            misses: row.misses.map(Exact),
        }
    }
}
