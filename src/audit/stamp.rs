//! Points in time on one of two clocks, and when one surely came before another.

use super::options::Tolerances;
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
