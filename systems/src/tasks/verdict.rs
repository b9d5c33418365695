//! What a test says.

use std::fmt;

use serde::Serialize;

use super::task_time::TaskTime;

/// The answer of a test to one set of tasks.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskVerdict {
    /// Passed. For a sufficient test: schedulable.
    Yes,
    /// Not passed. Tasks are numbered as they were given to the test.
    No(Rejection),
    /// The test does not apply, or would take too long; the text says why.
    Unknown(String),
}

/// Why a test said no.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "because", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rejection {
    /// In the long run more is asked for than there is.
    Utilization {
        /// Long-run share asked for, for display.
        share: f64,
        /// Long-run share supplied, for display.
        supplied_share: f64,
    },
    /// More is asked for than is supplied by some instant.
    Demand {
        /// A task with a deadline at that instant.
        task: usize,
        /// The instant, counted from the beginning of the worst interval.
        instant: f64,
        /// Demand of jobs with deadlines up to that instant.
        demand: f64,
        /// Blocking by a job with a later deadline, part of the comparison.
        blocking: TaskTime,
        /// Who blocks.
        blocked_by: Option<usize>,
        /// Service up to that instant.
        supply: f64,
    },
    /// A job whose whole life lies outside the reservation.
    NoService {
        /// The task.
        task: usize,
        /// Release of the job.
        release: TaskTime,
        /// Its absolute deadline.
        deadline: TaskTime,
    },
    /// Simulation shows a job that misses its deadline.
    Miss {
        /// The task.
        task: usize,
        /// Release of the job.
        release: TaskTime,
        /// Its absolute deadline.
        deadline: TaskTime,
        /// What is left to do at the deadline.
        left: TaskTime,
    },
    /// However the jobs' execution times are divided among their chunks, some demand is too high.
    EveryDivision {
        /// No division demands little enough at all of these lengths of time.
        instants: Vec<TaskTime>,
    },
}

impl TaskVerdict {
    /// Whether the test was passed; `None` if it gave no answer.
    pub fn answer(&self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No(_) => Some(false),
            Self::Unknown(_) => None,
        }
    }

    /// Whether the test was passed.
    pub fn is_yes(&self) -> bool {
        *self == Self::Yes
    }

    /// The same with tasks renumbered by `indexes`.
    pub(super) fn renumbered(mut self, indexes: &[usize]) -> Self {
        if let Self::No(reason) = &mut self {
            match reason {
                Rejection::Demand { task, blocked_by, .. } => {
                    *task = indexes[*task];
                    *blocked_by = blocked_by.map(|task| indexes[task]);
                }
                Rejection::NoService { task, .. } | Rejection::Miss { task, .. } => *task = indexes[*task],
                Rejection::Utilization { .. } | Rejection::EveryDivision { .. } => {}
            }
        }
        self
    }
}

impl Rejection {
    /// The task concerned, if it is one.
    pub fn task(&self) -> Option<usize> {
        match self {
            Self::Demand { task, .. } | Self::NoService { task, .. } | Self::Miss { task, .. } => Some(*task),
            Self::Utilization { .. } | Self::EveryDivision { .. } => None,
        }
    }

    /// The reason in words, with the names of the tasks.
    pub fn text(&self, name: impl Fn(usize) -> String) -> String {
        struct Short(f64);
        impl fmt::Display for Short {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let text = format!("{:.4}", self.0);
                f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
        match self {
            Self::Utilization { share, supplied_share } => {
                format!("utilization {} exceeds the share supplied, {}", Short(*share), Short(*supplied_share))
            }
            Self::Demand { task, instant, demand, blocking, blocked_by, supply } => {
                let (instant, demand, supply) = (Short(*instant), Short(*demand), Short(*supply));
                let by = blocked_by.map_or_else(String::new, |by| format!(" plus blocking {blocking} by {}", name(by)));
                format!("{} at t = {instant}: demand {demand}{by} exceeds supply {supply}", name(*task))
            }
            Self::NoService { task, release, deadline } => {
                format!("the job of {} released at {release}, deadline {deadline}, gets no service at all", name(*task))
            }
            Self::Miss { task, release, deadline, left } => format!(
                "the job of {} released at {release} misses its deadline {deadline} with {left} left to do",
                name(*task)
            ),
            Self::EveryDivision { instants } => {
                let mut list: Vec<String> = instants.iter().take(8).map(TaskTime::to_string).collect();
                if instants.len() > list.len() {
                    list.push("…".to_owned());
                }
                let of = if instants.len() == 1 { "at" } else { "at one of" };
                format!("each division of execution times among chunks demands too much {of} t = {}", list.join(", "))
            }
        }
    }
}
