//! By when each job of a stream or host should have finished.

use crate::json::{Node, Object, Problem};
use crate::time::Duration;

/// By when each job should have finished, counted from its release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Deadline {
    /// After its period; never where there is no period. So it is where nothing is said.
    #[default]
    Period,
    /// After this time.
    After(Duration),
    /// Never, also with a period.
    Never,
}

impl Deadline {
    /// How [`Never`](Self::Never) is written.
    pub const NEVER: &str = "none";

    /// Out of `40 ms`, or `none`.
    ///
    /// # Errors
    /// What was expected instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == Self::NEVER {
            return Ok(Self::Never);
        }
        match Duration::parse(text) {
            Ok(Duration::ZERO) => Err(format!("expected a time above zero, or {:?}", Self::NEVER)),
            Ok(time) => Ok(Self::After(time)),
            Err(error) => Err(format!("{error}; or {:?} for no deadline", Self::NEVER)),
        }
    }

    /// Out of a time above zero, or `"none"`.
    pub(crate) fn read(node: Node<'_>) -> Result<Self, Problem> {
        if node.string().is_ok_and(|text| text == Self::NEVER) {
            return Ok(Self::Never);
        }
        match node.time()? {
            Duration::ZERO => Err(node.expected("a time of at least 1 ns, or \"none\"")),
            time => Ok(Self::After(time)),
        }
    }

    pub(super) fn of(entry: &mut Object<'_>) -> Result<Self, Problem> {
        Ok(entry.optional("deadline")?.map(Self::read).transpose()?.unwrap_or_default())
    }

    /// The time from a job's release to its deadline, of what has this period; `None`: the job has no deadline.
    pub fn with_period(self, period: Option<Duration>) -> Option<Duration> {
        match self {
            Self::Period => period.filter(|period| *period > Duration::ZERO),
            Self::After(time) => Some(time),
            Self::Never => None,
        }
    }
}

impl From<Option<Duration>> for Deadline {
    /// A time, or never.
    fn from(time: Option<Duration>) -> Self {
        time.map_or(Self::Never, Self::After)
    }
}
