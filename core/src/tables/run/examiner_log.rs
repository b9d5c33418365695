//! Logs as `cuda_scheduling_examiner` writes them, so that its viewers open them.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use crate::hosts::{LongRun, Need};
use crate::limits::count_turn;
use crate::run::{IterationSpan, Jobs, Summary};
use crate::scenario::Scenario;
use crate::scenario::examiner::{BenchmarkLog, KernelSync};
use crate::time::{Instant, NS_PER_SECOND};
use crate::trace::Trace;
use crate::workload::{CheckedKernel, OperationId, ProcessId};

/// Threads per SM that the examiner assumes on every device for `max_resident_threads`.
const THREADS_PER_SM: u32 = 2048;

/// The log of one benchmark.
#[derive(Debug)]
pub struct ExaminerLog<'a> {
    summary: Summary<'a>,
    lines: Lines<'a>,
    iterations: Vec<IterationSpan>,
    /// With when its launch was called, if that was held (H2).
    kernels: Vec<(OperationId, &'a CheckedKernel, Option<Instant>)>,
    /// Operations that are not in the log, because the run was ended before they or their iteration were.
    left_out: u64,
}

/// The log of a benchmark of a run that is told of piece by piece.
struct Growing<'a, W> {
    lines: Lines<'a>,
    /// The iteration that comes next.
    next: u32,
    out: &'a mut W,
}

impl<W: Write> Growing<'_, W> {
    /// Writes those before number `end` that have ended and are not written.
    fn iterations_before(&mut self, jobs: &Jobs, end: u32) -> io::Result<()> {
        while self.next < end
            && let Some(job) = jobs.get(self.lines.index, self.next)
            && let Some(finished) = job.host_finished
        {
            count_turn();
            Lines::iteration(&mut *self.out, job.began, finished)?;
            self.next += 1;
        }
        Ok(())
    }
}

/// Seconds with nine decimals.
fn seconds(instant: Instant) -> String {
    let mut text = String::new();
    push_seconds(instant, &mut itoa::Buffer::new(), &mut text);
    text
}

/// Appends them.
fn push_seconds(instant: Instant, digits: &mut itoa::Buffer, text: &mut String) {
    let ns = instant.as_ns();
    text.push_str(digits.format(ns / NS_PER_SECOND));
    text.push('.');
    // A one in front keeps the zeros.
    text.push_str(&digits.format(NS_PER_SECOND + ns % NS_PER_SECOND)[1..]);
}

impl ExaminerLog<'_> {
    /// File name, relative to the result directory.
    pub fn file_name(&self) -> &str {
        &self.lines.benchmark.file_name
    }

    /// Writes the log. Blocks are expanded one by one.
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let out = &mut out;
        self.lines.begin(&mut *out, self.left_out)?;
        let mut kernels = self.kernels.iter().peekable();
        for span in &self.iterations {
            Lines::iteration(&mut *out, span.start, span.end().unwrap_or(span.start))?;
            while let Some((id, kernel, called)) = kernels.next_if(|(id, ..)| self.iteration_of(*id) <= span.iteration)
            {
                self.lines.kernel(&mut *out, self.summary.trace, (*id, kernel), *called)?;
            }
        }
        Lines::end(out)
    }

    /// Writes the logs of a long run, one per benchmark, side by side: to each of `outs` the one of its number.
    /// Threads that submit nothing have no iterations there.
    ///
    /// # Errors
    /// Whatever they refuse.
    pub fn write_all(run: &LongRun<'_>, outs: &mut [impl Write]) -> io::Result<()> {
        let scenario = run.sums().scenario();
        let mut logs: Vec<Growing<'_, _>> = Vec::with_capacity(outs.len());
        for ((thread, lines), out) in Lines::of_all(scenario).enumerate().zip(outs) {
            lines.begin(&mut *out, run.sums().left_out(thread))?;
            logs.push(Growing { lines, next: 0, out });
        }
        for piece in run.pieces(Need::Blocks) {
            for (id, record) in piece.trace.numbered() {
                let Some(log) = logs.get_mut(record.origin.thread as usize) else { continue };
                log.iterations_before(&piece.jobs, record.origin.iteration.saturating_add(1))?;
                if let Some(kernel) = piece.trace.kernel_of(id).filter(|_| piece.jobs.has_ended_with(record)) {
                    log.lines.kernel(&mut *log.out, &piece.trace, (id, kernel), None)?;
                }
            }
            // Of these no more will come.
            logs.iter_mut().zip(&piece.over).try_for_each(|(log, &over)| log.iterations_before(&piece.jobs, over))?;
        }
        logs.iter_mut().try_for_each(|log| Lines::end(&mut *log.out))
    }

    fn iteration_of(&self, id: OperationId) -> u32 {
        self.summary.trace.record(id).map_or(0, |record| record.origin.iteration)
    }
}

/// What stands in the log of one benchmark.
#[derive(Debug)]
struct Lines<'a> {
    scenario: &'a Scenario,
    benchmark: &'a BenchmarkLog,
    index: u32,
}

impl<'a> Lines<'a> {
    /// Of each benchmark.
    fn of_all(scenario: &'a Scenario) -> impl Iterator<Item = Self> {
        let benchmarks = scenario.examiner.iter().flat_map(|logs| &logs.benchmarks);
        (0..).zip(benchmarks).map(move |(index, benchmark)| Self { scenario, benchmark, index })
    }

    fn begin(&self, mut out: impl Write, left_out: u64) -> io::Result<()> {
        let quoted = |text: &str| serde_json::to_string(text).map_err(io::Error::from);
        let Self { scenario, benchmark, index } = self;
        writeln!(out, "{{\n\"scenario_name\": {},", quoted(&benchmark.scenario_name)?)?;
        writeln!(out, "\"benchmark_name\": {},", quoted(benchmark.benchmark_name)?)?;
        if let Some(label) = &benchmark.label {
            writeln!(out, "\"label\": {},", quoted(label)?)?;
        }
        let resident_threads = u64::from(THREADS_PER_SM) * u64::from(scenario.device().sms);
        writeln!(out, "\"max_resident_threads\": {resident_threads},")?;
        writeln!(out, "\"data_size\": {},", benchmark.data_size)?;
        let release_us = (benchmark.release_time.as_ns() + 500) / 1_000;
        writeln!(out, "\"release_time\": {}.{:06},", release_us / 1_000_000, release_us % 1_000_000)?;
        let process = scenario.threads.get(*index as usize).map_or(0, |thread| thread.process.0);
        writeln!(out, "\"PID\": {},\n\"TID\": {},", u64::from(process) + 1, index + 1)?;
        let catalogue = &scenario.catalogue;
        let sms = catalogue.sms_at_once(ProcessId(process));
        if sms < catalogue.device().sms {
            writeln!(out, "\"mps_sms\": {sms},")?;
        }
        if left_out > 0 {
            writeln!(out, "\"left_out_at_horizon\": {left_out},")?;
        }
        write!(out, "\"times\": [{{}}")
    }

    fn iteration(mut out: impl Write, start: Instant, end: Instant) -> io::Result<()> {
        let (start, end) = (seconds(start), seconds(end));
        write!(
            out,
            ",\n{{\"copy_in_times\": [{start},{start}], \"execute_times\": [{start},{end}], \
             \"copy_out_times\": [{end},{end}], \"cpu_times\": [{start},{end}]}}"
        )
    }

    fn end(mut out: impl Write) -> io::Result<()> {
        writeln!(out, "\n]}}")
    }

    /// A kernel, whose launch was called at `called`; `None`: when it was launched.
    fn kernel(
        &self,
        mut out: impl Write,
        trace: &Trace,
        (id, kernel): (OperationId, &CheckedKernel),
        called: Option<Instant>,
    ) -> io::Result<()> {
        let Some(record) = trace.record(id) else { return Ok(()) };
        let launched = seconds(record.launched());
        let called = called.map_or_else(|| launched.clone(), seconds);
        let synchronized = match self.benchmark.sync {
            KernelSync::AfterKernel => seconds(record.finish().unwrap_or_default()),
            KernelSync::None => seconds(Instant::ZERO),
        };
        write!(
            out,
            ",\n{{\"kernel_name\": {}, \"block_count\": {}, \"thread_count\": {}, \"shared_memory\": {}, \
             \"cuda_launch_times\": [{called}, {launched}, {synchronized}], \"block_times\": [",
            serde_json::to_string(&*kernel.name)?,
            kernel.blocks,
            kernel.shape.threads,
            kernel.shape.shared_memory_bytes,
        )?;
        let (mut text, mut digits) = (String::new(), itoa::Buffer::new());
        for block in trace.blocks(id) {
            text.push_str(if block.index == 0 { "" } else { "," });
            push_seconds(block.start, &mut digits, &mut text);
            text.push(',');
            push_seconds(block.end, &mut digits, &mut text);
            out.write_all(text.as_bytes())?;
            text.clear();
        }
        write!(out, "], \"block_smids\": [")?;
        for block in trace.blocks(id) {
            text.push_str(if block.index == 0 { "" } else { "," });
            text.push_str(digits.format(block.sm));
            out.write_all(text.as_bytes())?;
            text.clear();
        }
        write!(out, "], \"cpu_core\": {}}}", self.benchmark.cpu_core)
    }
}

impl<'a> ExaminerLog<'a> {
    /// The logs of a run, one per benchmark that is to have one; none unless the scenario is one of the examiner's.
    pub fn all_of(summary: &Summary<'a>) -> Vec<Self> {
        let mut list: Vec<Self> = Lines::of_all(summary.scenario)
            .map(|lines| Self { summary: *summary, lines, iterations: Vec::new(), kernels: Vec::new(), left_out: 0 })
            .collect();
        for span in summary.iterations.iter().filter(|span| span.end().is_some()) {
            if let Some(log) = list.get_mut(span.thread as usize) {
                log.iterations.push(*span);
            }
        }
        let held = summary.held_calls.iter().filter_map(|call| Some((call.operation?, call.from)));
        let held: FxHashMap<OperationId, Instant> = held.collect();
        for (id, record) in summary.trace.numbered() {
            let Some(log) = list.get_mut(record.origin.thread as usize) else { continue };
            let ended = log.iterations.last().is_some_and(|last| record.origin.iteration <= last.iteration);
            // A thread may end an iteration without having waited for all of it.
            if !ended || record.finish().is_none() {
                log.left_out += 1;
            } else if let Some(kernel) = summary.trace.kernel_of(id) {
                log.kernels.push((id, kernel, held.get(&id).copied()));
            }
        }
        list.retain(|log| log.lines.benchmark.is_wanted());
        list
    }
}
