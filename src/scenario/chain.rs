//! Chains: jobs that hand data to one another, and how old it may get on its way.

use std::ops::Range;
use std::sync::Arc;

use super::model::{HostThread, Scenario, Step};
use crate::device::CopyDirection;
use crate::named::named;
use crate::time::Duration;
use crate::workload::{OperationKind, StreamId};

/// Jobs of several threads, each of which reads what one of the thread before it has written last: a cause-effect chain
/// with register communication (`docs/analysis.md`, "Chains").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Name in reports.
    pub name: Arc<str>,
    /// From the thread that samples the world to the one that acts on it.
    pub links: Vec<ChainLink>,
    /// How long it may take at most from an event to the first output that knows of it.
    pub reaction_time: Option<Duration>,
    /// How old what an output is made of may be at most.
    pub data_age: Option<Duration>,
}

/// The jobs of one thread as a part of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainLink {
    /// Index of the host thread.
    pub thread: u32,
    /// A job reads when the first of these operations starts; `None`: when it begins.
    pub reads: Option<LinkOperation>,
    /// A job writes when the last of these operations has completed; `None`: when all of the job is done.
    pub writes: Option<LinkOperation>,
}

/// Operations of a job, by what they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkOperation {
    /// Launches of the kernel of that [title](crate::workload::Kernel::title).
    Kernel(Arc<str>),
    /// Copies that go that way.
    Copy(CopyDirection),
}

named! {
    /// What is asked of a chain.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ChainMeasure: ALL, Serialize {
        /// How long it takes from an event to the first output that knows of it.
        ReactionTime = "reaction time",
        /// How old what an output is made of is when it comes out.
        DataAge = "data age",
    }
}

impl Chain {
    /// What it may come to at most, if anything is stated.
    pub fn limit(&self, measure: ChainMeasure) -> Option<Duration> {
        match measure {
            ChainMeasure::ReactionTime => self.reaction_time,
            ChainMeasure::DataAge => self.data_age,
        }
    }
}

impl LinkOperation {
    /// Whether an operation of `scenario` is one of these.
    pub(crate) fn is(&self, kind: OperationKind, scenario: &Scenario) -> bool {
        match (self, kind) {
            (Self::Kernel(title), OperationKind::Kernel(kernel)) => {
                scenario.kernels().get(kernel.index()).is_some_and(|kernel| kernel.title == *title)
            }
            (Self::Copy(direction), OperationKind::Copy(copy)) => {
                scenario.copies().get(copy.index()).is_some_and(|copy| copy.direction == *direction)
            }
            _ => false,
        }
    }

    /// Where the first and the last of these stand in a thread's steps, and in which stream; `None`: nowhere, or in
    /// several streams.
    fn place(&self, thread: &HostThread, scenario: &Scenario) -> Option<(Range<usize>, StreamId)> {
        let mut places = thread.steps.iter().enumerate().filter_map(|(at, step)| {
            let (kind, stream) = step.submission()?;
            self.is(kind, scenario).then_some((at, stream))
        });
        let (first, stream) = places.next()?;
        places.try_fold((first..first, stream), |(known, stream), (at, other)| {
            (stream == other).then_some((known.start..at, stream))
        })
    }

    /// How many of these an iteration of the thread submits.
    pub(crate) fn number(&self, thread: &HostThread, scenario: &Scenario) -> u64 {
        let mut numbers: Vec<u64> = Vec::with_capacity(thread.steps.len());
        for step in &thread.steps {
            if let Step::Repeat { from, times } = *step {
                let repeated = numbers.iter_mut().skip(from);
                repeated.for_each(|number| *number = number.saturating_mul(times));
            }
            numbers.push(step.submission().is_some_and(|(kind, _)| self.is(kind, scenario)).into());
        }
        numbers.into_iter().fold(0, u64::saturating_add)
    }
}

/// Why a link of a chain cannot be.
pub(crate) enum BadLink {
    /// The thread submits no such operation.
    Absent,
    /// It submits them to several streams, of which none says when they are over.
    SeveralStreams,
    /// It may write before it reads.
    WritesFirst,
}

impl ChainLink {
    /// All of a job.
    pub fn whole(thread: u32) -> Self {
        Self { thread, reads: None, writes: None }
    }

    /// Whether jobs of the scenario can be such a link.
    pub(crate) fn check(&self, scenario: &Scenario) -> Result<(), BadLink> {
        let Some(thread) = scenario.threads.get(self.thread as usize) else { return Err(BadLink::Absent) };
        let mut places = [None, None];
        for (place, operation) in places.iter_mut().zip([&self.reads, &self.writes]) {
            let Some(operation) = operation else { continue };
            if operation.number(thread, scenario) == 0 {
                return Err(BadLink::Absent);
            }
            *place = Some(operation.place(thread, scenario).ok_or(BadLink::SeveralStreams)?);
        }
        match places {
            [Some((read, of_reads)), Some((write, of_writes))] if of_reads != of_writes || read.start > write.end => {
                Err(BadLink::WritesFirst)
            }
            _ => Ok(()),
        }
    }

    /// Whether a job that is `self` goes on as `next`: what it has written so far it reads again itself, as what reads
    /// comes behind what wrote in one stream.
    pub(crate) fn goes_on_as(&self, next: &Self, scenario: &Scenario) -> bool {
        let Some(thread) = scenario.threads.get(self.thread as usize).filter(|_| self.thread == next.thread) else {
            return false;
        };
        let place = |operation: &Option<LinkOperation>| operation.as_ref()?.place(thread, scenario);
        let repeats = thread.steps.iter().any(|step| matches!(step, Step::Repeat { .. }));
        match (place(&self.writes), place(&next.reads)) {
            (Some((wrote, from)), Some((read, to))) => from == to && wrote.end < read.start && !repeats,
            _ => false,
        }
    }
}
