//! All that is told of one run, written as it is produced: blocks are never held.

pub(super) mod answers;
mod asked;
pub(super) mod blame;
pub(super) mod examiner_log;
pub(super) mod kernels;
mod overlap;
mod path;
pub(super) mod residents;
mod rows;

use std::io::{self, Write};
use std::slice;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::RuleWords;
use super::together::{add_together, together_columns, together_rows};
use crate::formats::{
    Column, Cut, DocumentWriter, MAX_ROWS, Page, Report, RowObject, Rows, RowsPart, RowsWriter, Streamed, StreamedMap,
    entries, fields, write_document, write_lines,
};
use crate::hosts::{AnyRun, Need, TogetherTimes};
use crate::proven::OrMost;
use crate::run::{Responses, Standstill, State, rule_log};
use crate::spelling::formats;
use crate::time::Instant;
use answers::{
    BlockWaitRow, ChainRow, HeldCallRow, add_chains, add_held_calls, add_rules, block_wait_columns, chain_columns,
    held_call_columns,
};
pub use asked::AskedWaits;
pub use rows::simulate_to_rows;

use kernels::{KernelRow, block_columns, copy_columns, kernel_columns, response_columns, turn_columns};

/// A run; times for programs are integers \[ns\]. Of one that is long no more is held while it is told than what still
/// happens: what needs the record is told where there is one.
#[derive(Debug, Clone, Copy)]
pub struct SimulationReport<'a> {
    /// The run.
    pub run: AnyRun<'a>,
    /// Whether to list every block for programs: in each kernel its own (`placements`), or, as lines and tables have
    /// them, all in one list (`blocks`).
    pub blocks: bool,
    /// Whether to list which rule acted when (`rules`); needs the record.
    pub rules: bool,
    /// What is asked about its waits.
    pub waits: AskedWaits<'a>,
    /// What programs take that share the GPU in this run, and alone, if it is one of several (`together`).
    pub together: Option<&'a TogetherTimes>,
    /// Instants whose state is asked for; needs the record.
    pub states: &'a [Instant],
}

/// Kernel launches, and copies, that people see at most where an answer stands below them: who made whom wait, what
/// took the time, or a state.
const MOST_BEFORE_AN_ANSWER: usize = 40;

impl<'a> SimulationReport<'a> {
    /// What is told of every run.
    pub fn of(run: impl Into<AnyRun<'a>>) -> Self {
        let run = run.into();
        Self { run, blocks: false, rules: false, waits: AskedWaits::default(), together: None, states: &[] }
    }

    /// Kernel launches, and copies, that people see at most.
    fn most_rows(&self) -> usize {
        let is_asked = self.waits.is_any() || !self.states.is_empty();
        if is_asked { MOST_BEFORE_AN_ANSWER } else { MAX_ROWS }
    }

    /// The kernel launches: launched, waited and for which rule longest, started, finished, response; then the copies
    /// and the response times of jobs.
    fn add_operations(&self, page: &mut Page, words: &mut RuleWords) {
        let run = self.run;
        let (scenario, shown) = (run.scenario(), page.most_rows(self.most_rows()));
        let launches = run.kernels(Need::Instants).take(shown).inspect(|row| {
            if let Some(rule) = row.waited_for() {
                words.see(rule);
            }
        });
        let has_table = scenario.uses_gpu() || run.launched() > 0;
        if has_table {
            page.trimmed_table(&kernel_columns(scenario), launches);
        }
        // Of a long run they are known, and not counted, for which all of it would run again.
        let rest = |all: u64| usize::try_from(all).or_most().saturating_sub(shown);
        page.rest(rest(run.launched()), " kernel launches", &formats(&["json", "csv"]));
        words.add_to(page);
        let json = formats(&["json"]);
        let copies = run.copied();
        if copies > 0 {
            page.blank();
            page.trimmed_table(&copy_columns(scenario), run.copies().take(shown));
            page.rest(rest(copies), " copies", &json);
        }
        let rows: Vec<_> = run.each_response().collect();
        if rows.iter().any(Responses::is_worth_showing) {
            if has_table {
                page.blank();
            }
            page.first_rows(MAX_ROWS, &response_columns(), rows, " streams and hosts", &json);
        }
    }
}

impl Report for SimulationReport<'_> {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        let Self { run, blocks, .. } = *self;
        let scenario = run.scenario();
        to.entry("scenario", &scenario.name)?;
        to.entry("device", &scenario.device().name)?;
        fields!(to, scenario => placement, seed);
        to.entry("makespan_ns", &run.makespan())?;
        to.entry("end_ns", &run.end())?;
        let columns = &kernel_columns(scenario);
        let has_blocks = blocks && !D::IS_LINES;
        let entry = |row| KernelEntry { columns, row, has_blocks };
        if D::IS_TABLES || has_blocks {
            // Of many blocks even one kernel is not held.
            to.elements("kernels", run.kernels(Need::Blocks).map(entry), columns, run.kernels(Need::Instants))?;
        } else {
            to.parts("kernels", run.parts(), |part| part.kernels().map(entry))?;
        }
        // To go through them takes as long as to run a long run again.
        if blocks && D::IS_LINES && D::HAS_LISTS {
            for row in run.kernels(Need::Blocks) {
                to.lines("blocks", &block_columns(), row.blocks())?;
            }
        }
        to.rows("copies", &copy_columns(scenario), run.copies())?;
        if scenario.catalogue.is_time_sliced() {
            to.rows("turns", &turn_columns(), run.turns())?;
        }
        to.many_rows("responses", &response_columns(), run.each_response())?;
        to.list("sms", run.utilization())?;
        if let Some(summary) = &run.record() {
            let chains = ChainRow::all(summary);
            if !chains.is_empty() {
                to.rows("chains", &chain_columns(), &chains)?;
            }
            if !summary.held_calls.is_empty() {
                to.rows("held_calls", &held_call_columns(), HeldCallRow::all(summary))?;
            }
            let waits = BlockWaitRow::all(summary);
            if !waits.is_empty() {
                to.rows("block_waits", &block_wait_columns(), waits)?;
            }
            if let Some(standstill) = Standstill::of(summary) {
                to.entry("standstill", &standstill)?;
            }
            to.list("states", self.states.iter().map(|&at| State::at(summary, at)))?;
            if self.rules {
                to.list("rules", rule_log(summary))?;
            }
            self.waits.document(to, summary)?;
        } else {
            to.list("states", [(); 0])?;
        }
        if let Some(together) = self.together {
            to.rows("together", &together_columns(), together_rows(slice::from_ref(together)))?;
        }
        to.entry("notes", &run.notes())
    }

    fn json(&self, cut: Option<Cut>, out: &mut dyn Write) -> Option<io::Result<()>> {
        Some(write_document(self, cut, out))
    }

    fn json_lines(&self, file: Option<&str>, cut: Option<Cut>, out: &mut dyn Write) -> Option<io::Result<()>> {
        Some(write_lines(self, file, cut, out))
    }

    /// The kernel launches, or each block of them; empty where an instant was not reached.
    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        if !self.blocks {
            return part.write(&kernel_columns(self.run.scenario()), self.run.kernels(Need::Instants), out);
        }
        let mut writer = RowsWriter::begin(part, &block_columns(), out)?;
        self.run.kernels(Need::Blocks).try_for_each(|row| writer.rows(&block_columns(), row.blocks()))?;
        writer.end()
    }

    fn text(&self, page: &mut Page) {
        if let Some(together) = self.together {
            add_together(page, slice::from_ref(together));
            page.blank();
        }
        if let Some(summary) = &self.run.record() {
            self.waits.add_answers(page, summary);
        }
        let mut words = RuleWords::default();
        self.add_operations(page, &mut words);
        let Some(summary) = &self.run.record() else { return };
        add_held_calls(page, summary);
        add_chains(page, &ChainRow::all(summary));
        if self.rules {
            page.blank();
            add_rules(page, summary);
        }
        self.waits.add_tables_with(page, summary, &mut words);
        for &at in self.states {
            page.blank();
            page.code(&State::at(summary, at).text());
        }
    }
}

/// A kernel launch with the time that it waited under each rule.
struct KernelEntry<'a> {
    columns: &'a [Column<KernelRow<'a>>],
    row: KernelRow<'a>,
    /// Whether its blocks are listed with it.
    has_blocks: bool,
}

impl Serialize for KernelEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { columns, row, has_blocks } = self;
        let mut map = serializer.serialize_map(None)?;
        entries(columns, row, &mut map)?;
        let waits = row.source.summary().sums_by_rule(row.id(), Instant::MAX);
        map.serialize_entry("waits_ns", &StreamedMap(|| waits.iter().map(|(rule, time)| (rule, time))))?;
        if *has_blocks {
            let columns = &block_columns();
            let blocks = || row.blocks().map(|block| RowObject::new(columns, block));
            map.serialize_entry("placements", &Streamed(blocks))?;
        }
        map.end()
    }
}
