//! The thesis' task model, section 3.1.

use thiserror::Error;

use crate::time::Duration;

/// A result past the end of representable time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a kernel would finish after 2^64 ns")]
pub struct TimeOverflow;

/// A task τ = {T, C, g, b} (Eq. 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct KernelTask {
    /// T: period, which is the deadline too \[ns\].
    pub period: Duration,
    /// C: how long one block runs, at worst \[ns\].
    pub block_time: Duration,
    /// g: blocks of the grid.
    pub blocks: u32,
    /// b: threads of one block.
    pub threads: u32,
}

impl KernelTask {
    /// u = C g b / T \[threads\]: how many threads the task keeps busy on average (Eq. 3.3). `None` if T is zero.
    pub(crate) fn utilization(&self) -> Option<f64> {
        let work = self.block_time.as_ns() as f64 * f64::from(self.blocks) * f64::from(self.threads);
        (self.period > Duration::ZERO).then(|| work / self.period.as_ns() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utilization_of_the_example_of_section_3_5_by_hand() {
        let task = |c, blocks| KernelTask {
            period: Duration::from_ns(15),
            block_time: Duration::from_ns(c),
            blocks,
            threads: 512,
        };
        let tasks = [task(4, 2), task(6, 7), task(6, 2), task(5, 5)];
        // 512 / 15 * (8 + 42 + 12 + 25)
        let total: f64 = tasks.iter().map(|task| task.utilization().unwrap()).sum();
        assert!((total - 512.0 * 87.0 / 15.0).abs() < 1e-9);
        assert_eq!(KernelTask { period: Duration::ZERO, ..tasks[0] }.utilization(), None);
    }
}
