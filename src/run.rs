//! A run: a scenario and what happened, its jobs, states and response times, and how it differs from what was expected.

mod chains;
mod critical_path;
mod deadlines;
mod differences;
mod job_window;
mod jobs;
mod overload;
mod piece;
mod record;
mod responses;
mod rule_log;
mod state;
mod summary;
mod sums;

pub use chains::{ChainDelay, ChainRun};
pub(crate) use chains::{ChainTimes, LongestWay, goes_on};
pub use critical_path::{CriticalPath, OnPath, PathEnd, PathPart};
pub(crate) use deadlines::{DueJobs, due_jobs};
pub use differences::{Difference, NotComparable};
pub(crate) use differences::{against_expected, differing};
pub(crate) use job_window::JobWindow;
pub use jobs::{Backlog, DeadlineOutcome, Job, Jobs};
pub(crate) use overload::overload_notes;
pub(crate) use piece::RunPiece;
pub use record::{CoreSpan, HeldCall, IterationSpan, Run};
pub use responses::Responses;
pub(crate) use responses::each_response;
pub use rule_log::{Firing, rule_log};
pub use state::{
    EeQueue, QueueContent, Resident, Served, SmState, State, Suspended, SuspendedCopy, TurnState, Waiting,
};
pub(crate) use state::{TURN_WORDS, TurnWords, copy_title, title, title_of};
pub(crate) use summary::RuleSums;
pub use summary::{KernelSummary, Recorded, Summary};
pub(crate) use sums::{KernelTimes, kernel_responses};
pub use sums::{SmUtilization, Sums};
