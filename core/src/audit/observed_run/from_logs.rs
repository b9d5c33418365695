//! Observed runs from measured logs, alone or with the scenario that made them. What no log shows is put between the
//! calls around it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{
    ObservedContexts, ObservedCopy, ObservedKernel, ObservedOperation, ObservedRun, ObservedStream, ObservedWork,
    TimeSource, if_limiting,
};
use crate::device::{BlockShape, Device, Runlists};
use crate::limits::count_turn;
use crate::logs::{Log, LogRun, LogTime, LoggedKernel, Pairing, unrolled};
use crate::scenario::{Scenario, Step};
use crate::workload::{BlockClock, CheckedStream, NULL_STREAM, Programmatic, StreamId};

impl ObservedRun {
    /// What logs alone tell: each is a stream, or the NULL stream of its process if the kind of benchmark says so.
    /// Streams count as blocking ones; their priorities, SM masks, registers, and any copies and memsets are not known.
    pub fn of_logs(run: &LogRun, device: &Device) -> Self {
        let mut streams = vec![stream(NULL_STREAM.into(), true, None, false)];
        let mut operations = Vec::new();
        for (index, log) in run.logs.iter().enumerate().filter(|(_, log)| !log.kernels.is_empty()) {
            let number = if log.on_null_stream() { 0 } else { streams.len() };
            if number > 0 {
                streams.push(stream(log.title(), false, log.priority, !log.non_blocking));
            }
            for (position, kernel) in log.kernels.iter().enumerate() {
                let work = ObservedWork::Kernel(observed_kernel(kernel, kernel.registers_per_thread));
                operations.push(launch(log, (index, position), index, kernel, number, work));
            }
        }
        finish(run, device, streams, operations, None)
    }

    /// What logs tell together with the scenario that made them: it adds streams with their priorities, SM masks,
    /// registers, and where copies and memsets stand, those of threads without kernels too, though not when they ran.
    pub fn of_logs_with(run: &LogRun, scenario: &Scenario, pairing: &Pairing) -> Self {
        let known = |(index, spec): (u32, &CheckedStream)| {
            let is_null = scenario.catalogue.is_null_stream(StreamId(index));
            let known = stream(Arc::clone(&spec.name), is_null, Some(spec.priority), spec.blocking && !is_null);
            let queues = scenario.catalogue.work_queues_of(StreamId(index)).map(|(_, queues)| queues);
            ObservedStream { green_context: spec.green_context, work_queues: queues, ..known }
        };
        let streams = (0..).zip(scenario.streams()).map(known).collect();
        let mut operations = Vec::new();
        let mut missing = Vec::new();
        for (number, (thread, &log)) in scenario.threads.iter().zip(&pairing.log_of_thread).enumerate() {
            let launches = thread.steps.iter().any(|step| matches!(step, Step::Launch(..)));
            match log.and_then(|index| Some((index, run.logs.get(index)?))) {
                Some((index, log)) => of_thread(scenario, number, log, index, &mut operations),
                None if launches => missing.push(thread.label.to_string()),
                None => without_kernels(scenario, number, &mut operations),
            }
        }
        let missing = (!missing.is_empty()).then(|| format!("there is no log of {}", missing.join(", ")));
        finish(run, scenario.device(), streams, operations, missing)
    }
}

fn stream(name: Arc<str>, is_null: bool, priority: Option<i32>, blocking: bool) -> ObservedStream {
    ObservedStream { name, process: 0, is_null, priority, blocking, green_context: None, work_queues: None }
}

/// Says which process each stream is of. One that several processes use, such as the NULL stream, is one of each of
/// them.
fn by_process(run: &LogRun, streams: &mut Vec<ObservedStream>, operations: &mut [ObservedOperation]) {
    let mut numbers: BTreeMap<u64, usize> = BTreeMap::new();
    for pid in run.logs.iter().filter(|log| !log.kernels.is_empty()).filter_map(|log| log.pid) {
        let next = numbers.len();
        numbers.entry(pid).or_insert(next);
    }
    let mut owners: Vec<Option<usize>> = vec![None; streams.len()];
    let mut others: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for operation in operations {
        let process = operation.process.and_then(|pid| numbers.get(&pid));
        let (Some(&process), Some(owner)) = (process, owners.get_mut(operation.stream)) else { continue };
        let owner = *owner.get_or_insert(process);
        if owner != process {
            let known = operation.stream;
            operation.stream = *others.entry((known, process)).or_insert_with(|| {
                streams.push(ObservedStream { process, ..streams[known].clone() });
                streams.len() - 1
            });
        }
    }
    for (stream, owner) in streams.iter_mut().zip(owners) {
        stream.process = owner.unwrap_or(0);
    }
}

fn finish(
    run: &LogRun,
    device: &Device,
    mut streams: Vec<ObservedStream>,
    mut operations: Vec<ObservedOperation>,
    missing: Option<String>,
) -> ObservedRun {
    crate::sorted::sort_by_key(&mut operations, |operation| (operation.launched_ns[1], operation.launched_ns[0]));
    let processes: BTreeSet<Option<u64>> =
        run.logs.iter().filter(|log| !log.kernels.is_empty()).map(|log| log.pid).collect();
    let incomplete =
        if run.incomplete() { Some("kernels or blocks are missing from the logs".to_owned()) } else { missing };
    let incomplete = incomplete.or_else(|| copies_of_others(run, device, &processes)).or_else(|| untold(run));
    by_process(run, &mut streams, &mut operations);
    let contexts = if processes.len() > 1 { ObservedContexts::Unseen } else { ObservedContexts::One };
    ObservedRun {
        title: Arc::clone(&run.scenario_name),
        device: device.clone(),
        source: TimeSource::Measured,
        streams,
        contexts,
        client_sms: logged_client_sms(run, device),
        virtual_sms: run.virtual_sms,
        operations,
        frees: Vec::new(),
        jobs: Vec::new(),
        triggers: Vec::new(),
        has_chosen_order: false,
        programmatic_events: BTreeSet::new(),
        launch_completion_events: BTreeSet::new(),
        known_counters: BTreeSet::new(),
        incomplete,
    }
}

/// What MPS may limit each logged process to, by the number of the process; none where it limits nobody.
fn logged_client_sms(run: &LogRun, device: &Device) -> Vec<u32> {
    let mut known: Vec<(Option<u64>, u32)> = Vec::new();
    for log in run.logs.iter().filter(|log| !log.kernels.is_empty()) {
        let limit = log.mps_sms.unwrap_or(device.sms);
        match known.iter_mut().find(|(pid, _)| *pid == log.pid) {
            Some((_, sms)) => *sms = limit.min(*sms),
            None => known.push((log.pid, limit)),
        }
    }
    if_limiting(known.into_iter().map(|(_, sms)| sms).collect(), device)
}

/// T5: where copies run in the turns of their contexts, those of a process without kernels, of which no log tells, may
/// have had turns at any time.
fn copies_of_others(run: &LogRun, device: &Device, processes: &BTreeSet<Option<u64>>) -> Option<String> {
    let is_other = |log: &&Log| !processes.contains(&log.pid);
    let other = run.logs.iter().find(is_other).filter(|_| device.time_slicing.runlists == Runlists::Shared)?;
    Some(format!("copies of the process of {} may have had turns, and no log shows when", other.title()))
}

/// What the logs do not tell of what a block takes of an SM: nobody can tell whether another one fitted.
fn untold(run: &LogRun) -> Option<String> {
    let untold = run.logs.iter().map(|log| &log.untold).find(|untold| !untold.is_empty())?;
    Some(format!("no log tells {untold} of blocks"))
}

fn observed_kernel(kernel: &LoggedKernel, registers_per_thread: u32) -> ObservedKernel {
    let (threads, shared_memory_bytes) = (kernel.threads, kernel.shared_memory_bytes);
    ObservedKernel {
        grid: kernel.block_count,
        shape: BlockShape { threads, registers_per_thread, shared_memory_bytes },
        sm_mask: None,
        duration: None,
        block_times: Arc::default(),
        clock: BlockClock::RunTime,
        programmatic: Programmatic::NONE,
        clusters: None,
        synchronization: None,
        stands: Vec::new(),
        synchronized_ns: kernel.synchronized_ns,
        blocks: Arc::clone(&kernel.blocks),
    }
}

fn launch(
    log: &Log,
    origin: (usize, usize),
    thread: usize,
    kernel: &LoggedKernel,
    stream: usize,
    work: ObservedWork,
) -> ObservedOperation {
    ObservedOperation {
        name: log.kernel_title(kernel),
        stream,
        origin: Some(origin),
        thread,
        process: log.pid,
        called_ns: kernel.launch_start_ns,
        // Kernels enter their queues in the order in which the launch calls return.
        launched_ns: [kernel.launch_return_ns; 2],
        is_launch_on_gpu_clock: log.launches_unseen,
        work,
    }
}

/// All operations of one thread, those that no log shows included; they were launched between the calls around them.
fn of_thread(scenario: &Scenario, thread: usize, log: &Log, index: usize, operations: &mut Vec<ObservedOperation>) {
    let steps = unrolled(&scenario.threads[thread]);
    let mut kernels = log.kernels.iter().enumerate();
    let first = operations.len();
    let mut iteration = 0;
    while kernels.len() > 0 {
        count_turn();
        let span = log.iterations.get(iteration);
        iteration += 1;
        let begin = operations.len();
        let mut earliest = span.map_or(LogTime::MIN, |span| span.start_ns);
        for step in &steps {
            match *step {
                Step::Launch(id, stream) => {
                    let (Some((position, kernel)), Some(stated)) = (kernels.next(), scenario.kernels().get(id.index()))
                    else {
                        return;
                    };
                    let mask = stated.sm_mask.or_else(|| scenario.streams().get(stream.index())?.sm_mask);
                    let own = observed_kernel(kernel, stated.shape.registers_per_thread);
                    let work =
                        ObservedWork::Kernel(ObservedKernel { sm_mask: mask, clusters: stated.clusters(), ..own });
                    earliest = kernel.launch_return_ns;
                    operations.push(launch(log, (index, position), thread, kernel, stream.index(), work));
                }
                Step::Sleep(duration) => {
                    earliest = earliest.after(duration);
                }
                step => {
                    let unseen = unseen(scenario, thread, step, earliest);
                    operations.extend(unseen.map(|unseen| ObservedOperation { process: log.pid, ..unseen }));
                }
            }
        }
        let latest = span.map_or(LogTime::MAX, |span| span.end_ns);
        close_gaps(&steps, &mut operations[begin..], latest);
    }
    // Whatever the times say, they are one thread's, one after another.
    for index in first + 1..operations.len() {
        let before = operations[index - 1].launched_ns;
        let own = &mut operations[index].launched_ns;
        *own = [own[0].max(before[0]), own[1].max(before[1])];
    }
}

/// The operations of a thread that launches no kernel, of which no log tells when. Further iterations would tell
/// nothing more: each may be before and after everything else.
fn without_kernels(scenario: &Scenario, thread: usize, operations: &mut Vec<ObservedOperation>) {
    let steps = scenario.threads[thread].steps.iter();
    operations.extend(steps.filter_map(|&step| unseen(scenario, thread, step, LogTime::MIN)));
}

/// What a step submits that no log shows; `None`: nothing.
fn unseen(scenario: &Scenario, thread: usize, step: Step, earliest: LogTime) -> Option<ObservedOperation> {
    let (name, stream, work) = match step {
        Step::Copy(id, stream) => {
            let copy = scenario.copies().get(id.index())?;
            let engine = scenario.device().copy.engine_for(copy.direction);
            let work = ObservedWork::Copy(ObservedCopy { engine, duration_ns: None, times_ns: None });
            (copy.in_words().into(), stream, work)
        }
        Step::Memset(stream) => ("memset".into(), stream, ObservedWork::Memset),
        Step::Record(event, stream) => ("record".into(), stream, ObservedWork::Record(event.0)),
        Step::Wait(event, stream) => ("wait".into(), stream, ObservedWork::Wait(event.0)),
        _ => return None,
    };
    Some(ObservedOperation {
        name,
        stream: stream.index(),
        origin: None,
        thread,
        process: None,
        called_ns: earliest,
        launched_ns: [earliest, LogTime::MAX],
        is_launch_on_gpu_clock: false,
        work,
    })
}

/// Gives what no log shows the latest time at which it can have been launched: before the next call that one shows.
fn close_gaps(steps: &[Step], operations: &mut [ObservedOperation], end: LogTime) {
    let mut latest = end;
    let mut operations = operations.iter_mut().rev();
    for step in steps.iter().rev() {
        match *step {
            Step::Sleep(duration) => {
                latest = latest.before(duration);
            }
            step if step.submission().is_some() => {
                let Some(operation) = operations.next() else { return };
                if matches!(step, Step::Launch(..)) {
                    latest = operation.called_ns;
                } else {
                    operation.launched_ns[1] = latest.max(operation.launched_ns[0]);
                }
            }
            _ => {}
        }
    }
}
