//! All that is told of one run, written as it is produced: blocks are never held.

pub(super) mod answers;
mod any_run;
pub(super) mod blame;
pub(super) mod examiner_log;
pub(super) mod kernels;

use std::cell::OnceCell;
use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::RuleWords;
use crate::formats::{
    Column, DocumentWriter, MAX_ROWS, Page, Report, RowObject, Rows, RowsPart, RowsWriter, Streamed, StreamedMap,
    entries, fields,
};
use crate::hosts::LongRun;
use crate::proven::OrMost;
use crate::run::{CriticalPath, Responses, RuleSums, State, Summary, rule_log};
use crate::spelling::formats;
use crate::time::Instant;
use answers::{
    ChainRow, HeldCallRow, add_chains, add_critical_path, add_held_calls, add_rules, chain_columns, held_call_columns,
    part_columns, part_rows,
};
use any_run::{AnyRun, Blocks};
use blame::{BlameTables, add_blame, blame_columns};
use kernels::{BlockRow, KernelRow, block_columns, copy_columns, kernel_columns, response_columns, turn_columns};

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
    /// Whether people see there also what waited within its own stream, line by line; JSON has it always.
    pub own_waits: bool,
    /// What took the time of the run, or of a job, if that is asked for (`critical_path`).
    pub critical_path: Option<&'a CriticalPath>,
    /// Instants whose state is asked for.
    pub states: &'a [Instant],
}

impl<'a> SimulationReport<'a> {
    /// What is told of every run.
    pub const fn of(summary: Summary<'a>) -> Self {
        Self { summary, blocks: false, rules: false, blame: None, own_waits: false, critical_path: None, states: &[] }
    }

    fn told(&self) -> Told<'a> {
        let is_asked = self.blame.is_some() || self.critical_path.is_some() || !self.states.is_empty();
        let most = if is_asked { MOST_BEFORE_AN_ANSWER } else { MAX_ROWS };
        Told { run: AnyRun::Recorded(self.summary), blocks: self.blocks, most }
    }

    fn blame_tables(&self) -> Option<&'a BlameTables> {
        self.blame.map(|tables| tables.get_or_init(|| BlameTables::new(&self.summary)))
    }
}

/// What is told of a run of any length.
#[derive(Debug, Clone, Copy)]
struct Told<'a> {
    run: AnyRun<'a>,
    blocks: bool,
    /// Kernel launches, and copies, that people see at most.
    most: usize,
}

/// Kernel launches, and copies, that people see at most where an answer stands below them: who made whom wait, what
/// took the time, or a state.
const MOST_BEFORE_AN_ANSWER: usize = 40;

impl Told<'_> {
    /// The document, with `more` before its notes.
    fn document<D: DocumentWriter>(
        self,
        to: &mut D,
        more: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let Self { run, blocks, .. } = self;
        let scenario = run.scenario();
        to.entry("scenario", &scenario.name)?;
        to.entry("device", &scenario.device().name)?;
        fields!(to, scenario => placement, seed);
        to.entry("makespan_ns", &run.makespan())?;
        to.entry("end_ns", &run.end())?;
        let columns = &kernel_columns(scenario);
        let entries = run.launches(blocks && !D::IS_LINES);
        let entries = entries.map(|(row, waits, blocks)| KernelEntry { columns, row, waits, blocks });
        to.elements("kernels", entries, columns, run.kernels())?;
        // To go through them takes as long as to run a long run again.
        if blocks && D::IS_LINES && D::HAS_LISTS {
            run.each_with_blocks(|summary, kernel| {
                to.lines("blocks", &block_columns(), BlockRow::of(summary.trace, kernel))
            })?;
        }
        to.rows("copies", &copy_columns(scenario), run.copies())?;
        if scenario.catalogue.is_time_sliced() {
            to.rows("turns", &turn_columns(), run.turns())?;
        }
        to.rows("responses", &response_columns(), run.responses())?;
        to.list("sms", run.utilization())?;
        more(to)?;
        to.entry("notes", &run.notes())
    }

    /// The kernel launches, or each block of them; empty where an instant was not reached.
    fn rows(self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Self { run, blocks, .. } = self;
        if !blocks {
            return part.write(&kernel_columns(run.scenario()), run.kernels(), out);
        }
        let mut writer = RowsWriter::begin(part, &block_columns(), out)?;
        run.each_with_blocks(|summary, kernel| writer.rows(&block_columns(), BlockRow::of(summary.trace, kernel)))?;
        writer.end()
    }

    /// The kernel launches: launched, waited and for which rule longest, started, finished, response; then the copies
    /// and the response times of jobs.
    fn text(self, page: &mut Page, words: &mut RuleWords) {
        let Self { run, most, .. } = self;
        let (scenario, shown) = (run.scenario(), page.most_rows(most));
        let launches = run.kernels().take(shown).inspect(|row| {
            if let Some(rule) = row.waited_for() {
                words.see(rule);
            }
        });
        page.trimmed_table(&kernel_columns(scenario), launches);
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
        let rows: Vec<_> = run.responses().collect();
        if rows.iter().any(Responses::is_worth_showing) {
            page.blank();
            page.first_rows(MAX_ROWS, &response_columns(), rows, " streams and hosts", &json);
        }
    }
}

impl Report for SimulationReport<'_> {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        self.told().document(to, |to| {
            let chains = ChainRow::all(&self.summary);
            if !chains.is_empty() {
                to.rows("chains", &chain_columns(), &chains)?;
            }
            if !self.summary.held_calls.is_empty() {
                to.rows("held_calls", &held_call_columns(), HeldCallRow::all(&self.summary))?;
            }
            to.list("states", self.states.iter().map(|&at| State::at(&self.summary, at)))?;
            if self.rules {
                to.list("rules", rule_log(&self.summary))?;
            }
            if let Some(tables) = self.blame_tables() {
                to.rows("blame", &blame_columns(), tables.kernels.iter().cloned())?;
                to.rows("blame_by_stream", &blame_columns(), tables.streams.iter().cloned())?;
            }
            if let Some(path) = self.critical_path {
                to.rows("critical_path", &part_columns(), part_rows(&self.summary, path))?;
            }
            Ok(())
        })
    }

    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.told().rows(part, out)
    }

    fn text(&self, page: &mut Page) {
        let (Self { summary, .. }, mut words) = (self, RuleWords::default());
        self.told().text(page, &mut words);
        add_held_calls(page, summary);
        add_chains(page, &ChainRow::all(summary));
        if self.rules {
            page.blank();
            add_rules(page, summary);
        }
        if let Some(tables) = self.blame_tables() {
            page.blank();
            add_blame(page, tables, self.own_waits, &mut words);
            words.add_to(page);
        }
        if let Some(path) = self.critical_path {
            page.blank();
            add_critical_path(page, summary, path, &mut words);
        }
        for &at in self.states {
            page.blank();
            page.code(&State::at(summary, at).text());
        }
    }
}

/// A run of any length, of which no more is held while it is told than what still happens: what a [`SimulationReport`]
/// tells of every run, in the same words.
#[derive(Debug, Clone, Copy)]
pub struct LongReport<'a> {
    /// The run.
    pub run: &'a LongRun<'a>,
    /// Whether to list every block for programs, as [`SimulationReport::blocks`].
    pub blocks: bool,
}

impl<'a> LongReport<'a> {
    fn told(self) -> Told<'a> {
        Told { run: AnyRun::Long(self.run), blocks: self.blocks, most: MAX_ROWS }
    }
}

impl Report for LongReport<'_> {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        self.told().document(to, |to| to.list("states", [(); 0]))
    }

    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.told().rows(part, out)
    }

    fn text(&self, page: &mut Page) {
        self.told().text(page, &mut RuleWords::default());
    }
}

struct KernelEntry<'a> {
    columns: &'a [Column<KernelRow<'a>>],
    row: KernelRow<'a>,
    waits: RuleSums,
    /// Its blocks, if they are listed with it.
    blocks: Option<Blocks<'a>>,
}

impl Serialize for KernelEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { columns, row, waits, blocks } = self;
        let mut map = serializer.serialize_map(None)?;
        entries(columns, row, &mut map)?;
        map.serialize_entry("waits_ns", &StreamedMap(|| waits.iter().map(|(rule, time)| (rule, time))))?;
        let (columns, kernel) = (&block_columns(), &row.kernel);
        match blocks {
            None => {}
            Some(Blocks::Recorded(summary)) => {
                let blocks = || BlockRow::of(summary.trace, kernel).map(|block| RowObject::new(columns, block));
                map.serialize_entry("placements", &Streamed(blocks))?;
            }
            Some(Blocks::Listed(blocks)) => {
                let rows = || blocks.iter().map(|&(block, end)| BlockRow { kernel, block, end });
                map.serialize_entry("placements", &Streamed(|| rows().map(|block| RowObject::new(columns, block))))?;
            }
        }
        map.end()
    }
}
