//! A run: a scenario and what happened, its jobs, states and response times, and how it differs from what was expected.

mod chains;
mod critical_path;
mod jobs;
mod notes;
mod overlap;
mod responses;
mod stands;
mod standstill;
mod state;
mod summary;
mod sums;

use std::borrow::Cow;

use crate::gpu::Ended;
use crate::scenario::Scenario;
use crate::time::Instant;
use crate::trace::{NEVER, Rule, Shift, Trace};
use crate::workload::OperationId;

pub use chains::{ChainDelay, ChainRun};
pub(crate) use chains::{ChainTimes, LongestWay, goes_on};
pub use critical_path::{CriticalPath, OnPath, PathEnd, PathPart};
pub(crate) use jobs::JobWindow;
pub use jobs::{Backlog, DeadlineOutcome, Job, Jobs};
pub use overlap::{Meanwhile, Overlap, OverlapPart, StreamPair};
#[doc(hidden)]
pub use responses::DueJobs;
pub use responses::Responses;
pub(crate) use responses::each_response;
pub(crate) use stands::Stands;
pub use stands::{Awaited, WaitingBlocks};
pub use standstill::{Standstill, StillWait};
pub use state::{
    EeQueue, Firing, QueueContent, Resident, Served, SmState, State, Suspended, SuspendedCopy, TurnState, Waiting,
    rule_log,
};
pub(crate) use state::{TURN_WORDS, TurnWords, copy_title, title, title_of};
pub use summary::{Difference, KernelSummary, NotComparable, Recorded, Summary};
#[doc(hidden)]
pub use summary::{RuleSums, against_expected, differing, due_jobs};
pub use sums::{SmUtilization, Sums};
#[doc(hidden)]
pub use sums::{TimesWanted, kernel_responses, overload_notes};

/// A scenario and what it led to.
#[derive(Debug, Clone, PartialEq)]
pub struct Run<'s> {
    /// What was simulated: that of whoever had it simulated, or a copy ([`Run::into_owned`]).
    pub scenario: Cow<'s, Scenario>,
    /// What happened on the GPU.
    pub trace: Trace,
    /// How it ended.
    pub ended: Ended,
    /// What happened on the host: every iteration that began, in that order.
    pub iterations: Vec<IterationSpan>,
    /// Who had a core that threads share when, by core and in order of time.
    pub cores: Vec<CoreSpan>,
    /// Calls that did not return at once because of one that frees memory, in the order in which they began.
    pub held_calls: Vec<HeldCall>,
}

impl Run<'_> {
    /// The same with a scenario of its own, so that it outlives the one that was simulated.
    pub fn into_owned(self) -> Run<'static> {
        let Self { scenario, trace, ended, iterations, cores, held_calls } = self;
        Run { scenario: Cow::Owned(scenario.into_owned()), trace, ended, iterations, cores, held_calls }
    }
}

/// One iteration of a host thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IterationSpan {
    /// Index of the thread.
    pub thread: u32,
    /// Which iteration, from 0.
    pub iteration: u32,
    /// When it was released, as [`Job::released`] has it.
    pub released: Instant,
    /// When its first step began.
    pub start: Instant,
    /// When its last step was done, barriers at its end aside; [`NEVER`] if the run ended before. An `Option` would
    /// take half as much again.
    pub(crate) end: Instant,
}

impl IterationSpan {
    /// When its last step was done, barriers at its end aside; `None` if the run ended before.
    pub fn end(&self) -> Option<Instant> {
        (self.end != NEVER).then_some(self.end)
    }
}

/// A time in which one iteration of a host thread had a core without pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreSpan {
    /// The core.
    pub core: u32,
    /// Index of the thread.
    pub thread: u32,
    /// Which iteration, from 0.
    pub iteration: u32,
    /// Whether it did no work, but waited for operations without giving up the core.
    pub spins: bool,
    /// From when.
    pub start: Instant,
    /// Until when.
    pub end: Instant,
}

impl CoreSpan {
    /// Whether `next` is the same without a pause.
    pub(crate) fn goes_on_as(&self, next: &Self) -> bool {
        *next == Self { start: next.start, end: next.end, ..*self } && self.end == next.start
    }
}

/// A CUDA call of a host thread that did not return at once because of one that frees memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldCall {
    /// Index of the thread.
    pub thread: u32,
    /// Which iteration, from 0.
    pub iteration: u32,
    /// Which of its steps the call is, from 0.
    pub step: u32,
    /// Why: it frees memory itself (H1), or waits for one that does (H2).
    pub rule: Rule,
    /// Index of the thread that frees memory, or did first.
    pub by: u32,
    /// When the call began.
    pub from: Instant,
    /// When it went on; [`NEVER`] if the run ended before.
    pub(crate) to: Instant,
    /// What it submitted then.
    pub operation: Option<OperationId>,
}

impl HeldCall {
    /// What kind of call it is, as a step of its scenario is called.
    pub fn name(&self, scenario: &Scenario) -> &'static str {
        let thread = scenario.threads.get(self.thread as usize);
        thread.and_then(|thread| thread.steps.get(self.step as usize)).map_or("", |step| step.call_name())
    }

    /// When it went on; `None` if the run ended before.
    pub fn to(&self) -> Option<Instant> {
        (self.to != NEVER).then_some(self.to)
    }
}

/// Operations of a run that are told of together, and then forgotten.
#[derive(Debug, Clone)]
pub(crate) struct RunPiece {
    /// What happened to them: as if the run had ended when they left.
    pub(crate) trace: Trace,
    /// How many of the turns of contexts leave with it, the first ones.
    pub(crate) turns: usize,
    /// Their jobs, which are over, or the run is.
    pub(crate) jobs: Jobs,
    /// How many jobs of each thread have left with it and with those before, the first ones: their operations all have.
    pub(crate) over: Vec<u32>,
}

impl RunPiece {
    /// Becomes the piece that comes again.
    pub(crate) fn move_by(&mut self, shift: &Shift) {
        let Self { trace, turns: _, jobs, over } = self;
        trace.move_by(shift);
        jobs.move_by(shift);
        (0..).zip(over).for_each(|(thread, over)| shift.iteration(thread, over));
    }

    /// What it takes \[bytes\], roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.trace.bytes() + self.jobs.bytes() + size_of_val(&*self.over)
    }

    /// What rows are made of, but for jobs.
    pub(crate) fn summary<'a>(&'a self, scenario: &'a Scenario) -> Summary<'a> {
        Summary::of_trace(scenario, &self.trace)
    }
}
