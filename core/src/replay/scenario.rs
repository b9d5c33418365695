//! The scenarios of a measurement: from nothing but logs, and the one that made them with what was measured put in.

use std::sync::Arc;

use thiserror::Error;

use crate::audit::Tolerances;
use crate::device::{BlockShape, Device};
use crate::hosts::{LaunchOrder, ProgramError};
use crate::limits::count_turn;
use crate::logs::{Log, LogRun, LogTime, LogTimeError, LoggedKernel, Pairing, unrolled};
use crate::proven::OrMost;
use crate::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use crate::statistics::upper_median;
use crate::time::Duration;
use crate::workload::{BlockClock, BlockTime, Kernel, KernelId, StreamId, StreamSpec, WorkloadError};

/// The block times of one kernel launch: one that stands for all, and if they differ by more than the clock's noise,
/// those of the single blocks.
pub(super) fn block_times(kernel: &LoggedKernel, tolerance_ns: i64) -> (Duration, Option<Arc<[Duration]>>) {
    let length = |[start, end]: &[LogTime; 2]| u64::try_from(end.since(*start)).unwrap_or(0);
    let mut sorted: Vec<u64> = kernel.blocks.times.iter().map(length).collect();
    sorted.sort_unstable();
    let median = upper_median(&sorted).unwrap_or(0);
    let (least, most) = (sorted.first().copied().unwrap_or(0), sorted.last().copied().unwrap_or(0));
    let each = (most - least > tolerance_ns.unsigned_abs())
        .then(|| kernel.blocks.times.iter().map(|time| Duration::from_ns(length(time))).collect());
    (Duration::from_ns(median), each)
}

/// Why logs cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The GPU cannot run one of the kernels.
    #[error("{kernel} cannot run on {device}: {why}")]
    Refused {
        /// The kernel.
        kernel: String,
        /// The device's name.
        device: String,
        /// What is wrong.
        why: WorkloadError,
    },
    /// The simulation cannot go on.
    #[error(transparent)]
    Run(#[from] ProgramError),
    /// The simulation cannot be compared with the logs.
    #[error(transparent)]
    PastLogs(#[from] LogTimeError),
    /// A thread begins when others end, which is not known of iterations that are written out one after another.
    #[error("the ends of others release jobs of {thread:?}: no replay of logs knows that")]
    Triggered {
        /// Its label.
        thread: String,
    },
    /// There is nothing to replay.
    #[error("the logs hold no kernel")]
    Empty,
}

/// When the first launch call returned, on the host's clock \[ns\]: t = 0 of the replay.
pub(super) fn first_launch(run: &LogRun) -> Option<LogTime> {
    run.logs.iter().flat_map(|log| &log.kernels).map(|kernel| kernel.launch_return_ns).min()
}

/// The scenario that the logs of a run describe by themselves.
///
/// Each log is a host thread with a stream of its own (the NULL stream if the kind of benchmark says so). It launches
/// its kernels at the times at which the launch calls returned, the first of the run at t = 0, and waits for nothing
/// else: where the host waited is contained in those times. Processes become threads. A kernel that began before the
/// one before it in its stream had ended, on a GPU that has programmatic dependent launch, is in another stream: when
/// it was triggered and where it waited no log says, and its blocks last as long as they were seen to.
///
/// # Errors
/// [`ReplayError`] if the device cannot run a kernel, or there is none.
pub(crate) fn scenario_of_logs(
    run: &LogRun,
    device: &Device,
    options: &ReadOptions,
    tolerances: &Tolerances,
) -> Result<Scenario, ReplayError> {
    let zero = first_launch(run).ok_or(ReplayError::Empty)?;
    let mut builder = ScenarioBuilder::new(run.scenario_name.to_string(), device.clone(), options);
    for log in logs_by_thread(run).into_iter().flatten().filter_map(|log| run.logs.get(log)) {
        let refused =
            |kernel: &str, why| ReplayError::Refused { kernel: kernel.to_owned(), device: device.name.clone(), why };
        let add_stream = |builder: &mut ScenarioBuilder, name: Arc<str>| {
            let spec = StreamSpec::new(name);
            let priority = log.priority.unwrap_or(spec.priority);
            let blocking = !log.non_blocking;
            builder.add_stream(StreamSpec { priority, blocking, ..spec }).map_err(|why| refused(&log.title(), why))
        };
        let stream = if log.on_null_stream() { StreamId::NULL } else { add_stream(&mut builder, log.title())? };
        // Each with when its last block ended.
        let mut streams = vec![(stream, LogTime::MIN)];
        let mut steps = Vec::new();
        let mut now = 0;
        for logged in &log.kernels {
            let title = log.kernel_title(logged);
            let (time, each) = block_times(logged, tolerances.one_clock_ns);
            let kernel = Kernel {
                name: Arc::clone(&logged.name),
                title: Arc::clone(&title),
                blocks: u32::try_from(logged.blocks.len()).or_most(),
                shape: BlockShape {
                    threads: logged.threads,
                    registers_per_thread: logged.registers_per_thread,
                    shared_memory_bytes: logged.shared_memory_bytes,
                },
                duration: BlockTime::fixed(time),
                clock: BlockClock::RunTime,
                sm_mask: None,
            };
            let id = builder.add_kernel(kernel).map_err(|why| refused(&title, why))?;
            if let Some(each) = each {
                builder.set_block_times(id, each);
            }
            let at = u64::try_from(logged.launch_return_ns.since(zero)).unwrap_or(0);
            let wait = at.saturating_sub(now);
            now = now.max(at);
            let begun = logged.blocks.first_start_ns().unwrap_or(LogTime::MAX).saturating_add(tolerances.one_clock_ns);
            let is_early = |end: LogTime| device.has_programmatic_launch() && begun < end;
            let free = streams.iter().position(|&(_, end)| !is_early(end));
            if free.is_none() {
                let name = format!("{} ({})", log.title(), streams.len() + 1);
                streams.push((add_stream(&mut builder, name.into())?, LogTime::MIN));
            }
            let at = free.unwrap_or(streams.len() - 1);
            let (stream, end) = &mut streams[at];
            *end = logged.blocks.finish_ns().unwrap_or(*end).max(*end);
            steps.extend([Step::Sleep(Duration::from_ns(wait)), Step::Launch(id, *stream)]);
        }
        if streams.len() > 1 {
            builder.note(format!(
                "{}: kernels that began before the one before had ended (PDL) are simulated in {} streams, launched when \
                 they were seen to begin",
                log.title(),
                streams.len()
            ));
        }
        builder.add_thread(HostThread::once(log.title(), Duration::ZERO, steps));
    }
    Ok(builder.build())
}

/// The logs of [`scenario_of_logs`] in the order of its threads, by index.
pub(super) fn logs_by_thread(run: &LogRun) -> Vec<Option<usize>> {
    (0..run.logs.len()).filter(|&log| !run.logs[log].kernels.is_empty()).map(Some).collect()
}

/// The scenario that made some logs, with measured block times in place of stated ones and as many iterations as were
/// logged. Programs, delays, streams and priorities stay what they are, and so do threads without a log.
pub(crate) fn with_measured_times(
    run: &LogRun,
    scenario: &Scenario,
    pairing: &Pairing,
    tolerances: &Tolerances,
) -> Scenario {
    let mut scenario = scenario.clone();
    // What the logs are not about.
    (scenario.examiner, scenario.expected) = (None, None);
    for index in 0..scenario.threads.len() {
        let Some(log) = log_of(run, pairing, index) else { continue };
        let thread = scenario.threads[index].clone();
        scenario.threads[index] = unroll(&mut scenario, thread, &log.kernels, tolerances);
    }
    scenario
}

/// The order in which the threads of [`with_measured_times`] launch at one instant: that in which the calls returned,
/// as kernels enter their queues in that order.
pub(crate) fn measured_launch_order(run: &LogRun, scenario: &Scenario, pairing: &Pairing) -> LaunchOrder {
    let returns = |log: &Log| log.kernels.iter().map(|kernel| kernel.launch_return_ns.as_ns()).collect();
    let ranks = |thread: usize| log_of(run, pairing, thread).map(returns).unwrap_or_default();
    LaunchOrder::new((0..scenario.threads.len()).map(ranks).collect())
}

fn log_of<'a>(run: &'a LogRun, pairing: &Pairing, thread: usize) -> Option<&'a Log> {
    run.logs.get(pairing.log_of_thread.get(thread).copied().flatten()?)
}

/// Writes all iterations of a thread out one after another, each launch with a kernel of its own.
fn unroll(scenario: &mut Scenario, thread: HostThread, logged: &[LoggedKernel], tolerances: &Tolerances) -> HostThread {
    let once = unrolled(&thread);
    let mut logged = logged.iter();
    let mut steps = Vec::new();
    while logged.len() > 0 {
        count_turn();
        if !steps.is_empty() {
            steps.extend(thread.barrier.map(Step::Barrier));
        }
        for &step in &once {
            let own = match step {
                Step::Launch(kernel, stream) => {
                    let own = logged.next().and_then(|logged| add_kernel(scenario, kernel, logged, tolerances));
                    Step::Launch(own.unwrap_or(kernel), stream)
                }
                step => step,
            };
            steps.push(own);
        }
    }
    HostThread { steps, iterations: Some(1), time_limit: None, until: None, period: None, triggered_by: None, ..thread }
}

fn add_kernel(
    scenario: &mut Scenario,
    stated: KernelId,
    logged: &LoggedKernel,
    tolerances: &Tolerances,
) -> Option<KernelId> {
    let (time, each) = block_times(logged, tolerances.one_clock_ns);
    let stated = scenario.kernels().get(stated.index())?;
    let kernel = Kernel { duration: BlockTime::fixed(time), ..Kernel::from(stated) };
    // The device takes it as it takes the stated one.
    let id = scenario.catalogue.add_kernel(kernel).ok()?;
    if let Some(each) = each {
        scenario.block_times.insert(id, each);
    }
    Some(id)
}
