//! Tables of task sets: tests, bounds and runs.

pub(super) mod curve_report;
pub(super) mod curve_rows;
pub(super) mod segment_bounds;
pub(super) mod segment_run;
pub(super) mod task_analysis;
pub(super) mod task_run;
