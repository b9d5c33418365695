//! The JSON document of `gpusched simulate`, written as it is produced: blocks are never held.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::rule_log::rule_log;
use super::state::State;
use super::summary::{KernelSummary, Summary, stream_index};
use crate::gpu::Block;
use crate::time::Instant;
use crate::workload::OperationId;

/// A run as one JSON document; times are integers \[ns\].
#[derive(Debug)]
pub struct SimulationReport<'a> {
    /// The run.
    pub summary: Summary<'a>,
    /// Whether to list every block of every kernel (`placements`).
    pub blocks: bool,
    /// Whether to list which rule acted when (`rules`).
    pub rules: bool,
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
        map.serialize_entry(
            "kernels",
            &Streamed(|| {
                self.summary.kernels().map(|kernel| KernelEntry {
                    report: self,
                    id: OperationId(kernel.launch.id),
                    kernel,
                })
            }),
        )?;
        map.serialize_entry(
            "copies",
            &Streamed(|| {
                self.summary.copies().map(|(id, record, copy)| CopyEntry {
                    id: id.0,
                    benchmark: record.origin.thread,
                    stream: stream_index(record.stream),
                    iteration: record.origin.iteration,
                    direction: copy.direction.name(),
                    bytes: copy.bytes,
                    launched_ns: record.launched(),
                    queued_ns: record.queued(),
                    start_ns: record.first_start(),
                    end_ns: record.finish(),
                })
            }),
        )?;
        map.serialize_entry("sms", &self.summary.utilization())?;
        map.serialize_entry("states", &Streamed(|| self.states.iter().map(|&at| State::at(&self.summary, at))))?;
        if self.rules {
            map.serialize_entry("rules", &rule_log(&self.summary))?;
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
    id: OperationId,
    kernel: KernelSummary<'a>,
}

impl Serialize for KernelEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let trace = self.report.summary.trace;
        Flat {
            kernel: &self.kernel,
            waits_ns: Waits(&self.report.summary.waits_by_rule(self.id, Instant::MAX)),
            placements: self.report.blocks.then_some(Streamed(|| trace.blocks(self.id).map(BlockEntry::from))),
        }
        .serialize(serializer)
    }
}

#[derive(serde::Serialize)]
struct Flat<'a, P: Serialize> {
    #[serde(flatten)]
    kernel: &'a KernelSummary<'a>,
    waits_ns: Waits<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    placements: Option<P>,
}

/// Time spent waiting, by rule.
struct Waits<'a>(&'a [(crate::gpu::Rule, crate::time::Duration)]);

impl Serialize for Waits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(rule, duration)| (rule.name(), duration)))
    }
}

#[derive(serde::Serialize)]
struct BlockEntry {
    block: u32,
    sm: u16,
    start_ns: Instant,
    end_ns: Instant,
}

impl From<Block> for BlockEntry {
    fn from(block: Block) -> Self {
        Self { block: block.index, sm: block.sm, start_ns: block.start, end_ns: block.end }
    }
}

#[derive(serde::Serialize)]
struct CopyEntry {
    id: u32,
    benchmark: u32,
    stream: i64,
    iteration: u32,
    direction: &'static str,
    bytes: u64,
    launched_ns: Instant,
    queued_ns: Option<Instant>,
    start_ns: Option<Instant>,
    end_ns: Option<Instant>,
}
