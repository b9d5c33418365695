//! What comes out of one simulated run, and of the runs of a point.

use std::fmt;

use super::tally::Tally;
use crate::run::{Run, Summary};
use crate::statistics::{Measure, Moments, PartsOfRuns, nearest_rank};
use crate::time::{Duration, Instant};
use crate::trace::OperationRecord;
use crate::workload::OperationKind;

/// How many counts a row begins with.
const COUNTS: usize = 4;
/// How many times follow them.
const TIMES: usize = 9;

/// One run in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Jobs, those that had not finished when the run ended, those with a deadline, and those that missed it.
    counts: [u64; COUNTS],
    /// Makespan; median, 95th and 99th percentile and maximum of the response times of jobs, then of kernels \[ns\].
    /// `None` where nothing finished, or for the makespan, where something did not.
    times: [Option<u64>; TIMES],
}

/// Names of the times, in seconds, as they are summed up.
const TIME_NAMES: [&str; TIMES] = [
    "makespan_s",
    "response_median_s",
    "response_p95_s",
    "response_p99_s",
    "response_max_s",
    "kernel_response_median_s",
    "kernel_response_p95_s",
    "kernel_response_p99_s",
    "kernel_response_max_s",
];

impl Outcome {
    pub(super) const COLUMNS: &'static str = "jobs,unfinished_jobs,jobs_with_deadline,missed_deadlines,makespan_ns,\
         response_median_ns,response_p95_ns,response_p99_ns,response_max_ns,kernel_response_median_ns,kernel_response_p95_ns,kernel_response_p99_ns,\
         kernel_response_max_ns";

    /// Of a run, with the jobs and kernels of one host thread, or of all.
    pub(super) fn of(run: &Run<'_>, thread: Option<u32>) -> Self {
        let is_meant = |index: u32| thread.is_none_or(|thread| thread == index);
        let mut counts = [0; COUNTS];
        let mut of_jobs = Vec::new();
        for row in Summary::of(run).responses().iter().filter(|row| is_meant(row.benchmark)) {
            let with_deadline = if row.deadline_ns.is_some() { row.jobs } else { 0 };
            let row_counts = [row.jobs, row.unfinished, with_deadline, row.misses.unwrap_or(0)];
            counts.iter_mut().zip(row_counts).for_each(|(sum, count)| *sum += count);
            for &(time, jobs) in &row.times {
                of_jobs.extend((0..jobs).map(|_| time.as_ns()));
            }
        }
        of_jobs.sort_unstable();
        let operations = run.trace.operations();
        let is_kernel = |record: &&OperationRecord| {
            matches!(record.kind, OperationKind::Kernel(_)) && is_meant(record.origin.thread)
        };
        let of_kernels = operations.iter().filter(is_kernel).filter_map(OperationRecord::response);
        let mut of_kernels: Vec<u64> = of_kernels.map(Duration::as_ns).collect();
        of_kernels.sort_unstable();
        let [job_times, kernel_times] = [&of_jobs, &of_kernels].map(|sorted| percentiles(sorted));
        let mut times = [None; TIMES];
        times[0] = run.trace.makespan().map(Instant::as_ns);
        times[1..].iter_mut().zip(job_times.into_iter().chain(kernel_times)).for_each(|(to, time)| *to = time);
        Self { counts, times }
    }

    fn parse(values: &str) -> Option<Self> {
        let mut fields = values.split(',');
        let mut outcome = Self { counts: [0; COUNTS], times: [None; TIMES] };
        for count in &mut outcome.counts {
            *count = fields.next()?.parse().ok()?;
        }
        for time in &mut outcome.times {
            *time = match fields.next()? {
                "" => None,
                text => Some(text.parse().ok()?),
            };
        }
        fields.next().is_none().then_some(outcome)
    }
}

/// Median, 95th and 99th percentile, and maximum.
fn percentiles(sorted: &[u64]) -> [Option<u64>; 4] {
    let [median, p95, p99] = [50, 95, 99].map(|percent| nearest_rank(sorted, percent));
    [median, p95, p99, sorted.last().copied()]
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [jobs, unfinished, with_deadline, missed] = self.counts;
        write!(f, "{jobs},{unfinished},{with_deadline},{missed}")?;
        self.times.iter().try_for_each(|time| match time {
            Some(time) => write!(f, ",{time}"),
            None => f.write_str(","),
        })
    }
}

/// The runs of a point.
#[derive(Debug, Default)]
pub(super) struct SimulateTally {
    missed: PartsOfRuns,
    unfinished: Moments,
    times: [Moments; TIMES],
}

/// Where the longest response time of any job stands among the times.
const RESPONSE_MAX: usize = 4;

impl Tally for SimulateTally {
    fn add(&mut self, _samples: u64, values: &str) -> Option<()> {
        let outcome = Outcome::parse(values)?;
        let [_, unfinished, with_deadline, missed] = outcome.counts;
        self.missed.add(missed, with_deadline);
        self.unfinished.add(unfinished as f64);
        for (moments, time) in self.times.iter_mut().zip(outcome.times) {
            if let Some(time) = time {
                moments.add(time as f64 / 1e9);
            }
        }
        Some(())
    }

    fn measures(&self) -> Vec<(&'static str, Measure)> {
        let mean = |moments: &Moments| Measure::Mean { statistic: moments.statistic(), count: moments.count() };
        let mut measures = vec![("missed", Measure::PartsOfRuns(self.missed))];
        measures.extend(TIME_NAMES.into_iter().zip(self.times.iter().map(mean)));
        measures.push(("longest_response_s", Measure::Largest(self.times[RESPONSE_MAX].statistic().most)));
        measures.push(("unfinished_jobs", mean(&self.unfinished)));
        measures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_back() {
        let times = std::array::from_fn(|index| (index != 0).then_some(index as u64));
        let outcome = Outcome { counts: [3, 1, 2, 2], times };
        assert_eq!(outcome.to_string(), "3,1,2,2,,1,2,3,4,5,6,7,8");
        assert_eq!(Outcome::parse(&outcome.to_string()), Some(outcome));
        assert_eq!(Outcome::COLUMNS.split(',').count(), COUNTS + TIMES);
        for wrong in ["", "3,1,2,2", "3,1,2,2,,1,2,3,4,5,6,7,8,9", "3,1,x,2,,1,2,3,4,5,6,7,8"] {
            assert_eq!(Outcome::parse(wrong), None, "{wrong}");
        }
    }
}
