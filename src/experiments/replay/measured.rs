//! A scenario with what was measured put in.

use super::durations::block_times;
use crate::audit::Tolerances;
use crate::logs::{LogRun, LogTime, LoggedKernel, Pairing, unrolled};
use crate::scenario::{HostThread, Scenario, Step};
use crate::workload::{BlockTime, Kernel, KernelId};

/// The scenario that made some logs, with measured block times in place of stated ones and as many iterations as were
/// logged; and its pairing. Programs, delays, streams and priorities stay what they are.
///
/// Where threads act at one instant, they do so in the order in which their first launch calls returned: kernels enter
/// their queues in that order. Threads without a log keep what the scenario says.
#[must_use]
pub fn with_measured_times(
    run: &LogRun,
    scenario: &Scenario,
    pairing: &Pairing,
    tolerances: &Tolerances,
) -> (Scenario, Pairing) {
    let mut scenario = scenario.clone();
    // What the logs are not about.
    (scenario.examiner, scenario.expected) = (None, None);
    let mut order: Vec<usize> = (0..scenario.threads.len()).collect();
    let log_of = |thread: usize| run.logs.get(pairing.log_of_thread.get(thread).copied().flatten()?);
    let first_launch = |thread: usize| log_of(thread)?.kernels.first().map(|kernel| kernel.launch_return_ns);
    order.sort_by_key(|&thread| first_launch(thread).unwrap_or(LogTime::MAX));
    let mut threads = Vec::with_capacity(order.len());
    for &index in &order {
        let thread = scenario.threads[index].clone();
        threads.push(match log_of(index) {
            Some(log) => unroll(&mut scenario, thread, &log.kernels, tolerances),
            None => thread,
        });
    }
    scenario.threads = threads;
    let log_of_thread = order.iter().map(|&thread| pairing.log_of_thread.get(thread).copied().flatten()).collect();
    (scenario, Pairing { log_of_thread })
}

/// Writes all iterations of a thread out one after another, each launch with a kernel of its own.
fn unroll(scenario: &mut Scenario, thread: HostThread, logged: &[LoggedKernel], tolerances: &Tolerances) -> HostThread {
    let once = unrolled(&thread);
    let mut logged = logged.iter();
    let mut steps = Vec::new();
    while logged.len() > 0 {
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
    HostThread { steps, iterations: Some(1), time_limit: None, period: None, ..thread }
}

fn add_kernel(
    scenario: &mut Scenario,
    stated: KernelId,
    logged: &LoggedKernel,
    tolerances: &Tolerances,
) -> Option<KernelId> {
    let (time, each) = block_times(logged, tolerances.one_clock_ns);
    let stated = scenario.kernels().get(stated.0 as usize)?;
    let kernel = Kernel { duration: BlockTime::fixed(time), ..Kernel::clone(stated) };
    // The device takes it as it takes the stated one.
    let id = scenario.catalogue.add_kernel(kernel).ok()?;
    if let Some(each) = each {
        scenario.block_times.insert(id, each);
    }
    Some(id)
}
