//! What took the time of a run or of its longest job, as tables.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::formats::{Column, Page};
use crate::run::{CriticalPath, OnPath, PathEnd, PathPart, Summary, title};
use crate::spelling::formats;
use crate::tables::rule_words::RuleWords;
use crate::time::{Duration, Instant};
use crate::trace::Rule;

/// Rows that a table shows at most.
const MAX_ROWS: usize = 40;

/// A part with the names of what it is of.
#[derive(Debug, Clone)]
pub(super) struct PartRow {
    part: PathPart,
    kind: &'static str,
    name: String,
    stream: Option<String>,
    rule: Option<Rule>,
}

impl PartRow {
    fn new(summary: &Summary<'_>, part: PathPart) -> Self {
        let (trace, threads) = (summary.trace, &summary.scenario.threads);
        let (kind, operation, rule) = match part.what {
            OnPath::Operation(id) => (trace.record(id).map_or("", |record| record.kind.name()), Some(id), None),
            OnPath::Wait(id, rule) => ("wait", Some(id), Some(rule)),
            OnPath::Host(_) => ("host", None, None),
        };
        let name = match (operation, part.what) {
            (Some(id), _) => title(summary, id),
            (None, OnPath::Host(thread)) => {
                threads.get(thread as usize).map_or_else(String::new, |own| own.label.to_string())
            }
            (None, _) => String::new(),
        };
        let record = operation.and_then(|id| trace.record(id));
        let stream = record.map(|record| trace.stream_name(record.stream).to_owned());
        Self { part, kind, name, stream, rule }
    }
}

/// The parts in order of time, for programs.
pub(super) fn part_columns() -> [Column<PartRow>; 6] {
    [
        Column::data("from_ns", |row: &PartRow| row.part.from.into()),
        Column::data("to_ns", |row| row.part.to.into()),
        Column::data("kind", |row: &PartRow| row.kind.into()),
        Column::data("name", |row: &PartRow| row.name.as_str().into()),
        Column::data("stream", |row: &PartRow| row.stream.as_deref().into()),
        Column::data("rule", |row: &PartRow| row.rule.map(Rule::name).into()),
    ]
}

pub(super) fn part_rows(summary: &Summary<'_>, path: &CriticalPath) -> impl Iterator<Item = PartRow> {
    path.parts.iter().map(|part| PartRow::new(summary, *part))
}

/// All parts of one thing.
struct SumRow {
    first: PartRow,
    times: u64,
    time: Duration,
    of: Duration,
}

fn sum_columns() -> [Column<SumRow>; 7] {
    [
        Column::table("on the path", |row: &SumRow| row.first.kind.into()).left(),
        Column::table("of", |row: &SumRow| row.first.name.as_str().into()).left(),
        Column::table("stream", |row: &SumRow| row.first.stream.as_deref().into()).left(),
        Column::table("rule", |row: &SumRow| row.first.rule.map(Rule::name).into()).left(),
        Column::table("times", |row| row.times.into()),
        Column::table("time", |row| row.time.into()),
        Column::table("share", |row: &SumRow| {
            format!("{:.1} %", 100.0 * row.time.as_ns() as f64 / row.of.as_ns().max(1) as f64).into()
        }),
    ]
}

/// Which kernels, copies, waits and hosts took the time, the longest first, and how far back that is known.
pub(super) fn add_critical_path(page: &mut Page, summary: &Summary<'_>, path: &CriticalPath, words: &mut RuleWords) {
    let label = |thread: u32| summary.scenario.threads.get(thread as usize).map_or("", |thread| &*thread.label);
    let whole = path.to.since(path.from);
    let of = path
        .job
        .map_or_else(|| "the run".to_owned(), |(thread, job)| format!("job {job} of {:?}, its longest", label(thread)));
    page.line(&format!(
        "critical path of {of}: {whole}, from {} to {}; each began when the one before it ended:",
        at(path.from),
        at(path.to)
    ));
    let mut sums: BTreeMap<_, SumRow> = BTreeMap::new();
    for row in part_rows(summary, path) {
        let key = (row.kind, row.name.clone(), row.stream.clone(), row.rule);
        let time = row.part.time();
        let sum = sums.entry(key).or_insert_with(|| SumRow { first: row, times: 0, time: Duration::ZERO, of: whole });
        sum.times += 1;
        sum.time = sum.time.saturating_add(time);
    }
    let mut sums: Vec<SumRow> = sums.into_values().collect();
    crate::sorted::sort_by_key(&mut sums, |sum| (Reverse(sum.time), sum.first.part.from));
    sums.iter().take(MAX_ROWS).filter_map(|sum| sum.first.rule).for_each(|rule| words.see(rule));
    page.first_rows(MAX_ROWS, &sum_columns(), sums, "", &formats(&["json"]));
    words.add_to(page);
    let begin = path.parts.first().map_or(path.to, |part| part.from);
    let why = match path.end {
        PathEnd::Begin => return,
        PathEnd::Release(_) if begin <= path.from => return,
        PathEnd::Release(thread) => {
            let label = label(thread);
            return page
                .line(&format!("it begins at {} with the release of {label:?}; nothing before delayed it", at(begin)));
        }
        PathEnd::Barrier(thread) => format!("{:?} waited for other hosts at a barrier", label(thread)),
        PathEnd::Core(thread) => format!("{:?} worked on its core, or waited for it", label(thread)),
        PathEnd::TooLong(thread) => format!("the steps of {:?} repeat too often to be followed", label(thread)),
        PathEnd::Unknown => "what let this begin does not follow from the record".to_owned(),
    };
    page.line(&format!("before {} the path is not known: {why}", at(begin)));
}

fn at(instant: Instant) -> Duration {
    instant.since(Instant::ZERO)
}
