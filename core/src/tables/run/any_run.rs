//! A run as tables read it: a recorded run, or a long one, of which sums are kept and which is simulated again for
//! rows. Also writes the table of blocks that commands for logs of blocks read.

use std::io::{self, Write};

use super::kernels::{BlockRow, CopyRow, KernelRow, TurnRow};
use crate::device::BlockShape;
use crate::formats::{Column, RowsPart, RowsWriter};
use crate::hosts::{AnyLength, LongRun, Need};
use crate::limits::count_turn;
use crate::run::{Jobs, KernelSummary, Recorded, Responses, RuleSums, RunPiece, SmUtilization, Summary, each_response};
use crate::scenario::Scenario;
use crate::time::Instant;
use crate::trace::{Block, OperationRecord};
use crate::workload::{CheckedStream, NULL_STREAM, OperationId, OperationKind, ProcessId, StreamId};

#[derive(Debug, Clone, Copy)]
pub(super) enum AnyRun<'a> {
    Recorded(Summary<'a>),
    Long(&'a LongRun<'a>),
}

/// Blocks of a kernel launch with when each completed, if it did: made when they are told, or as a list.
pub(super) enum Blocks<'a> {
    Recorded(Summary<'a>),
    Listed(Vec<(Block, Option<Instant>)>),
}

impl<'a> From<&'a AnyLength<'_>> for AnyRun<'a> {
    fn from(run: &'a AnyLength<'_>) -> Self {
        match run {
            AnyLength::Recorded(run) => Self::Recorded(Summary::of(run)),
            AnyLength::Long(run) => Self::Long(run),
        }
    }
}

impl<'a> AnyRun<'a> {
    pub(super) fn scenario(self) -> &'a Scenario {
        match self {
            Self::Recorded(summary) => summary.scenario,
            Self::Long(run) => run.sums().scenario(),
        }
    }

    pub(super) fn makespan(self) -> Option<Instant> {
        match self {
            Self::Recorded(summary) => summary.makespan(),
            Self::Long(run) => run.sums().makespan(),
        }
    }

    pub(super) fn end(self) -> Instant {
        match self {
            Self::Recorded(summary) => summary.trace.end(),
            Self::Long(run) => run.sums().end(),
        }
    }

    /// How many kernels were launched.
    pub(super) fn launched(self) -> u64 {
        match self {
            Self::Recorded(summary) => summary.launches().count() as u64,
            Self::Long(run) => run.sums().kernels(),
        }
    }

    /// How many copies were submitted.
    pub(super) fn copied(self) -> u64 {
        match self {
            Self::Recorded(summary) => summary.copies().count() as u64,
            Self::Long(run) => run.sums().copies(),
        }
    }

    /// The response times of its jobs, summed up.
    pub(super) fn responses(self) -> Box<dyn Iterator<Item = Responses<'a>> + 'a> {
        match self {
            Self::Recorded(summary) => Box::new(each_response(summary.scenario, summary.jobs())),
            Self::Long(run) => Box::new(run.sums().responses().iter().map(Responses::without_single_ones)),
        }
    }

    pub(super) fn utilization(self) -> Vec<SmUtilization> {
        match self {
            Self::Recorded(summary) => summary.utilization(),
            Self::Long(run) => run.sums().utilization(),
        }
    }

    pub(super) fn notes(self) -> Vec<String> {
        match self {
            Self::Recorded(summary) => summary.notes(),
            Self::Long(run) => run.sums().notes(),
        }
    }

    /// The kernel launches, in launch order.
    pub(super) fn kernels(self) -> Box<dyn Iterator<Item = KernelRow<'a>> + 'a> {
        match self {
            Self::Recorded(summary) => Box::new(summary.kernels().map(move |kernel| KernelRow::new(summary, kernel))),
            Self::Long(run) => {
                let scenario = run.sums().scenario();
                let row = move |piece: &RunPiece, id, record: &_| {
                    Some(KernelRow::left(scenario, piece, kernel_of(scenario, &piece.jobs, id, record)?))
                };
                Box::new(rows(run, Need::Instants, row))
            }
        }
    }

    /// The kernel launches with the time that each waited under each rule, and its blocks if they are wanted.
    pub(super) fn launches(
        self,
        blocks: bool,
    ) -> Box<dyn Iterator<Item = (KernelRow<'a>, RuleSums, Option<Blocks<'a>>)> + 'a> {
        match self {
            Self::Recorded(summary) => Box::new(self.kernels().map(move |row| {
                let waits = summary.sums_by_rule(row.id(), Instant::MAX);
                (row, waits, blocks.then_some(Blocks::Recorded(summary)))
            })),
            Self::Long(run) => {
                let scenario = run.sums().scenario();
                let row = move |piece: &RunPiece, id, record: &_| {
                    let row = KernelRow::left(scenario, piece, kernel_of(scenario, &piece.jobs, id, record)?);
                    let listed = || piece.trace.blocks(id).map(|block| (block, piece.trace.completed(&block)));
                    let listed = blocks.then(|| Blocks::Listed(listed().collect()));
                    Some((row, piece.summary(scenario).sums_by_rule(id, Instant::MAX), listed))
                };
                Box::new(rows(run, if blocks { Need::Blocks } else { Need::Instants }, row))
            }
        }
    }

    /// Tells `visit` of the kernel launches whose blocks are wanted, with what has them.
    pub(super) fn each_with_blocks<E>(
        self,
        mut visit: impl FnMut(&Summary<'_>, &KernelSummary<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Recorded(summary) => summary.kernels().try_for_each(|kernel| visit(&summary, &kernel)),
            Self::Long(run) => run.pieces(Need::Blocks).try_for_each(|piece| {
                let (scenario, summary) = (run.sums().scenario(), piece.summary(run.sums().scenario()));
                let kernels = summary.trace.numbered();
                let mut kernels = kernels.filter_map(|(id, record)| kernel_of(scenario, &piece.jobs, id, record));
                kernels.try_for_each(|kernel| visit(&summary, &kernel))
            }),
        }
    }

    /// The copies, in launch order.
    pub(super) fn copies(self) -> Box<dyn Iterator<Item = CopyRow<'a>> + 'a> {
        match self {
            Self::Recorded(summary) => {
                let copies = (0..).zip(summary.copies());
                Box::new(copies.map(move |(number, Recorded { id, record, work: copy })| {
                    CopyRow::new(summary.scenario, summary.trace, (number, id), record, copy)
                }))
            }
            Self::Long(run) if run.sums().copies() == 0 => Box::new(std::iter::empty()),
            Self::Long(run) => {
                let (scenario, mut number) = (run.sums().scenario(), 0);
                let row = move |piece: &RunPiece, id, record: &OperationRecord| {
                    let OperationKind::Copy(copy) = record.kind else { return None };
                    let copy = scenario.catalogue.copies().get(copy.index())?;
                    number += 1;
                    Some(CopyRow::new(scenario, &piece.trace, (number - 1, id), record, **copy))
                };
                Box::new(rows(run, Need::Instants, row))
            }
        }
    }

    /// The turns of contexts, in order of time.
    pub(super) fn turns(self) -> Box<dyn Iterator<Item = TurnRow<'a>> + 'a> {
        let scenario = self.scenario();
        match self {
            Self::Recorded(summary) => {
                Box::new(summary.trace.turns().iter().map(move |&turn| TurnRow::new(scenario, turn)))
            }
            Self::Long(run) => {
                let turns = run.pieces(Need::Instants).flat_map(|piece| piece.trace.turns()[..piece.turns].to_vec());
                Box::new(turns.map(move |turn| TurnRow::new(scenario, turn)))
            }
        }
    }
}

/// The kernel launch that an operation is, if it is one.
fn kernel_of<'s>(
    scenario: &'s Scenario,
    jobs: &Jobs,
    id: OperationId,
    record: &OperationRecord,
) -> Option<KernelSummary<'s>> {
    let OperationKind::Kernel(kernel) = record.kind else { return None };
    Some(KernelSummary::new(scenario, jobs, (id, record), scenario.kernels().get(kernel.index())?))
}

/// Rows of a run that runs again, made of its operations while those are held.
fn rows<'a, R>(
    run: &'a LongRun<'a>,
    need: Need,
    mut row: impl FnMut(&RunPiece, OperationId, &OperationRecord) -> Option<R>,
) -> impl Iterator<Item = R> {
    let mut pieces = run.pieces(need);
    let (mut current, mut next): (Option<RunPiece>, usize) = (None, 0);
    std::iter::from_fn(move || {
        loop {
            count_turn();
            let held = current.as_ref().and_then(|piece| Some((piece, piece.trace.nth(next)?)));
            let Some((piece, (id, record))) = held else {
                (current, next) = (Some(pieces.next()?), 0);
                continue;
            };
            next += 1;
            if let Some(row) = row(piece, id, record) {
                return Some(row);
            }
        }
    })
}

/// A block with what it takes of an SM.
struct Row<'k, 'a> {
    block: BlockRow<'k, 'a>,
    shape: BlockShape,
    process: &'a str,
    stream: Option<&'a CheckedStream>,
    is_null: bool,
}

fn block_table_columns<'k, 'a: 'k>(has_processes: bool) -> Vec<Column<Row<'k, 'a>>> {
    let mut columns = vec![
        Column::csv("kernel", |row: &Row<'_, '_>| row.block.kernel.launch.title().into()),
        Column::csv("launch", |row| row.block.kernel.launch.id.into()),
        Column::csv("stream", |row| {
            if row.is_null { NULL_STREAM } else { row.block.kernel.launch.stream_name() }.into()
        }),
        Column::csv("priority", |row| row.stream.map(|stream| i64::from(stream.priority)).into()),
        Column::csv("non_blocking", |row| u32::from(row.stream.is_some_and(|stream| !stream.blocking)).into()),
        Column::csv("block", |row| row.block.block.index.into()),
        Column::csv("sm", |row| row.block.block.sm.into()),
        Column::csv("start_ns", |row| row.block.block.start.into()),
        Column::csv("end_ns", |row| row.block.end.into()),
        Column::csv("launched_ns", |row| row.block.kernel.launched_ns.into()),
        Column::csv("threads", |row| row.shape.threads.into()),
        Column::csv("shared_memory_bytes", |row| row.shape.shared_memory_bytes.into()),
        Column::csv("registers_per_thread", |row| row.shape.registers_per_thread.into()),
    ];
    if has_processes {
        columns.insert(0, Column::csv("process", |row: &Row<'_, '_>| row.process.into()));
    }
    columns
}

impl AnyLength<'_> {
    /// Writes the blocks of a run as a table, which `audit`, `replay-log` and `convert` read (docs/block-logs.md).
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write_blocks(&self, out: &mut dyn Write) -> io::Result<()> {
        let run = AnyRun::from(self);
        let scenario = run.scenario();
        let has_processes = scenario.has_processes();
        let mut writer = RowsWriter::begin(RowsPart::CSV, &block_table_columns(has_processes), out)?;
        run.each_with_blocks(|Summary { trace, .. }, kernel| {
            let id = OperationId(kernel.launch.id);
            let shape = trace.kernel_of(id).map_or(BlockShape::default(), |kernel| kernel.shape);
            let stream = trace.record(id).map_or(StreamId::NULL, |record| record.stream);
            let process = trace.process_of(id).unwrap_or(ProcessId::FIRST);
            let rows = BlockRow::of(trace, kernel).map(|block| Row {
                block,
                shape,
                process: scenario.catalogue.process_name(process),
                stream: scenario.streams().get(stream.index()),
                is_null: scenario.catalogue.is_null_stream(stream),
            });
            writer.rows(&block_table_columns(has_processes), rows)
        })?;
        writer.end()
    }
}
