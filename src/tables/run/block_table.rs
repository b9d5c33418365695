//! The blocks of a run as the table that every command reads which takes logs of blocks.

use std::io::{self, Write};

use super::any_run::AnyRun;
use super::kernels::BlockRow;
use crate::device::BlockShape;
use crate::formats::{Column, RowsPart, RowsWriter};
use crate::hosts::AnyLength;
use crate::run::Summary;
use crate::workload::{CheckedStream, NULL_STREAM, OperationId, ProcessId, StreamId};

/// A block with what it takes of an SM.
struct Row<'k, 'a> {
    block: BlockRow<'k, 'a>,
    shape: BlockShape,
    process: &'a str,
    stream: Option<&'a CheckedStream>,
    is_null: bool,
}

fn columns<'k, 'a: 'k>(has_processes: bool) -> Vec<Column<Row<'k, 'a>>> {
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
        let mut writer = RowsWriter::begin(RowsPart::CSV, &columns(has_processes), out)?;
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
            writer.rows(&columns(has_processes), rows)
        })?;
        writer.end()
    }
}
