//! What is told of a run where it is asked for, or where there is any: chains, calls that were held because of one that
//! frees memory, which rule let which operation go on, and the state at an instant.

use std::fmt::Write;

use crate::formats::{Column, MAX_ROWS, Page};
use crate::run::{
    Awaited, ChainDelay, ChainRun, Firing, HeldCall, Resident, Stands, State, Summary, Suspended, SuspendedCopy,
    TurnState, Waiting, rule_log, title,
};
use crate::scenario::{Chain, ChainMeasure};
use crate::spelling::formats;
use crate::tables::HINT;
use crate::time::{Duration, Instant};
use crate::trace::Stand;
use crate::workload::stream_in_words;

/// One measure of a chain, with the jobs on the way of its longest.
pub(super) struct ChainRow {
    run: ChainRun,
    jobs: Option<String>,
}

impl ChainRow {
    /// Of a run, in the order of the scenario.
    pub(super) fn all(summary: &Summary<'_>) -> Vec<Self> {
        let named = |run: &ChainRun| summary.scenario.chains.iter().find(|chain| chain.name == run.chain);
        let row = |run: ChainRun| {
            let path = |(delay, chain): (&ChainDelay, &Chain)| delay.path(chain, summary.scenario);
            let jobs = run.worst.as_ref().zip(named(&run)).map(path);
            Self { run, jobs }
        };
        summary.chains().into_iter().map(row).collect()
    }
}

impl ChainRun {
    /// What the user has to know of it: that it was longer than it may be, or that nothing is known of that.
    pub(crate) fn note(&self) -> Option<String> {
        let limit = self.limit?;
        let Self { chain, measure, misses, .. } = self;
        let measure = measure.name();
        if self.is_unmeasured() {
            return Some(format!(
                "the {measure} of {chain:?} is not known to be within its {limit}: none was measured before the run ends"
            ));
        }
        let worst = self.worst.as_ref()?;
        let (all, worst) = (self.measured + self.unfinished, ChainDelay::known_length(worst.length(), worst.is_cut));
        (*misses > 0).then(|| {
            format!("the {measure} of {chain:?} is above its {limit} {misses} of {all} times; the longest is {worst}")
        })
    }
}

pub(super) fn chain_columns<'a>() -> [Column<&'a ChainRow>; 12] {
    [
        Column::new("chain", "chain", |row: &&ChainRow| (&*row.run.chain).into()).left(),
        Column::new("measure", "measure", |row: &&ChainRow| row.run.measure.name().into()).left(),
        Column::new("measured", "measured", |row| row.run.measured.into()),
        Column::new("unfinished", "unfinished", |row| row.run.unfinished.into()),
        Column::data("worst_ns", |row| row.run.worst.as_ref().map(ChainDelay::length).into()),
        Column::table("longest", |row: &&ChainRow| {
            row.run.worst.as_ref().map(|worst| ChainDelay::known_length(worst.length(), worst.is_cut)).into()
        }),
        Column::new("limit_ns", "at most", |row| row.run.limit.into()),
        Column::new("misses", "misses", |row| row.run.limit.map(|_| row.run.misses).into()),
        Column::data("is_cut", |row| row.run.worst.as_ref().is_some_and(|worst| worst.is_cut).into()),
        Column::data("from_ns", |row| row.run.worst.as_ref().map(|worst| worst.from).into()),
        Column::data("to_ns", |row| row.run.worst.as_ref().map(|worst| worst.to).into()),
        Column::data("jobs", |row: &&ChainRow| row.jobs.as_deref().into()),
    ]
}

/// The chains of a run, if its scenario has any, and the way of data that took longest.
pub(super) fn add_chains(page: &mut Page, rows: &[ChainRow]) {
    if rows.is_empty() {
        return;
    }
    page.blank();
    page.trimmed_table(&chain_columns(), rows);
    for row in rows {
        let worst = row.run.worst.as_ref();
        let ends = worst.map(|worst| (worst.from, worst.to));
        add_way(page, (&row.run.chain, row.run.measure), ends, row.jobs.as_deref());
    }
}

/// By which jobs data went that took longest.
pub(in crate::tables) fn add_way(
    page: &mut Page,
    (chain, measure): (&str, ChainMeasure),
    ends: Option<(Instant, Instant)>,
    jobs: Option<&str>,
) {
    if let Some(((from, to), jobs)) = ends.zip(jobs) {
        page.line(&format!("longest {} of {chain}: {from} to {to}, by {jobs}", measure.name()));
    }
}

pub(super) struct HeldCallRow<'a> {
    host: &'a str,
    by: &'a str,
    name: &'static str,
    call: HeldCall,
}

impl<'a> HeldCallRow<'a> {
    /// Those of a run, in the order in which they began.
    pub(super) fn all(summary: &Summary<'a>) -> impl ExactSizeIterator<Item = Self> + use<'a> {
        let scenario = summary.scenario;
        let label = move |number: u32| scenario.threads.get(number as usize).map_or("", |thread| &*thread.label);
        summary.held_calls.iter().map(move |&call| Self {
            host: label(call.thread),
            by: label(call.by),
            name: call.name(scenario),
            call,
        })
    }
}

pub(super) fn held_call_columns<'a>() -> [Column<HeldCallRow<'a>>; 9] {
    [
        Column::new("host", "host", |row: &HeldCallRow<'_>| row.host.into()).names(),
        Column::new("iteration", "iteration", |row| row.call.iteration.into()),
        Column::data("step", |row| row.call.step.into()),
        Column::new("call", "call", |row: &HeldCallRow<'_>| row.name.into()).left(),
        Column::new("rule", "rule", |row: &HeldCallRow<'_>| row.call.rule.name().into()).left(),
        Column::new("by", "held by", |row: &HeldCallRow<'_>| row.by.into()).names(),
        Column::new("from_ns", "called", |row| row.call.from.into()),
        Column::new("to_ns", "went on", |row| row.call.to().into()),
        Column::table("lasted", |row| row.call.to().map(|to| to.since(row.call.from)).into()),
    ]
}

/// The calls of a run that were held, if any were.
pub(super) fn add_held_calls(page: &mut Page, summary: &Summary<'_>) {
    let rows = HeldCallRow::all(summary);
    if rows.len() > 0 {
        page.blank();
        page.first_rows(MAX_ROWS, &held_call_columns(), rows, " calls that were held", &formats(&["json"]));
    }
}

/// Blocks that wait for others on their SMs.
pub(super) struct BlockWaitRow {
    kernel: String,
    stand: Stand,
    awaited: Awaited,
}

impl BlockWaitRow {
    /// Those of a run, in the order in which that ended.
    pub(super) fn all(summary: &Summary<'_>) -> Vec<Self> {
        let stands = Stands::new(summary.trace);
        let row = |&stand: &Stand| {
            let awaited = stands.awaited(&stand).filter(|_| stand.from < stand.to)?;
            Some(Self { kernel: title(summary, stand.operation), stand, awaited })
        };
        summary.trace.stands().iter().filter_map(row).collect()
    }

    fn counter(&self) -> Option<(&str, u64)> {
        let Awaited::Counter { counter, value } = &self.awaited else { return None };
        Some((counter, *value))
    }

    fn grid(&self) -> Option<u32> {
        let Awaited::Grid { grid } = self.awaited else { return None };
        Some(grid)
    }
}

pub(super) fn block_wait_columns() -> [Column<BlockWaitRow>; 9] {
    [
        Column::data("id", |row: &BlockWaitRow| row.stand.operation.0.into()),
        Column::data("kernel", |row: &BlockWaitRow| (&*row.kernel).into()),
        Column::data("first_block", |row| row.stand.first_block.into()),
        Column::data("blocks", |row| row.stand.blocks.into()),
        Column::data("from_ns", |row| row.stand.from.into()),
        Column::data("to_ns", |row| Some(row.stand.to).filter(|_| !row.stand.is_open()).into()),
        Column::data("counter", |row: &BlockWaitRow| row.counter().map(|(name, _)| name).into()),
        Column::data("value", |row| row.counter().map(|(_, value)| value).into()),
        Column::data("grid", |row| row.grid().into()),
    ]
}

pub(super) fn at(instant: Instant) -> Duration {
    instant.since(Instant::ZERO)
}

/// The table of them.
pub(super) fn add_rules(page: &mut Page, summary: &Summary<'_>) {
    let firings = rule_log(summary);
    let columns = [
        Column::table("at", |firing: &&Firing<'_>| firing.at_ns.into()),
        Column::table("rule", |firing: &&Firing<'_>| firing.rule.into()).left(),
        Column::table("operation", |firing: &&Firing<'_>| (&*firing.operation).into()).left(),
        Column::table("", |firing: &&Firing<'_>| firing.what.into()).left(),
    ];
    // CSV has the kernels alone.
    page.first_rows(MAX_ROWS, &columns, &firings, " steps", &formats(&["json"]));
    page.line(HINT);
}

fn turn_in_words(turn: &TurnState) -> String {
    let (Some(process), Some(from), Some(to)) = (&turn.process, turn.from_ns, turn.to_ns) else {
        return "turn: nobody's".to_owned();
    };
    let what = if turn.switching { "switch to" } else { "turn:" };
    format!("{what} {process}, from {from} to {to}")
}

fn resident_in_words(Resident { kernel, blocks, waits, .. }: &Resident) -> String {
    let waiting = waits.iter().map(|waiting| {
        let verb = if waiting.blocks == 1 { "waits" } else { "wait" };
        let who = if waiting.blocks == *blocks { String::new() } else { format!("{} of them ", waiting.blocks) };
        format!("{who}{verb} for {}", waiting.awaited.in_short(waiting.is))
    });
    let waiting: Vec<String> = waiting.collect();
    let told = if waiting.is_empty() { String::new() } else { format!(" ({})", waiting.join("; ")) };
    format!("{blocks} x {kernel}{told}")
}

impl State {
    /// The state at one instant as text.
    pub fn text(&self) -> String {
        let mut text = format!("state at {}\n", self.at_ns);
        if let Some(turn) = &self.turn {
            let _ = writeln!(text, "  {}", turn_in_words(turn));
        }
        // Why the heads of queues wait is asked for most; what stands behind them in its stream is told after that.
        let (behind, heads): (Vec<&Waiting>, Vec<&Waiting>) =
            self.waiting.iter().partition(|waiting| waiting.rule.is_behind_in_stream());
        for waiting in heads.into_iter().chain(behind) {
            let _ = writeln!(text, "  {} waits ({}): {}", waiting.operation, waiting.rule, waiting.why);
        }
        let list = |names: &[String]| if names.is_empty() { "empty".to_owned() } else { names.join(", ") };
        for queue in &self.stream_queues {
            let _ = writeln!(text, "  {}: {}", stream_in_words(&queue.name), list(&queue.operations));
        }
        for queue in &self.ee_queues {
            let of = queue.context.as_ref().map_or_else(String::new, |context| format!(" of {context}"));
            let _ = writeln!(text, "  EE queue{of}, priority {}: {}", queue.priority, list(&queue.operations));
        }
        for (engine, (queue, served)) in self.ce_queues.iter().zip(&self.copy_engines).enumerate() {
            let _ = writeln!(text, "  CE queue {engine}: {}", list(queue));
            let served = if served.names().is_empty() { "idle".to_owned() } else { served.names().join(", ") };
            let _ = writeln!(text, "  copy engine {engine}: {served}");
        }
        for sm in &self.sms {
            let residents: Vec<String> = sm.resident.iter().map(resident_in_words).collect();
            let _ = writeln!(
                text,
                "  SM {}: {}; free: {} threads, {} block slots, {} bytes of shared memory, {} registers",
                sm.sm,
                list(&residents),
                sm.free_threads,
                sm.free_blocks,
                sm.free_shared_memory,
                sm.free_registers
            );
        }
        for suspended in self.suspended.iter().flatten() {
            let Suspended { process, blocks } = suspended;
            let _ = writeln!(text, "  suspended, of {process}: {} x {}", blocks.blocks, blocks.kernel);
        }
        for SuspendedCopy { process, copy, .. } in self.suspended_copies.iter().flatten() {
            let _ = writeln!(text, "  suspended, of {process}: {copy}");
        }
        text
    }
}
