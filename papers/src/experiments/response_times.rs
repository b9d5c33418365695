//! The measurements of RTNS 2020, section 7.2, as simulations on the TX2.

use crate::device::{BlockShape, Device};
use crate::effort::Progress;
use crate::hosts::{Policy, RunOptions, Strategy, TaskJob, TaskRunError, run_tasks};
use crate::tasks::{Allocation, Task, TaskKernel, TaskSet, TaskTime, Timing};
use crate::time::Instant;
use crate::workload::OperationId;

/// Blocks of the paper's kernel: "exactly 64 blocks, sufficiently to utilize all GPU resources" of a TX2, which holds
/// 2 x 32 blocks of up to 64 threads.
const BLOCKS: u32 = 64;
const THREADS: u32 = 64;
/// How long one block runs \[ns\]: ours, the paper does not say.
const BLOCK_TIME: TaskTime = TaskTime::from_units(1_000_000);

/// Response times of the most urgent of three tasks \[ns\], job by job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(hidden)]
pub struct Figure9 {
    /// In the multiple-streams strategy with fixed priorities.
    pub with_platform: Vec<u64>,
    /// With a stream per task and no scheduler.
    pub without_platform: Vec<u64>,
}

/// The kernels of Fig. 9: waves of 64 blocks, which is what makes a kernel use all of the GPU. The paper gives no
/// times; block times, periods (10, 15 and 25 ms, sporadic) and numbers of waves are ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Figure9Set {
    /// As in the paper, three tasks with the same kernel: five waves each.
    SameKernel,
    /// One, four and twelve waves, the most urgent task having the shortest.
    ThreeSizes,
}

impl Figure9Set {
    const fn waves(self) -> [u32; 3] {
        match self {
            Self::SameKernel => [5, 5, 5],
            Self::ThreeSizes => [1, 4, 12],
        }
    }
}

/// Shortest time between jobs of each task of Fig. 9.
const PERIODS_MS: [u64; 3] = [10, 15, 25];

/// One number of low-priority blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub struct Figure10Point {
    /// Blocks of the low-priority task; the high-priority one has 64.
    pub low_blocks: u32,
    /// From its first block's start to its end, alone \[ns\].
    pub alone_ns: u64,
    /// The same when the high-priority job arrives just after its start \[ns\].
    pub with_high_priority_ns: u64,
}

fn task(name: &str, priority: u64, blocks: u32, period: TaskTime) -> Task {
    let shape = BlockShape { threads: THREADS, ..BlockShape::default() };
    let wcet = u64::from(blocks.div_ceil(BLOCKS)) * BLOCK_TIME;
    Task {
        priority: Some(priority),
        kernel: Some(TaskKernel { blocks, shape, block_time: BLOCK_TIME }),
        ..Task::new(name, Timing { wcet, period, deadline: period }, BLOCK_TIME.units(), Allocation::All)
    }
}

fn set(tasks: Vec<Task>) -> TaskSet {
    TaskSet { sms: 2, tasks, reservations: None, priority_levels: TaskSet::PRIORITY_LEVELS }
}

fn options(device: &Device, strategy: Strategy, horizon: TaskTime, seed: u64) -> RunOptions {
    RunOptions {
        strategy,
        policy: Policy::Fp,
        horizon: Some(horizon),
        seed,
        synchronization: TaskTime::ZERO,
        device: device.clone(),
    }
}

/// Fig. 9: three tasks of different priorities whose kernels fill the GPU; response times of `jobs` jobs of the most
/// urgent one, with and without the platform, whose scheduler learns of completions up to `synchronization` later
/// \[ns\] (`hosts::RunOptions::synchronization`). `device` is to be a TX2.
///
/// # Errors
/// What the simulation refuses, on other devices.
#[doc(hidden)]
pub fn figure_9(
    device: &Device,
    tasks: Figure9Set,
    jobs: u32,
    synchronization: TaskTime,
    seed: u64,
) -> Result<Figure9, TaskRunError> {
    let tasks = tasks.waves().into_iter().zip(PERIODS_MS).zip(0..).map(|((waves, period), priority)| Task {
        sporadic: true,
        ..task(&format!("tau{}", priority + 1), priority, waves * BLOCKS, TaskTime::from_units(period * 1_000_000))
    });
    let set = set(tasks.collect());
    // Enough for the longest gaps.
    let horizon = u64::from(jobs) * TaskTime::from_units(15_000_000);
    let responses = |strategy, synchronization| {
        let run = run_tasks(
            &set,
            &RunOptions { synchronization, ..options(device, strategy, horizon, seed) },
            Progress::NONE,
        )?;
        let of_first = run.jobs.iter().filter(|job| job.task == 0).filter_map(TaskJob::response);
        Ok::<_, TaskRunError>(of_first.take(jobs as usize).map(TaskTime::units).collect())
    };
    Ok(Figure9 {
        with_platform: responses(Strategy::MultiStream, synchronization)?,
        without_platform: responses(Strategy::StreamPerTask, TaskTime::ZERO)?,
    })
}

/// Fig. 10: execution time of a low-priority job of 64 blocks and more, alone, and when a high-priority job of 64
/// blocks is submitted just after its start. `device` is to be a TX2.
///
/// # Errors
/// What the simulation refuses, on other devices.
#[doc(hidden)]
pub fn figure_10(device: &Device, low_blocks: &[u32]) -> Result<Vec<Figure10Point>, TaskRunError> {
    let execution = |blocks: u32, with_high: bool| {
        let period = 1_000 * u64::from(blocks.div_ceil(BLOCKS)) * BLOCK_TIME;
        let mut tasks = vec![task("low", 1, blocks, period)];
        if with_high {
            tasks.push(Task { offset: TaskTime::UNIT, ..task("high", 0, BLOCKS, period) });
        }
        let run = run_tasks(
            &set(tasks),
            &options(device, Strategy::MultiStream, TaskTime::from_units(2), 0),
            Progress::NONE,
        )?;
        // The low-priority job is the first to be launched.
        let blocks: Vec<_> = run.trace.block_runs(OperationId(0)).collect();
        let start = blocks.iter().map(|run| run.start).min().unwrap_or(Instant::ZERO);
        let end = blocks.iter().map(|run| run.end).max().unwrap_or(Instant::ZERO);
        Ok::<_, TaskRunError>(end.since(start).as_ns())
    };
    let point = |&low_blocks: &u32| {
        Ok(Figure10Point {
            low_blocks,
            alone_ns: execution(low_blocks, false)?,
            with_high_priority_ns: execution(low_blocks, true)?,
        })
    };
    low_blocks.iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tx2() -> Device {
        Device::builtin("tx2").expect("sound").expect("built in")
    }

    #[test]
    fn figure_10_a_preempted_low_priority_job_takes_longer_by_the_high_priority_one() {
        let points = figure_10(&tx2(), &[64, 128, 192]).expect("it runs");
        let values: Vec<_> = points.iter().map(|point| (point.alone_ns, point.with_high_priority_ns)).collect();
        // 1 ms a wave. With 64 blocks there is nothing left to preempt.
        assert_eq!(values, [(1_000_000, 1_000_000), (2_000_000, 3_000_000), (3_000_000, 4_000_000)]);
    }

    #[test]
    fn figure_9_the_platform_makes_response_times_of_the_most_urgent_task_smaller() {
        let mean = |list: &[u64]| list.iter().sum::<u64>() / list.len() as u64;
        for tasks in [Figure9Set::SameKernel, Figure9Set::ThreeSizes] {
            let figure = figure_9(&tx2(), tasks, 500, TaskTime::ZERO, 1).expect("it runs");
            assert_eq!((figure.with_platform.len(), figure.without_platform.len()), (500, 500));
            assert!(mean(&figure.with_platform) < mean(&figure.without_platform), "{tasks:?}");
            assert!(figure.with_platform.iter().max() < figure.without_platform.iter().max(), "{tasks:?}");
        }
    }
}
