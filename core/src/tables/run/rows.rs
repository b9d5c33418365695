//! The rows of a run, made of its record, or of pieces of a long run while those are held. Also writes the table of
//! blocks that commands for logs of blocks read.

use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use super::kernels::{BlockRow, CopyRow, KernelRow, RowSource, TurnRow, kernel_columns};
use crate::device::BlockShape;
use crate::formats::{Column, RowsPart, RowsWriter};
use crate::hosts::{AnyLength, AnyRun, HeldAtMost, Need, PiecesFor, ProgramError, SimulateOptions, simulate_telling};
use crate::limits::count_turn;
use crate::run::RunPiece;
use crate::scenario::Scenario;
use crate::scenario::ahead::AT_ONCE;
use crate::trace::OperationRecord;
use crate::workload::{CheckedStream, NULL_STREAM, OperationId, OperationKind, ProcessId, StreamId};

impl<'a> AnyRun<'a> {
    fn sources(self, need: Need) -> Box<dyn Iterator<Item = Arc<RowSource<'a>>> + 'a> {
        match self {
            Self::Recorded(summary) => Box::new(std::iter::once(Arc::new(RowSource::Record(summary, OnceLock::new())))),
            Self::Long(run) => {
                let scenario = run.sums().scenario();
                Box::new(run.pieces(need).map(move |piece| Arc::new(RowSource::Piece(scenario, piece))))
            }
        }
    }

    /// Its operations, in launch order, in parts of which each is told of by itself.
    pub(super) fn parts(self) -> impl Iterator<Item = Part<'a>> {
        self.sources(Need::Instants).flat_map(|source| {
            let all = source.summary().trace.operations().len();
            let part = move |from| Part { source: Arc::clone(&source), places: from..all.min(from + AT_ONCE) };
            (0..all).step_by(AT_ONCE).map(part)
        })
    }

    /// Rows of its operations, in launch order.
    fn rows<R: 'a>(
        self,
        need: Need,
        mut row: impl FnMut(&Arc<RowSource<'a>>, OperationId, &OperationRecord) -> Option<R> + 'a,
    ) -> impl Iterator<Item = R> + 'a {
        // A long run begins again only when its first row is asked for.
        let mut sources = None;
        let (mut current, mut next): (Option<Arc<RowSource<'a>>>, usize) = (None, 0);
        std::iter::from_fn(move || {
            loop {
                count_turn();
                let summary = current.as_ref().map(|source| source.summary());
                let held = current.as_ref().zip(summary.and_then(|summary| summary.trace.nth(next)));
                let Some((source, (id, record))) = held else {
                    (current, next) = (Some(sources.get_or_insert_with(|| self.sources(need)).next()?), 0);
                    continue;
                };
                next += 1;
                if let Some(row) = row(source, id, record) {
                    return Some(row);
                }
            }
        })
    }

    /// The kernel launches, in launch order.
    pub(super) fn kernels(self, need: Need) -> impl Iterator<Item = KernelRow<'a>> + 'a {
        self.rows(need, |source, id, record| Some(KernelRow::new(Arc::clone(source), source.kernel(id, record)?)))
    }

    /// The copies, in launch order.
    pub(super) fn copies(self) -> impl Iterator<Item = CopyRow<'a>> + 'a {
        let mut number = 0;
        let rows = self.rows(Need::Instants, move |source, id, record| {
            let OperationKind::Copy(copy) = record.kind else { return None };
            let copy = *source.summary().trace.copies().get(copy.index())?;
            number += 1;
            Some(CopyRow { source: Arc::clone(source), number: number - 1, id, record: *record, copy })
        });
        // A long run would run again for none.
        (self.copied() > 0).then_some(rows).into_iter().flatten()
    }

    /// The turns of contexts, in order of time.
    pub(super) fn turns(self) -> impl Iterator<Item = TurnRow<'a>> + 'a {
        let scenario = self.scenario();
        let turns = self.sources(Need::Instants).flat_map(|source| source.turns().to_vec());
        turns.map(move |turn| TurnRow::new(scenario, turn))
    }

    /// Writes the blocks of a run as a table, which `audit`, `replay-log` and `convert` read (docs/block-logs.md).
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write_blocks(self, out: &mut dyn Write) -> io::Result<()> {
        let scenario = self.scenario();
        let has_processes = scenario.has_processes();
        let mut writer = RowsWriter::begin(RowsPart::CSV, &block_table_columns(has_processes), out)?;
        for row in self.kernels(Need::Blocks) {
            let (id, trace) = (row.id(), row.source.summary().trace);
            let shape = trace.kernel_of(id).map_or(BlockShape::default(), |kernel| kernel.shape);
            let stream = trace.record(id).map_or(StreamId::NULL, |record| record.stream);
            let process = trace.process_of(id).unwrap_or(ProcessId::FIRST);
            let rows = row.blocks().map(|block| Row {
                block,
                shape,
                process: scenario.catalogue.process_name(process),
                stream: scenario.streams().get(stream.index()),
                is_null: scenario.catalogue.is_null_stream(stream),
            });
            writer.rows(&block_table_columns(has_processes), rows)?;
        }
        writer.end()
    }
}

/// Some operations of a run.
pub(super) struct Part<'a> {
    source: Arc<RowSource<'a>>,
    places: Range<usize>,
}

impl<'a> Part<'a> {
    /// The kernel launches among them, in launch order.
    pub(super) fn kernels(self) -> impl Iterator<Item = KernelRow<'a>> {
        let Self { source, places } = self;
        places.filter_map(move |place| {
            count_turn();
            let (id, record) = source.summary().trace.nth(place)?;
            Some(KernelRow::new(Arc::clone(&source), source.kernel(id, record)?))
        })
    }
}

/// The kernel launches of what is held at once, in launch order.
fn launches_of<'s>(source: &Arc<RowSource<'s>>) -> impl Iterator<Item = KernelRow<'s>> {
    let launches = source.summary().trace.numbered();
    launches.filter_map(|(id, record)| Some(KernelRow::new(Arc::clone(source), source.kernel(id, record)?)))
}

/// Simulates a scenario as [`simulate_any_length`](crate::hosts::simulate_any_length) does, and writes the table of
/// kernel launches of a long run while it goes on, in a thread of its own: none of them is kept, or simulated twice. Of
/// a run with a record nothing is written.
///
/// # Errors
/// Whatever `out` refuses; within, what cannot be simulated: what is written by then is the beginning of the table.
pub fn simulate_to_rows<'s>(
    scenario: &'s Scenario,
    options: SimulateOptions<'s>,
    held: HeldAtMost,
    part: RowsPart<'_>,
    out: &mut (dyn Write + Send),
) -> io::Result<Result<AnyLength<'s>, ProgramError>> {
    // One piece is written while the next is simulated; no others wait.
    let (written, pieces) = sync_channel(0);
    thread::scope(|scope| {
        let write = move || write_pieces(scenario, part, &pieces, out);
        let writer = thread::Builder::new().spawn_scoped(scope, write)?;
        let run = simulate_telling(
            scenario,
            options,
            held,
            PiecesFor::Now(&mut |piece| match written.send(Some(piece)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }),
        );
        // It is whole. Whoever does not listen any more says why.
        if run.is_ok() {
            let _ = written.send(None);
        }
        drop(written);
        writer.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(run)
    })
}

/// Writes the kernel launches of pieces until there are no more, and the end of the table behind all of a run.
fn write_pieces(
    scenario: &Scenario,
    part: RowsPart<'_>,
    pieces: &Receiver<Option<RunPiece>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Ok(first @ Some(_)) = pieces.recv() else { return Ok(()) };
    let columns = kernel_columns(scenario);
    let mut writer = RowsWriter::begin(part, &columns, out)?;
    for piece in std::iter::once(first).chain(pieces) {
        let Some(piece) = piece else { return writer.end() };
        let source = Arc::new(RowSource::Piece(scenario, Arc::new(piece)));
        writer.rows(&columns, launches_of(&source))?;
    }
    Ok(())
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
