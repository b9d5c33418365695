//! Explanations that viewers show under the pointer.

use std::ops::Range;

use super::{Blocks, CopyBox, OccupancyProfile, QueueEntry, StreamRow, ThinLine};
use crate::report::Summary;
use crate::time::{Duration, Instant};
use crate::trace::{OperationRecord, Rule};
use crate::workload::{KernelId, OperationId};

/// What is told of each operation, found once.
pub(super) struct Tooltips<'a> {
    summary: Summary<'a>,
    /// Launch and waits of the operation that was asked for last.
    last: Option<(OperationId, String)>,
}

impl<'a> Tooltips<'a> {
    pub(super) fn new(summary: &Summary<'a>) -> Self {
        Self { summary: *summary, last: None }
    }

    fn title(&self, kernel: Option<KernelId>) -> &'a str {
        kernel.and_then(|id| self.summary.trace.kernels().get(id.0 as usize)).map_or("other kernels", |k| &k.title)
    }

    /// When it was launched, and how long it waited for which rule before it started.
    fn launch(&mut self, id: OperationId) -> &str {
        if self.last.as_ref().is_none_or(|(last, _)| *last != id) {
            let record = self.summary.trace.operations().get(id.0 as usize);
            let launched = record.map_or(Instant::ZERO, OperationRecord::launched);
            let start = record.and_then(OperationRecord::last_start).unwrap_or(Instant::MAX);
            let waits: Vec<String> = self.summary.waits_by_rule(id, start).iter().map(wait).collect();
            let waited =
                if waits.is_empty() { "did not wait".to_owned() } else { format!("waited {}", waits.join(", ")) };
            self.last = Some((id, format!("launched at {launched}, {waited}")));
        }
        self.last.as_ref().map_or("", |(_, text)| text)
    }

    pub(super) fn blocks(&mut self, sm: u32, blocks: &Blocks) -> String {
        let title = self.title(Some(blocks.kernel));
        let of = self.summary.trace.kernel_of(blocks.operation).map_or(0, |kernel| kernel.blocks);
        let what = match (blocks.index, blocks.count) {
            (Some(index), _) => format!("block {index} of {of}"),
            (None, 1) => format!("1 of {of} blocks"),
            (None, count) => format!("{count} of {of} blocks"),
        };
        format!("{title}, {what}, SM {sm}\n{}\n{}", span(&blocks.time), self.launch(blocks.operation))
    }

    pub(super) fn profile(&self, sm: u32, profile: &OccupancyProfile) -> String {
        format!("{}: {} blocks on SM {sm}", self.title(profile.kernel), profile.count)
    }

    pub(super) fn thin(&self, sm: u32, line: &ThinLine) -> String {
        format!("{}: {} blocks on SM {sm}\n{}", self.title(Some(line.kernel)), line.count, span(&line.time))
    }

    pub(super) fn copy(&mut self, copy: &CopyBox) -> String {
        let record = self.summary.trace.operations().get(copy.operation.0 as usize);
        let start = record.and_then(OperationRecord::first_start).unwrap_or_default();
        let end = record.and_then(OperationRecord::finish).unwrap_or_else(|| self.summary.trace.end());
        if copy.count > 1 {
            return format!(
                "{} copies of {} bytes together, the first {}",
                copy.count,
                copy.bytes,
                span(&(start..end))
            );
        }
        format!("copy of {} bytes\n{}\n{}", copy.bytes, span(&(start..end)), self.launch(copy.operation))
    }

    pub(super) fn queued(&self, queue: &str, entry: &QueueEntry) -> String {
        let what = match self.summary.trace.kernel_of(entry.operation) {
            _ if entry.count > 1 => format!("{} operations", entry.count),
            Some(kernel) => kernel.title.to_string(),
            None => "copy".to_owned(),
        };
        let place = if entry.position == 0 { "head".to_owned() } else { format!("number {}", entry.position + 1) };
        let held = entry.rule.map_or_else(String::new, |rule| format!(", held by {rule}"));
        format!("{what}, {place} of {queue}{held}\n{}", span(&entry.time))
    }

    pub(super) fn arrow(&self, row: &StreamRow, arrow: &super::Arrow) -> String {
        let records = self.summary.trace.operations();
        let lines = arrow.operations.iter().filter_map(|id| {
            let record = records.get(id.0 as usize)?;
            let what = self.summary.trace.kernel_of(*id).map_or_else(|| record.kind.name(), |kernel| &kernel.title);
            Some(format!("\n{what} at {}", record.launched()))
        });
        let lines: String = lines.collect();
        let told = arrow.operations.len() as u64;
        let more = (arrow.kernels + arrow.others).saturating_sub(told);
        let rest = if more > 0 { format!("\nand {more} more") } else { String::new() };
        format!("{}{lines}{rest}", row.name)
    }
}

fn wait((rule, time): &(Rule, Duration)) -> String {
    format!("{time} ({rule})")
}

fn span(time: &Range<Instant>) -> String {
    format!("from {} to {}", time.start, time.end)
}
