//! The JSON document of `gpusched simulate`, written as it is produced: blocks are never held.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::blame::{BlameTables, blame_columns};
use super::kernels::{BlockRow, CopyRow, KernelRow, block_columns, copy_columns, kernel_columns};
use super::responses::response_columns;
use super::turns::{TurnRow, turn_columns};
use crate::formats::{Column, Object, Objects, Streamed, entries};
use crate::run::{State, Summary, each_response, rule_log};
use crate::time::Instant;
use crate::workload::OperationId;

/// A run as one JSON document; times are integers \[ns\].
#[derive(Debug)]
pub struct SimulationReport<'a> {
    /// The run.
    pub summary: Summary<'a>,
    /// Whether to list every block, and where.
    pub blocks: BlockLists,
    /// Whether to list which rule acted when (`rules`).
    pub rules: bool,
    /// Whether to list who made whom wait (`blame`, `blame_by_stream`).
    pub blame: bool,
    /// Instants whose state is asked for.
    pub states: &'a [Instant],
}

/// Where the blocks of a run are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockLists {
    /// Nowhere.
    None,
    /// In each kernel those of its own (`placements`).
    InKernels,
    /// All in one list (`blocks`), as comma-separated values have them.
    Together,
}

impl Serialize for SimulationReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Summary { scenario, trace, .. } = self.summary;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("scenario", &scenario.name)?;
        map.serialize_entry("device", &scenario.device().name)?;
        map.serialize_entry("placement", &scenario.placement)?;
        map.serialize_entry("seed", &scenario.seed)?;
        map.serialize_entry("makespan_ns", &self.summary.makespan())?;
        map.serialize_entry("end_ns", &trace.end())?;
        let kernels = kernel_columns(&self.summary);
        map.serialize_entry(
            "kernels",
            &Streamed(|| KernelRow::of(self.summary).map(|row| KernelEntry { report: self, columns: &kernels, row })),
        )?;
        if self.blocks == BlockLists::Together {
            map.serialize_entry("blocks", &Blocks(self.summary))?;
        }
        map.serialize_entry("copies", &Objects::new(&copy_columns(&self.summary), || CopyRow::of(self.summary)))?;
        if scenario.catalogue.is_time_sliced() {
            let rows = || TurnRow::of(self.summary);
            map.serialize_entry("turns", &Objects::new(&turn_columns(), rows))?;
        }
        let jobs = self.summary.jobs();
        let rows = || each_response(self.summary.scenario, &jobs);
        map.serialize_entry("responses", &Objects::new(&response_columns(), rows))?;
        map.serialize_entry("sms", &self.summary.utilization())?;
        map.serialize_entry("states", &Streamed(|| self.states.iter().map(|&at| State::at(&self.summary, at))))?;
        if self.rules {
            map.serialize_entry("rules", &rule_log(&self.summary))?;
        }
        if self.blame {
            let tables = BlameTables::new(&self.summary);
            let columns = blame_columns();
            map.serialize_entry("blame", &Objects::new(&columns, || tables.kernels.iter().cloned()))?;
            map.serialize_entry("blame_by_stream", &Objects::new(&columns, || tables.streams.iter().cloned()))?;
        }
        map.serialize_entry("notes", &self.summary.notes())?;
        map.end()
    }
}

struct KernelEntry<'a> {
    report: &'a SimulationReport<'a>,
    columns: &'a [Column<KernelRow<'a>>],
    row: KernelRow<'a>,
}

impl Serialize for KernelEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (id, summary) = (self.row.id(), &self.report.summary);
        let mut map = serializer.serialize_map(None)?;
        entries(self.columns, &self.row, &mut map)?;
        map.serialize_entry("waits_ns", &Waits(&summary.sums_by_rule(id, Instant::MAX)))?;
        if self.report.blocks == BlockLists::InKernels {
            let kernel = &self.row.kernel;
            let row = |block| BlockRow { kernel, block, end: summary.trace.completed(&block) };
            let blocks = || summary.trace.blocks(id).map(row);
            map.serialize_entry("placements", &Objects::new(&block_columns(), blocks))?;
        }
        map.end()
    }
}

/// All blocks of a run, by kernel.
struct Blocks<'a>(Summary<'a>);

impl Serialize for Blocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for kernel in self.0.kernels() {
            let columns = block_columns();
            for block in self.0.trace.blocks(OperationId(kernel.launch.id)) {
                let row = BlockRow { kernel: &kernel, block, end: self.0.trace.completed(&block) };
                list.serialize_element(&Object::as_csv(&columns, &row))?;
            }
        }
        list.end()
    }
}

/// Time spent waiting, by rule.
struct Waits<'a>(&'a [(crate::trace::Rule, crate::time::Duration)]);

impl Serialize for Waits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(rule, duration)| (rule.name(), duration)))
    }
}
