//! All that is told of a run, written as it is produced: blocks are never held.

use std::cell::OnceCell;
use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::blame::{BlameTables, add_blame, blame_columns};
use super::context_turns::{TurnRow, turn_columns};
use super::kernels::{BlockRow, CopyRow, KernelRow, block_columns, copy_columns, kernel_columns};
use super::responses::response_columns;
use super::rule_log::add_rules;
use super::state::state_text;
use crate::formats::{
    Column, DocumentWriter, MAX_ROWS, Object, Page, Report, Rows, RowsPart, RowsWriter, Streamed, StreamedMap, entries,
    fields,
};
use crate::run::{Responses, State, Summary, each_response, rule_log};
use crate::spelling::formats;
use crate::tables::rule_words::RuleWords;
use crate::time::Instant;

/// A run; times for programs are integers \[ns\].
#[derive(Debug, Clone, Copy)]
pub struct SimulationReport<'a> {
    /// The run.
    pub summary: Summary<'a>,
    /// Whether to list every block for programs: in each kernel its own (`placements`), or, as lines and tables have
    /// them, all in one list (`blocks`).
    pub blocks: bool,
    /// Whether to list which rule acted when (`rules`).
    pub rules: bool,
    /// Whether to list who made whom wait (`blame`, `blame_by_stream`); filled when it is first needed, so that it is
    /// summed up once for all that tells it.
    pub blame: Option<&'a OnceCell<BlameTables>>,
    /// Instants whose state is asked for.
    pub states: &'a [Instant],
}

impl<'a> SimulationReport<'a> {
    /// What is told of every run.
    pub const fn of(summary: Summary<'a>) -> Self {
        Self { summary, blocks: false, rules: false, blame: None, states: &[] }
    }

    fn blame_tables(&self) -> Option<&'a BlameTables> {
        self.blame.map(|tables| tables.get_or_init(|| BlameTables::new(&self.summary)))
    }
}

impl Report for SimulationReport<'_> {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        let Summary { scenario, trace, .. } = self.summary;
        to.entry("scenario", &scenario.name)?;
        to.entry("device", &scenario.device().name)?;
        fields!(to, scenario => placement, seed);
        to.entry("makespan_ns", &self.summary.makespan())?;
        to.entry("end_ns", &trace.end())?;
        let (columns, blocks) = (&kernel_columns(&self.summary), self.blocks && !D::IS_LINES);
        let entries = KernelRow::of(self.summary).map(|row| KernelEntry { columns, row, blocks });
        to.elements("kernels", entries, columns, KernelRow::of(self.summary))?;
        if self.blocks {
            for kernel in self.summary.kernels() {
                to.lines("blocks", &block_columns(), BlockRow::of(&self.summary, &kernel))?;
            }
        }
        to.rows("copies", &copy_columns(&self.summary), CopyRow::of(self.summary))?;
        if scenario.catalogue.is_time_sliced() {
            to.rows("turns", &turn_columns(), TurnRow::of(self.summary))?;
        }
        to.rows("responses", &response_columns(), each_response(scenario, &self.summary.jobs()))?;
        to.list("sms", self.summary.utilization())?;
        to.list("states", self.states.iter().map(|&at| State::at(&self.summary, at)))?;
        if self.rules {
            to.list("rules", rule_log(&self.summary))?;
        }
        if let Some(tables) = self.blame_tables() {
            to.rows("blame", &blame_columns(), tables.kernels.iter().cloned())?;
            to.rows("blame_by_stream", &blame_columns(), tables.streams.iter().cloned())?;
        }
        to.entry("notes", &self.summary.notes())
    }

    /// The kernel launches, or each block of them; empty where an instant was not reached.
    fn rows(&self, part: RowsPart<'_>, out: impl Write) -> io::Result<()> {
        let Self { summary, .. } = self;
        if !self.blocks {
            return part.write(&kernel_columns(summary), KernelRow::of(*summary), out);
        }
        let mut writer = RowsWriter::begin(part, &block_columns(), out)?;
        for kernel in summary.kernels() {
            writer.rows(&block_columns(), BlockRow::of(summary, &kernel))?;
        }
        writer.end()
    }

    /// The kernel launches: launched, waited and for which rule longest, started, finished, response; then the copies,
    /// the response times of jobs, and what else is asked for.
    fn text(&self, page: &mut Page) {
        let Self { summary, .. } = self;
        let (mut words, shown) = (RuleWords::default(), page.most_rows(MAX_ROWS));
        let launches = KernelRow::of(*summary).enumerate().map(|(number, row)| {
            if let Some(rule) = row.waited_for().filter(|_| number < shown) {
                words.see(rule);
            }
            row
        });
        page.first_rows(MAX_ROWS, &kernel_columns(summary), launches, " kernel launches", &formats(&["json", "csv"]));
        words.add_to(page);
        let json = formats(&["json"]);
        if summary.copies().next().is_some() {
            page.blank();
            page.first_rows(MAX_ROWS, &copy_columns(summary), CopyRow::of(*summary), " copies", &json);
        }
        let rows = summary.responses();
        if rows.iter().any(Responses::is_worth_showing) {
            page.blank();
            page.first_rows(MAX_ROWS, &response_columns(), rows, " streams and hosts", &json);
        }
        if self.rules {
            page.blank();
            add_rules(page, summary);
        }
        if let Some(tables) = self.blame_tables() {
            page.blank();
            add_blame(page, tables, &mut words);
            words.add_to(page);
        }
        for &at in self.states {
            page.blank();
            page.code(&state_text(&State::at(summary, at)));
        }
    }
}

struct KernelEntry<'a> {
    columns: &'a [Column<KernelRow<'a>>],
    row: KernelRow<'a>,
    /// Whether its blocks are listed with it.
    blocks: bool,
}

impl Serialize for KernelEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (row, summary) = (&self.row, &self.row.summary);
        let mut map = serializer.serialize_map(None)?;
        entries(self.columns, row, &mut map)?;
        let waits = summary.sums_by_rule(row.id(), Instant::MAX);
        map.serialize_entry("waits_ns", &StreamedMap(|| waits.iter().map(|(rule, time)| (rule, time))))?;
        if self.blocks {
            let columns = &block_columns();
            let blocks = || BlockRow::of(summary, &row.kernel).map(|block| Object::new(columns, block));
            map.serialize_entry("placements", &Streamed(blocks))?;
        }
        map.end()
    }
}
