//! A scenario with what was measured put in.

use super::durations::block_times;
use crate::audit::Tolerances;
use crate::hosts::LaunchOrder;
use crate::limits::count_turn;
use crate::logs::{Log, LogRun, LoggedKernel, Pairing, unrolled};
use crate::scenario::{HostThread, Scenario, Step};
use crate::workload::{BlockTime, Kernel, KernelId};

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
    HostThread { steps, iterations: Some(1), time_limit: None, until: None, period: None, ..thread }
}

fn add_kernel(
    scenario: &mut Scenario,
    stated: KernelId,
    logged: &LoggedKernel,
    tolerances: &Tolerances,
) -> Option<KernelId> {
    let (time, each) = block_times(logged, tolerances.one_clock_ns);
    let stated = scenario.kernels().get(stated.index())?;
    let kernel = Kernel { duration: BlockTime::fixed(time), ..Kernel::clone(stated) };
    // The device takes it as it takes the stated one.
    let id = scenario.catalogue.add_kernel(kernel).ok()?;
    if let Some(each) = each {
        scenario.block_times.insert(id, each);
    }
    Some(id)
}
