//! Random sets of tasks with segments (Wang, Liu, Wong and Kim, ECRTS 2024, section 7.1, Table 3).

use std::ops::RangeInclusive;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::uunifast::uunifast;
use super::segment_task_set::{GpuSegment, GpuSharing, SegmentTask, SegmentTaskSet, TaskSegment};
use crate::time::Duration;

/// A distribution of sets: what it draws is uniform within the ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentGenerator {
    /// Cores.
    pub cpus: u32,
    /// Tasks drawn for each core.
    pub tasks_per_cpu: RangeInclusive<u32>,
    /// Instead: so many tasks, each with a utilization from 0.05 to 0.3.
    pub tasks: Option<u32>,
    /// Share of tasks that use the GPU \[thousandths\].
    pub gpu_tasks_permille: RangeInclusive<u32>,
    /// Utilization of the tasks drawn for a core, CPU and GPU segments together \[thousandths\].
    pub utilization_permille: RangeInclusive<u32>,
    /// Periods \[ms\].
    pub period_ms: RangeInclusive<u64>,
    /// GPU segments of a task that uses the GPU.
    pub gpu_segments: RangeInclusive<usize>,
    /// G / C \[thousandths\].
    pub gpu_to_cpu_permille: RangeInclusive<u32>,
    /// G^m / G \[thousandths\].
    pub misc_permille: RangeInclusive<u32>,
    /// Share of tasks of best effort \[thousandths\], rounded down to whole tasks.
    pub best_effort_permille: u32,
    /// What sharing the GPU costs.
    pub gpu: GpuSharing,
}

impl SegmentGenerator {
    /// Table 3, with the slice and the costs of section 7.1: L = 1024 us, θ = 200 us, ε = 1 ms.
    #[must_use]
    pub fn ecrts_2024() -> Self {
        Self {
            cpus: 4,
            tasks_per_cpu: 3..=6,
            tasks: None,
            gpu_tasks_permille: 400..=600,
            utilization_permille: 400..=600,
            period_ms: 30..=500,
            gpu_segments: 1..=3,
            gpu_to_cpu_permille: 200..=2000,
            misc_permille: 100..=300,
            best_effort_permille: 0,
            gpu: GpuSharing {
                time_slice: Duration::from_ns(1_024_000),
                switch_cost: Duration::from_ns(200_000),
                update_cost: Duration::from_ns(1_000_000),
                channel_reset: Duration::ZERO,
            },
        }
    }

    /// Set number `index` under `seed`, and nothing else: utilizations by `UUniFast`, rate-monotonic priorities, tasks
    /// given to cores by worst fit, the largest utilization first.
    #[must_use]
    pub fn sample(&self, seed: u64, index: u64) -> SegmentTaskSet {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        numbers.set_stream(index);
        let utilizations = self.utilizations(&mut numbers);
        let mut drawn: Vec<(f64, SegmentTask)> =
            utilizations.into_iter().map(|share| (share, self.task(share, &mut numbers))).collect();
        drawn.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut loads = vec![0.0_f64; self.cpus as usize];
        for (share, task) in &mut drawn {
            let least = (0_u32..).zip(&loads).min_by(|one, other| one.1.total_cmp(other.1));
            task.cpu = least.map_or(0, |(cpu, _)| cpu);
            if let Some(load) = loads.get_mut(task.cpu as usize) {
                *load += *share;
            }
        }
        let mut tasks: Vec<SegmentTask> = drawn.into_iter().map(|(_, task)| task).collect();
        let best_effort = tasks.len() * self.best_effort_permille as usize / 1000;
        for place in 0..best_effort {
            // A random task of those left comes to the front.
            let chosen = numbers.random_range(place..tasks.len());
            tasks.swap(place, chosen);
        }
        tasks[best_effort..].sort_by_key(|task| task.period);
        for (rank, task) in tasks[best_effort..].iter_mut().enumerate() {
            task.priority = Some(rank as u64);
        }
        for (number, task) in tasks.iter_mut().enumerate() {
            task.name = format!("tau{}", number + 1).into();
        }
        SegmentTaskSet { cpus: self.cpus, gpu: self.gpu, tasks }
    }

    fn utilizations(&self, numbers: &mut ChaCha8Rng) -> Vec<f64> {
        if let Some(tasks) = self.tasks {
            return (0..tasks).map(|_| numbers.random_range(0.05..=0.3)).collect();
        }
        let mut all = Vec::new();
        for _ in 0..self.cpus {
            let count = numbers.random_range(self.tasks_per_cpu.clone());
            let total = permille(&self.utilization_permille, numbers);
            all.extend(uunifast(count as usize, total, numbers));
        }
        all
    }

    /// A task without a core, a priority and a name.
    fn task(&self, utilization: f64, numbers: &mut ChaCha8Rng) -> SegmentTask {
        let period = numbers.random_range(self.period_ms.clone()) * 1_000_000;
        let total = utilization * period as f64;
        let uses_gpu = numbers.random::<f64>() < permille(&self.gpu_tasks_permille, numbers);
        let ratio = if uses_gpu { permille(&self.gpu_to_cpu_permille, numbers) } else { 0.0 };
        let cpu = total / (1.0 + ratio);
        let count = if uses_gpu { numbers.random_range(self.gpu_segments.clone()) } else { 0 };
        let gpu = uunifast(count, total - cpu, numbers);
        let mut parts = uunifast(count + 1, cpu, numbers).into_iter();
        let mut segments = vec![TaskSegment::Cpu(whole(parts.next().unwrap_or(0.0)).max(Duration::from_ns(1)))];
        for (length, part) in gpu.into_iter().zip(parts) {
            let misc = length * permille(&self.misc_permille, numbers);
            let exec = whole(length - misc).max(Duration::from_ns(1));
            segments.push(TaskSegment::Gpu(GpuSegment { misc: whole(misc), exec }));
            segments.push(TaskSegment::Cpu(whole(part)));
        }
        let period = Duration::from_ns(period);
        let name = "".into();
        SegmentTask { name, cpu: 0, period, deadline: period, priority: None, segments, has_high_level: false }
    }
}

fn permille(range: &RangeInclusive<u32>, numbers: &mut ChaCha8Rng) -> f64 {
    let (least, most) = (f64::from(*range.start()), f64::from(*range.end()));
    if least < most { numbers.random_range(least..=most) / 1000.0 } else { least / 1000.0 }
}

/// Rounded down to whole nanoseconds.
fn whole(ns: f64) -> Duration {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within a period of seconds, and cut at 0"
    )]
    Duration::from_ns(ns.max(0.0) as u64)
}
