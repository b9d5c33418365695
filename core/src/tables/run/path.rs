//! What took the time of a run or of a job, for people and programs.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::answers::at;
use crate::formats::{Column, Page};
use crate::run::{CriticalPath, OnPath, PathEnd, PathPart, Summary, title};
use crate::scenario::Step;
use crate::spelling::formats;
use crate::tables::RuleWords;
use crate::time::Duration;
use crate::trace::Rule;

/// Rows that the table of what took the time shows at most.
const MAX_PATH_ROWS: usize = 40;

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
pub(super) struct SumRow {
    first: PartRow,
    times: u64,
    time: Duration,
    of: Duration,
}

pub(super) fn sum_columns() -> [Column<SumRow>; 7] {
    [
        Column::new("kind", "on the path", |row: &SumRow| row.first.kind.into()).left(),
        Column::new("name", "of", |row: &SumRow| row.first.name.as_str().into()).left(),
        Column::new("stream", "stream", |row: &SumRow| row.first.stream.as_deref().into()).left(),
        Column::new("rule", "rule", |row: &SumRow| row.first.rule.map(Rule::name).into()).left(),
        Column::new("times", "times", |row| row.times.into()),
        Column::new("time_ns", "time", |row| row.time.into()),
        Column::table("share", |row: &SumRow| {
            format!("{:.1} %", 100.0 * row.time.as_ns() as f64 / row.of.as_ns().max(1) as f64).into()
        }),
    ]
}

/// The parts summed up, and hosts by the calls in which they were, as far as a profile says so; the longest first.
pub(super) fn sums(summary: &Summary<'_>, path: &CriticalPath) -> Vec<SumRow> {
    let of = path.to.since(path.from);
    let mut sums: BTreeMap<_, SumRow> = BTreeMap::new();
    let mut add = |row: PartRow, time: Duration| {
        let key = (row.kind, row.name.clone(), row.stream.clone(), row.rule);
        let sum = sums.entry(key).or_insert_with(|| SumRow { first: row, times: 0, time: Duration::ZERO, of });
        sum.times += 1;
        sum.time = sum.time.saturating_add(time);
    };
    let mut in_calls: BTreeMap<u32, Duration> = BTreeMap::new();
    if let Some(calls) = &summary.scenario.calls {
        for &(thread, step, time) in &path.host_steps {
            let Some(own) = summary.scenario.threads.get(thread as usize) else { continue };
            let Some(Step::Sleep(whole)) = own.steps.get(step as usize) else { continue };
            for (name, spent) in calls.of_step((thread, step), (time, *whole)) {
                let part = PathPart { from: path.from, to: path.to, what: OnPath::Host(thread) };
                let row = PartRow { name: format!("{}: {name}", own.label), ..PartRow::new(summary, part) };
                add(row, spent);
                let all = in_calls.entry(thread).or_default();
                *all = all.saturating_add(spent);
            }
        }
    }
    for mut row in part_rows(summary, path) {
        let mut time = row.part.time();
        if let OnPath::Host(thread) = row.part.what
            && let Some(left) = in_calls.get_mut(&thread)
        {
            row.name.push_str(": outside of its calls");
            let counted = time.min(*left);
            let less = |from: Duration| Duration::from_ns(from.as_ns().saturating_sub(counted.as_ns()));
            (*left, time) = (less(*left), less(time));
        }
        if time > Duration::ZERO {
            add(row, time);
        }
    }
    let mut sums: Vec<SumRow> = sums.into_values().collect();
    crate::sorted::sort_by_key(&mut sums, |sum| (Reverse(sum.time), sum.first.part.from));
    sums
}

/// What took most of the time, in one line.
pub(super) fn path_answer(summary: &Summary<'_>, path: &CriticalPath) -> String {
    let whole = path.to.since(path.from);
    let share = |time: Duration| 100.0 * time.as_ns() as f64 / whole.as_ns().max(1) as f64;
    let sums = sums(summary, path);
    let mut kinds: BTreeMap<&str, Duration> = BTreeMap::new();
    for sum in &sums {
        let kind = kinds.entry(sum.first.kind).or_default();
        *kind = kind.saturating_add(sum.time);
    }
    let mut kinds: Vec<(Duration, &str)> = kinds.into_iter().map(|(kind, time)| (time, kind)).collect();
    kinds.sort_unstable_by_key(|(time, kind)| (Reverse(*time), *kind));
    let parts: Vec<String> = kinds.iter().map(|(time, kind)| format!("{kind} {:.1} %", share(*time))).collect();
    let most = sums.first().map_or_else(String::new, |most| {
        format!("; most of it is {} {}: {} ({:.1} %)", most.first.kind, most.first.name, most.time, share(most.time))
    });
    format!("what took the time, {whole}: {}{most}", parts.join(", "))
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
    let sums = sums(summary, path);
    sums.iter().take(MAX_PATH_ROWS).filter_map(|sum| sum.first.rule).for_each(|rule| words.see(rule));
    page.first_rows(MAX_PATH_ROWS, &sum_columns(), sums, "", &formats(&["json"]));
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
