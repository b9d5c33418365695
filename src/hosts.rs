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

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::effort::Progress;
use crate::gpu::{GpuEvent, GpuInterface, Host};

pub use applications::usage_sums::UsageDetail;
pub use applications::{ScheduleError, Scheduler, gpu_evr};
pub use program::long_run::{AnyLength, HeldAtMost, LongRun, simulate_any_length};
pub(crate) use program::long_run::{Need, simulate_summed};
pub use program::simulate::least_work;
pub use program::{LaunchOrder, ProgramError, ProgramHost, SimulateOptions, simulate, simulate_with};
pub(crate) use program::{register_work, simulate_placed, trace_on};
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

/// Another host, and the instant \[ns\] that its run has come to.
struct Timed<'w, H> {
    host: H,
    reached: Progress<'w>,
}

impl<H: Host> Host for Timed<'_, H> {
    type Error = H::Error;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), H::Error> {
        self.host.start(gpu)
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        self.host.on_event(event, gpu);
    }

    fn on_wake(&mut self, token: u64) {
        self.host.on_wake(token);
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), H::Error> {
        self.reached.reach(gpu.now().as_ns());
        self.host.act(gpu)
    }
}
