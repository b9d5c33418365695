//! One run in numbers: what every report of it has in common, and how it differs from a published result.

use serde::Serialize;
use smallvec::SmallVec;
use thiserror::Error;

use super::jobs::{DeadlineOutcome, Job, Jobs};
use super::responses::{self, DueJobs, Responses, each_response};
use super::sums::{Busy, SmUtilization};
use super::{CoreSpan, HeldCall, IterationSpan, Run};
use crate::gpu::Ended;
use crate::printed::{Printed, Value};
use crate::scenario::{Expected, ExpectedKernel, KernelLaunch, Scenario};
use crate::time::{Duration, Instant, is_in_time};
use crate::trace::{OperationRecord, Rule, Trace};
use crate::workload::{CheckedKernel, OperationId, OperationKind};

/// Times by rule, without memory of their own as long as they are as few as usual.
pub type RuleSums = SmallVec<[(Rule, Duration); 4]>;

/// A scenario, what happened, and how it ended.
#[derive(Debug, Clone, Copy)]
pub struct Summary<'a> {
    /// What was simulated.
    pub scenario: &'a Scenario,
    /// What happened.
    pub trace: &'a Trace,
    /// How it ended.
    pub ended: Ended,
    /// The iterations that the host threads began, if that is known.
    pub iterations: &'a [IterationSpan],
    /// Who had a core that threads share when, by core and in order of time, if that is known.
    pub cores: &'a [CoreSpan],
    /// Calls that did not return at once because of one that frees memory, if that is known.
    pub held_calls: &'a [HeldCall],
}

/// An operation of a run, with what it does.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a, W> {
    /// Its number.
    pub id: OperationId,
    /// What happened to it.
    pub record: &'a OperationRecord,
    /// The kernel, or the copy.
    pub work: W,
}

/// One kernel launch in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KernelSummary<'a> {
    /// Which launch it is.
    #[serde(flatten)]
    pub launch: KernelLaunch<'a>,
    /// Threads of one block.
    pub threads: u32,
    /// Blocks of the grid.
    pub blocks: u32,
    /// The host's call (G1).
    pub launched_ns: Instant,
    /// It entered its EE queue (G2).
    pub queued_ns: Option<Instant>,
    /// Its first block was assigned.
    pub first_start_ns: Option<Instant>,
    /// Its last block was assigned.
    pub last_start_ns: Option<Instant>,
    /// All its blocks had completed.
    pub finish_ns: Option<Instant>,
    /// Finish minus launch.
    pub response_ns: Option<Duration>,
    /// Deadline of its job, counted from the job's release.
    pub deadline_ns: Option<Duration>,
    /// Whether the kernel finished by then; null without a deadline, or if it had not finished when the run ended.
    pub schedulable: Option<bool>,
    /// Response time of its job: all kernels, copies and memsets of that release or iteration, from the release on.
    pub job_response_ns: Option<Duration>,
    /// Whether its job met the deadline; null without one, or if the run ended before job and deadline.
    pub job_met: Option<bool>,
}

impl<'a> Summary<'a> {
    /// Of a simulated run.
    pub fn of(run: &'a Run<'_>) -> Self {
        let Run { scenario, trace, ended, iterations, cores, held_calls } = run;
        Self { scenario, trace, ended: *ended, iterations, cores, held_calls }
    }

    /// Of something that was recorded elsewhere, of whose host nothing is known.
    pub fn of_trace(scenario: &'a Scenario, trace: &'a Trace) -> Self {
        Self { scenario, trace, ended: Ended::Done, iterations: &[], cores: &[], held_calls: &[] }
    }

    /// The jobs of the run; none if nothing is known of the host.
    pub fn jobs(&self) -> Jobs {
        Jobs::of(self.scenario, self.trace, self.ended, self.iterations)
    }

    /// The response times of its jobs, one entry for every stream with operations and every host that submits
    /// something, in declaration order.
    pub fn responses(&self) -> Vec<Responses<'a>> {
        each_response(self.scenario, &self.jobs()).collect()
    }

    /// How it differs from what its scenario expects; nothing if that expects nothing.
    ///
    /// # Errors
    /// [`NotComparable`] if the run was one under other conditions.
    pub fn differences(&self) -> Result<Vec<Difference>, NotComparable> {
        self.scenario.expected.as_ref().map_or(Ok(Vec::new()), |expected| differences(expected, self.trace))
    }

    /// The kernel launches, in launch order.
    pub fn kernels(&self) -> impl Iterator<Item = KernelSummary<'a>> + use<'a> {
        let (scenario, jobs) = (self.scenario, self.jobs());
        self.launches()
            .map(move |Recorded { id, record, work: kernel }| KernelSummary::new(scenario, &jobs, (id, record), kernel))
    }

    /// Kernel launches, in launch order.
    pub fn launches(&self) -> impl Iterator<Item = Recorded<'a, &'a CheckedKernel>> + use<'a> {
        let trace = self.trace;
        trace.numbered().filter_map(|(id, record)| match record.kind {
            OperationKind::Kernel(kernel) => Some(Recorded { id, record, work: trace.kernels().get(kernel.index())? }),
            _ => None,
        })
    }

    /// Copies, in launch order.
    pub fn copies(&self) -> impl Iterator<Item = Recorded<'a, crate::workload::Copy>> + use<'a> {
        let trace = self.trace;
        trace.numbered().filter_map(|(id, record)| match record.kind {
            OperationKind::Copy(copy) => Some(Recorded { id, record, work: *trace.copies().get(copy.index())? }),
            _ => None,
        })
    }
}

impl<'a> KernelSummary<'a> {
    /// One launch of a scenario, with the jobs of its run.
    pub(crate) fn new(
        scenario: &'a Scenario,
        jobs: &Jobs,
        (id, record): (OperationId, &OperationRecord),
        kernel: &'a CheckedKernel,
    ) -> Self {
        let job = jobs.get(record.origin.thread, record.origin.iteration);
        let due = job.and_then(Job::due);
        let outcome = job.and_then(|job| job.outcome(jobs.end));
        Self {
            launch: KernelLaunch::new(scenario, id.0, kernel, record.stream, record.origin),
            threads: kernel.shape.threads,
            blocks: kernel.blocks,
            launched_ns: record.launched(),
            queued_ns: record.queued(),
            first_start_ns: record.first_start(),
            last_start_ns: record.last_start(),
            finish_ns: record.finish(),
            response_ns: record.response(),
            deadline_ns: job.and_then(|job| job.deadline),
            schedulable: record.finish().zip(due).map(|(finish, due)| is_in_time(finish, due)),
            job_response_ns: job.and_then(Job::response),
            job_met: outcome.and_then(DeadlineOutcome::is_met),
        }
    }
}

impl Summary<'_> {
    /// When the last operation completed; `None` if there was none, or one had not completed when the run ended.
    pub fn makespan(&self) -> Option<Instant> {
        self.trace.makespan()
    }

    /// The rule that held an operation longest before its first block or its copy started, and for how long; of a
    /// kernel with blocks that never started, until the run ended.
    pub fn longest_wait(&self, id: OperationId) -> Option<(Rule, Duration)> {
        let record = self.trace.record(id)?;
        let start = record.last_start().and(record.first_start()).unwrap_or(Instant::MAX);
        let before_start = self.sums_by_rule(id, start);
        // The earliest of equals: `max_by_key` would take the last.
        let longer =
            |longest: (Rule, Duration), &other: &(Rule, Duration)| if other.1 > longest.1 { other } else { longest };
        before_start.split_first().map(|(&first, others)| others.iter().fold(first, longer))
    }

    /// Time spent waiting under each rule before `until`, in the order in which the rules first held.
    pub fn waits_by_rule(&self, id: OperationId, until: Instant) -> Vec<(Rule, Duration)> {
        self.sums_by_rule(id, until).into_iter().collect()
    }

    /// [`Summary::waits_by_rule`], for those who ask it of every launch.
    pub(crate) fn sums_by_rule(&self, id: OperationId, until: Instant) -> RuleSums {
        let mut sums = RuleSums::new();
        self.trace.each_wait(id, |wait| {
            let duration = wait.to.min(until).since(wait.from);
            match sums.iter_mut().find(|(rule, _)| *rule == wait.rule) {
                _ if wait.from >= until => {}
                Some((_, sum)) => *sum += duration,
                None => sums.push((wait.rule, duration)),
            }
        });
        sums
    }

    /// The share of the run in which an SM's thread slots, block slots and shared memory were taken, by SM, each from
    /// 0 to 1; empty if the run took no time.
    pub fn utilization(&self) -> Vec<SmUtilization> {
        let mut busy = Busy::new(self.scenario.device());
        busy.add_all(self.trace);
        busy.shares(self.trace.end())
    }

    pub(super) fn has_deadlines(&self) -> bool {
        self.scenario.threads.iter().any(|thread| thread.deadline().is_some())
    }
}

/// All jobs with deadlines, in the order in which they are due.
pub fn due_jobs(summary: &Summary<'_>) -> Vec<DueJobs> {
    if summary.has_deadlines() { responses::due_jobs(summary.scenario, &summary.jobs()) } else { Vec::new() }
}

/// One way in which a run is not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The kernel.
    pub kernel: String,
    /// Where in print the expected value stands, if the scenario says so.
    pub place: Option<String>,
    /// What differs, with both values.
    pub what: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{} ({place}): {}", self.kernel, self.what),
            None => write!(f, "{}: {}", self.kernel, self.what),
        }
    }
}

/// A run under other conditions than those of the expected result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the expected result holds for the scenario as its file has it, and an option replaces {}", replaced.join(" and "))]
pub struct NotComparable {
    /// What differs: the device, the block durations, …
    pub replaced: Vec<&'static str>,
}

/// Compares a finished run with what was expected of its scenario, value by value, with the kernel that each is of.
///
/// Times are compared under every placement, where blocks are only under the one under which they were found.
///
/// # Errors
/// [`NotComparable`] if the run was one under other conditions.
pub fn against_expected<'e>(
    expected: &'e Expected,
    trace: &Trace,
) -> Result<Vec<(&'e ExpectedKernel, Printed)>, NotComparable> {
    if !expected.replaced.is_empty() {
        return Err(NotComparable { replaced: expected.replaced.clone() });
    }
    let tolerance = expected.tolerance.as_ns() as f64 / 1e9;
    let mut compared = Vec::new();
    for kernel in &expected.kernels {
        let ids = (0..).map(OperationId).take(trace.operations().len());
        let launches = ids.filter(|&id| trace.kernel_of(id).is_some_and(|launched| *launched.title == *kernel.name));
        let launch = launches.into_iter().nth(kernel.iteration as usize);
        let record = launch.map(|id| &trace.operations()[id.index()]);
        let times = [
            ("first start", kernel.first_start, record.and_then(OperationRecord::first_start)),
            ("finish", kernel.finish, record.and_then(OperationRecord::finish)),
        ];
        let place = kernel.place.as_deref().unwrap_or_default();
        for (what, published, simulated) in times {
            let Some(published) = published else { continue };
            let value = Printed::or_nothing(place, what, published, simulated.map(Value::from)).within(tolerance);
            compared.push((kernel, value));
        }
        if trace.placement() != expected.placement {
            continue;
        }
        if let Some(published) = &kernel.blocks_per_sm {
            let simulated = launch.map(|id| {
                let mut simulated = vec![0_u32; trace.sms() as usize];
                for run in trace.block_runs(id) {
                    simulated[usize::from(run.sm)] += u32::from(run.blocks);
                }
                Value::from(format!("{simulated:?}"))
            });
            compared.push((kernel, Printed::or_nothing(place, "blocks per SM", format!("{published:?}"), simulated)));
        }
        if let Some(published) = &kernel.sm_of_block {
            let simulated = launch.map(|id| Value::from(sms_beside(published, trace, id)));
            compared.push((kernel, Printed::or_nothing(place, "SM of each block", listed(published), simulated)));
        }
    }
    Ok(compared)
}

/// What of [`against_expected`] differs.
///
/// # Errors
/// [`NotComparable`] if the trace says too little.
pub fn differing<'e>(
    expected: &'e Expected,
    trace: &Trace,
) -> Result<impl Iterator<Item = (&'e ExpectedKernel, Printed)> + use<'e>, NotComparable> {
    Ok(against_expected(expected, trace)?.into_iter().filter(|(_, value)| !value.agrees()))
}

/// Compares a finished run with what was expected of its scenario.
pub(super) fn differences(expected: &Expected, trace: &Trace) -> Result<Vec<Difference>, NotComparable> {
    let differing = differing(expected, trace)?.map(|(kernel, value)| {
        let Printed { what, printed, here, .. } = value;
        let found = here.map_or_else(|| "not reached".to_owned(), |here| format!("simulated {here}"));
        let what = format!("{what}: expected {printed}, {found}");
        Difference { kernel: kernel.name.clone(), place: kernel.place.clone(), what }
    });
    Ok(differing.collect())
}

/// The SMs of a launch's blocks; as print has them, dashes included, if those that print has are the same.
fn sms_beside(published: &[Option<u32>], trace: &Trace, id: OperationId) -> String {
    let mut simulated = vec![None; published.len()];
    for block in trace.blocks(id) {
        if let Some(sm) = simulated.get_mut(block.index as usize) {
            *sm = Some(u32::from(block.sm));
        }
    }
    let same = published.iter().zip(&simulated).all(|(known, sm)| known.is_none() || known == sm);
    listed(if same { published } else { &simulated })
}

/// SMs by block, with a dash where none is known.
fn listed(sms: &[Option<u32>]) -> String {
    let shown = sms.iter().map(|sm| sm.map_or_else(|| "-".to_owned(), |sm| sm.to_string()));
    format!("[{}]", shown.collect::<Vec<_>>().join(", "))
}
