//! A run: a scenario and what happened, its jobs, states and response times, and how it differs from what was expected.

mod deadlines;
mod differences;
mod jobs;
mod record;
mod responses;
mod rule_log;
mod state;
mod summary;

pub(crate) use deadlines::{DueJobs, due_jobs};
pub use differences::{Difference, NotComparable};
pub(crate) use differences::{against_expected, differing};
pub use jobs::{Backlog, DeadlineOutcome, Job, Jobs};
pub use record::{IterationSpan, Run};
pub use responses::Responses;
pub(crate) use responses::each_response;
pub use rule_log::{Firing, rule_log};
pub use state::{
    EeQueue, QueueContent, Resident, Served, SmState, State, Suspended, SuspendedCopy, TurnState, Waiting,
};
pub(crate) use state::{TURN_WORDS, TurnWords, title, title_of};
pub(crate) use summary::stream_index;
pub use summary::{KernelSummary, Recorded, SmUtilization, Summary};
