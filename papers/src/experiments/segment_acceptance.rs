//! How many of many random sets of tasks with segments each test accepts (ECRTS 2024, Fig. 8).

use rayon::prelude::*;

use crate::named::named;
use crate::tasks::segments::{SegmentGenerator, SegmentPreset, SegmentTest, TaskBound};

named! {
    /// What the panels of Fig. 8 vary, from (a) to (f), in the words that stand at their axes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Fig8Panel: ALL, from_name, words {
        /// tasks
        Tasks = "tasks",
        /// utilization per CPU
        Utilization = "utilization",
        /// CPUs
        Cpus = "cpus",
        /// share of tasks that use the GPU
        GpuTasks = "gpu-tasks",
        /// G / C
        GpuToCpu = "gpu-to-cpu",
        /// share of tasks of best effort
        BestEffort = "best-effort",
    }
}

impl Fig8Panel {
    /// The points of a preset: of numbers, or of shares in thousandths. Of the paper those that it has, and those that
    /// its figure was computed at; of the artefact those alone (`analysis/experiments.py`).
    pub fn points(self, preset: SegmentPreset) -> Vec<u32> {
        let is_artefact = preset == SegmentPreset::Artefact;
        match self {
            Self::Utilization if is_artefact => (100..=1000).step_by(100).collect(),
            Self::Cpus if is_artefact => (1..=9).collect(),
            Self::GpuToCpu if is_artefact => (0..=1000).step_by(100).collect(),
            Self::BestEffort if is_artefact => (0..=800).step_by(100).collect(),
            Self::Tasks => (2..=20).step_by(2).collect(),
            Self::Utilization => (100..=900).step_by(100).collect(),
            Self::Cpus => (1..=10).collect(),
            Self::GpuTasks => (100..=1000).step_by(100).collect(),
            // The paper's labels, and what the published experiment computes instead: half of them.
            Self::GpuToCpu => (0..=2000).step_by(100).collect(),
            Self::BestEffort => (0..=900).step_by(100).collect(),
        }
    }

    /// The value of a point as a table has it.
    pub fn value(self, point: u32) -> f64 {
        match self {
            Self::Tasks | Self::Cpus => f64::from(point),
            Self::Utilization | Self::GpuTasks | Self::GpuToCpu | Self::BestEffort => f64::from(point) / 1000.0,
        }
    }

    /// The generator with that value.
    pub fn generator(self, base: &SegmentGenerator, point: u32) -> SegmentGenerator {
        let mut generator = base.clone();
        match self {
            Self::Tasks => generator.tasks = Some(point),
            Self::Utilization => generator.utilization_permille = point..=point,
            Self::Cpus => generator.cpus = point,
            Self::GpuTasks => generator.gpu_tasks_permille = point..=point,
            Self::GpuToCpu => generator.gpu_to_cpu_permille = point..=point,
            Self::BestEffort => {
                generator.best_effort_permille = point;
                generator.tasks_per_cpu = 6..=6;
            }
        }
        generator
    }
}

/// Acceptance against what a panel varies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentCurve {
    /// What varies.
    pub panel: Fig8Panel,
    /// How sets are drawn, but for what varies.
    pub base: SegmentGenerator,
    /// Of which preset the points are.
    pub preset: SegmentPreset,
    /// Task sets a point.
    pub samples: u64,
    /// Seed.
    pub seed: u64,
    /// The tests.
    pub tests: Vec<SegmentTest>,
}

/// One point of a curve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentCurvePoint {
    /// Where it is, as in [`Fig8Panel::points`].
    pub point: u32,
    /// Task sets drawn.
    pub samples: u64,
    /// How many each test accepts.
    pub accepted: Vec<(SegmentTest, u64)>,
}

impl SegmentCurvePoint {
    /// The share of the sets that a test accepts, if it is applied.
    pub fn ratio(&self, test: SegmentTest) -> Option<f64> {
        let count = self.accepted.iter().find(|(applied, _)| *applied == test).map(|(_, count)| *count)?;
        Some(count as f64 / self.samples.max(1) as f64)
    }
}

impl SegmentCurve {
    /// Draws the sets of a point, on the current rayon thread pool, whose number of threads changes nothing. Sample k
    /// of a point depends on the seed, the point and k only; `done` is told of each set.
    pub fn point(&self, point: u32, done: impl Fn(u64) + Sync) -> SegmentCurvePoint {
        let generator = self.panel.generator(&self.base, point);
        let one = |sample: u64| {
            let set = generator.sample(self.seed, u64::from(point) << 40 | sample);
            let accepts = |test: &SegmentTest| u64::from(test.bounds(&set).iter().all(TaskBound::is_accepted));
            let counts: Vec<u64> = self.tests.iter().map(accepts).collect();
            done(1);
            counts
        };
        let add = |one: Vec<u64>, other: Vec<u64>| one.iter().zip(&other).map(|(one, other)| one + other).collect();
        let counts = (0..self.samples).into_par_iter().map(one).reduce(|| vec![0; self.tests.len()], add);
        self.counted(point, &counts)
    }

    /// A point of this curve of which the counts are known, one for each test.
    pub fn counted(&self, point: u32, counts: &[u64]) -> SegmentCurvePoint {
        let accepted = self.tests.iter().copied().zip(counts.iter().copied()).collect();
        SegmentCurvePoint { point, samples: self.samples, accepted }
    }
}
