//! Exit statuses of all commands.

use std::fmt::Write;
use std::process::ExitCode;

/// How a command ended, for whoever called it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    Done,
    No,
    Refused,
    Limited,
    Fault,
    Stopped,
}

impl ExitStatus {
    const ALL: [Self; 6] = [Self::Done, Self::No, Self::Refused, Self::Limited, Self::Fault, Self::Stopped];

    /// The number. A fault has that of `sysexits.h` for software (`EX_SOFTWARE`), and a stop that of a shell for what
    /// Ctrl-C ended.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::Refused => 2,
            Self::Limited => 3,
            Self::Fault => 70,
            Self::Stopped => 130,
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::No => "done, and what was to be checked does not hold (--check, audit)",
            Self::Refused => "a wrong option, a bad input, or an output that cannot be written",
            Self::Limited => "stopped by a limit: --max-time, --max-memory, --limits strict, ulimit -v",
            Self::Fault => "a fault of gpusched: a run is above a bound on all runs; please report it",
            Self::Stopped => "stopped by Ctrl-C or a signal to end",
        }
    }

    /// All of them, as help has them.
    pub(crate) fn help() -> String {
        let mut text = "Exit status:".to_owned();
        for status in Self::ALL {
            // Text takes whatever is written.
            let _ = write!(text, "\n  {:>3}  {}", status.code(), status.meaning());
        }
        text
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}
