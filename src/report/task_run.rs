//! Response times and misses of a task set that ran, for people and for programs.

use std::fmt::Write;

use serde_json::{Value, json};

use super::csv::field;
use super::table::plain_table;
use crate::hosts::real_time::{Job, TaskRun};
use crate::tasks::TaskSet;
use crate::trace::OperationRecord;

/// A run and its set.
#[derive(Debug, Clone, Copy)]
pub struct TaskRunReport<'a> {
    /// The set.
    pub set: &'a TaskSet,
    /// What happened.
    pub run: &'a TaskRun,
    /// Name of the strategy.
    pub strategy: &'static str,
    /// Name of the policy.
    pub policy: &'static str,
}

/// What one task's jobs experienced.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskStatistics {
    /// Jobs released.
    pub jobs: usize,
    /// Jobs done late, or not at all.
    pub misses: usize,
    /// How often its jobs were preempted.
    pub preemptions: u64,
    /// Response times of the jobs that were done, ascending.
    pub responses: Vec<u64>,
    /// The first job that missed its deadline.
    pub first_miss: Option<Job>,
}

/// The percentiles that are reported.
const PERCENTILES: [usize; 3] = [50, 90, 99];

impl TaskStatistics {
    /// Of task number `task`.
    #[must_use]
    pub fn of(run: &TaskRun, task: usize) -> Self {
        let jobs = || run.jobs.iter().filter(|job| job.task as usize == task);
        let mut responses: Vec<u64> = jobs().filter_map(Job::response).collect();
        responses.sort_unstable();
        Self {
            jobs: jobs().count(),
            misses: jobs().filter(|job| job.is_late()).count(),
            preemptions: jobs().map(|job| u64::from(job.preemptions)).sum(),
            responses,
            first_miss: jobs().find(|job| job.is_late()).copied(),
        }
    }

    /// The smallest response time that at least `percent` of the jobs do not exceed.
    #[must_use]
    pub fn percentile(&self, percent: usize) -> Option<u64> {
        let rank = (self.responses.len() * percent.min(100)).div_ceil(100).max(1);
        self.responses.get(rank - 1).copied()
    }

    /// The mean response time.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let sum: u128 = self.responses.iter().map(|&response| u128::from(response)).sum();
        (!self.responses.is_empty()).then(|| sum as f64 / self.responses.len() as f64)
    }
}

impl TaskRunReport<'_> {
    fn statistics(&self) -> impl Iterator<Item = (&str, TaskStatistics)> {
        let tasks = self.set.tasks.iter().enumerate();
        tasks.map(|(index, task)| (task.name.as_ref(), TaskStatistics::of(self.run, index)))
    }

    /// One JSON document.
    #[must_use]
    pub fn json(&self) -> Value {
        let tasks: Vec<Value> = self
            .statistics()
            .map(|(name, task)| {
                json!({
                    "name": name,
                    "jobs": task.jobs,
                    "misses": task.misses,
                    "preemptions": task.preemptions,
                    "response": {
                        "min": task.responses.first(),
                        "mean": task.mean(),
                        "max": task.responses.last(),
                        "p50": task.percentile(PERCENTILES[0]),
                        "p90": task.percentile(PERCENTILES[1]),
                        "p99": task.percentile(PERCENTILES[2]),
                    },
                    "first_miss": task.first_miss.map(|job| json!({
                        "job": job.number,
                        "release": job.release,
                        "deadline": job.deadline,
                        "finish": job.finish,
                    })),
                })
            })
            .collect();
        json!({
            "strategy": self.strategy,
            "policy": self.policy,
            "horizon": self.run.horizon,
            "jobs": self.run.jobs.len(),
            "misses": self.run.jobs.iter().filter(|job| job.is_late()).count(),
            "tasks": tasks,
        })
    }

    /// A table.
    #[must_use]
    pub fn table(&self) -> String {
        let header =
            ["task", "jobs", "misses", "preemptions", "response min", "mean", "p50", "p90", "p99", "max", "first miss"];
        let mut table = plain_table(&header, 1..10);
        let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
        for (name, task) in self.statistics() {
            let mut row = vec![name.to_owned(), task.jobs.to_string(), task.misses.to_string()];
            row.push(task.preemptions.to_string());
            row.push(number(task.responses.first().copied()));
            row.push(task.mean().map_or_else(|| "-".to_owned(), |mean| format!("{mean:.2}")));
            row.extend(PERCENTILES.map(|percent| number(task.percentile(percent))));
            row.push(number(task.responses.last().copied()));
            row.push(task.first_miss.map_or_else(String::new, |job| {
                format!("released {}, deadline {}, done {}", job.release, job.deadline, number(job.finish))
            }));
            table.add_row(row);
        }
        format!("{table}\n")
    }

    /// Every job, as comma-separated values; empty where an instant was not reached.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut starts = vec![None; self.run.jobs.len()];
        for (operation, &job) in self.run.launches.iter().enumerate() {
            let record = self.run.trace.operations().get(operation);
            let start = record.and_then(OperationRecord::first_start);
            starts[job as usize] = starts[job as usize].or(start);
        }
        let mut text = "task,job,release,deadline,start,finish,response,late,preemptions\n".to_owned();
        let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        for (job, start) in self.run.jobs.iter().zip(starts) {
            let name = self.set.tasks.get(job.task as usize).map_or("", |task| task.name.as_ref());
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{},{}",
                field(name),
                job.number,
                job.release,
                job.deadline,
                number(start.map(crate::time::Instant::as_ns)),
                number(job.finish),
                number(job.response()),
                job.is_late(),
                job.preemptions,
            );
        }
        text
    }
}
