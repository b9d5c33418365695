//! Which host thread of a scenario wrote which log.

use thiserror::Error;

use super::log::{Log, LoggedKernel};
use super::runs::LogRun;
use crate::limits::count_turn;
use crate::scenario::{HostThread, Scenario, Step};
use crate::words::listed;
use crate::workload::{Kernel, StreamId};

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
pub(crate) fn unrolled(thread: &HostThread) -> Vec<Step> {
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
            at = from.min(at - 1);
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

/// The kernels that one iteration launches.
fn launched<'a>(scenario: &'a Scenario, thread: &HostThread) -> Vec<&'a Kernel> {
    let kernel = |step: Step| match step {
        Step::Launch(kernel, _) => scenario.kernels().get(kernel.index()).map(|kernel| &**kernel),
        _ => None,
    };
    unrolled(thread).into_iter().filter_map(kernel).collect()
}

fn check(scenario: &Scenario, thread: &HostThread, log: &Log) -> Result<(), PairingError> {
    let kernels = launched(scenario, thread);
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
