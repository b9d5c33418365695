//! A scenario in which every launch can be given times of its own.

use std::sync::Arc;

use crate::analysis::jobs::Job;
use crate::hosts::Run;
use crate::scenario::{HostThread, Scenario, Step};
use crate::time::{Duration, Instant};
use crate::workload::{CopyId, KernelId, OperationKind};

/// The scenario with a host thread for each job, and a kernel or copy for each launch: it does the same as long as
/// launch times do not depend on completions. Jobs are by thread and number, so threads that act at one instant do so
/// in the order of the scenario.
///
/// Copies have the durations that the device gives them.
pub(super) fn unrolled(scenario: &Scenario, run: &Run, jobs: &[Job]) -> Scenario {
    let mut unrolled = Scenario {
        kernels: Vec::new(),
        copies: Vec::new(),
        block_times: std::collections::BTreeMap::new(),
        threads: Vec::with_capacity(jobs.len()),
        horizon: None,
        expected: None,
        examiner: None,
        ..scenario.clone()
    };
    let mut labels = std::collections::BTreeMap::<u32, u32>::new();
    for job in jobs {
        *labels.entry(job.thread).or_default() += 1;
    }
    for job in jobs {
        let mut now = job.released;
        let mut steps = Vec::with_capacity(job.operations.len());
        for &operation in &job.operations {
            let Some(record) = run.trace.operations().get(operation as usize) else { continue };
            let launched = record.launched();
            if launched > now {
                steps.push(Step::Sleep(launched.since(now)));
                now = launched;
            }
            steps.extend(step(scenario, &mut unrolled, record.kind, record.stream));
        }
        let alone = labels.get(&job.thread) == Some(&1);
        let label = if alone { Arc::clone(&job.stream) } else { format!("{} job {}", job.stream, job.job).into() };
        let thread = HostThread::once(label, job.released.since(Instant::ZERO), steps);
        unrolled.threads.push(HostThread { deadline: job.deadline, ..thread });
    }
    unrolled
}

fn step(
    scenario: &Scenario,
    unrolled: &mut Scenario,
    kind: OperationKind,
    stream: crate::workload::StreamId,
) -> Option<Step> {
    Some(match kind {
        OperationKind::Kernel(kernel) => {
            // There are fewer launches than 2^32.
            let own = KernelId(u32::try_from(unrolled.kernels.len()).ok()?);
            unrolled.kernels.push(scenario.kernels.get(kernel.0 as usize)?.clone());
            if let Some(times) = scenario.block_times.get(&kernel) {
                unrolled.block_times.insert(own, Arc::clone(times));
            }
            Step::Launch(own, stream)
        }
        OperationKind::Copy(copy) => {
            let own = CopyId(u32::try_from(unrolled.copies.len()).ok()?);
            unrolled.copies.push(*scenario.copies.get(copy.0 as usize)?);
            Step::Copy(own, stream)
        }
        OperationKind::Memset => Step::Memset(stream),
    })
}

/// How long each copy of a scenario takes.
pub(super) fn copy_durations(scenario: &Scenario) -> Vec<Duration> {
    let copies = scenario.copies.iter();
    let by_bandwidth = |copy: &crate::workload::Copy| scenario.device.copy.duration(copy.direction, copy.bytes);
    copies.map(|copy| copy.duration.or_else(|| by_bandwidth(copy)).unwrap_or(Duration::ZERO)).collect()
}
