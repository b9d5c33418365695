//! The kernel launches, blocks and copies of a run: their columns.

use std::cell::OnceCell;

use super::launches::{OfLaunch, launch_columns};
use crate::formats::{CellOf, Column, Text};
use crate::run::{KernelSummary, Recorded, Summary, stream_index};
use crate::scenario::KernelLaunch;
use crate::time::{Duration, Instant};
use crate::trace::{Block, OperationRecord, Rule};
use crate::workload::OperationId;

pub(crate) struct KernelRow<'a> {
    pub(crate) summary: Summary<'a>,
    pub(crate) kernel: KernelSummary<'a>,
    /// What several columns tell of, found once; not where no column does.
    longest_wait: OnceCell<Option<(Rule, Duration)>>,
}

impl<'a> KernelRow<'a> {
    /// All of them, in launch order.
    pub(crate) fn of(summary: Summary<'a>) -> impl Iterator<Item = Self> {
        summary.kernels().map(move |kernel| Self { summary, kernel, longest_wait: OnceCell::new() })
    }

    pub(crate) const fn id(&self) -> OperationId {
        OperationId(self.kernel.launch.id)
    }

    fn process_name(&self) -> CellOf<'_, Text> {
        let trace = self.summary.trace;
        trace.process_of(self.id()).map(|process| trace.process_name(process)).into()
    }

    /// The rule under which it waited longest, if it waited at all.
    pub(super) fn waited_for(&self) -> Option<Rule> {
        self.longest_wait().filter(|(_, time)| *time > Duration::ZERO).map(|(rule, _)| rule)
    }

    fn longest_wait(&self) -> Option<(Rule, Duration)> {
        *self.longest_wait.get_or_init(|| self.summary.longest_wait(self.id()))
    }
}

impl OfLaunch for KernelRow<'_> {
    fn launch(&self) -> &KernelLaunch<'_> {
        &self.kernel.launch
    }
}

/// How long something that began stood still, until it finished or the run ended.
fn paused(summary: &Summary<'_>, id: OperationId) -> Option<Duration> {
    let begun = summary.trace.operations().get(id.index())?.first_start();
    begun.map(|_| summary.trace.paused(id))
}

/// Puts a column of that before the one that tells when things finished, where contexts take turns.
fn with_pauses<R>(summary: &Summary<'_>, finish: &str, columns: &mut Vec<Column<R>>, column: Column<R>) {
    if summary.scenario.catalogue.is_time_sliced() {
        let place = columns.iter().position(|other| other.title() == Some(finish)).unwrap_or(columns.len());
        columns.insert(place, column);
    }
}

/// The columns of kernel launches; with the process where the run has several.
pub(crate) fn kernel_columns<'a>(summary: &Summary<'_>) -> Vec<Column<KernelRow<'a>>> {
    let mut columns = launch_columns();
    columns.insert(
        columns.len() - 1,
        Column::table("stream", |row: &KernelRow<'_>| row.kernel.launch.stream_name().into()).left(),
    );
    if summary.scenario.has_processes() {
        columns.insert(columns.len() - 1, Column::new("process", "process", KernelRow::process_name).left());
    }
    columns.extend([
        Column::table("blocks", |row: &KernelRow<'_>| row.kernel.blocks.into()),
        Column::new("threads", "threads", |row| row.kernel.threads.into()),
        Column::data("blocks", |row| row.kernel.blocks.into()),
        Column::new("launched_ns", "launched", |row| row.kernel.launched_ns.into()),
        Column::table("waited", |row| {
            row.kernel.first_start_ns.map(|start| start.since(row.kernel.launched_ns)).into()
        }),
        Column::table("longest for", |row| {
            let longest = row.longest_wait().filter(|(_, time)| *time > Duration::ZERO);
            longest.map(|(rule, time)| format!("{rule} ({time})")).into()
        }),
        Column::data("queued_ns", |row| row.kernel.queued_ns.into()),
        Column::new("first_start_ns", "started", |row| row.kernel.first_start_ns.into()),
        Column::json("last_start_ns", |row| row.kernel.last_start_ns.into()),
        Column::new("finish_ns", "finished", |row| row.kernel.finish_ns.into()),
        Column::new("response_ns", "response", |row| row.kernel.response_ns.into()),
        Column::csv("longest_wait_rule", |row| row.longest_wait().map(|(rule, _)| rule.name()).into()),
        Column::csv("longest_wait_ns", |row| row.longest_wait().map(|(_, time)| time).into()),
        Column::data("deadline_ns", |row| row.kernel.deadline_ns.into()),
        Column::data("schedulable", |row| row.kernel.schedulable.into()),
        Column::data("job_response_ns", |row| row.kernel.job_response_ns.into()),
        Column::data("job_met", |row| row.kernel.job_met.into()),
    ]);
    let column = Column::new("paused_ns", "paused", |row: &KernelRow<'_>| paused(&row.summary, row.id()).into());
    with_pauses(summary, "finished", &mut columns, column);
    columns
}

pub(crate) struct BlockRow<'k, 'a> {
    pub(crate) kernel: &'k KernelSummary<'a>,
    pub(crate) block: Block,
    pub(crate) end: Option<Instant>,
}

impl<'k, 'a: 'k> BlockRow<'k, 'a> {
    /// All blocks of a kernel launch.
    pub(crate) fn of(summary: &Summary<'a>, kernel: &'k KernelSummary<'a>) -> impl Iterator<Item = Self> + use<'k, 'a> {
        let trace = summary.trace;
        let blocks = trace.blocks(OperationId(kernel.launch.id));
        blocks.map(move |block| Self { kernel, block, end: trace.completed(&block) })
    }
}

pub(crate) fn block_columns<'k, 'a: 'k>() -> [Column<BlockRow<'k, 'a>>; 8] {
    [
        Column::csv("id", |row| row.kernel.launch.id.into()),
        Column::csv("kernel", |row| row.kernel.launch.title().into()),
        Column::csv("benchmark", |row| row.kernel.launch.benchmark.into()),
        Column::csv("iteration", |row| row.kernel.launch.iteration.into()),
        Column::data("block", |row| row.block.index.into()),
        Column::data("sm", |row| row.block.sm.into()),
        Column::data("start_ns", |row| row.block.start.into()),
        Column::data("end_ns", |row| row.end.into()),
    ]
}

pub(crate) struct CopyRow<'a> {
    summary: Summary<'a>,
    id: OperationId,
    record: &'a OperationRecord,
    copy: crate::workload::Copy,
}

impl<'a> CopyRow<'a> {
    fn process_name(&self) -> CellOf<'_, Text> {
        let trace = self.summary.trace;
        trace.process_of(self.id).map(|process| trace.process_name(process)).into()
    }

    /// All of them, in launch order.
    pub(crate) fn of(summary: Summary<'a>) -> impl Iterator<Item = Self> {
        summary.copies().map(move |Recorded { id, record, work: copy }| Self { summary, id, record, copy })
    }
}

/// The columns of copies; with the process where the run has several.
pub(crate) fn copy_columns<'a>(summary: &Summary<'_>) -> Vec<Column<CopyRow<'a>>> {
    let mut columns = vec![
        Column::table("copy", |row: &CopyRow<'_>| crate::run::title(&row.summary, row.id).into()).left(),
        Column::data("id", |row| row.id.0.into()),
        Column::data("benchmark", |row| row.record.origin.thread.into()),
        Column::data("stream", |row: &CopyRow<'_>| stream_index(row.record.stream).into()).in_frames_as(None),
        Column::table("stream", |row: &CopyRow<'_>| row.summary.trace.stream_name(row.record.stream).into())
            .left()
            .in_frames_as(Some("stream")),
        Column::data("iteration", |row| row.record.origin.iteration.into()),
        Column::data("direction", |row| row.copy.direction.name().into()),
        Column::new("bytes", "bytes", |row| row.copy.bytes.into()),
        Column::new("launched_ns", "launched", |row| row.record.launched().into()),
        Column::data("queued_ns", |row| row.record.queued().into()),
        Column::table("waited", |row| row.record.first_start().map(|start| start.since(row.record.launched())).into()),
        Column::new("start_ns", "started", |row| row.record.first_start().into()),
        Column::new("end_ns", "finished", |row| row.record.finish().into()),
    ];
    if summary.scenario.has_processes() {
        // Behind the stream.
        columns.insert(5, Column::new("process", "process", CopyRow::process_name).left());
    }
    let column = Column::new("paused_ns", "paused", |row: &CopyRow<'_>| paused(&row.summary, row.id).into());
    with_pauses(summary, "finished", &mut columns, column);
    columns
}
