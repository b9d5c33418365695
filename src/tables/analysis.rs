//! Tables of what was concluded without running.

pub(super) mod bounded_responses;
pub(super) mod chains;
pub(super) mod columns;
pub(super) mod job_set_report;
pub(super) mod ladder_report;
pub(super) mod occupancy;
pub(super) mod report;
mod slack;
pub(super) mod sporadic_report;
pub(super) mod table;
pub(super) mod verdicts;
