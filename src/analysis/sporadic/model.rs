//! What a job of each stream launches, and why a scenario cannot be analysed this way.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::analysis::assumptions::{Departure, allowed_sms, departures, launches, launches_at_release};
use crate::analysis::pool::needs;
use crate::analysis::prepared::{demands, merge};
use crate::analysis::safe_bound::{Class, Operation, Work};
use crate::gpu::SubmitError;
use crate::scenario::{Scenario, Step};
use crate::time::Duration;
use crate::workload::StreamId;

/// Why no bound over all phasings is given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SporadicRefusal {
    /// No period.
    #[error("{thread:?} has no period, so nothing is known of how often its jobs come")]
    NoPeriod {
        /// Label of the thread.
        thread: String,
    },
    /// It does something else than launching at its release.
    #[error(
        "{thread:?} launches something after it has waited or slept; only jobs that launch all they have at their release \
         are analysed, and may then wait for it"
    )]
    NotAtRelease {
        /// Label of the thread.
        thread: String,
    },
    /// A stream of two threads.
    #[error("{thread:?} uses a stream that another thread uses too: whose jobs come first there is open")]
    SharedStream {
        /// Label of the thread.
        thread: String,
    },
    /// Records or waits for events.
    #[error("{thread:?} records an event or waits for one: which record a wait is for depends on when jobs come")]
    Events {
        /// Label of the thread.
        thread: String,
    },
    /// Launch latencies or kernel gaps.
    #[error("the device states a launch latency or a kernel gap, which the bound does not know")]
    Latencies,
    /// More streams than channels.
    #[error("streams may have to wait for a hardware channel")]
    Channels,
    /// An SM mask and an MPS percentage.
    #[error("{}", Departure::MaskedClient)]
    MaskedClient,
    /// Copies that share a link.
    #[error("copies of several streams share a link (copies: shared-link), and the bound knows copies one at a time")]
    SharedLink,
    /// Times too long.
    #[error("a period, jitter or load is beyond 2^62 ns")]
    TooLong,
    /// Some response is not proven to be within its period.
    #[error(
        "no bound is found: a job of {thread:?} may not be done when the next one comes (too much load, or the bound \
         is too coarse)"
    )]
    BeyondPeriod {
        /// Label of the thread.
        thread: String,
    },
}

/// A host thread whose jobs come at least a period apart, each released at most the jitter after it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) label: String,
    pub(super) period: u64,
    pub(super) jitter: u64,
    /// The EE queues of its streams, 0 is the highest priority.
    pub(super) highest: usize,
    pub(super) lowest: usize,
    /// Whether N1 or N2 can hold its operations.
    pub(super) coupled: bool,
    pub(super) operations: Vec<Operation>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskSet {
    /// SMs on which blocks run at once, at most.
    pub(super) sms: u64,
    pub(super) tasks: Vec<Task>,
    pub(super) classes: Vec<Class>,
    /// Streams, priorities and copy engines.
    pub(super) streams: usize,
    pub(super) levels: usize,
    pub(super) engines: usize,
}

/// Longest time that enters the analysis \[ns\].
pub(super) const LONGEST: u64 = 1 << 62;

impl TaskSet {
    /// `jitter` by thread; missing ones are 0.
    pub(super) fn new(scenario: &Scenario, jitter: &[Duration]) -> Result<Result<Self, SporadicRefusal>, SubmitError> {
        let demands = demands(scenario);
        let launches = launches(scenario);
        let (costs, _) = merge(scenario, &demands, &launches)?;
        let departed = departures(scenario, &demands, &launches, false);
        if departed.contains(&Departure::Channels) {
            return Ok(Err(SporadicRefusal::Channels));
        }
        if departed.contains(&Departure::Latencies) {
            return Ok(Err(SporadicRefusal::Latencies));
        }
        if departed.contains(&Departure::MaskedClient) {
            return Ok(Err(SporadicRefusal::MaskedClient));
        }
        if departed.contains(&Departure::SharedLink) {
            return Ok(Err(SporadicRefusal::SharedLink));
        }
        let priorities: Vec<i32> = scenario.device().priorities().collect();
        let mut tasks = Self {
            sms: u64::from(costs.sms),
            tasks: Vec::new(),
            classes: Vec::new(),
            streams: scenario.streams().len(),
            levels: priorities.len() + 1,
            engines: scenario.device().copy.engines as usize,
        };
        let mut users = BTreeMap::new();
        for (index, thread) in scenario.threads.iter().enumerate() {
            let label = || thread.label.to_string();
            let Some(period) = thread.period else { return Ok(Err(SporadicRefusal::NoPeriod { thread: label() })) };
            let jitter = jitter.get(index).map_or(0, |jitter| jitter.as_ns());
            if period.as_ns() > LONGEST || jitter > LONGEST {
                return Ok(Err(SporadicRefusal::TooLong));
            }
            let Some(launches) = launches_at_release(thread) else {
                return Ok(Err(SporadicRefusal::NotAtRelease { thread: label() }));
            };
            let mut operations = Vec::new();
            for step in launches {
                let (stream, work) = match *step {
                    Step::Launch(kernel, stream) => {
                        let allowed = u64::from(allowed_sms(scenario, kernel, stream).min(costs.sms));
                        let cost = &costs.kernels[kernel.index()];
                        let class = tasks.class(Class { needs: needs(&demands[kernel.index()]), allowed });
                        let (blocks, block_time) = (cost.blocks, cost.block_time);
                        (stream, Work::Kernel { class, blocks, block_time, best: Duration::ZERO })
                    }
                    Step::Copy(copy, stream) => {
                        let (worst, engine) = costs.copies[copy.index()];
                        (stream, Work::Copy { worst, best: Duration::ZERO, engine })
                    }
                    Step::Memset(stream) => (stream, Work::Memset),
                    Step::Record(..) | Step::Wait(..) => {
                        return Ok(Err(SporadicRefusal::Events { thread: label() }));
                    }
                    _ => return Ok(Err(SporadicRefusal::NotAtRelease { thread: label() })),
                };
                if *users.entry(stream).or_insert(index) != index {
                    return Ok(Err(SporadicRefusal::SharedStream { thread: label() }));
                }
                let priority = scenario.streams().get(stream.index()).map_or(0, |stream| stream.priority);
                let level = priorities.iter().position(|known| *known == priority).unwrap_or(priorities.len());
                operations.push(Operation { stream: stream.index(), level, work });
            }
            let lowest = operations.iter().map(|operation| operation.level).max().unwrap_or(0);
            let highest = operations.iter().map(|operation| operation.level).min().unwrap_or(0);
            let (label, period) = (label(), period.as_ns());
            tasks.tasks.push(Task { label, period, jitter, highest, lowest, coupled: false, operations });
        }
        if users.contains_key(&StreamId::NULL) {
            let blocking = |operation: &Operation| {
                let stream = scenario.streams().get(operation.stream);
                operation.stream == StreamId::NULL.index() || stream.is_some_and(|stream| stream.blocking)
            };
            for task in &mut tasks.tasks {
                task.coupled = task.operations.iter().any(blocking);
            }
        }
        Ok(Ok(tasks))
    }

    fn class(&mut self, class: Class) -> usize {
        self.classes.iter().position(|known| *known == class).unwrap_or_else(|| {
            self.classes.push(class);
            self.classes.len() - 1
        })
    }
}
