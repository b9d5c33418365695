//! Two profiles side by side, as recorded.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Activity;
use crate::profile::{GpuProfile, GpuProfileError};
use crate::statistics::upper_median;

/// What one GPU did in each of two profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileComparison {
    /// Their files.
    pub files: [String; 2],
    /// What the first did.
    pub first: Activity,
    /// What the second did.
    pub second: Activity,
    /// Kernels by name.
    pub kernels: Vec<KernelChange>,
}

/// The launches of the kernels of one name in both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelChange {
    /// Name of the function.
    pub name: Arc<str>,
    /// How many.
    pub launches: [u64; 2],
    /// Sum of their durations \[ns\].
    pub total_ns: [u64; 2],
    /// Median of their durations \[ns\]; 0 of none.
    pub median_ns: [u64; 2],
}

impl KernelChange {
    /// Whether both sides are the same.
    pub fn is_equal(&self) -> bool {
        [self.launches, self.total_ns, self.median_ns].iter().all(|[first, second]| first == second)
    }

    /// By how much longer they take in the second \[ns\].
    pub fn change_ns(&self) -> i128 {
        i128::from(self.total_ns[1]) - i128::from(self.total_ns[0])
    }
}

impl ProfileComparison {
    /// Of a GPU of each profile: that number, or the one that runs most kernels.
    ///
    /// # Errors
    /// [`GpuProfileError`] if one of them has no such GPU.
    pub fn new(profiles: [&GpuProfile; 2], gpu: Option<u32>) -> Result<Self, GpuProfileError> {
        let gpus = [profiles[0].choose_gpu(gpu)?.0, profiles[1].choose_gpu(gpu)?.0];
        let mut durations: BTreeMap<&Arc<str>, [Vec<u64>; 2]> = BTreeMap::new();
        for (side, (profile, gpu)) in profiles.iter().zip(gpus).enumerate() {
            for operation in profile.operations.iter().filter(|one| profile.gpu_of(one.stream) == gpu) {
                if let Some(kernel) = operation.kernel() {
                    durations.entry(profile.name_of(kernel)).or_default()[side].push(operation.duration_ns);
                }
            }
        }
        let kernels = durations.into_iter().map(|(name, mut durations)| {
            for durations in &mut durations {
                durations.sort_unstable();
            }
            let each = |value: fn(&[u64]) -> u64| [value(&durations[0]), value(&durations[1])];
            KernelChange {
                name: Arc::clone(name),
                launches: each(|durations| durations.len() as u64),
                total_ns: each(|durations| durations.iter().sum()),
                median_ns: each(|durations| upper_median(durations).unwrap_or(0)),
            }
        });
        Ok(Self {
            files: profiles.map(|profile| profile.file.clone()),
            first: Activity::recorded(profiles[0], gpus[0]),
            second: Activity::recorded(profiles[1], gpus[1]),
            kernels: kernels.collect(),
        })
    }
}
