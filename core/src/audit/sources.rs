//! Where observations come from: measured logs, alone or with the scenario that made them, and simulated runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::observation::{
    Observation, ObservedContexts, ObservedCopy, ObservedFree, ObservedKernel, ObservedOperation, ObservedStream,
    ObservedTurn, ObservedTurns, ObservedWork, TimeSource,
};
use crate::device::{BlockShape, CopySharing, Device, Runlists};
use crate::gpu::Ended;
use crate::limits::count_turn;
use crate::logs::{BlockList, Log, LogRun, LogTime, LogTimeError, LoggedBlock, LoggedKernel, Pairing, unrolled};
use crate::proven::OrMost;
use crate::run::Run;
use crate::scenario::{Scenario, Step};
use crate::time::{Duration, Instant};
use crate::trace::{OperationRecord, Rule, Trace, TurnEnd};
use crate::workload::{BlockClock, CheckedStream, NULL_STREAM, OperationId, OperationKind, Programmatic, StreamId};

impl Observation {
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
                let work = ObservedWork::Kernel(observed(kernel, kernel.registers_per_thread));
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
) -> Observation {
    crate::sorted::sort_by_key(&mut operations, |operation| (operation.launched_ns[1], operation.launched_ns[0]));
    let processes: BTreeSet<Option<u64>> =
        run.logs.iter().filter(|log| !log.kernels.is_empty()).map(|log| log.pid).collect();
    let incomplete =
        if run.incomplete() { Some("kernels or blocks are missing from the logs".to_owned()) } else { missing };
    let incomplete = incomplete.or_else(|| copies_of_others(run, device, &processes)).or_else(|| untold(run));
    by_process(run, &mut streams, &mut operations);
    let contexts = if processes.len() > 1 { ObservedContexts::Unseen } else { ObservedContexts::One };
    Observation {
        title: Arc::clone(&run.scenario_name),
        device: device.clone(),
        source: TimeSource::Measured,
        streams,
        contexts,
        client_sms: logged_client_sms(run, device),
        virtual_sms: run.virtual_sms,
        operations,
        frees: Vec::new(),
        has_chosen_order: false,
        programmatic_events: BTreeSet::new(),
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

fn observed(kernel: &LoggedKernel, registers_per_thread: u32) -> ObservedKernel {
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
                    let own = observed(kernel, stated.shape.registers_per_thread);
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

impl Observation {
    /// A simulated run of a scenario. Every block is expanded.
    ///
    /// # Errors
    /// [`LogTimeError`] if something happens after the end of the clock of logs.
    pub fn of_run(Run { scenario, trace, ended, held_calls, .. }: &Run<'_>) -> Result<Self, LogTimeError> {
        let mut observation = Self::of_trace(&scenario.name, scenario.device(), trace, *ended)?;
        let frees = held_calls.iter().filter(|call| call.rule == Rule::H1).filter_map(|call| {
            let thread = scenario.threads.get(call.thread as usize)?;
            let times =
                LogTime::try_from(call.from).and_then(|from| Ok((from, call.to().map(LogTime::try_from).transpose()?)));
            Some(times.map(|(from_ns, to_ns)| ObservedFree {
                process: thread.process.index(),
                thread: call.thread as usize,
                shares_core: thread.core.is_some(),
                from_ns,
                to_ns,
            }))
        });
        observation.frees = frees.collect::<Result<_, LogTimeError>>()?;
        for (operation, record) in observation.operations.iter_mut().zip(trace.operations()) {
            if let (OperationKind::Kernel(id), ObservedWork::Kernel(kernel)) = (record.kind, &mut operation.work)
                && let Some(times) = scenario.block_times.get(&id)
            {
                kernel.block_times = Arc::clone(times);
            }
        }
        Ok(observation)
    }

    /// A simulated run on `device`, with whatever host in front of it. Every block is expanded.
    ///
    /// # Errors
    /// As [`Observation::of_run`].
    pub fn of_trace(title: &str, device: &Device, trace: &Trace, ended: Ended) -> Result<Self, LogTimeError> {
        let horizon_ns = (ended != Ended::Done).then(|| LogTime::try_from(trace.end())).transpose()?;
        let null: BTreeSet<u32> = trace.processes().iter().map(|process| process.null_stream().0).collect();
        let streams = (0..).zip(trace.streams()).map(|(number, stream)| {
            let is_null = null.contains(&number);
            let process = stream.process.index();
            let (name, priority) = (Arc::clone(&stream.name), Some(stream.priority));
            let green = stream.green_context.and_then(|green| trace.green_contexts().get(green.index()));
            ObservedStream {
                name,
                process,
                is_null,
                priority,
                blocking: stream.blocking && !is_null,
                green_context: stream.green_context,
                work_queues: green.and_then(|green| green.work_queues),
            }
        });
        let operations = trace.numbered();
        let contexts = contexts(trace)?;
        let takes_turns = contexts != ObservedContexts::One;
        Ok(Self {
            title: title.into(),
            device: device.clone(),
            source: TimeSource::Simulated { placement: trace.placement(), horizon_ns },
            streams: streams.collect(),
            contexts,
            client_sms: client_sms(device, trace),
            virtual_sms: false,
            operations: operations
                .map(|(id, record)| operation(device, trace, id, record, takes_turns))
                .collect::<Result<_, _>>()?,
            frees: Vec::new(),
            has_chosen_order: trace.ready_choices().iter().any(|&(_, chosen)| chosen > 0),
            programmatic_events: trace.programmatic_events().iter().map(|event| event.0).collect(),
            incomplete: None,
        })
    }
}

/// To how many SMs MPS limits each process of a simulated run, if it limits one.
fn client_sms(device: &Device, trace: &Trace) -> Vec<u32> {
    let clients = trace.processes().iter().filter(|_| trace.mps());
    if_limiting(clients.map(|process| process.client_sms(device)).collect(), device)
}

/// Limits that leave every process all SMs limit nobody.
fn if_limiting(limits: Vec<u32>, device: &Device) -> Vec<u32> {
    if limits.iter().any(|&sms| sms < device.sms) { limits } else { Vec::new() }
}

/// The turns that contexts took, if they did.
fn contexts(trace: &Trace) -> Result<ObservedContexts, LogTimeError> {
    let Some(taking) = trace.turn_taking() else { return Ok(ObservedContexts::One) };
    let ns = |time: Duration| i64::try_from(time.as_ns()).or_most();
    let mut served = None;
    let turns = trace.turns().iter().map(|turn| {
        let switches = served.replace(turn.process).is_some_and(|before| before != turn.process);
        Ok(ObservedTurn {
            process: turn.process.index(),
            start_ns: LogTime::try_from(turn.start)?,
            end_ns: LogTime::try_from(turn.end)?,
            // Cut by the end of the run, it is shorter than it was to be.
            is_on_its_way: switches && turn.switch() < taking.switch_cost,
        })
    });
    Ok(ObservedContexts::Seen(ObservedTurns {
        turns: turns.collect::<Result<_, LogTimeError>>()?,
        run_end_ns: LogTime::try_from(trace.end())?,
        time_slices_ns: taking.time_slices.iter().map(|&slice| ns(slice)).collect(),
        switch_cost_ns: ns(taking.switch_cost),
        levels: trace.processes().iter().map(|process| process.level).collect(),
        is_driven_by_host: trace.turns().iter().any(|turn| turn.ended_by == TurnEnd::TakenOff),
    }))
}

fn operation(
    device: &Device,
    trace: &Trace,
    id: OperationId,
    record: &OperationRecord,
    takes_turns: bool,
) -> Result<ObservedOperation, LogTimeError> {
    let launched = LogTime::try_from(record.launched())?;
    let (name, work): (Arc<str>, _) = match record.kind {
        OperationKind::Memset => ("memset".into(), ObservedWork::Memset),
        OperationKind::Record(event) => ("record".into(), ObservedWork::Record(event.0)),
        OperationKind::Wait(event) => ("wait".into(), ObservedWork::Wait(event.0)),
        OperationKind::Copy(copy) => {
            let copy = trace.copies().get(copy.index());
            let stated = copy.and_then(|copy| copy.time_on(&device.copy));
            let start = record.first_start();
            // A copy that still ran at the horizon ends when it must; behind it, where that depends on what comes.
            let end = record.finish().or_else(|| match device.copy.sharing {
                CopySharing::OneAtATime if !takes_turns => start.zip(stated).map(|(start, took)| start + took),
                CopySharing::OneAtATime | CopySharing::SharedLink => {
                    start.map(|_| trace.end().saturating_add(Duration::from_ns(1)))
                }
            });
            let times = start.zip(end).map(|(start, end)| Ok([LogTime::try_from(start)?, LogTime::try_from(end)?]));
            // A duration is as long as the instant at its end if it begins at 0.
            let duration_ns =
                stated.map(|duration| LogTime::try_from(Instant::ZERO + duration).map(LogTime::as_ns)).transpose()?;
            let engine = copy.map_or(0, |copy| device.copy.engine_for(copy.direction));
            let name = copy.map_or("copy".into(), |copy| copy.in_words().into());
            (name, ObservedWork::Copy(ObservedCopy { engine, duration_ns, times_ns: times.transpose()? }))
        }
        OperationKind::Kernel(kernel) => match trace.kernels().get(kernel.index()) {
            None => ("kernel".into(), ObservedWork::Memset),
            Some(kernel) => {
                let mut blocks = BlockList::default();
                for block in trace.blocks(id) {
                    let (start_ns, end_ns) = (LogTime::try_from(block.start)?, LogTime::try_from(block.end)?);
                    blocks.push(LoggedBlock { sm: u32::from(block.sm), start_ns, end_ns });
                }
                let stream = trace.streams().get(record.stream.index());
                let work = ObservedWork::Kernel(ObservedKernel {
                    grid: kernel.blocks,
                    shape: kernel.shape,
                    sm_mask: kernel.sm_mask.or(stream.and_then(|stream| stream.sm_mask)),
                    duration: Some(kernel.duration),
                    block_times: Arc::default(),
                    clock: kernel.clock,
                    programmatic: kernel.programmatic(),
                    clusters: kernel.clusters(),
                    synchronized_ns: None,
                    blocks: Arc::new(blocks),
                });
                (Arc::clone(&kernel.title), work)
            }
        },
    };
    Ok(ObservedOperation {
        name,
        stream: record.stream.index(),
        origin: None,
        thread: record.origin.thread as usize,
        process: None,
        called_ns: launched,
        launched_ns: [launched; 2],
        is_launch_on_gpu_clock: true,
        work,
    })
}
