//! Gantt charts of applications and tasks, demand against supply, and schedules of warps.

pub mod application_gantt;
mod demand_plot;
pub mod task_gantt;
mod task_lanes;
mod warp_schedule;

pub use demand_plot::demand_plot;
pub use task_lanes::segment_gantt;
#[doc(hidden)]
pub use task_lanes::{Vertex, chunk_cycle};
pub use warp_schedule::schedule_figure;
