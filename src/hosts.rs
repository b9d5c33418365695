//! Hosts: everything that decides when work is submitted to the simulated GPU.
//!
//! | what | where |
//! | --- | --- |
//! | the host threads of a scenario | `program/` |
//! | applications, under GPU-EvR and the schedulers it is compared with | `applications/` |
//! | real-time tasks of one kernel each | `real_time/` |
//! | tasks with CPU and GPU segments | `segments/` |

mod applications;
mod program;
mod real_time;
mod segments;
mod sporadic_delays;
mod timed;

pub use applications::gpu_evr;
pub use applications::scheduler::{ScheduleError, Scheduler};
pub use applications::usage_sums::UsageDetail;
pub use program::least_work::least_work;
pub use program::long_run::{AnyLength, HeldAtMost, LongRun, simulate_any_length};
pub(crate) use program::long_run::{Need, simulate_summed};
pub(crate) use program::register_work;
pub use program::{LaunchOrder, ProgramError, ProgramHost, SimulateOptions, simulate, simulate_with};
pub(crate) use program::{simulate_placed, trace_on};
pub use real_time::grid::GridError;
pub use real_time::job::TaskJob;
pub use real_time::ready_queue::Policy;
pub use real_time::run_tasks::{RunOptions, Strategy, TaskRun, TaskRunError, run_tasks};
pub use segments::{CoreRun, CoreUse, SegmentJob, SegmentRun, SegmentRunError, SegmentRunOptions, run_segment_tasks};
