//! Why streams do not run side by side, for people and programs.

use crate::formats::{Column, Page};
use crate::run::{Meanwhile, Overlap, OverlapPart, StreamPair, Summary};
use crate::spelling::{formats, option};
use crate::time::Duration;
use crate::trace::Rule;
use crate::workload::StreamId;

/// Pairs of which people see the times.
const MOST_PAIRS: usize = 5;

/// A part with names.
pub(super) struct OverlapRow {
    running: String,
    other: String,
    meanwhile: Meanwhile,
    host: Option<String>,
    time: Duration,
    of: Duration,
}

impl OverlapRow {
    fn new(summary: &Summary<'_>, pair: &StreamPair, part: &OverlapPart) -> Self {
        let name = |stream: StreamId| summary.trace.stream_name(stream).to_owned();
        let host = match part.meanwhile {
            Meanwhile::HadNothing(Some(thread)) => summary.scenario.threads.get(thread as usize),
            _ => None,
        };
        let alone = pair.alone[usize::from(part.running == pair.streams[1])];
        Self {
            running: name(part.running),
            other: name(part.other),
            meanwhile: part.meanwhile,
            host: host.map(|thread| thread.label.to_string()),
            time: part.time,
            of: alone.saturating_add(pair.both),
        }
    }

    fn share(&self) -> f64 {
        100.0 * self.time.as_ns() as f64 / self.of.as_ns().max(1) as f64
    }

    fn did(&self) -> String {
        match (self.meanwhile, &self.host) {
            (Meanwhile::Ran, _) => "runs, too".to_owned(),
            (Meanwhile::Waited(rule), _) => format!("waits, {rule}: {}", rule.meaning()),
            (Meanwhile::HadNothing(_), Some(host)) => format!("has nothing to run: host {host:?} launches more later"),
            (Meanwhile::HadNothing(_), None) => "has nothing to run: nothing more is launched into it".to_owned(),
        }
    }

    /// What would let it run earlier.
    fn remedy(&self) -> String {
        let said = |keys: &[&'static str]| {
            let options: Vec<String> = keys.iter().map(|key| option(key).to_string()).collect();
            options.join(" or ")
        };
        match self.meanwhile {
            Meanwhile::Ran => String::new(),
            Meanwhile::HadNothing(None) => "it has no more work".to_owned(),
            Meanwhile::HadNothing(Some(_)) => "launch it earlier, or from a host thread of its own".to_owned(),
            Meanwhile::Waited(rule) => match rule {
                Rule::X1 | Rule::A2 => format!("launch it first, or raise its priority: {}", said(&["set_priority"])),
                Rule::R2 | Rule::R3 | Rule::Registers | Rule::Cluster | Rule::Cooperative => {
                    format!("leave it room: {}", said(&["set_blocks", "sm_mask"]))
                }
                Rule::Channel => format!("more channels: {}", said(&["connections"])),
                Rule::N1 | Rule::N2 => "leave the NULL stream, or make the other stream non-blocking".to_owned(),
                Rule::E2 | Rule::Counter => {
                    "it needs what another stream computes, or does not: then leave out the wait".to_owned()
                }
                Rule::L1 | Rule::L2 => "launch less often: longer kernels, or a graph".to_owned(),
                Rule::C2 => "copies in one direction share an engine: copy less, or earlier".to_owned(),
                _ => "contexts take turns, or have limits: one process, or other limits".to_owned(),
            },
        }
    }
}

pub(super) fn overlap_columns() -> [Column<OverlapRow>; 9] {
    [
        Column::new("running", "while this runs", |row: &OverlapRow| row.running.as_str().into()).left(),
        Column::new("other", "this", |row: &OverlapRow| row.other.as_str().into()).left(),
        Column::table("does so", |row: &OverlapRow| row.did().into()).left(),
        Column::data("meanwhile", |row: &OverlapRow| {
            match row.meanwhile {
                Meanwhile::Ran => "runs",
                Meanwhile::Waited(_) => "waits",
                Meanwhile::HadNothing(_) => "has_nothing",
            }
            .into()
        }),
        Column::data("rule", |row: &OverlapRow| {
            let Meanwhile::Waited(rule) = row.meanwhile else { return None::<&str>.into() };
            Some(rule.name()).into()
        }),
        Column::data("host", |row: &OverlapRow| row.host.as_deref().into()),
        Column::new("time_ns", "for", |row: &OverlapRow| row.time.into()),
        Column::table("share", |row: &OverlapRow| format!("{:.1} %", row.share()).into()),
        Column::table("what would help", |row: &OverlapRow| row.remedy().into()).left(),
    ]
}

pub(super) fn overlap_rows(summary: &Summary<'_>, overlap: &Overlap) -> Vec<OverlapRow> {
    overlap.pairs.iter().flat_map(|pair| rows_of(summary, pair)).collect()
}

fn rows_of(summary: &Summary<'_>, pair: &StreamPair) -> Vec<OverlapRow> {
    pair.parts.iter().map(|part| OverlapRow::new(summary, pair, part)).collect()
}

/// The answer, and below it what each of two streams did while the other one ran.
pub(super) fn add_overlap(page: &mut Page, summary: &Summary<'_>, overlap: &Overlap) {
    let Some(first) = overlap.pairs.first() else {
        return page.line("only one stream runs anything: nothing could run side by side");
    };
    page.line(&answer(summary, first));
    for pair in overlap.pairs.iter().take(MOST_PAIRS) {
        page.blank();
        page.trimmed_table(&overlap_columns(), rows_of(summary, pair));
    }
    let more = overlap.pairs.len().saturating_sub(MOST_PAIRS);
    page.rest(more, " pairs of streams, which could share less", &formats(&["json"]));
    if overlap.left_out > 0 {
        page.line(&format!(
            "of streams that run shorter, {} are in no pair; {} tells of two",
            overlap.left_out,
            option("overlap")
        ));
    }
}

fn answer(summary: &Summary<'_>, pair: &StreamPair) -> String {
    let [long, short] = pair.streams.map(|stream| summary.trace.stream_name(stream));
    let side_by_side = format!("as simulated, {long} and {short} run side by side for {}", pair.both);
    if pair.missed() == Duration::ZERO {
        return format!("{side_by_side}, which is all that {short} runs");
    }
    let rows = rows_of(summary, pair);
    let of_long = rows.iter().filter(|row| row.running == *long && row.meanwhile != Meanwhile::Ran);
    let why = of_long.max_by_key(|row| row.time).map_or_else(String::new, |row| {
        format!(
            ". While {long} runs, {short} for {} of {} ({:.1} %) {}; what would help: {}",
            row.time,
            row.of,
            row.share(),
            row.did(),
            row.remedy()
        )
    });
    format!("{side_by_side}, and could do so for {} more{why}", pair.missed())
}
