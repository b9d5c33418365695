//! How many of many random sets of tasks with segments each test accepts (ECRTS 2024, Fig. 8).

use rayon::prelude::*;

use crate::tasks::segments::{SegmentGenerator, SegmentTest, TaskBound};

/// What a panel of Fig. 8 varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fig8Panel {
    /// (a): the number of tasks.
    Tasks,
    /// (b): utilization per CPU.
    Utilization,
    /// (c): the number of CPUs.
    Cpus,
    /// (d): the share of tasks that use the GPU.
    GpuTasks,
    /// (e): G / C.
    GpuToCpu,
    /// (f): the share of tasks of best effort.
    BestEffort,
}

impl Fig8Panel {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Tasks, Self::Utilization, Self::Cpus, Self::GpuTasks, Self::GpuToCpu, Self::BestEffort];

    /// The name in options and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tasks => "tasks",
            Self::Utilization => "utilization",
            Self::Cpus => "cpus",
            Self::GpuTasks => "gpu-tasks",
            Self::GpuToCpu => "gpu-to-cpu",
            Self::BestEffort => "best-effort",
        }
    }

    /// The panel of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|panel| panel.name() == name)
    }

    /// The points of the paper: of numbers, or of shares in thousandths.
    #[must_use]
    pub fn points(self) -> Vec<u32> {
        match self {
            Self::Tasks => (2..=20).step_by(2).collect(),
            Self::Utilization => (100..=900).step_by(100).collect(),
            Self::Cpus => (1..=10).collect(),
            Self::GpuTasks => (100..=1000).step_by(100).collect(),
            Self::GpuToCpu => (0..=2000).step_by(200).collect(),
            Self::BestEffort => (0..=900).step_by(100).collect(),
        }
    }

    /// The value of a point as a table has it.
    #[must_use]
    pub fn value(self, point: u32) -> f64 {
        match self {
            Self::Tasks | Self::Cpus => f64::from(point),
            Self::Utilization | Self::GpuTasks | Self::GpuToCpu | Self::BestEffort => f64::from(point) / 1000.0,
        }
    }

    /// Table 3 with that value.
    #[must_use]
    pub fn generator(self, point: u32) -> SegmentGenerator {
        let mut generator = SegmentGenerator::ecrts_2024();
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

/// How many of `samples` sets each test accepts at a point; `done` is told of each set.
pub fn count_accepted_segments(
    panel: Fig8Panel,
    point: u32,
    tests: &[SegmentTest],
    seed: u64,
    samples: u64,
    done: impl Fn(u64) + Sync,
) -> Vec<u64> {
    let generator = panel.generator(point);
    let one = |sample: u64| {
        let set = generator.sample(seed, u64::from(point) << 40 | sample);
        let accepts = |test: &SegmentTest| {
            let is_accepted = |bound: &TaskBound| matches!(bound, TaskBound::Bounded(_) | TaskBound::BestEffort);
            u64::from(test.bounds(&set).iter().all(is_accepted))
        };
        let counts: Vec<u64> = tests.iter().map(accepts).collect();
        done(1);
        counts
    };
    let add = |one: Vec<u64>, other: Vec<u64>| one.iter().zip(&other).map(|(one, other)| one + other).collect();
    (0..samples).into_par_iter().map(one).reduce(|| vec![0; tests.len()], add)
}
