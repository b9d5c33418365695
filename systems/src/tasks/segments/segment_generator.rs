//! Random sets of tasks with segments (Wang, Liu, Wong and Kim, ECRTS 2024, section 7.1, Table 3).

use std::ops::RangeInclusive;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::super::utilizations::uunifast;
use super::segment_task_set::{GpuSegment, GpuSharing, SegmentTask, SegmentTaskSet, TaskSegment};
use crate::named::named;
use crate::time::Duration;

/// How sets are drawn, where the paper and what its authors published differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentSets {
    /// As the paper says: shares by `UUniFast`, tasks given to cores by worst fit, the largest utilization first.
    Printed,
    /// As the published generator does (`rtenlab/gcaps-super-repo`, `analysis/taskset_gen.py`), with which Fig. 8 was
    /// made: of what is left, each share but the last takes the part that `UUniFast` leaves for the others, so that the
    /// first is nearly all; a task's utilization is at least 0.01; tasks stay on the core for which they are drawn.
    Published,
}

named! {
    /// The parameters of ECRTS 2024.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SegmentPreset: ALL, from_name {
        /// Those that section 7.1 and Table 3 state.
        Paper = "ecrts2024-paper",
        /// Those of the published experiments: the sets of the published generator, and a slice of 1 ms
        /// (`analysis/default_driver.py`, L) where the paper has 1024 us.
        Artefact = "ecrts2024-artefact",
    }
}

impl SegmentPreset {
    /// What is drawn.
    pub fn generator(self) -> SegmentGenerator {
        let mut generator = SegmentGenerator::ecrts_2024();
        if self == Self::Artefact {
            generator.sets = SegmentSets::Published;
            generator.gpu.time_slice = Duration::from_ns(1_000_000);
        }
        generator
    }
}

/// A distribution of sets: what it draws is uniform within the ranges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SegmentGenerator {
    /// Where the paper and what its authors published differ.
    pub sets: SegmentSets,
    /// Cores.
    pub cpus: u32,
    /// Tasks drawn for each core.
    pub tasks_per_cpu: RangeInclusive<u32>,
    /// Instead: so many tasks, each with a utilization from 0.05 to 0.3, or as published of 0.05, 0.1, 0.15, 0.2 or
    /// 0.25; they are given to cores by worst fit in either case, as published in the order in which they are drawn.
    pub tasks: Option<u32>,
    /// Share of tasks that use the GPU \[thousandths\].
    pub gpu_tasks_permille: RangeInclusive<u32>,
    /// Utilization of the tasks drawn for a core, CPU and GPU segments together \[thousandths\].
    pub utilization_permille: RangeInclusive<u32>,
    /// Periods \[ms\].
    pub period_ms: RangeInclusive<u64>,
    /// Whether only the shortest period and those that are two, four, eight ... times as long are drawn.
    pub harmonic_periods: bool,
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
    pub fn ecrts_2024() -> Self {
        Self {
            sets: SegmentSets::Printed,
            cpus: 4,
            tasks_per_cpu: 3..=6,
            tasks: None,
            gpu_tasks_permille: 400..=600,
            utilization_permille: 400..=600,
            period_ms: 30..=500,
            harmonic_periods: false,
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

    /// Set number `index` under `seed`, and nothing else; priorities are rate-monotonic.
    pub fn sample(&self, seed: u64, index: u64) -> SegmentTaskSet {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        numbers.set_stream(index);
        let utilizations = self.utilizations(&mut numbers);
        let mut drawn: Vec<(f64, SegmentTask)> =
            utilizations.into_iter().map(|(cpu, share)| (share, self.task(cpu, share, &mut numbers))).collect();
        if self.sets == SegmentSets::Printed {
            drawn.sort_by(|one, other| other.0.total_cmp(&one.0));
        }
        if self.sets == SegmentSets::Printed || self.tasks.is_some() {
            self.give_to_cores(&mut drawn);
        }
        let mut tasks: Vec<SegmentTask> = drawn.into_iter().map(|(_, task)| task).collect();
        let best_effort = tasks.len() * self.best_effort_permille as usize / 1000;
        for place in 0..best_effort {
            // A random task of those left comes to the front.
            let chosen = numbers.random_range(place..tasks.len());
            tasks.swap(place, chosen);
        }
        crate::sorted::sort_by_key(&mut tasks[best_effort..], |task| task.period);
        for (rank, task) in tasks[best_effort..].iter_mut().enumerate() {
            task.priority = Some(rank as u64);
        }
        for (number, task) in tasks.iter_mut().enumerate() {
            task.name = format!("tau{}", number + 1).into();
        }
        SegmentTaskSet { cpus: self.cpus, gpu: self.gpu, tasks }
    }

    /// By worst fit, in this order.
    fn give_to_cores(&self, tasks: &mut [(f64, SegmentTask)]) {
        let mut loads = vec![0.0_f64; self.cpus as usize];
        for (share, task) in tasks {
            let least = (0_u32..).zip(&loads).min_by(|one, other| one.1.total_cmp(other.1));
            task.cpu = least.map_or(0, |(cpu, _)| cpu);
            if let Some(load) = loads.get_mut(task.cpu as usize) {
                *load += *share;
            }
        }
    }

    /// For each task, the core for which it is drawn, and its utilization.
    fn utilizations(&self, numbers: &mut ChaCha8Rng) -> Vec<(u32, f64)> {
        if let Some(tasks) = self.tasks {
            let one = |numbers: &mut ChaCha8Rng| match self.sets {
                SegmentSets::Printed => numbers.random_range(0.05..=0.3),
                SegmentSets::Published => f64::from(numbers.random_range(1..=5)) / 20.0,
            };
            return (0..tasks).map(|_| (0, one(numbers))).collect();
        }
        let mut all = Vec::new();
        for cpu in 0..self.cpus {
            let count = numbers.random_range(self.tasks_per_cpu.clone());
            let total = permille(&self.utilization_permille, numbers);
            let shares = self.shares(count as usize, total, numbers).into_iter();
            all.extend(shares.map(|share| match self.sets {
                SegmentSets::Printed => (cpu, share),
                SegmentSets::Published => (cpu, share.max(0.01)),
            }));
        }
        all
    }

    /// `total` divided into `n` shares.
    fn shares(&self, n: usize, total: f64, numbers: &mut ChaCha8Rng) -> Vec<f64> {
        if self.sets == SegmentSets::Printed {
            return uunifast(n, total, numbers);
        }
        let mut rest = total;
        let mut shares: Vec<f64> = Vec::with_capacity(n);
        for left in (1..n).rev() {
            let share = rest * numbers.random::<f64>().powf(1.0 / left as f64);
            shares.push(share);
            rest -= share;
        }
        if n > 0 {
            shares.push(rest);
        }
        shares.shuffle(numbers);
        shares
    }

    /// A period \[ms\].
    fn period(&self, numbers: &mut ChaCha8Rng) -> u64 {
        if !self.harmonic_periods {
            return numbers.random_range(self.period_ms.clone());
        }
        let (shortest, longest) = (*self.period_ms.start(), *self.period_ms.end());
        let doublings = (longest / shortest.max(1)).checked_ilog2().unwrap_or(0);
        shortest << numbers.random_range(0..=doublings)
    }

    /// A task without a priority and a name.
    fn task(&self, cpu: u32, utilization: f64, numbers: &mut ChaCha8Rng) -> SegmentTask {
        let period = self.period(numbers) * 1_000_000;
        let total = utilization * period as f64;
        let uses_gpu = numbers.random::<f64>() < permille(&self.gpu_tasks_permille, numbers);
        let ratio = if uses_gpu { permille(&self.gpu_to_cpu_permille, numbers) } else { 0.0 };
        let on_cpu = total / (1.0 + ratio);
        let count = if uses_gpu { numbers.random_range(self.gpu_segments.clone()) } else { 0 };
        let gpu = self.shares(count, total - on_cpu, numbers);
        let mut parts = self.shares(count + 1, on_cpu, numbers).into_iter();
        let mut segments = vec![TaskSegment::Cpu(whole(parts.next().unwrap_or(0.0)).max(Duration::from_ns(1)))];
        for (length, part) in gpu.into_iter().zip(parts) {
            let misc = length * permille(&self.misc_permille, numbers);
            let exec = whole(length - misc).max(Duration::from_ns(1));
            segments.push(TaskSegment::Gpu(GpuSegment { misc: whole(misc), exec }));
            segments.push(TaskSegment::Cpu(whole(part)));
        }
        let period = Duration::from_ns(period);
        let name = "".into();
        SegmentTask {
            name,
            cpu,
            period,
            deadline: period,
            priority: None,
            segments,
            offset: Duration::ZERO,
            sporadic: false,
            has_high_level: false,
        }
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
