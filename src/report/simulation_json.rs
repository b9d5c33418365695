//! The JSON document of `gpusched simulate`, written as it is produced: blocks are never held.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::blame::{BlameTables, blame_columns};
use super::columns::{Column, Objects, entries};
use super::kernels::{BlockRow, CopyRow, KernelRow, block_columns, copy_columns, kernel_columns};
use super::responses::response_columns;
use super::rule_log::rule_log;
use super::state::State;
use super::summary::Summary;
use crate::experiments::responses;
use crate::time::Instant;

/// A run as one JSON document; times are integers \[ns\].
#[derive(Debug)]
pub struct SimulationReport<'a> {
    /// The run.
    pub summary: Summary<'a>,
    /// Whether to list every block of every kernel (`placements`).
    pub blocks: bool,
    /// Whether to list which rule acted when (`rules`).
    pub rules: bool,
    /// Whether to list who made whom wait (`blame`, `blame_by_stream`).
    pub blame: bool,
    /// Instants whose state is asked for.
    pub states: &'a [Instant],
}

impl SimulationReport<'_> {
    /// Writes the document and a line feed.
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"\n")
    }
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
        let kernels = kernel_columns();
        map.serialize_entry(
            "kernels",
            &Streamed(|| KernelRow::of(self.summary).map(|row| KernelEntry { report: self, columns: &kernels, row })),
        )?;
        map.serialize_entry("copies", &Objects::new(&copy_columns(), || CopyRow::of(self.summary)))?;
        let jobs = self.summary.jobs();
        let rows = || responses(self.summary.scenario, &jobs).into_iter();
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

/// A list whose elements are made one by one while it is written.
struct Streamed<F>(F);

impl<F, I> Serialize for Streamed<F>
where
    F: Fn() -> I,
    I: Iterator,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for element in (self.0)() {
            list.serialize_element(&element)?;
        }
        list.end()
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
        map.serialize_entry("waits_ns", &Waits(&summary.waits_by_rule(id, Instant::MAX)))?;
        if self.report.blocks {
            let kernel = &self.row.kernel;
            let row = |block| BlockRow { kernel, block, end: summary.trace.completed(&block) };
            let blocks = || summary.trace.blocks(id).map(row);
            map.serialize_entry("placements", &Objects::new(&block_columns(), blocks))?;
        }
        map.end()
    }
}

/// Time spent waiting, by rule.
struct Waits<'a>(&'a [(crate::trace::Rule, crate::time::Duration)]);

impl Serialize for Waits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(rule, duration)| (rule.name(), duration)))
    }
}
