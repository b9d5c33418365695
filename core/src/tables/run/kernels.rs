//! The columns of a run: of its kernel launches, blocks and copies, of the turns of contexts, and of response times.

use std::cell::OnceCell;
use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use crate::formats::{CellOf, Column, write_csv};
use crate::run::{Jobs, KernelSummary, Responses, RunPiece, Summary};
use crate::scenario::{KernelLaunch, Scenario};
use crate::time::{Duration, Instant};
use crate::trace::{Block, ContextTurn, OperationRecord, Rule};
use crate::workload::{OperationId, OperationKind};

/// What the rows of a run are made of.
#[derive(Debug)]
pub(crate) enum RowSource<'a> {
    /// The record of a run, with its jobs once a row tells of them.
    Record(Summary<'a>, OnceLock<Jobs>),
    /// A piece of a long run.
    Piece(&'a Scenario, Arc<RunPiece>),
}

impl<'a> RowSource<'a> {
    pub(super) fn scenario(&self) -> &'a Scenario {
        match self {
            Self::Record(summary, _) => summary.scenario,
            Self::Piece(scenario, _) => scenario,
        }
    }

    pub(super) fn summary(&self) -> Summary<'_> {
        match self {
            Self::Record(summary, _) => *summary,
            Self::Piece(scenario, piece) => piece.summary(scenario),
        }
    }

    fn jobs(&self) -> &Jobs {
        match self {
            Self::Record(summary, jobs) => jobs.get_or_init(|| summary.jobs()),
            Self::Piece(_, piece) => &piece.jobs,
        }
    }

    /// The kernel launch that an operation is, if it is one.
    pub(super) fn kernel(&self, id: OperationId, record: &OperationRecord) -> Option<KernelSummary<'a>> {
        let OperationKind::Kernel(kernel) = record.kind else { return None };
        let kernels = match self {
            Self::Record(summary, _) => summary.trace.kernels(),
            Self::Piece(scenario, _) => scenario.kernels(),
        };
        Some(KernelSummary::new(self.scenario(), self.jobs(), (id, record), kernels.get(kernel.index())?))
    }

    /// What the process of an operation is called; empty where there is one only.
    fn process(&self, id: OperationId) -> &'a str {
        let several = self.scenario().has_processes().then(|| self.summary().trace.process_of(id)).flatten();
        several.map_or("", |process| self.scenario().catalogue.process_name(process))
    }

    /// How long an operation that began stood still, until it finished or the run ended, where contexts take turns.
    fn paused(&self, id: OperationId) -> Option<Duration> {
        let trace = self.summary().trace;
        let begun = trace.record(id).filter(|_| self.scenario().catalogue.is_time_sliced())?.first_start();
        begun.map(|_| trace.paused(id))
    }

    /// Turns of contexts that are over.
    pub(super) fn turns(&self) -> &[ContextTurn] {
        match self {
            Self::Record(summary, _) => summary.trace.turns(),
            Self::Piece(_, piece) => &piece.trace.turns()[..piece.turns],
        }
    }
}

pub(crate) struct KernelRow<'a> {
    pub(crate) kernel: KernelSummary<'a>,
    /// Where all else is found that columns tell of.
    pub(super) source: Arc<RowSource<'a>>,
    /// What several columns tell of, found once; not where no column does.
    longest_wait: OnceCell<Option<(Rule, Duration)>>,
}

impl<'a> KernelRow<'a> {
    pub(super) fn new(source: Arc<RowSource<'a>>, kernel: KernelSummary<'a>) -> Self {
        Self { kernel, source, longest_wait: OnceCell::new() }
    }

    pub(crate) const fn id(&self) -> OperationId {
        OperationId(self.kernel.launch.id)
    }

    /// The rule under which it waited longest, if it waited at all.
    pub(super) fn waited_for(&self) -> Option<Rule> {
        self.longest_wait().filter(|(_, time)| *time > Duration::ZERO).map(|(rule, _)| rule)
    }

    fn longest_wait(&self) -> Option<(Rule, Duration)> {
        *self.longest_wait.get_or_init(|| self.source.summary().longest_wait(self.id()))
    }

    /// How long it waited until its first block began; if some never did, in all.
    fn waited(&self) -> Option<Duration> {
        let start = self.kernel.first_start_ns?.since(self.kernel.launched_ns);
        let in_all = || {
            let waits = self.source.summary().sums_by_rule(self.id(), Instant::MAX);
            waits.iter().fold(Duration::ZERO, |sum, (_, time)| sum.saturating_add(*time))
        };
        Some(self.kernel.last_start_ns.map_or_else(in_all, |_| start))
    }

    /// Its blocks.
    pub(super) fn blocks(&self) -> impl Iterator<Item = BlockRow<'_, 'a>> {
        let trace = self.source.summary().trace;
        trace.blocks(self.id()).map(|block| BlockRow { kernel: &self.kernel, block, end: trace.completed(&block) })
    }
}

impl OfLaunch for KernelRow<'_> {
    fn launch(&self) -> &KernelLaunch<'_> {
        &self.kernel.launch
    }
}

/// Puts a column of that before the one that tells when things finished, where contexts take turns.
fn with_pauses<R>(scenario: &Scenario, finish: &str, columns: &mut Vec<Column<R>>, column: Column<R>) {
    if scenario.catalogue.is_time_sliced() {
        let place = columns.iter().position(|other| other.title() == Some(finish)).unwrap_or(columns.len());
        columns.insert(place, column);
    }
}

/// The columns of kernel launches; with the process where the run has several.
pub(crate) fn kernel_columns<'a>(scenario: &Scenario) -> Vec<Column<KernelRow<'a>>> {
    let mut columns = launch_columns();
    if scenario.has_processes() {
        columns.insert(
            columns.len() - 1,
            Column::new("process", "process", |row: &KernelRow<'_>| row.source.process(row.id()).into()).left(),
        );
    }
    columns.extend([
        Column::table("blocks", |row: &KernelRow<'_>| row.kernel.blocks.into()),
        Column::new("threads", "threads", |row| row.kernel.threads.into()),
        Column::data("blocks", |row| row.kernel.blocks.into()),
        Column::new("launched_ns", "launched", |row| row.kernel.launched_ns.into()),
        Column::table("waited", |row| row.waited().into()),
        Column::table("longest for", |row| {
            let longest = row.longest_wait().filter(|(_, time)| *time > Duration::ZERO);
            longest.map(|(rule, time)| format!("{rule} ({time})")).into()
        }),
        Column::data("queued_ns", |row| row.kernel.queued_ns.into()),
        Column::new("first_start_ns", "started", |row| row.kernel.first_start_ns.into()),
        Column::json("last_start_ns", |row| row.kernel.last_start_ns.into()),
        Column::new("finish_ns", "finished", |row| row.kernel.finish_ns.into()),
        Column::new("response_ns", "response", |row| row.kernel.response_ns.into()),
        Column::csv("longest_wait_rule", |row| row.longest_wait().map(|(rule, _)| rule.name()).into()),
        Column::csv("longest_wait_ns", |row| row.longest_wait().map(|(_, time)| time).into()),
        Column::data("deadline_ns", |row| row.kernel.deadline_ns.into()),
        Column::data("schedulable", |row| row.kernel.schedulable.into()),
        Column::data("job_response_ns", |row| row.kernel.job_response_ns.into()),
        Column::data("job_met", |row| row.kernel.job_met.into()),
    ]);
    let column = Column::new("paused_ns", "paused", |row: &KernelRow<'_>| row.source.paused(row.id()).into());
    with_pauses(scenario, "finished", &mut columns, column);
    columns
}

pub(crate) struct BlockRow<'k, 'a> {
    pub(crate) kernel: &'k KernelSummary<'a>,
    pub(crate) block: Block,
    pub(crate) end: Option<Instant>,
}

pub(crate) fn block_columns<'k, 'a: 'k>() -> [Column<BlockRow<'k, 'a>>; 8] {
    [
        Column::csv("id", |row| row.kernel.launch.id.into()),
        Column::csv("kernel", |row| row.kernel.launch.title().into()),
        Column::csv("benchmark", |row| row.kernel.launch.benchmark.into()),
        Column::csv("iteration", |row| row.kernel.launch.iteration.into()),
        Column::data("block", |row| row.block.index.into()),
        Column::data("sm", |row| row.block.sm.into()),
        Column::data("start_ns", |row| row.block.start.into()),
        Column::data("end_ns", |row| row.end.into()),
    ]
}

pub(crate) struct CopyRow<'a> {
    pub(super) source: Arc<RowSource<'a>>,
    /// How many copies were submitted before it.
    pub(super) number: u32,
    pub(super) id: OperationId,
    pub(super) record: OperationRecord,
    pub(super) copy: crate::workload::Copy,
}

impl CopyRow<'_> {
    fn stream_name(&self) -> &str {
        self.source.scenario().streams().get(self.record.stream.index()).map_or("", |stream| &stream.name)
    }
}

/// The columns of copies; with the process where the run has several.
pub(crate) fn copy_columns<'a>(scenario: &Scenario) -> Vec<Column<CopyRow<'a>>> {
    let mut columns = vec![
        Column::table("copy", |row: &CopyRow<'_>| crate::run::copy_title(row.number, &row.copy).into()).left(),
        Column::data("id", |row| row.id.0.into()),
        Column::data("benchmark", |row| row.record.origin.thread.into()),
        Column::data("stream", |row: &CopyRow<'_>| row.source.scenario().stream_number(row.record.stream).into())
            .in_frames_as(None),
        Column::table("stream", |row: &CopyRow<'_>| row.stream_name().into()).left().in_frames_as(Some("stream")),
        Column::data("iteration", |row| row.record.origin.iteration.into()),
        Column::data("direction", |row| row.copy.direction.name().into()),
        Column::new("bytes", "bytes", |row| row.copy.bytes.into()),
        Column::new("launched_ns", "launched", |row| row.record.launched().into()),
        Column::data("queued_ns", |row| row.record.queued().into()),
        Column::table("waited", |row| row.record.first_start().map(|start| start.since(row.record.launched())).into()),
        Column::new("start_ns", "started", |row| row.record.first_start().into()),
        Column::new("end_ns", "finished", |row| row.record.finish().into()),
    ];
    if scenario.has_processes() {
        // Behind the stream.
        columns
            .insert(5, Column::new("process", "process", |row: &CopyRow<'_>| row.source.process(row.id).into()).left());
    }
    let column = Column::new("paused_ns", "paused", |row: &CopyRow<'_>| row.source.paused(row.id).into());
    with_pauses(scenario, "finished", &mut columns, column);
    columns
}

/// A row about a kernel launch.
pub(crate) trait OfLaunch {
    fn launch(&self) -> &KernelLaunch<'_>;
}

/// Which launch of which kernel; the last column is the iteration.
pub(crate) fn launch_columns<R: OfLaunch>() -> Vec<Column<R>> {
    vec![
        Column::data("id", |row| row.launch().id.into()),
        Column::csv("kernel", |row| row.launch().title().into()),
        Column::table("kernel", |row: &R| row.launch().title().into()).names(),
        Column::data("benchmark", |row| row.launch().benchmark.into()),
        Column::data("label", |row| row.launch().label().into()),
        Column::json("name", |row| row.launch().name().into()),
        Column::json("title", |row| row.launch().title().into()),
        Column::data("stream", |row: &R| row.launch().stream.into()).in_frames_as(None),
        Column::table("stream", |row: &R| row.launch().stream_name().into()).left().in_frames_as(Some("stream")),
        Column::new("iteration", "iteration", |row| row.launch().iteration.into()),
    ]
}

pub(crate) struct TurnRow<'a> {
    process: &'a str,
    turn: ContextTurn,
}

impl<'a> TurnRow<'a> {
    pub(super) fn new(scenario: &'a Scenario, turn: ContextTurn) -> Self {
        Self { process: scenario.catalogue.process_name(turn.process), turn }
    }
}

pub(crate) fn turn_columns<'a>() -> [Column<TurnRow<'a>>; 5] {
    [
        Column::new("process", "process", |row: &TurnRow<'_>| row.process.into()).left(),
        Column::new("switch_from_ns", "switch from", |row| row.turn.switch_from.into()),
        Column::new("start_ns", "started", |row| row.turn.start.into()),
        Column::new("end_ns", "end", |row| row.turn.end.into()),
        Column::new("ended_by", "ended by", |row: &TurnRow<'_>| row.turn.ended_by.name().into()).left(),
    ]
}

impl Responses<'_> {
    /// The response times as CSV; times in ns, empty where there is none.
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write_csv(rows: Vec<Self>, out: &mut dyn Write) -> io::Result<()> {
        write_csv(&response_columns(), rows, out)
    }

    /// Whether it says more than the kernels of its only job do.
    pub(crate) fn is_worth_showing(&self) -> bool {
        self.jobs > 1 || self.deadline_ns.is_some()
    }

    /// What the user has to know of its deadline: that jobs missed it, or that it was not decided.
    pub(crate) fn note(&self) -> Option<String> {
        let (deadline, misses) = self.deadline_ns.zip(self.misses.filter(|misses| *misses > 0))?;
        let longest = self.max_ns.map(|longest| format!("; the longest response is {longest}")).unwrap_or_default();
        let unfinished = match self.unfinished {
            0 => String::new(),
            count => format!("; {count} had not finished when the run ended"),
        };
        let (stream, jobs) = (self.stream, self.jobs);
        Some(format!("{stream:?} misses its deadline of {deadline} in {misses} of {jobs} jobs{longest}{unfinished}"))
    }
}

pub(crate) fn response_columns<'a>() -> [Column<Responses<'a>>; 11] {
    [
        Column::new("stream", "jobs of", |row: &Responses<'_>| row.stream.into()).left(),
        Column::data("benchmark", |row| row.benchmark.into()),
        Column::new("jobs", "jobs", |row| row.jobs.into()),
        Column::new("unfinished", "unfinished", |row| row.unfinished.into()),
        Column::new("min_ns", "min", |row| row.min_ns.into()),
        Column::new("mean_ns", "mean", |row| row.mean_ns.into()),
        Column::new("p95_ns", "95 %", |row| row.p95_ns.into()),
        Column::new("p99_ns", "99 %", |row| row.p99_ns.into()),
        Column::new("max_ns", "max response", |row| row.max_ns.into()),
        Column::new("deadline_ns", "deadline", |row| row.deadline_ns.into()),
        Column::new("misses", "misses", |row| row.misses.into()),
    ]
}

pub(crate) fn bounded_response_columns<'a>() -> Vec<Column<Responses<'a>>> {
    let bound = Column::new("bound_ns", "bound", |row: &Responses<'_>| CellOf::at_most(row.bound_ns));
    response_columns().into_iter().chain([bound]).collect()
}
