//! Explanations that viewers show under the pointer; those of deadlines are made with their marks, which join jobs.

use std::ops::Range;

use super::{
    Band, Blocks, CopyBox, EventArrow, MarkStrip, MoreWaits, OccupancyProfile, QueueEntry, StreamBox, StreamRow,
    ThinLine, TimeShare, TurnBox, WaitBar, WaitPart, Waiter,
};
use crate::device::CopyDirection;
use crate::run::{CoreSpan, Summary, title_of};
use crate::time::{Duration, Instant};
use crate::trace::{OperationRecord, Rule};
use crate::workload::{KernelId, OperationId, OperationKind, ProcessId};

/// Times in which blocks wait for others that are told one by one.
const MOST_STANDS: usize = 8;

/// What is told of each operation, found once.
pub(super) struct Tooltips<'a> {
    summary: Summary<'a>,
    /// Launch and waits of the operation that was asked for last.
    last: Option<(OperationId, String)>,
    /// What the axis counts from.
    origin: Instant,
}

impl<'a> Tooltips<'a> {
    pub(super) fn new(summary: &Summary<'a>, origin: Instant) -> Self {
        Self { summary: *summary, last: None, origin }
    }

    /// An instant as the axis counts it.
    fn at(&self, instant: Instant) -> String {
        if instant < self.origin {
            format!("−{}", self.origin.since(instant))
        } else {
            instant.since(self.origin).to_string()
        }
    }

    fn span(&self, time: &Range<Instant>) -> String {
        let end = self.summary.trace.end();
        if time.end > end {
            return format!("from {} on, not ended when the run did at {}", self.at(time.start), self.at(end));
        }
        format!("from {} to {}", self.at(time.start), self.at(time.end))
    }

    fn title(&self, kernel: Option<KernelId>) -> &'a str {
        kernel.and_then(|id| self.summary.trace.kernels().get(id.index())).map_or("other kernels", |k| &k.title)
    }

    /// When it was launched, and how long it waited for which rule before it started.
    fn launch(&mut self, id: OperationId) -> &str {
        if self.last.as_ref().is_none_or(|(last, _)| *last != id) {
            let record = self.summary.trace.record(id);
            let launched = record.map_or(Instant::ZERO, OperationRecord::launched);
            let start = record.and_then(OperationRecord::last_start).unwrap_or(Instant::MAX);
            let waits: Vec<String> = self.summary.waits_by_rule(id, start).iter().map(wait).collect();
            let waited =
                if waits.is_empty() { "did not wait".to_owned() } else { format!("waited {}", waits.join(", ")) };
            // Nobody saw a measured run wait.
            let waited = if self.summary.trace.is_observed() { String::new() } else { format!(", {waited}") };
            self.last = Some((id, format!("launched at {}{waited}", self.at(launched))));
        }
        self.last.as_ref().map_or("", |(_, text)| text)
    }

    pub(super) fn blocks(&mut self, sm: &str, blocks: &Blocks) -> String {
        let title = self.title(Some(blocks.kernel));
        let of = self.summary.trace.kernel_of(blocks.operation).map_or(0, |kernel| kernel.blocks);
        let what = match (blocks.index, blocks.count) {
            (Some(index), _) => format!("block {index} of {of}"),
            (None, 1) => format!("1 of {of} blocks"),
            (None, count) => format!("{count} of {of} blocks"),
        };
        let time = self.span(&blocks.time);
        let told = blocks.stands.iter().take(MOST_STANDS);
        let more = blocks.stands.len().saturating_sub(MOST_STANDS);
        let rest = (more > 0).then(|| format!("\nand {more} more times"));
        let stood: String = told.map(|(time, until)| self.stood(time, until)).chain(rest).collect();
        let paused = self.paused(blocks).map_or_else(String::new, |told| format!("\n{told}"));
        format!("{title}, {what}, {sm}\n{time}{stood}{paused}\n{}", self.launch(blocks.operation))
    }

    /// When it waited on its SM, and until what, on a line of its own.
    fn stood(&self, time: &Range<Instant>, until: &str) -> String {
        let to =
            if time.end > self.summary.trace.end() { "on".to_owned() } else { format!("to {}", self.at(time.end)) };
        format!("\nwaits from {} {to} {until}", self.at(time.start))
    }

    /// In how many turns of its context it ran, and for how long it paused meanwhile, if it did.
    fn paused(&self, blocks: &Blocks) -> Option<String> {
        let trace = self.summary.trace;
        let process = trace.context_with_turns(blocks.operation)?;
        let time = blocks.time.start..blocks.time.end.min(trace.end());
        let pauses = trace
            .out_of_turn(process, time.clone())
            .fold((0_u64, Duration::ZERO), |(count, sum), pause| (count + 1, sum + pause.end.since(pause.start)));
        let ran = trace.time_in_turn(process, time);
        let (process, times) = (self.process(Some(process)), times(pauses.0));
        (pauses.0 > 0).then(|| format!("ran for {ran} in turns of {process}, paused {times} for {} in all", pauses.1))
    }

    /// How long a whole kernel or a copy ran and paused, on a line of its own, if it did.
    fn stood_still(&self, operation: OperationId) -> String {
        let trace = self.summary.trace;
        let (pauses, paused) = (trace.pauses(operation).count(), trace.paused(operation));
        if pauses == 0 {
            return String::new();
        }
        format!("\nran for {}, paused {} for {paused} in all", trace.ran(operation), times(pauses as u64))
    }

    pub(super) fn pauses(&self, sm: &str, blocks: &Blocks) -> String {
        let title = self.title(Some(blocks.kernel));
        let which = blocks.index.map_or_else(String::new, |index| format!(", block {index}"));
        format!("{title}{which}, {sm}\n{}", self.paused(blocks).unwrap_or_default())
    }

    fn process(&self, process: Option<ProcessId>) -> &'a str {
        process.map_or("", |process| self.summary.trace.process_name(process))
    }

    fn host(&self, thread: u32) -> &'a str {
        self.summary.scenario.threads.get(thread as usize).map_or("", |thread| &thread.label)
    }

    pub(super) fn on_core(&self, span: &CoreSpan) -> String {
        let does = if span.spins { "spins" } else { "works" };
        let CoreSpan { core, thread, iteration, start, end, .. } = *span;
        format!("{} {does} on core {core}, job {iteration}\n{}", self.host(thread), self.span(&(start..end)))
    }

    pub(super) fn core_share(&self, core: u32, share: &TimeShare<u32>) -> String {
        format!("{} on core {core}, {} times: share of time", self.host(share.of), share.count)
    }

    pub(super) fn turn(&self, turn: &TurnBox) -> String {
        let time = self.span(&turn.time);
        match turn.process {
            None => format!("switch of contexts\n{time}"),
            Some(process) if turn.turns > 1 => {
                format!("{} turns of {}\n{time}", turn.turns, self.process(Some(process)))
            }
            Some(process) => format!("turn of {}\n{time}", self.process(Some(process))),
        }
    }

    pub(super) fn turn_share(&self, share: &TimeShare<Option<ProcessId>>) -> String {
        match share.of {
            None => "switches of contexts: share of time".to_owned(),
            Some(process) => format!("{} turns of {}: share of time", share.count, self.process(Some(process))),
        }
    }

    pub(super) fn stream_share(&self, stream: &str, share: &TimeShare<Option<KernelId>>) -> String {
        let name = share.of.map_or("copies", |kernel| self.title(Some(kernel)));
        format!("{name}: {} of {stream}, share of time", share.count)
    }

    pub(super) fn waited(&mut self, bar: &WaitBar) -> String {
        if bar.count > 1 {
            let rules: Vec<&str> = bar.parts.iter().map(|part| part.rule.name()).collect();
            let time = self.span(&bar.time);
            return format!("{} operations wait, most of the time under {}\n{time}", bar.count, rules.join(", "));
        }
        let parts = bar
            .parts
            .iter()
            .map(|WaitPart { rule, time, .. }| format!("\n{} under {rule}: {}", self.span(time), rule.meaning()));
        let parts: String = parts.collect();
        match bar.who {
            Waiter::Operation(operation) => {
                let name = title_of(&self.summary, operation).into_owned();
                format!("{name} waits{parts}\n{}", self.launch(operation))
            }
            Waiter::Call(call) => {
                format!("{} of {} waits{parts}", call.name(self.summary.scenario), self.host(call.thread))
            }
        }
    }

    pub(super) fn more_waits(&self, more: &MoreWaits) -> String {
        format!("{} more operations wait\n{}", more.count, self.span(&more.time))
    }

    pub(super) fn profile(&self, sm: &str, profile: &OccupancyProfile) -> String {
        format!("{}: {} blocks on {sm}", self.title(profile.kernel), profile.count)
    }

    pub(super) fn thin(&self, sm: &str, line: &ThinLine) -> String {
        format!("{}: {} blocks on {sm}\n{}", self.title(Some(line.kernel)), line.count, self.span(&line.time))
    }

    /// That more is on an SM than it has room for.
    pub(super) fn limit(band: &Band) -> String {
        format!("{}: up to {} of {}", band.name, band.shown, band.capacity)
    }

    pub(super) fn strip(strip: &MarkStrip) -> String {
        format!("{} launches, {} deadlines that were met", strip.launches, strip.deadlines)
    }

    pub(super) fn wait_share(share: &TimeShare<Rule>) -> String {
        format!("{} waits under {}: how many at once, on average", share.count, share.of)
    }

    pub(super) fn copy_share(share: &TimeShare<CopyDirection>) -> String {
        format!("{} copies {}: share of time", share.count, share.of.name())
    }

    pub(super) fn copy(&mut self, copy: &CopyBox) -> String {
        let record = self.summary.trace.record(copy.operation);
        let start = record.and_then(OperationRecord::first_start).unwrap_or_default();
        let end = record.and_then(OperationRecord::finish).unwrap_or_else(|| self.summary.trace.end());
        let size = copy.bytes.map(|bytes| format!(" of {bytes} bytes")).unwrap_or_default();
        if copy.count > 1 {
            let together = if size.is_empty() { "" } else { " together" };
            return format!("{} copies{size}{together}, the first {}", copy.count, self.span(&(start..end)));
        }
        let time = self.span(&(start..end));
        let paused = self.stood_still(copy.operation);
        format!("copy{size}\n{time}{paused}\n{}", self.launch(copy.operation))
    }

    pub(super) fn queued(&self, queue: &str, entry: &QueueEntry) -> String {
        let what = match self.summary.trace.kernel_of(entry.operation) {
            _ if entry.count > 1 => format!("{} operations", entry.count),
            Some(kernel) => kernel.title.to_string(),
            None => "copy".to_owned(),
        };
        let place = if entry.position == 0 { "head".to_owned() } else { format!("number {}", entry.position + 1) };
        let held = entry.rule.map_or_else(String::new, |rule| format!(", held by {rule}"));
        format!("{what}, {place} of {queue}{held}\n{}", self.span(&entry.time))
    }

    pub(super) fn ran(&mut self, stream: &str, ran: &StreamBox) -> String {
        let name = ran.kernel.map_or("copy", |kernel| self.name(kernel));
        let time = self.span(&ran.time);
        match ran.count {
            1 => {
                let paused = self.stood_still(ran.operation);
                format!("{name}, {stream}\n{time}{paused}\n{}", self.launch(ran.operation))
            }
            count => format!("{count} operations, most time of {name}, {stream}\n{time}"),
        }
    }

    /// The whole name of a kernel's function.
    fn name(&self, kernel: KernelId) -> &'a str {
        self.summary.trace.kernels().get(kernel.index()).map_or("", |kernel| &kernel.name)
    }

    pub(super) fn event(&self, event: &EventArrow) -> String {
        let trace = self.summary.trace;
        let finish = |id: OperationId| trace.record(id).and_then(OperationRecord::finish);
        let told = |id| finish(id).map_or_else(String::new, |at| self.at(at));
        let name = match trace.record(event.record).map(|record| record.kind) {
            Some(OperationKind::Record(id)) => trace.events().get(id.index()).map_or("", |name| &**name),
            _ => "",
        };
        let more = match event.count {
            1 => String::new(),
            count => format!("\n{count} waits, {} of them held by it", event.held),
        };
        format!("event {name}: recorded at {}, wait over at {}{more}", told(event.record), told(event.wait))
    }

    pub(super) fn arrow(&self, row: &StreamRow, arrow: &super::Arrow) -> String {
        let trace = self.summary.trace;
        let lines = arrow.operations.iter().filter_map(|id| {
            let record = trace.record(*id)?;
            let what = trace.kernel_of(*id).map_or_else(|| record.kind.name(), |kernel| &kernel.title);
            Some(format!("\n{what} at {}", self.at(record.launched())))
        });
        let lines: String = lines.collect();
        let told = arrow.operations.len() as u64;
        let more = (arrow.kernels + arrow.others).saturating_sub(told);
        let rest = if more > 0 { format!("\nand {more} more") } else { String::new() };
        format!("{}{lines}{rest}", row.name)
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn wait((rule, time): &(Rule, Duration)) -> String {
    format!("{time} ({rule})")
}
