//! Where in the jobs of a scenario the links of a chain read and write.

use std::ops::Range;

use super::host_thread::{HostThread, Step};
use super::model::{ChainLink, LinkOperation, Scenario};
use crate::workload::{OperationKind, StreamId};

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
                let repeated = numbers.iter_mut().skip(from as usize);
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

    /// Whether each end of a job that is `self` releases one that is `next`, which takes what that has written.
    pub(crate) fn releases(&self, next: &Self, scenario: &Scenario) -> bool {
        scenario.threads.get(next.thread as usize).is_some_and(|thread| thread.triggered_by == Some(self.thread))
    }

    /// Whether a job that is `self` goes on as the one of the same number that is `next`: what it has written so far it
    /// reads again itself, as what reads comes behind what wrote in one stream; or its end [releases](Self::releases)
    /// that one.
    pub(crate) fn goes_on_as(&self, next: &Self, scenario: &Scenario) -> bool {
        if self.releases(next, scenario) {
            return true;
        }
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
