//! Which logs belong together.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::clock::LogTime;
use super::defect::{Defect, Dropped};
use super::log::Log;

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
/// A second copy of a log is dropped. Where the logs of one scenario come from several runs (the same benchmark in two
/// processes, with different times), the run with the most logs is kept, the first of equals, and the others are
/// dropped.
pub fn sort_into_runs(logs: Vec<Log>) -> Vec<LogRun> {
    let mut runs: Vec<LogRun> = Vec::new();
    for log in logs {
        let position = runs.iter().position(|run| run.scenario_name == log.scenario_name).unwrap_or_else(|| {
            runs.push(LogRun { scenario_name: Arc::clone(&log.scenario_name), ..LogRun::default() });
            runs.len() - 1
        });
        let run = &mut runs[position];
        match run.logs.iter().find(|other| same_content(other, &log)) {
            Some(other) => run.dropped.push(dropped(&log, Defect::Duplicate { of: other.file.to_string() })),
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

fn dropped(log: &Log, defect: Defect) -> Dropped {
    Dropped { file: log.file.to_string(), kernel: None, defect }
}

fn same_content(one: &Log, other: &Log) -> bool {
    one.tid == other.tid
        && one.pid == other.pid
        && one.label == other.label
        && one.benchmark_name == other.benchmark_name
        && one.iterations == other.iterations
        && one.kernels == other.kernels
}

/// Benchmarks are told apart by their labels; one without a label never counts as the same as another.
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
            run.dropped.push(dropped(log, Defect::OtherRun { of: of.clone() }));
            false
        }
        None => true,
    });
    // One thread has one log; of two with different times, one is from another run.
    for log in logs {
        let twin =
            run.logs.iter().find(|other| log.tid.is_some() && log.tid == other.tid && same_benchmark(&log, other));
        match twin.map(|twin| twin.file.to_string()) {
            Some(of) => run.dropped.push(dropped(&log, Defect::OtherRun { of })),
            None => run.logs.push(log),
        }
    }
}
