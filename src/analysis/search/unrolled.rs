//! A scenario in which every launch can be given times of its own.

use std::sync::Arc;

use crate::analysis::host_end;
use crate::analysis::jobs::AnalysedJob;
use crate::run::Run;
use crate::scenario::{HostThread, Scenario, Step};
use crate::time::{Duration, Instant};
use crate::workload::{Copy, Kernel, OperationKind, ProcessId, StreamId};

/// The scenario with a host thread for each job, and a kernel or copy for each launch: it does the same as long as
/// launch times do not depend on completions. Jobs are by thread and number, so threads that act at one instant do so
/// in the order of the scenario. What a host does after its last launch it does in its job.
pub(super) fn unrolled(run: &Run<'_>, jobs: &[AnalysedJob]) -> Scenario {
    let scenario: &Scenario = &run.scenario;
    let mut unrolled = Scenario {
        catalogue: scenario.catalogue.without_work(),
        block_times: std::collections::BTreeMap::new(),
        threads: Vec::with_capacity(jobs.len()),
        horizon: None,
        chains: Vec::new(),
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
            steps.extend(own_step(scenario, &mut unrolled, record.kind, record.stream));
        }
        let tail = scenario.threads.get(job.thread as usize).and_then(host_end::after_last_launch);
        steps.extend(tail.into_iter().flatten());
        // A host has steps, also one whose job had launched nothing when the run ended.
        if steps.is_empty() {
            steps.push(Step::Sleep(Duration::ZERO));
        }
        let alone = labels.get(&job.thread) == Some(&1);
        let label = if alone { Arc::clone(&job.stream) } else { format!("{} job {}", job.stream, job.job).into() };
        let thread = HostThread::once(label, job.released.since(Instant::ZERO), steps);
        let process = scenario.threads.get(job.thread as usize).map_or(ProcessId::FIRST, |thread| thread.process);
        unrolled.threads.push(HostThread { process, deadline: job.deadline.into(), ..thread });
    }
    unrolled
}

/// A launch of `unrolled` that does what `kind` does in `scenario`, with a kernel or copy of its own; `None` for one
/// that the scenario does not have.
pub(in crate::analysis) fn own_step(
    scenario: &Scenario,
    unrolled: &mut Scenario,
    kind: OperationKind,
    stream: StreamId,
) -> Option<Step> {
    Some(match kind {
        OperationKind::Kernel(kernel) => {
            let stated: &Kernel = scenario.kernels().get(kernel.index())?;
            let own = unrolled.catalogue.add_kernel(stated.clone()).ok()?;
            if let Some(times) = scenario.block_times.get(&kernel) {
                unrolled.block_times.insert(own, Arc::clone(times));
            }
            Step::Launch(own, stream)
        }
        OperationKind::Copy(copy) => {
            let stated: &Copy = scenario.copies().get(copy.index())?;
            Step::Copy(unrolled.catalogue.add_copy(*stated).ok()?, stream)
        }
        OperationKind::Memset => Step::Memset(stream),
        OperationKind::Record(event) => Step::Record(event, stream),
        OperationKind::Wait(event) => Step::Wait(event, stream),
    })
}
