//! Observed runs from simulated ones: of scenarios, and of other hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{
    ObservedContexts, ObservedCopy, ObservedFree, ObservedJob, ObservedKernel, ObservedOperation, ObservedRun,
    ObservedStand, ObservedStream, ObservedTrigger, ObservedTurn, ObservedTurns, ObservedValue, ObservedWork,
    TimeSource, if_limiting,
};
use crate::device::{CopySharing, Device};
use crate::gpu::Ended;
use crate::logs::{BlockList, LogTime, LogTimeError, LoggedBlock};
use crate::proven::OrMost;
use crate::run::Run;
use crate::scenario::Step;
use crate::time::{Duration, Instant};
use crate::trace::{OperationRecord, Rule, Trace, TurnEnd};
use crate::workload::{EventId, OperationId, OperationKind};

impl ObservedRun {
    /// A simulated run of a scenario. Every block is expanded.
    ///
    /// # Errors
    /// [`LogTimeError`] if something happens after the end of the clock of logs.
    pub fn of_run(run: &Run<'_>) -> Result<Self, LogTimeError> {
        let Run { scenario, trace, ended, held_calls, .. } = run;
        let mut observed = Self::of_trace(&scenario.name, scenario.device(), trace, *ended)?;
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
        let catalogue = &scenario.catalogue;
        let is_early = |event: &u32| catalogue.is_launch_completion_event(EventId(*event));
        observed.launch_completion_events = (0..).take(catalogue.events().len()).filter(is_early).collect();
        let steps = scenario.threads.iter().flat_map(|thread| &thread.steps);
        let written = |step: &Step| match *step {
            Step::SetValue(value) => catalogue.values().get(value.index()).map(|value| value.counter.0),
            _ => None,
        };
        let by_hosts: BTreeSet<u32> = steps.filter_map(written).collect();
        let counters = (0..).take(catalogue.counters().len());
        observed.known_counters = counters.filter(|counter| !by_hosts.contains(counter)).collect();
        observed.frees = frees.collect::<Result<_, LogTimeError>>()?;
        observed.jobs = jobs(run)?;
        let triggers = scenario.threads.iter().enumerate().filter_map(|(thread, of)| {
            let may_wait = of.core.is_some() || of.barriers().next().is_some();
            let (name, trigger) = (Arc::clone(&of.label), of.triggered_by? as usize);
            Some(ObservedTrigger { name, thread, trigger, may_wait })
        });
        observed.triggers = triggers.collect();
        for (operation, record) in observed.operations.iter_mut().zip(trace.operations()) {
            if let (OperationKind::Kernel(id), ObservedWork::Kernel(kernel)) = (record.kind, &mut operation.work)
                && let Some(times) = scenario.block_times.get(&id)
            {
                kernel.block_times = Arc::clone(times);
            }
        }
        Ok(observed)
    }

    /// A simulated run on `device`, with whatever host in front of it. Every block is expanded.
    ///
    /// # Errors
    /// As [`ObservedRun::of_run`].
    pub fn of_trace(title: &str, device: &Device, trace: &Trace, ended: Ended) -> Result<Self, LogTimeError> {
        // One that stands still ends as if a horizon had ended it.
        let stands_still = trace.operations().iter().any(|record| record.finish().is_none());
        let horizon_ns = (ended != Ended::Done || stands_still).then(|| LogTime::try_from(trace.end())).transpose()?;
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
        let mut observed = Self {
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
            jobs: Vec::new(),
            triggers: Vec::new(),
            has_chosen_order: trace.ready_choices().iter().any(|&(_, chosen)| chosen > 0),
            launch_completion_events: BTreeSet::new(),
            known_counters: BTreeSet::new(),
            programmatic_events: trace.programmatic_events().iter().map(|event| event.0).collect(),
            incomplete: None,
        };
        for stand in trace.stands() {
            let from_ns = LogTime::try_from(stand.from)?;
            let to_ns = if stand.is_open() { LogTime::MAX } else { LogTime::try_from(stand.to)? };
            let work = observed.operations.get_mut(stand.operation.index()).map(|operation| &mut operation.work);
            if let Some(ObservedWork::Kernel(kernel)) = work {
                let (first, point) = (stand.first_block as usize, stand.point as usize);
                let blocks = first..first + stand.blocks as usize;
                kernel.stands.extend(blocks.map(|block| ObservedStand { block, point, from_ns, to_ns }));
            }
        }
        for operation in &mut observed.operations {
            if let ObservedWork::Kernel(kernel) = &mut operation.work {
                kernel.stands.sort_unstable_by_key(|stand| (stand.block, stand.point));
            }
        }
        Ok(observed)
    }
}

/// To how many SMs MPS limits each process of a simulated run, if it limits one.
fn client_sms(device: &Device, trace: &Trace) -> Vec<u32> {
    let clients = trace.processes().iter().filter(|_| trace.mps());
    if_limiting(clients.map(|process| process.client_sms(device)).collect(), device)
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
        OperationKind::WaitValue(value) | OperationKind::WriteValue(value) => {
            let waits = matches!(record.kind, OperationKind::WaitValue(_));
            let finish_ns = record.finish().map_or(Ok(LogTime::MAX), LogTime::try_from)?;
            let work = trace
                .values()
                .get(value.index())
                .map_or(ObservedWork::Memset, |&value| ObservedWork::Value(ObservedValue { waits, value, finish_ns }));
            (record.kind.name().into(), work)
        }
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
                    synchronization: kernel.synchronization().cloned().map(Arc::new),
                    stands: Vec::new(),
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

/// Jobs of threads of which one releases the other, by thread and then number.
fn jobs(run: &Run<'_>) -> Result<Vec<ObservedJob>, LogTimeError> {
    let Run { scenario, trace, iterations, .. } = run;
    let triggers: BTreeSet<u32> = scenario.threads.iter().filter_map(|thread| thread.triggered_by).collect();
    // By thread and number: when the last of its operations had completed, unless one never did.
    let mut completed: BTreeMap<(u32, u32), Option<Instant>> = BTreeMap::new();
    let is_trigger = |record: &&OperationRecord| triggers.contains(&record.origin.thread);
    for record in trace.operations().iter().filter(is_trigger) {
        let last = completed.entry((record.origin.thread, record.origin.iteration)).or_insert(Some(Instant::ZERO));
        *last = (*last).zip(record.finish()).map(|(last, finish)| last.max(finish));
    }
    let mut jobs = Vec::new();
    for span in iterations {
        let Some(thread) = scenario.threads.get(span.thread as usize) else { continue };
        if thread.triggered_by.is_none() && !triggers.contains(&span.thread) {
            continue;
        }
        let last = completed.get(&(span.thread, span.iteration)).copied().unwrap_or(Some(Instant::ZERO));
        let end = last.zip(span.end()).map(|(last, end)| last.max(end));
        jobs.push(ObservedJob {
            thread: span.thread as usize,
            number: span.iteration,
            released_ns: span.released.try_into()?,
            began_ns: span.start.try_into()?,
            host_end_ns: span.end().map(LogTime::try_from).transpose()?,
            end_ns: end.map(LogTime::try_from).transpose()?,
        });
    }
    jobs.sort_unstable_by_key(|job| (job.thread, job.number));
    Ok(jobs)
}
