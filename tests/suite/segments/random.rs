//! Small random sets, and random runs of them.

use gpusched::tasks::segments::{GpuSegment, GpuSharing, SegmentTask, SegmentTaskSet, TaskSegment};
use gpusched::time::Duration;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::plain::Run;

/// The set of this number: one to three cores, two to five tasks, times of a few ticks.
pub(crate) fn small_set(number: u64) -> SegmentTaskSet {
    let mut numbers = ChaCha8Rng::seed_from_u64(number);
    let cpus = numbers.random_range(1..=3);
    let time_slice = numbers.random_range(1..=4);
    let gpu = GpuSharing {
        time_slice: Duration::from_ns(time_slice),
        switch_cost: Duration::from_ns(numbers.random_range(0..=time_slice.min(2))),
        update_cost: Duration::from_ns(numbers.random_range(0..=2)),
        channel_reset: Duration::ZERO,
    };
    let count = numbers.random_range(2..=5);
    let best_effort = numbers.random_bool(0.3);
    // Long periods for some, so that bounds exist and jobs of others come often.
    let spread = numbers.random_range(1..=4);
    let tasks = (0..count).map(|index| {
        let gpu_segments = if index == 0 { numbers.random_range(1..=2) } else { numbers.random_range(0..=2) };
        let mut segments = vec![TaskSegment::Cpu(Duration::from_ns(numbers.random_range(0..=3)))];
        for _ in 0..gpu_segments {
            let misc = Duration::from_ns(numbers.random_range(0..=2));
            let exec = Duration::from_ns(numbers.random_range(1..=5));
            segments.push(TaskSegment::Gpu(GpuSegment { misc, exec }));
            segments.push(TaskSegment::Cpu(Duration::from_ns(numbers.random_range(0..=2))));
        }
        if gpu_segments == 0 {
            segments = vec![TaskSegment::Cpu(Duration::from_ns(numbers.random_range(1..=6)))];
        }
        let period = numbers.random_range(15..=30 * spread);
        SegmentTask {
            name: format!("tau{}", index + 1).into(),
            cpu: numbers.random_range(0..cpus),
            period: Duration::from_ns(period),
            deadline: Duration::from_ns(period),
            priority: (index + 1 < count || !best_effort).then_some(index),
            segments,
            offset: Duration::ZERO,
            sporadic: false,
            has_high_level: false,
        }
    });
    let mut tasks: Vec<SegmentTask> = tasks.collect();
    // Who uses the GPU for certain should not always be the most urgent.
    let other = numbers.random_range(0..tasks.len());
    let (one, two) = (tasks[0].segments.clone(), tasks[other].segments.clone());
    (tasks[0].segments, tasks[other].segments) = (two, one);
    SegmentTaskSet { cpus, gpu, tasks }
}

/// Random releases and lengths.
pub(crate) struct RandomRun {
    numbers: ChaCha8Rng,
    periods: Vec<u64>,
    last: Vec<u64>,
    /// Of lengths that are the longest, and of gaps that are the shortest.
    share: f64,
}

impl RandomRun {
    pub(crate) fn new(set: &SegmentTaskSet, number: u64) -> Self {
        let mut numbers = ChaCha8Rng::seed_from_u64(number);
        let share = [0.5, 0.8, 1.0][numbers.random_range(0..3)];
        let periods: Vec<u64> = set.tasks.iter().map(|task| task.period.as_ns()).collect();
        Self { numbers, last: vec![0; periods.len()], periods, share }
    }
}

impl Run for RandomRun {
    fn release(&mut self, task: usize, job: usize) -> Option<u64> {
        self.last[task] = if job == 0 {
            self.numbers.random_range(0..=self.periods[task].min(20))
        } else {
            let late = if self.numbers.random_bool(self.share) { 0 } else { self.numbers.random_range(0..10) };
            self.last[task] + self.periods[task] + late
        };
        Some(self.last[task])
    }

    fn length(&mut self, longest: u64, least: u64) -> u64 {
        if longest <= least || self.numbers.random_bool(self.share) {
            return longest;
        }
        self.numbers.random_range(least..=longest)
    }
}
