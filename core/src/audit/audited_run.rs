//! An observed run with all that is derived from it before any rule is checked: when each operation ran, and from when
//! on it may have been in its queue.

use super::executions::{Execution, executions};
use super::finding::Tolerances;
use super::launches::Clocks;
use super::observed_run::{ObservedRun, ObservedStream, ObservedWork};
use super::readiness;
use super::readiness::Readiness;
use super::sweep::Events;
use crate::device::ChannelOrder;
use crate::effort::Progress;
use crate::limits::end_if_stopped;
use crate::logs::LogTime;
use crate::workload::BlockClock;

/// An observed run with everything that was derived from it.
pub(super) struct AuditedRun<'a> {
    pub(super) observed: &'a ObservedRun,
    pub(super) clocks: Clocks,
    pub(super) executed: Vec<Execution>,
    pub(super) ready: Vec<Readiness>,
    pub(super) events: Events<'a>,
    /// Whoever looks meanwhile at how many blocks have been looked at, by all checks together.
    pub(super) watched: Progress<'a>,
}

/// Blocks that are counted together.
const COUNTED_AT_ONCE: u64 = 1 << 14;

impl<'a> AuditedRun<'a> {
    /// Derives everything. The tolerances are those for measured times; simulated ones are exact.
    pub(super) fn new(observed: &'a ObservedRun, tolerances: &Tolerances) -> Self {
        Self::with_executions(observed, executions(observed), tolerances, Progress::NONE)
    }

    /// The same, where it is known already when operations ran.
    pub(super) fn with_executions(
        observed: &'a ObservedRun,
        executed: Vec<Execution>,
        tolerances: &Tolerances,
        watched: Progress<'a>,
    ) -> Self {
        let simulated = observed.is_simulated();
        let tolerances = if simulated { Tolerances::EXACT } else { *tolerances };
        // Heads of several owners of queues are assigned at one instant, in an order that cannot be told from times.
        let has_one_order = observed.queue_owners().len() <= 1
            && !observed.has_chosen_order
            && !has_several_rounds(observed)
            && !observed.synchronizes();
        let clocks = Clocks { tolerances, exact: simulated && has_one_order, ordered: simulated };
        let ready = readiness::readiness(observed, &executed, &clocks);
        let events = Events::of(observed, &executed);
        Self { observed, clocks, executed, ready, events, watched }
    }

    /// The same blocks, counted for whoever looks meanwhile.
    pub(super) fn counted<I: Iterator>(&self, blocks: I) -> impl Iterator<Item = I::Item> {
        let (watched, mut uncounted) = (self.watched, 0);
        blocks.inspect(move |_| {
            uncounted += 1;
            if uncounted == COUNTED_AT_ONCE {
                count(watched, uncounted);
                uncounted = 0;
            }
        })
    }

    /// Whether streams may have to wait until one of few hardware channels is free, which the audit does not follow.
    pub(super) fn channels_bind(&self) -> bool {
        // Each process has as many as the device states.
        let streams_of = |process| self.observed.streams.iter().filter(|stream| stream.process == process).count();
        let most = (0..self.observed.process_count()).map(streams_of).max().unwrap_or(0);
        // A green context may have some of its own.
        let streams = &self.observed.streams;
        let shares_few = |stream: &ObservedStream| {
            let sharing = streams.iter().filter(|other| other.green_context == stream.green_context).count();
            stream.work_queues.is_some_and(|queues| queues as usize <= sharing)
        };
        let device = &self.observed.device;
        device.channel_order != ChannelOrder::Submission
            && (device.channels.is_some_and(|channels| channels as usize <= most) || streams.iter().any(shares_few))
    }

    /// Whether operation `operation` may use SM `sm`.
    pub(super) fn may_use(&self, operation: usize, sm: u32) -> bool {
        let device = &self.observed.device;
        let stream = self.observed.stream_of(&self.observed.operations[operation]);
        let process = stream.and_then(|own| u32::try_from(own.process).ok());
        let mask = self.observed.operations[operation].kernel().and_then(|kernel| kernel.sm_mask);
        device.sms_of_process(process.unwrap_or(0)).contains(&sm) && mask.is_none_or(|mask| mask.enables_sm(sm, device))
    }

    /// Whether `one` was surely ahead of `other` when both were in the same queue.
    pub(super) fn surely_ahead(&self, one: usize, other: usize) -> bool {
        let (Some(hi), lo) = (self.hi(one), self.ready[other].lo) else { return false };
        self.clocks.surely_before(&hi, &lo) || (self.clocks.exact && hi == lo && one < other)
    }

    /// By when an operation was surely in its queue.
    pub(super) fn hi(&self, operation: usize) -> Option<super::launches::When> {
        use super::launches::{Stamp, When};
        let started = self.executed[operation].first_start;
        self.ready[operation].hi.or(started.map(|start| When::on_gpu(Stamp { at: start, rank: 0 })))
    }
}

/// So many more blocks have been looked at by a check.
pub(super) fn count(watched: Progress<'_>, blocks: u64) {
    end_if_stopped();
    watched.advance(blocks);
}

/// Things without length can happen several times at one instant, and blocks whose timers ran out by the time at which
/// their turn begins end when it does, behind whatever else ends at that instant: the order there cannot be told from
/// times.
fn has_several_rounds(observed: &ObservedRun) -> bool {
    let turns = observed.turns().map_or(&[][..], |turns| &turns.turns);
    let begins_at = |context: usize, at: LogTime| {
        let first = turns.partition_point(|turn| turn.start_ns < at);
        turns[first..].iter().take_while(|turn| turn.start_ns == at).any(|turn| turn.process == context)
    };
    observed.operations.iter().enumerate().any(|(index, operation)| match &operation.work {
        ObservedWork::Kernel(kernel) => {
            let ends_at_once = |end| kernel.clock == BlockClock::Wall && begins_at(observed.context_of(index), end);
            kernel.blocks.times.iter().any(|&[start, end]| start >= end || ends_at_once(end))
        }
        ObservedWork::Copy(copy) => copy.times_ns.is_some_and(|[start, end]| start >= end),
        ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_) | ObservedWork::Value(_) => false,
    })
}
