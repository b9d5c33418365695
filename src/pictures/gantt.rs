//! What runs where over time, of applications, tasks and warps.

pub mod application_gantt;
pub(super) mod chunk_cycle;
pub(super) mod segment_gantt;
pub mod task_gantt;
mod task_lanes;
pub(super) mod warp_schedule;
