//! Hosts of three published systems.
//!
//! | what | where |
//! | --- | --- |
//! | applications, under GPU-EvR and the schedulers it is compared with | `applications/` |
//! | real-time tasks of one kernel each | `real_time/` |
//! | tasks with CPU and GPU segments | `segments/` |

mod applications;
mod real_time;
mod segments;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub use applications::usage_sums::UsageDetail;
pub use applications::{Alone, ScheduleError, Scheduler, gpu_evr};
pub use real_time::grid::GridError;
pub use real_time::jobs::{Policy, TaskJob};
pub use real_time::{RunOptions, Strategy, TaskRun, TaskRunError, run_tasks};
pub use segments::{CoreRun, CoreUse, SegmentJob, SegmentRun, SegmentRunError, SegmentRunOptions, run_segment_tasks};

/// A random delay of up to half a period for each gap, from a stream of random numbers of each task's own.
#[derive(Debug)]
struct SporadicDelays(Vec<ChaCha8Rng>);

impl SporadicDelays {
    fn new(seed: u64, tasks: usize) -> Self {
        let of = |task| {
            let mut numbers = ChaCha8Rng::seed_from_u64(seed);
            numbers.set_stream(task);
            numbers
        };
        Self((0..tasks as u64).map(of).collect())
    }

    /// The next delay of a task of that period, in the same unit.
    fn next(&mut self, task: usize, period: u64) -> u64 {
        self.0[task].random_range(0..=period / 2)
    }
}
