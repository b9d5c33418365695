//! Hosts: everything that decides when work is submitted to the simulated GPU.

mod gang;
pub mod global_edf;
pub mod gpu_evr;
mod least_work;
mod multi_stream;
mod one_at_a_time;
pub mod plain_streams;
mod program;
pub mod real_time;
mod run_tasks;
mod scheduler;
mod segment_tasks;
mod single_stream;
mod sm_as_core;
mod sporadic_delays;
mod stream_per_task;
mod timed;
pub mod timegraph;
mod usage_sums;
mod whole_application;

pub use gang::Gang;
pub use least_work::{least_memory, least_operations};
pub use multi_stream::MultiStream;
pub use program::{
    LaunchOrder, ProgramError, ProgramHost, make_known, simulate, simulate_in_order, simulate_until_stopped,
    simulate_watched, simulate_with,
};
pub(crate) use program::{simulate_in_order_watched, simulate_placed};
pub use run_tasks::{RunOptions, Strategy, TaskRun, TaskRunError, run_tasks, run_tasks_watched};
pub use scheduler::{ScheduleError, Scheduler, run_applications, run_gpu_evr, usage_of_applications};
pub use segment_tasks::{
    CoreRun, CoreUse, SegmentJob, SegmentRun, SegmentRunError, SegmentRunOptions, run_segment_tasks,
    run_segment_tasks_watched,
};
pub use single_stream::SingleStream;
pub use sm_as_core::SmAsCore;
pub use stream_per_task::StreamPerTask;
pub use usage_sums::UsageDetail;

#[cfg(test)]
mod tests;
