//! Tables of one run.

mod any_run;
pub(super) mod blame;
pub(super) mod block_table;
pub(super) mod chains;
pub(super) mod context_turns;
mod critical_path;
pub(super) mod examiner_log;
mod held_calls;
pub(super) mod kernels;
pub(super) mod launches;
pub(super) mod report;
pub(super) mod responses;
pub(super) mod rule_log;
pub(super) mod runnable_times;
pub(super) mod state;
