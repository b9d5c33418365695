//! Programmatic dependent launch: a kernel that begins before the one before it in its stream has ended.

use std::fmt;

use crate::time::Duration;

/// A share of a block's run time, to 10^-9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share(u32);

/// All of it.
const WHOLE: u32 = 1_000_000_000;

impl Share {
    /// All of it.
    pub const ALL: Self = Self(WHOLE);

    /// So many parts of 10^9; `None` above that.
    pub const fn of_billion(parts: u32) -> Option<Self> {
        if parts <= WHOLE { Some(Self(parts)) } else { None }
    }

    /// That share of a time, rounded down to a nanosecond.
    pub fn of(self, time: Duration) -> Duration {
        let whole = u128::from(time.as_ns()) * u128::from(self.0) / u128::from(WHOLE);
        // No more than `time`.
        u64::try_from(whole).map_or(time, Duration::from_ns)
    }
}

/// As a decimal, as scenario files have it.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == WHOLE {
            return f.write_str("1");
        }
        let digits = format!("0.{:09}", self.0);
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// What a kernel has to do with programmatic dependent launch (PDL).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Programmatic {
    /// Where in its time each block triggers (`griddepcontrol.launch_dependents`), after its wait if that is not later;
    /// `None`: not before its end.
    pub trigger: Option<Share>,
    /// Where in its time each block waits (`griddepcontrol.wait`) until the kernel before it in its stream has ended.
    pub wait: Share,
    /// Whether it is launched with the attribute, so that it may begin once all blocks of the kernel before it in its
    /// stream have triggered.
    pub is_dependent: bool,
}

impl Programmatic {
    /// Neither triggers nor depends.
    pub const NONE: Self = Self { trigger: None, wait: Share::ALL, is_dependent: false };

    /// When a block triggers that began at 0, runs for `time` and stands at its wait for `stood`.
    pub(crate) fn triggers_after(&self, time: Duration, stood: Duration) -> Option<Duration> {
        let trigger = self.trigger?;
        let stood = if self.triggers_behind_wait(trigger) { stood } else { Duration::ZERO };
        Some(trigger.of(time) + stood)
    }

    fn triggers_behind_wait(&self, trigger: Share) -> bool {
        self.is_dependent && self.wait <= trigger
    }

    /// Whether a block that stands at its wait has yet to trigger.
    pub(crate) fn holds_its_trigger(&self) -> bool {
        self.trigger.is_some_and(|trigger| self.triggers_behind_wait(trigger))
    }
}

impl Default for Programmatic {
    fn default() -> Self {
        Self::NONE
    }
}
