//! What the examiner's log files say beside times.

use std::sync::Arc;

use crate::time::Duration;

/// How the examiner would log a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExaminerLogs {
    /// Where it would put its logs.
    pub result_directory: String,
    /// One log per host thread, in the same order.
    pub(crate) benchmarks: Vec<BenchmarkLog>,
}

/// The name of a log that nobody wants, of which several benchmarks may have one.
pub(crate) const NOWHERE: &str = "/dev/null";

impl ExaminerLogs {
    /// The names of the log files that are written, relative to the result directory; in the order of the host threads.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        self.benchmarks.iter().filter(|log| log.is_wanted()).map(|log| &*log.file_name)
    }
}

impl BenchmarkLog {
    /// Whether it is written anywhere.
    pub(crate) fn is_wanted(&self) -> bool {
        &*self.file_name != NOWHERE
    }
}

/// The fixed part of one log file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BenchmarkLog {
    /// File name, relative to the result directory.
    pub file_name: Arc<str>,
    /// `name` of the file in which the benchmark stands (that of a `task_host` for those nested in it).
    pub scenario_name: Arc<str>,
    /// What the examiner calls this kind of benchmark.
    pub benchmark_name: &'static str,
    /// The benchmark's label, if it has one.
    pub label: Option<Arc<str>>,
    /// The benchmark's `data_size`.
    pub data_size: u64,
    /// The benchmark's release time.
    pub release_time: Duration,
    /// The benchmark's `cpu_core`, or 0.
    pub cpu_core: u32,
    /// Whether its log tells when the host saw each kernel complete.
    pub sync: KernelSync,
}

/// Whether the third of a kernel's `cuda_launch_times` is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KernelSync {
    /// The host synchronizes right after the kernel: the time at which that returned.
    AfterKernel,
    /// It does not: the examiner writes 0.
    None,
}
