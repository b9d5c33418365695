//! Order in time, where times are of two clocks: when one instant surely came before another, and which operations were
//! launched before another one, for certain or perhaps.

use std::collections::BTreeMap;

use super::finding::Tolerances;
use super::observed_run::{ObservedOperation, ObservedRun, ObservedWork};
use crate::device::ChannelOrder;
use crate::logs::LogTime;

/// A point in time. `rank` orders what happens at one instant; only an exact clock has a use for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stamp {
    pub(super) at: LogTime,
    pub(super) rank: u64,
}

impl Stamp {
    /// Launches come after the completions of an instant, in their order. Completions are ranked from 1.
    pub(super) const fn launch(at: LogTime, operation: usize) -> Self {
        Self { at, rank: (1 << 62) + operation as u64 }
    }

    /// Blocks and copies are assigned after everything else of an instant.
    pub(super) const fn assignment(at: LogTime) -> Self {
        Self { at, rank: u64::MAX }
    }
}

/// How far times can be trusted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clocks {
    pub(super) tolerances: Tolerances,
    /// All times are of one clock without noise, so that even the order of what happens at one instant is known.
    pub(super) exact: bool,
    /// The order of launches is that of the operations, whatever the times.
    pub(super) ordered: bool,
}

/// The instant at which the last of several things has happened, some seen on the host's clock and some on the GPU's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct When {
    pub(super) host: Option<Stamp>,
    pub(super) gpu: Option<Stamp>,
}

impl When {
    pub(super) const fn on_host(stamp: Stamp) -> Self {
        Self { host: Some(stamp), gpu: None }
    }

    pub(super) const fn on_gpu(stamp: Stamp) -> Self {
        Self { host: None, gpu: Some(stamp) }
    }

    /// When both have happened.
    pub(super) fn and(self, other: Self) -> Self {
        Self { host: self.host.max(other.host), gpu: self.gpu.max(other.gpu) }
    }

    /// The later of its times, as if the clocks agreed.
    pub(super) fn latest(&self) -> LogTime {
        self.latest_on_gpu(0)
    }

    /// The latest time on the GPU's clock that this can mean, if the clocks are `apart` \[ns\].
    pub(super) fn latest_on_gpu(&self, apart: i64) -> LogTime {
        let host = self.host.map_or(LogTime::MIN, |stamp| stamp.at.saturating_add(apart));
        host.max(self.gpu.map_or(LogTime::MIN, |stamp| stamp.at))
    }

    /// The earliest time on the GPU's clock that this can mean.
    pub(super) fn earliest_on_gpu(&self, tolerances: &Tolerances) -> LogTime {
        let host = self.host.map_or(LogTime::MIN, |stamp| stamp.at.saturating_sub(tolerances.across_clocks_ns));
        host.max(self.gpu.map_or(LogTime::MIN, |stamp| stamp.at.saturating_sub(tolerances.one_clock_ns)))
    }
}

impl Clocks {
    /// Whether `one` came before `other` whatever the clocks did within the tolerances.
    pub(super) fn surely_before(&self, one: &When, other: &When) -> bool {
        let Tolerances { one_clock_ns, across_clocks_ns } = self.tolerances;
        let before = |one: Option<Stamp>, same_clock: Option<Stamp>, other_clock: Option<Stamp>| {
            let Some(one) = one else { return true };
            same_clock.is_some_and(|other| self.surely(one, other, one_clock_ns))
                || other_clock.is_some_and(|other| self.surely(one, other, across_clocks_ns))
        };
        before(one.host, other.host, other.gpu) && before(one.gpu, other.gpu, other.host)
    }

    fn surely(&self, one: Stamp, other: Stamp, tolerance: i64) -> bool {
        other.at.since(one.at) > tolerance || (self.exact && one.at == other.at && one.rank < other.rank)
    }
}

/// When an operation had completed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completion {
    pub(super) lo: When,
    pub(super) hi: Option<When>,
}

impl Completion {
    /// When both have.
    pub(super) fn and(self, other: &Self) -> Self {
        Self { lo: self.lo.and(other.lo), hi: self.hi.zip(other.hi).map(|(one, other)| one.and(other)) }
    }
}

/// The last of several operations to complete, and when all of them had.
type Last = (usize, Completion);

/// Both together; of two that complete at once `other` is the last.
fn later(one: Option<Last>, other: Last) -> Last {
    let Some((before, completion)) = one else { return other };
    let last = if other.1.lo.latest() >= completion.lo.latest() { other.0 } else { before };
    (last, completion.and(&other.1))
}

/// Operations that what is launched later may have to wait for: those of one side of N1 and N2, the NULL stream or the
/// blocking streams, or those of a stream that several threads use.
#[derive(Default)]
pub(super) struct Launches {
    /// Latest launch, and by then: all completed, and which of them was the last.
    launched: Vec<(LogTime, Last)>,
    /// Earliest launches of all operations, sorted, later ones too.
    earliest: Vec<LogTime>,
    /// The same of each thread by itself, whose launches have an order whatever their times.
    threads: BTreeMap<usize, OwnLaunches>,
}

#[derive(Default)]
struct OwnLaunches {
    last: Option<Last>,
    /// Latest launches of those launched so far, in their order.
    latest: Vec<LogTime>,
    /// Earliest launches, later ones too, in their order.
    earliest: Vec<LogTime>,
}

impl Launches {
    /// Of all these operations, which are in launch order.
    pub(super) fn of<'a>(operations: impl Iterator<Item = &'a ObservedOperation>) -> Self {
        let mut all = Self::default();
        for operation in operations {
            all.earliest.push(operation.launched_ns[0]);
            all.threads.entry(operation.thread).or_default().earliest.push(operation.launched_ns[0]);
        }
        all.earliest.sort_unstable();
        all
    }

    /// How many threads launch them.
    pub(super) fn threads(&self) -> usize {
        self.threads.len()
    }

    pub(super) fn push(&mut self, operation: &ObservedOperation, index: usize, completion: Completion) {
        let last = later(self.launched.last().map(|(_, last)| *last), (index, completion));
        self.launched.push((operation.launched_ns[1], last));
        let own = self.threads.entry(operation.thread).or_default();
        own.last = Some(later(own.last, (index, completion)));
        own.latest.push(operation.launched_ns[1]);
    }

    /// What was surely launched before; and whether there is more of which that cannot be told.
    pub(super) fn before(&self, operation: &ObservedOperation, clocks: &Clocks) -> (Option<Last>, bool) {
        if clocks.ordered {
            return (self.launched.last().map(|(_, last)| *last), false);
        }
        let tolerance = clocks.tolerances.one_clock_ns;
        let [earliest, latest] = operation.launched_ns;
        let is_before = |other: LogTime| other.saturating_add(tolerance) < earliest;
        let may_be = |other: &LogTime| *other <= latest.saturating_add(tolerance);
        let surely = self.launched.partition_point(|(other, _)| is_before(*other));
        let perhaps = self.earliest.partition_point(may_be);
        let last = surely.checked_sub(1).and_then(|last| self.launched.get(last)).map(|(_, last)| *last);
        let Some(own) = self.threads.get(&operation.thread) else { return (last, perhaps > surely) };
        // What the thread itself launches is known to be before or after.
        let own_surely = own.latest.partition_point(|other| is_before(*other));
        let own_perhaps = own.earliest.partition_point(may_be);
        let all = own.last.map(|own| later(last, own)).or(last);
        (all, perhaps - own_perhaps > surely - own_surely)
    }
}

/// The hardware channels that several streams use, and what has gone on through them: what is submitted to one goes on
/// in that order.
#[derive(Default)]
pub(super) struct Channels {
    /// The channel of each stream, if it shares one.
    of_stream: Vec<Option<usize>>,
    /// What joined each last, and when all that joined it so far had gone on.
    last: BTreeMap<usize, (usize, Completion)>,
}

impl Channels {
    /// Streams are dealt to those of their process, or green context that has work queues of its own, in turn.
    pub(super) fn of(observed: &ObservedRun) -> Self {
        let device = &observed.device;
        if device.channel_order != ChannelOrder::Submission {
            return Self::default();
        }
        let mut used = vec![false; observed.streams.len()];
        for operation in observed.operations.iter().filter(|operation| joins(&operation.work)) {
            if let Some(used) = used.get_mut(operation.stream) {
                *used = true;
            }
        }
        let mut dealt: BTreeMap<_, usize> = BTreeMap::new();
        // Streams of each channel that are used, by whose channels these are, and which of them it is.
        let mut users: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, stream) in observed.streams.iter().enumerate() {
            let Some(all) = stream.work_queues.or(device.channels) else { continue };
            let pool = (stream.process, stream.green_context.filter(|_| stream.work_queues.is_some()));
            let before = dealt.entry(pool).or_default();
            users.entry((pool, *before % all.max(1) as usize)).or_default().extend(used[number].then_some(number));
            *before += 1;
        }
        let mut of_stream = vec![None; observed.streams.len()];
        for (channel, streams) in users.into_values().enumerate().filter(|(_, streams)| streams.len() > 1) {
            for stream in streams {
                of_stream[stream] = Some(channel);
            }
        }
        Self { of_stream, last: BTreeMap::new() }
    }

    /// The channel through which something goes, if its stream shares one.
    pub(super) fn shared_by(&self, stream: usize, work: &ObservedWork) -> Option<usize> {
        self.of_stream.get(stream).copied().flatten().filter(|_| joins(work))
    }

    /// What joined a channel last, and when that and all ahead of it had gone on.
    pub(super) fn ahead(&self, channel: usize) -> Option<(usize, Completion)> {
        self.last.get(&channel).copied()
    }

    /// The next in a channel goes on then, if all ahead of it have.
    pub(super) fn join(&mut self, channel: usize, index: usize, goes_on: Completion) {
        let before = self.ahead(channel);
        let all = before.map_or(goes_on, |(_, before)| goes_on.and(&before));
        self.last.insert(channel, (index, all));
    }
}

/// Kernels and waits for events go through a channel.
fn joins(work: &ObservedWork) -> bool {
    match work {
        ObservedWork::Kernel(_) | ObservedWork::Wait(_) => true,
        ObservedWork::Value(value) => value.waits,
        _ => false,
    }
}
