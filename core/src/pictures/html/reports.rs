//! The page's data on deadlines, on who made whom wait, and on response times: tables, and charts as in printed
//! reports.

use serde::Serialize;

use crate::draw::Drawing;
use crate::pictures::blame_map::blame_figure;
use crate::pictures::response_chart;
use crate::run::{Summary, due_jobs};
use crate::tables::{BlameRow, BlameTables};
use crate::time::{Duration, Instant};
use crate::trace::{Phase, Reason};

/// Jobs that had not begun when the run ended and are listed one by one, at most.
const MOST_NOT_BEGUN: u64 = 10_000;

#[derive(Debug, Default, Serialize)]
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
        let mut columns = Self::default();
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

const MOST_ROWS: usize = 500;
/// Parts into which waits are divided, one for each that stood in the way, above which they are not summed up: they
/// grow with the square of the length of queues.
const MOST_PARTS: usize = 20_000_000;

/// Who made whom wait.
#[derive(Debug, Serialize)]
pub(super) struct BlameData {
    streams: BlameList,
    kernels: BlameList,
    total_ns: Duration,
    /// Maps of both, as SVG.
    figure: String,
}

#[derive(Debug, Serialize)]
struct BlameList {
    rows: Vec<BlameEntry>,
    /// Rows that are not listed, and their time.
    more: usize,
    more_ns: Duration,
}

#[derive(Debug, Serialize)]
struct BlameEntry {
    waiting: String,
    blocking: Option<String>,
    rule: String,
    wait_ns: Duration,
}

impl BlameData {
    /// `None` if queues are too long for that.
    pub(super) fn new(summary: &Summary<'_>, reasons: &[Reason], phases: &[Phase]) -> Option<Self> {
        let parts: usize = phases.iter().map(|phase| phase.blocking.len().max(1) + phase.more).sum();
        if parts > MOST_PARTS {
            return None;
        }
        let tables = BlameTables::of(summary, reasons);
        Some(Self {
            streams: BlameList::new(&tables.streams),
            kernels: BlameList::new(&tables.kernels),
            total_ns: tables.total(),
            figure: inside_html(&blame_figure(summary, &tables)),
        })
    }
}

impl BlameList {
    fn new(rows: &[BlameRow]) -> Self {
        let entry = |row: &BlameRow| BlameEntry {
            waiting: row.waiting.to_string(),
            blocking: row.blocking.as_deref().map(str::to_owned),
            rule: row.rules.to_string(),
            wait_ns: row.wait_ns,
        };
        let rest = rows.get(MOST_ROWS..).unwrap_or_default();
        let more_ns = rest.iter().fold(Duration::ZERO, |sum, row| sum.saturating_add(row.wait_ns));
        let rows = rows.iter().take(MOST_ROWS).map(entry).collect();
        Self { rows, more: rest.len(), more_ns }
    }
}

/// A picture as SVG that is part of an HTML page, where it needs no namespace.
fn inside_html(drawing: &Drawing) -> String {
    drawing.to_svg().replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
}

/// The distribution of response times as SVG, if there is more than one job of something.
pub(super) fn response_figure(summary: &Summary<'_>) -> Option<String> {
    let mut rows = summary.responses();
    rows.retain(|row| row.jobs > 1 && !row.times.is_empty());
    if rows.is_empty() {
        return None;
    }
    response_chart(&summary.scenario.name, &rows).ok().as_ref().map(inside_html)
}
