//! What was read of an AMALTHEA model, and the times of a run keyed by runnable (host thread) and job, simulated and
//! analysed, for a tool chain that goes on with its own model.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::amalthea::{
    Activation, AmaltheaModel, ProcessingUnit, RequirementOf, Runnable, Stimulus, TickEntry, TickRange, Ticks,
};
use crate::analysis::Analysis;
use crate::device::CopyDirection;
use crate::formats::{
    CellOf, Column, DocumentWriter, Page, Report, RowObject, Rows, Streamed, Text, fields, write_csv,
};
use crate::run::{Recorded, Summary};
use crate::scenario::Requirement;
use crate::time::{Duration, Instant};

fn runnable_entry(runnable: &Runnable) -> Value {
    let ticks = |entry: &TickEntry| {
        let TickRange { lower, value, upper } = entry.range;
        let (of, unit) = (&entry.processing_unit, entry.unit.name());
        json!({"processing_unit": of, "unit": unit, "lower": lower, "value": value, "upper": upper})
    };
    json!({
        "name": runnable.name,
        "ticks": runnable.ticks().map(ticks).collect::<Vec<_>>(),
        "needs": runnable.needs().map(ticks).collect::<Vec<_>>(),
        "grid_size": runnable.grid_size,
        "block_size": runnable.block_size,
        "registers": runnable.registers,
        "shared_memory_bytes": runnable.shared_memory,
        "copy": runnable.copy.map(|copy| copy.direction.name()),
        "copy_bytes": runnable.copy.and_then(|copy| copy.bytes),
    })
}

impl Report for AmaltheaModel<'_> {
    /// One line for each amount of work, and one for each runnable without any; empty where the model says nothing.
    const TABLE: &'static str = "work";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("version", &self.version)?;
        to.list("runnables", self.runnables.iter().map(runnable_entry))?;
        to.list("processing_units", &self.processing_units)?;
        to.list("stimuli", &self.stimuli)?;
        to.list("requirements", &self.requirements)?;
        fields!(to, self => skipped, notes);
        to.lines("work", &work_columns(), work_rows(self))
    }

    fn text(&self, page: &mut Page) {
        page.line(&format!("AMALTHEA {}, {} runnables", self.version, self.runnables.len()));
        add(page, &work_columns(), work_rows(self));
        add(page, &unit_columns(), self.processing_units.iter().collect());
        add(page, &stimulus_columns(), self.stimuli.iter().collect());
        add(page, &requirement_columns(), self.requirements.iter().collect());
        if !self.skipped.is_empty() {
            page.blank();
            page.line("skipped");
            for (kind, count) in &self.skipped {
                page.item(&format!("{count} x {kind}"));
            }
        }
    }
}

/// Adds a table, if it has rows.
fn add<R>(page: &mut Page, columns: &[Column<R>], rows: Vec<R>) {
    if !rows.is_empty() {
        page.blank();
        page.trimmed_table(columns, rows);
    }
}

/// An amount of work of a runnable; none if it has no work at all.
#[derive(Debug, Clone, Copy)]
struct WorkRow<'a> {
    runnable: &'a Runnable,
    entry: Option<&'a TickEntry>,
}

fn work_rows<'m>(model: &'m AmaltheaModel<'_>) -> Vec<WorkRow<'m>> {
    let mut rows = Vec::new();
    for runnable in &model.runnables {
        let before = rows.len();
        rows.extend(runnable.ticks().chain(runnable.needs()).map(|entry| WorkRow { runnable, entry: Some(entry) }));
        if rows.len() == before {
            rows.push(WorkRow { runnable, entry: None });
        }
    }
    rows
}

fn work_columns<'a>() -> [Column<WorkRow<'a>>; 12] {
    fn ticks<'c>(ticks: Option<Ticks>) -> CellOf<'c, Text> {
        ticks.map(|ticks| ticks.to_string()).into()
    }
    [
        Column::new("runnable", "runnable", |row: &WorkRow<'_>| row.runnable.name.as_str().into()).left(),
        Column::csv("processing_unit", |row| row.entry.and_then(|entry| entry.processing_unit.as_deref()).into()),
        Column::new("unit", "counts", |row: &WorkRow<'_>| row.entry.map(|entry| entry.unit.name()).into()).left(),
        Column::table("on", |row: &WorkRow<'_>| {
            row.entry.map(|entry| entry.processing_unit.as_deref().unwrap_or("any")).into()
        })
        .left(),
        Column::new("lower", "lower", |row| ticks(row.entry.and_then(|entry| entry.range.lower))),
        Column::new("value", "value", |row| ticks(row.entry.and_then(|entry| entry.range.value))),
        Column::new("upper", "upper", |row| ticks(row.entry.and_then(|entry| entry.range.upper))),
        Column::new("grid_size", "grid size", |row| row.runnable.grid_size.into()),
        Column::new("block_size", "block size", |row| row.runnable.block_size.into()),
        Column::csv("copy", |row| row.runnable.copy.map(|copy| copy.direction.name()).into()),
        Column::csv("copy_bytes", |row| row.runnable.copy.and_then(|copy| copy.bytes).into()),
        Column::table("copies", |row: &WorkRow<'_>| {
            let copies = row.runnable.copy.map(|copy| match copy.bytes {
                Some(bytes) => format!("{bytes} bytes {}", copy.direction.name()),
                None => copy.direction.name().to_owned(),
            });
            copies.into()
        })
        .left(),
    ]
}

fn unit_columns<'a>() -> [Column<&'a ProcessingUnit>; 4] {
    [
        Column::table("processing unit", |unit: &&ProcessingUnit| unit.name.as_str().into()).left(),
        Column::table("definition", |unit: &&ProcessingUnit| unit.definition.as_deref().into()).left(),
        Column::table("type", |unit: &&ProcessingUnit| unit.kind.as_deref().into()).left(),
        Column::table("frequency", |unit| unit.frequency.map(|frequency| frequency.to_string()).into()),
    ]
}

fn stimulus_columns<'a>() -> [Column<&'a Stimulus>; 5] {
    [
        Column::table("stimulus", |stimulus: &&Stimulus| stimulus.name.as_str().into()).left(),
        Column::table("type", |stimulus: &&Stimulus| stimulus.kind.as_str().into()).left(),
        Column::table("from", |stimulus| match stimulus.activation {
            Activation::Triggered => CellOf::MISSING,
            Activation::Periodic { offset_ns: from, .. }
            | Activation::Sporadic { offset_ns: from, .. }
            | Activation::Single { occurrence_ns: from } => from.to_string().into(),
        }),
        Column::table("every", |stimulus| match stimulus.activation {
            Activation::Periodic { period_ns, .. } => period_ns.to_string().into(),
            Activation::Sporadic { shortest_ns, longest_ns, .. } => match longest_ns {
                Some(longest) if longest == shortest_ns => shortest_ns.to_string(),
                Some(longest) => format!("{shortest_ns} to {longest}"),
                None => format!("{shortest_ns} or more"),
            }
            .into(),
            Activation::Triggered => "as triggered".into(),
            Activation::Single { .. } => CellOf::MISSING,
        }),
        Column::table("jitter up to", |stimulus| stimulus.jitter_ns.map(|jitter| jitter.to_string()).into()),
    ]
}

fn requirement_columns<'a>() -> [Column<&'a Requirement>; 4] {
    [
        Column::table("requirement", |requirement: &&Requirement| requirement.name.as_str().into()).left(),
        Column::table("of", |requirement: &&Requirement| {
            match requirement.of {
                RequirementOf::Process => "process",
                RequirementOf::Runnable => "runnable",
            }
            .into()
        })
        .left(),
        Column::table("name", |requirement: &&Requirement| requirement.target.as_str().into()).left(),
        Column::table("response time at most", |requirement| requirement.response_time_ns.to_string().into()),
    ]
}

/// The times of one job of a runnable, from t = 0; `None` where one was not reached, or not analysed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunnableTimes<'a> {
    /// Its name.
    pub runnable: &'a str,
    /// Blocks of its kernel.
    pub grid_size: u32,
    /// Threads of one block.
    pub block_size: u32,
    /// Shortest time of a block.
    pub block_best_ns: Duration,
    /// Longest time of a block.
    pub block_worst_ns: Duration,
    /// Bytes copied to the GPU.
    pub host_to_device_bytes: u64,
    /// Bytes copied from the GPU.
    pub device_to_host_bytes: u64,
    /// Its first operation was launched.
    pub launched_ns: Instant,
    /// Its first block started.
    pub kernel_start_ns: Option<Instant>,
    /// Its last block ended.
    pub kernel_finish_ns: Option<Instant>,
    /// Its last operation ended, copies included.
    pub finish_ns: Option<Instant>,
    /// From launch to the end of its last operation.
    pub response_ns: Option<Duration>,
    /// When the response-time analysis has its kernel finish.
    pub analysed_kernel_finish_ns: Option<Instant>,
    /// When the analysis has its last operation end, copies included.
    pub analysed_finish_ns: Option<Instant>,
    /// From launch to the end of its last operation in the analysis.
    pub analysed_response_ns: Option<Duration>,
    /// By when its kernel has finished even if blocks run shorter than stated.
    pub safe_kernel_finish_ns: Option<Instant>,
    /// Number of the job (release, or iteration of the host thread), from 0.
    pub job: u32,
    /// Jobs of its runnable in this run.
    pub jobs: u64,
    /// Longest simulated response time of a job of its runnable; `None` if one of them did not finish.
    pub worst_response_ns: Option<Duration>,
}

/// Host thread and iteration.
type JobKey = (u32, u32);

/// When the operations of one job begin and end.
#[derive(Debug, Clone, Copy)]
struct JobSpan {
    launched: Instant,
    finish: Option<Instant>,
}

impl JobSpan {
    fn join(&mut self, other: Self) {
        self.launched = self.launched.min(other.launched);
        self.finish = self.finish.zip(other.finish).map(|(one, other)| one.max(other));
    }

    fn response(&self) -> Option<Duration> {
        self.finish.map(|finish| finish.since(self.launched))
    }
}

fn join(spans: &mut BTreeMap<JobKey, JobSpan>, job: JobKey, launched: Instant, finish: Option<Instant>) {
    let span = JobSpan { launched, finish };
    spans.entry(job).and_modify(|all| all.join(span)).or_insert(span);
}

impl<'a> RunnableTimes<'a> {
    /// The times of all jobs of host threads that launch a kernel, thread by thread in declaration order, beside what
    /// the analysis of the same scenario has, if there is one. Of a job that launches several kernels, the last counts;
    /// from launch to end, all of its operations do.
    pub fn of_run(summary: &Summary<'a>, analysis: Option<&Analysis<'_>>) -> Vec<Self> {
        let mut by_job: BTreeMap<JobKey, Self> = BTreeMap::new();
        let mut spans = BTreeMap::new();
        for (kernel, Recorded { work: stated, .. }) in summary.kernels().zip(summary.launches()) {
            let job = (kernel.launch.benchmark, kernel.launch.iteration);
            join(&mut spans, job, kernel.launched_ns, kernel.finish_ns);
            by_job.insert(
                job,
                Self {
                    runnable: kernel.launch.label(),
                    grid_size: kernel.blocks,
                    block_size: kernel.threads,
                    block_best_ns: stated.duration.best,
                    block_worst_ns: stated.duration.worst,
                    launched_ns: kernel.launched_ns,
                    kernel_start_ns: kernel.first_start_ns,
                    kernel_finish_ns: kernel.finish_ns,
                    finish_ns: kernel.finish_ns,
                    response_ns: kernel.response_ns,
                    job: job.1,
                    ..Self::default()
                },
            );
        }
        for Recorded { record, work: copy, .. } in summary.copies() {
            let job = (record.origin.thread, record.origin.iteration);
            let Some(times) = by_job.get_mut(&job) else { continue };
            // Copies of models state a size.
            match copy.direction {
                CopyDirection::DeviceToHost => times.device_to_host_bytes += copy.bytes.unwrap_or(0),
                _ => times.host_to_device_bytes += copy.bytes.unwrap_or(0),
            }
            join(&mut spans, job, record.launched(), record.finish());
        }
        for (job, times) in &mut by_job {
            let Some(span) = spans.get(job) else { continue };
            times.launched_ns = span.launched;
            (times.finish_ns, times.response_ns) = (span.finish, span.response());
        }
        if let Some(analysis) = analysis {
            add_analysed(&mut by_job, analysis);
        }
        add_runnables(&mut by_job);
        by_job.into_values().collect()
    }

    /// One line for each job; empty where a time was not reached, or not analysed.
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write_csv(times: &[Self], out: &mut dyn Write) -> io::Result<()> {
        write_csv(&times_columns(), times, out)
    }

    /// The same as one JSON document: `{"runnables": [...]}`.
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write_json(times: &[Self], out: &mut dyn Write) -> io::Result<()> {
        let (columns, mut map) = (times_columns(), BTreeMap::new());
        map.insert("runnables", Streamed(|| times.iter().map(|one| RowObject::new(&columns, one))));
        serde_json::to_writer(&mut *out, &map)?;
        out.write_all(b"\n")
    }
}

/// What all jobs of a runnable have in common.
fn add_runnables(by_job: &mut BTreeMap<JobKey, RunnableTimes<'_>>) {
    let mut runnables: BTreeMap<u32, (u64, Option<Duration>)> = BTreeMap::new();
    for (&(thread, _), times) in &*by_job {
        runnables
            .entry(thread)
            .and_modify(|(jobs, worst)| {
                *jobs += 1;
                *worst = worst.zip(times.response_ns).map(|(one, other)| one.max(other));
            })
            .or_insert((1, times.response_ns));
    }
    for ((thread, _), times) in by_job {
        (times.jobs, times.worst_response_ns) = runnables.get(thread).copied().unwrap_or_default();
    }
}

fn add_analysed(by_job: &mut BTreeMap<JobKey, RunnableTimes<'_>>, analysis: &Analysis<'_>) {
    let mut spans = BTreeMap::new();
    for kernel in &analysis.kernels {
        let job = (kernel.launch.benchmark, kernel.launch.iteration);
        join(&mut spans, job, kernel.launched_ns, kernel.finish_ns);
        let Some(times) = by_job.get_mut(&job) else { continue };
        times.analysed_kernel_finish_ns = kernel.finish_ns;
        times.safe_kernel_finish_ns = kernel.safe_finish_ns;
    }
    for copy in &analysis.copies {
        join(&mut spans, (copy.benchmark, copy.iteration), copy.launched, copy.finish);
    }
    for (job, times) in by_job {
        let Some(span) = spans.get(job) else { continue };
        (times.analysed_finish_ns, times.analysed_response_ns) = (span.finish, span.response());
    }
}

fn times_columns<'t, 'a: 't>() -> [Column<&'t RunnableTimes<'a>>; 19] {
    macro_rules! columns {
        ($($field:ident),+) => { [$(Column::data(stringify!($field), |one| one.$field.into())),+] };
    }
    columns! {
        runnable, grid_size, block_size, block_best_ns, block_worst_ns, host_to_device_bytes, device_to_host_bytes,
        launched_ns, kernel_start_ns, kernel_finish_ns, finish_ns, response_ns, analysed_kernel_finish_ns,
        analysed_finish_ns, analysed_response_ns, safe_kernel_finish_ns, job, jobs, worst_response_ns
    }
}
