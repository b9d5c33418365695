//! Tasks with CPU segments and GPU segments on several cores: by when, at the latest, is a job done?
//!
//! The task model of Wang, Liu, Wong and Kim, "GCAPS: GPU Context-Aware Preemptive Priority-based Scheduling for
//! Real-Time Tasks", ECRTS 2024, section 4: partitioned fixed priorities, sporadic tasks with deadlines up to their
//! periods, each task a process with a GPU context of its own, waiting for the GPU suspended or busy. `docs/tasks.md`
//! states the model and proves the bounds.
//!
//! | [`SegmentTest`] | the GPU is shared by | what it bounds |
//! | --- | --- | --- |
//! | `RoundRobin` | time slices of equal contexts, the driver's default | response times, proven |
//! | `Gcaps` | priorities of the tasks, a driver call at both ends of each GPU segment | response times, proven |
//! | `RoundRobinOblivious`, `…Blocking`, `…Unified` | time slices, for tasks that suspend themselves | response times, proven |
//! | `Mpcp`, `FmlpPlus` | one lock, by priority or first come, first served | response times, proven |
//! | what is called "as printed" or "as published" | as above | what the paper prints, or its authors published: unsound, for comparison |

mod bounds;
mod gcaps;
mod locks;
mod segment_file;
mod segment_generator;
mod segment_task_set;
mod segment_test;
mod time_slices;

pub use bounds::{ResponseBounds, TaskBound};
pub(in crate::tasks) use segment_file::FORMAT;
pub use segment_generator::{SegmentGenerator, SegmentPreset, SegmentSets};
pub use segment_task_set::{GpuSegment, GpuSharing, GpuWait, SegmentTask, SegmentTaskSet, TaskSegment};
#[doc(hidden)]
pub use segment_test::Overload;
pub use segment_test::{GpuPolicy, SegmentTest};
pub(crate) use time_slices::drive_os_latency;

#[cfg(test)]
mod tests;
