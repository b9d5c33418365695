//! Which logs are of one run, and which host thread of a scenario wrote which of them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use thiserror::Error;

use super::blocks::number_iterations;
use super::defect::{Defect, Dropped};
use super::log::{Log, LogTime, LoggedKernel};
use crate::device::BlockShape;
use crate::limits::count_turn;
use crate::scenario::{HostThread, Scenario, Step};
use crate::words::listed;
use crate::workload::{CheckedKernel, KernelId, NULL_STREAM, StreamId};

/// The logs of one run of one scenario.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogRun {
    /// The scenario's name.
    pub scenario_name: Arc<str>,
    /// Its logs, in the order given.
    pub logs: Vec<Log>,
    /// What was left out of them.
    pub dropped: Vec<Dropped>,
    /// Whether SMs may have the numbers that clients of MPS give them, each for itself.
    pub virtual_sms: bool,
}

impl LogRun {
    /// Kernels in all logs.
    pub fn kernels(&self) -> usize {
        self.logs.iter().map(|log| log.kernels.len()).sum()
    }

    /// Blocks in all logs.
    pub fn blocks(&self) -> usize {
        self.logs.iter().flat_map(|log| &log.kernels).map(|kernel| kernel.blocks.len()).sum()
    }

    /// Whether kernels or blocks of the run are known to be missing.
    pub fn incomplete(&self) -> bool {
        self.logs.iter().any(|log| log.incomplete)
    }
}

/// Sorts logs into runs, by scenario name, in the order in which the names first appear. A `task_host` may run a
/// scenario of another name inside: what ran in other threads at the same time is of one run.
///
/// A second copy of a log is dropped. Where the logs of one scenario come from several runs (the same host thread in
/// two processes, with different times), the run with the most logs is kept, the first of equals, and the others are
/// dropped.
pub fn sort_into_runs(logs: Vec<Log>) -> Vec<LogRun> {
    let mut runs: Vec<LogRun> = Vec::new();
    for log in logs {
        let position = runs.iter().position(|run| run.scenario_name == log.scenario_name).unwrap_or_else(|| {
            runs.push(LogRun { scenario_name: Arc::clone(&log.scenario_name), ..LogRun::default() });
            runs.len() - 1
        });
        let run = &mut runs[position];
        match run.logs.iter().find(|other| same_content(other, &log)).map(|other| other.file.to_string()) {
            Some(of) => run.dropped.push(Dropped::of_file(&log.file, Defect::Duplicate { of })),
            None => run.logs.push(log),
        }
    }
    runs.iter_mut().for_each(keep_one_run);
    let mut together: Vec<LogRun> = Vec::new();
    for mut run in runs {
        match together.iter_mut().find(|other| ran_together(other, &run)) {
            Some(other) => {
                other.logs.append(&mut run.logs);
                other.dropped.append(&mut run.dropped);
            }
            None => together.push(run),
        }
    }
    together
}

/// Whether the logs of two scenarios are of one run: of the same GPU, at a time of both, and each of a thread of its
/// own.
fn ran_together(one: &LogRun, other: &LogRun) -> bool {
    let span = |run: &LogRun| {
        let starts = run.logs.iter().filter_map(|log| log.iterations.first()).map(|first| first.start_ns).min()?;
        let ends = run.logs.iter().filter_map(|log| log.iterations.last()).map(|last| last.end_ns).max()?;
        Some((starts, ends))
    };
    let overlap = |(one, other): ((LogTime, LogTime), (LogTime, LogTime))| one.0 < other.1 && other.0 < one.1;
    let own_thread = |log: &Log| {
        log.tid.is_some()
            && one.logs.iter().all(|other| {
                other.tid.is_some() && other.tid != log.tid && other.max_resident_threads == log.max_resident_threads
            })
    };
    span(one).zip(span(other)).is_some_and(overlap) && other.logs.iter().all(own_thread)
}

fn same_content(one: &Log, other: &Log) -> bool {
    one.tid == other.tid
        && one.pid == other.pid
        && one.label == other.label
        && one.benchmark_name == other.benchmark_name
        && one.iterations == other.iterations
        && one.kernels == other.kernels
}

/// Host threads are told apart by their labels; one without a label never counts as the same as another.
fn same_benchmark(one: &Log, other: &Log) -> bool {
    one.label.is_some() && one.label == other.label && one.benchmark_name == other.benchmark_name
}

fn keep_one_run(run: &mut LogRun) {
    let mut sizes: BTreeMap<Option<u64>, usize> = BTreeMap::new();
    for log in &run.logs {
        *sizes.entry(log.pid).or_default() += 1;
    }
    let mut order: Vec<Option<u64>> = Vec::new();
    for log in &run.logs {
        if !order.contains(&log.pid) {
            order.push(log.pid);
        }
    }
    order.sort_by_key(|pid| std::cmp::Reverse(sizes[pid]));
    let mut logs = std::mem::take(&mut run.logs);
    let mut refused: Vec<(Option<u64>, String)> = Vec::new();
    for (rank, &pid) in order.iter().enumerate() {
        let kept = |log: &&Log| order[..rank].contains(&log.pid) && !refused.iter().any(|(pid, _)| *pid == log.pid);
        let conflict = logs.iter().filter(|log| log.pid == pid).find_map(|log| {
            logs.iter().filter(kept).find(|other| same_benchmark(log, other)).map(|other| other.file.to_string())
        });
        refused.extend(conflict.map(|of| (pid, of)));
    }
    logs.retain(|log| match refused.iter().find(|(pid, _)| *pid == log.pid) {
        Some((_, of)) => {
            run.dropped.push(Dropped::of_file(&log.file, Defect::OtherRun { of: of.clone() }));
            false
        }
        None => true,
    });
    // One thread has one log; of two with different times, one is from another run.
    for log in logs {
        let twin =
            run.logs.iter().find(|other| log.tid.is_some() && log.tid == other.tid && same_benchmark(&log, other));
        match twin.map(|twin| twin.file.to_string()) {
            Some(of) => run.dropped.push(Dropped::of_file(&log.file, Defect::OtherRun { of })),
            None => run.logs.push(log),
        }
    }
}

/// The logs of a run, paired with the host threads of the scenario that made them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    /// For each thread, the index of its log; `None`: it has none.
    pub log_of_thread: Vec<Option<usize>>,
}

/// Why a scenario cannot have made some logs.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PairingError {
    /// No thread has this log's name or label, nor is it the only one that launches to a stream of that name.
    #[error("{file} is the log of no benchmark of the scenario, by name or label{}; it has {}",
        .label.as_ref().map(|label| format!(", nor does a host alone launch to a stream {label:?}")).unwrap_or_default(),
        listed(.threads.iter().map(String::as_str)))]
    NoThread {
        /// The log.
        file: String,
        /// Its label.
        label: Option<String>,
        /// Those that the scenario has.
        threads: Vec<String>,
    },
    /// What the scenario does cannot be told from a log.
    #[error("kernels of the scenario have clusters, and no column tells the number of a block, by which these go")]
    Clusters,
    /// Another number of kernels.
    #[error("{file} holds {logged} kernels, and an iteration of {thread:?} launches {launched}")]
    Kernels {
        /// The log.
        file: String,
        /// Kernels in it.
        logged: usize,
        /// The thread's label.
        thread: String,
        /// Kernels of one iteration.
        launched: usize,
    },
    /// Another kind of kernel.
    #[error("{file}: kernel {position} has {logged}, and {stated} in the scenario")]
    Shape {
        /// The log.
        file: String,
        /// Which kernel, from 0.
        position: usize,
        /// What the log says.
        logged: String,
        /// What the scenario says.
        stated: String,
    },
}

/// A program is unrolled up to this many steps.
const MAX_STEPS: usize = 10_000_000;

/// One iteration of a thread, with its loops unrolled.
pub fn unrolled(thread: &HostThread) -> Vec<Step> {
    let (mut steps, mut at) = (Vec::new(), 0);
    let mut repeated = vec![0; thread.steps.len()];
    while let Some(&step) = thread.steps.get(at).filter(|_| steps.len() < MAX_STEPS) {
        count_turn();
        at += 1;
        let Step::Repeat { from, times } = step else {
            steps.push(step);
            continue;
        };
        let count = &mut repeated[at - 1];
        *count += 1;
        if *count < times {
            at = (from as usize).min(at - 1);
        } else {
            *count = 0;
        }
    }
    steps
}

impl Pairing {
    /// Pairs every log that holds kernels with a thread: by the name of its file, or else by its label.
    ///
    /// # Errors
    /// [`PairingError`] if the scenario cannot have made the logs.
    pub fn new(run: &LogRun, scenario: &Scenario) -> Result<Self, PairingError> {
        if scenario.catalogue.has_clusters() && run.logs.iter().any(|log| log.blocks_unnumbered) {
            return Err(PairingError::Clusters);
        }
        let mut log_of_thread = vec![None; scenario.threads.len()];
        for (index, log) in run.logs.iter().enumerate().filter(|(_, log)| !log.kernels.is_empty()) {
            let free = |thread: &usize| log_of_thread[*thread].is_none();
            let by_name = (0..scenario.threads.len()).filter(free).find(|&thread| has_log_name(scenario, thread, log));
            let by_label = || {
                let label = log.label.as_deref();
                (0..scenario.threads.len()).filter(free).find(|&thread| Some(&*scenario.threads[thread].label) == label)
            };
            // A table of blocks knows streams only.
            let by_stream = || only_launcher(scenario, log.label.as_deref()?).filter(free);
            let none = || PairingError::NoThread {
                file: log.file.to_string(),
                label: log.label.as_deref().map(str::to_owned),
                threads: scenario.threads.iter().map(|thread| thread.label.to_string()).collect(),
            };
            let thread = log.thread.or(by_name).or_else(by_label).or_else(by_stream).ok_or_else(none)?;
            check(scenario, &scenario.threads[thread], log)?;
            log_of_thread[thread] = Some(index);
        }
        Ok(Self { log_of_thread })
    }
}

/// The thread whose launches are those to the stream of this name, all of them and no others.
fn only_launcher(scenario: &Scenario, name: &str) -> Option<usize> {
    let named = |stream: StreamId| scenario.streams().get(stream.index()).is_some_and(|stream| *stream.name == *name);
    let mut launchers = scenario.threads.iter().enumerate().filter(|(_, thread)| thread.launched_to().any(named));
    let (index, thread) = launchers.next()?;
    (launchers.next().is_none() && thread.launched_to().all(named)).then_some(index)
}

fn has_log_name(scenario: &Scenario, thread: usize, log: &Log) -> bool {
    let benchmarks = scenario.examiner.as_ref().map(|examiner| &examiner.benchmarks);
    let name = benchmarks.and_then(|benchmarks| benchmarks.get(thread)).map(|benchmark| &*benchmark.file_name);
    name.and_then(|name| name.rsplit('/').next()) == Some(log.file_name())
}

fn check(scenario: &Scenario, thread: &HostThread, log: &Log) -> Result<(), PairingError> {
    let kernels: Vec<&CheckedKernel> = launched_kernels(scenario, thread).map(|(kernel, _)| kernel).collect();
    if kernels.is_empty() || !log.kernels.len().is_multiple_of(kernels.len()) {
        return Err(PairingError::Kernels {
            file: log.file.to_string(),
            logged: log.kernels.len(),
            thread: thread.label.to_string(),
            launched: kernels.len(),
        });
    }
    let text = |blocks: u32, threads: u32, shared: u32| {
        format!("{blocks} blocks of {threads} threads and {shared} bytes of shared memory")
    };
    for (position, (logged, stated)) in log.kernels.iter().zip(kernels.iter().cycle()).enumerate() {
        let LoggedKernel { block_count, threads, shared_memory_bytes, .. } = *logged;
        let (blocks, shape) = (stated.blocks, stated.shape);
        if (block_count, threads, shared_memory_bytes) != (blocks, shape.threads, shape.shared_memory_bytes) {
            return Err(PairingError::Shape {
                file: log.file.to_string(),
                position,
                logged: text(block_count, threads, shared_memory_bytes),
                stated: text(blocks, shape.threads, shape.shared_memory_bytes),
            });
        }
    }
    Ok(())
}

/// How a table names a stream: with its process, if it has a column for that.
type Name<'a> = (&'a str, &'a str);

/// Says of each stream of a table which thread of `stated`, the scenario that made it, launches to it, and makes one
/// log of all streams of a thread: its kernels in the order in which it launches them. Kernels of a stream to which
/// several threads launch go to the one that launches such a kernel next; a stream of which that is not known stays as
/// it is.
pub(super) fn join_streams(run: &mut LogRun, stated: &Scenario) {
    let mut of_thread: BTreeMap<usize, Vec<Log>> = BTreeMap::new();
    let mut others = Vec::new();
    for log in std::mem::take(&mut run.logs) {
        match dealt(stated, &log) {
            Some(dealt) => dealt.into_iter().for_each(|(thread, log)| of_thread.entry(thread).or_default().push(log)),
            None => others.push(log),
        }
    }
    run.logs.extend(of_thread.into_iter().filter_map(|(number, logs)| joined(stated, number, logs)));
    run.logs.append(&mut others);
}

/// A thread with the kernels that it launches to one stream, and the one that it launches next.
struct Launcher<'s> {
    thread: usize,
    kernels: Vec<&'s CheckedKernel>,
    next: usize,
}

impl Launcher<'_> {
    fn launches_next(&self, logged: &LoggedKernel) -> bool {
        let Some(next) = self.kernels.get(self.next % self.kernels.len().max(1)) else { return false };
        let BlockShape { threads, shared_memory_bytes, .. } = next.shape;
        *next.title == *logged.name
            && (next.blocks, threads, shared_memory_bytes)
                == (logged.block_count, logged.threads, logged.shared_memory_bytes)
    }
}

/// The kernels of a stream by the thread that launches them; `None`: that is not known, or it is of no table.
fn dealt(stated: &Scenario, log: &Log) -> Option<Vec<(usize, Log)>> {
    let named = log.of_table.as_ref().map(|(process, stream)| (&**process, &**stream))?;
    let launches = |thread: &HostThread| thread.launched_to().any(|stream| is_named(stated, stream, named));
    let threads: Vec<usize> =
        (0..).zip(&stated.threads).filter(|(_, thread)| launches(thread)).map(|(number, _)| number).collect();
    if let [only] = *threads {
        return Some(vec![(only, log.clone())]);
    }
    let launcher = |thread: usize| {
        let launched = launched_kernels(stated, &stated.threads[thread]);
        let kernels =
            launched.filter(|(_, stream)| is_named(stated, *stream, named)).map(|(kernel, _)| kernel).collect();
        (Launcher { thread, kernels, next: 0 }, Vec::new())
    };
    let mut launchers: Vec<(Launcher<'_>, Vec<LoggedKernel>)> = threads.into_iter().map(launcher).collect();
    for kernel in &log.kernels {
        let mut able = launchers.iter_mut().filter(|(launcher, _)| launcher.launches_next(kernel));
        let (launcher, own) = able.next()?;
        if able.next().is_some() {
            return None;
        }
        launcher.next += 1;
        own.push(kernel.clone());
    }
    let logs = launchers.into_iter().filter(|(_, kernels)| !kernels.is_empty());
    let mut logs: Vec<(usize, Log)> =
        logs.map(|(launcher, kernels)| (launcher.thread, Log { kernels, ..log.clone() })).collect();
    for (thread, log) in &mut logs {
        log.label = Some(Arc::clone(&stated.threads[*thread].label));
    }
    Some(logs).filter(|logs| !logs.is_empty())
}

/// What one iteration of a thread launches.
fn launched(thread: &HostThread) -> impl Iterator<Item = (KernelId, StreamId)> {
    unrolled(thread).into_iter().filter_map(|step| match step {
        Step::Launch(kernel, stream) => Some((kernel, stream)),
        _ => None,
    })
}

/// The same, with the kernels themselves.
fn launched_kernels<'a>(
    scenario: &'a Scenario,
    thread: &HostThread,
) -> impl Iterator<Item = (&'a CheckedKernel, StreamId)> {
    let kernel = move |kernel: KernelId| scenario.kernels().get(kernel.index());
    launched(thread).filter_map(move |(id, stream)| Some((kernel(id)?, stream)))
}

fn is_named(stated: &Scenario, stream: StreamId, (process, name): Name<'_>) -> bool {
    let catalogue = &stated.catalogue;
    let Some(known) = stated.streams().get(stream.index()) else { return false };
    let own = if catalogue.is_null_stream(stream) { NULL_STREAM } else { &*known.name };
    own == name && (process.is_empty() || process == catalogue.process_name(known.process))
}

/// The logs of one thread as one.
fn joined(stated: &Scenario, number: usize, mut logs: Vec<Log>) -> Option<Log> {
    let thread = stated.threads.get(number)?;
    let is_one = logs.len() == 1;
    let mut whole = Log { thread: Some(number), ..logs.pop()? };
    if is_one {
        return Some(whole);
    }
    let label = &thread.label;
    let process = Some(stated.catalogue.process_name(thread.process)).filter(|_| stated.has_processes());
    let of_process = process.map(|process| format!("{label} of process {process}").into());
    whole.label = Some(of_process.unwrap_or_else(|| Arc::clone(label)));
    whole.incomplete |= logs.iter().any(|log| log.incomplete);
    logs.push(Log { kernels: std::mem::take(&mut whole.kernels), ..whole.clone() });
    let queue = |log: Log| (log.of_table, VecDeque::from(log.kernels));
    let mut queues: Vec<_> = logs.into_iter().map(queue).collect();
    for (_, stream) in launched(thread).collect::<Vec<_>>().into_iter().cycle() {
        let of_stream = queues
            .iter_mut()
            .find(|(named, _)| named.as_ref().is_some_and(|(process, name)| is_named(stated, stream, (process, name))));
        let Some(kernel) = of_stream.and_then(|(_, queue)| queue.pop_front()) else { break };
        whole.kernels.push(kernel);
    }
    // Whatever is left does not fit, which is told where logs are paired.
    whole.kernels.extend(queues.into_iter().flat_map(|(_, queue)| queue));
    number_iterations(&mut whole.kernels);
    Some(whole)
}
