//! Tables of blocks know streams; a host may launch to several of them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::blocks::number_iterations;
use super::log::{Log, LoggedKernel};
use super::pairing::unrolled;
use super::runs::LogRun;
use crate::device::BlockShape;
use crate::scenario::{HostThread, Scenario, Step};
use crate::workload::{Kernel, KernelId, NULL_STREAM, StreamId};

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
    kernels: Vec<&'s Kernel>,
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
        let launched = launched(&stated.threads[thread]).filter(|(_, stream)| is_named(stated, *stream, named));
        let kernels = launched.filter_map(|(kernel, _)| Some(&**stated.kernels().get(kernel.index())?)).collect();
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
