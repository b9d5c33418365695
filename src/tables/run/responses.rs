//! Response times of jobs, as columns.

use std::io::{self, Write};

use crate::formats::{Column, write_csv};
use crate::run::Responses;

impl Responses<'_> {
    /// The response times as CSV; times in ns, empty where there is none.
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write_csv(rows: Vec<Self>, out: &mut dyn Write) -> io::Result<()> {
        write_csv(&response_columns(), rows, out)
    }

    /// Whether it says more than the kernels of its only job do.
    pub(crate) fn is_worth_showing(&self) -> bool {
        self.jobs > 1 || self.deadline_ns.is_some()
    }

    /// What the user has to know of its deadline: that jobs missed it, or that it was not decided.
    pub(crate) fn note(&self) -> Option<String> {
        let (deadline, misses) = self.deadline_ns.zip(self.misses.filter(|misses| *misses > 0))?;
        let longest = self.max_ns.map(|longest| format!("; the longest response is {longest}")).unwrap_or_default();
        let unfinished = match self.unfinished {
            0 => String::new(),
            count => format!("; {count} had not finished when the run ended"),
        };
        let (stream, jobs) = (self.stream, self.jobs);
        Some(format!("{stream:?} misses its deadline of {deadline} in {misses} of {jobs} jobs{longest}{unfinished}"))
    }
}

pub(crate) fn response_columns<'a>() -> [Column<Responses<'a>>; 11] {
    [
        Column::new("stream", "jobs of", |row: &Responses<'_>| row.stream.into()).left(),
        Column::data("benchmark", |row| row.benchmark.into()),
        Column::new("jobs", "jobs", |row| row.jobs.into()),
        Column::new("unfinished", "unfinished", |row| row.unfinished.into()),
        Column::new("min_ns", "min", |row| row.min_ns.into()),
        Column::new("mean_ns", "mean", |row| row.mean_ns.into()),
        Column::new("p95_ns", "95 %", |row| row.p95_ns.into()),
        Column::new("p99_ns", "99 %", |row| row.p99_ns.into()),
        Column::new("max_ns", "max response", |row| row.max_ns.into()),
        Column::new("deadline_ns", "deadline", |row| row.deadline_ns.into()),
        Column::new("misses", "misses", |row| row.misses.into()),
    ]
}

pub(crate) fn bounded_response_columns<'a>() -> Vec<Column<Responses<'a>>> {
    let bound = Column::new("bound_ns", "bound", |row: &Responses<'_>| row.bound_ns.into());
    response_columns().into_iter().chain([bound]).collect()
}
