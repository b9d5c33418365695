//! **Sets of jobs on processors** that are identical and not preempted: each job has a release between two instants, an
//! execution time between two bounds, a deadline and a priority, in the files of np-schedulability-analysis (Nasri and
//! Brandenburg, RTSS 2017; Nasri, Nelissen and Brandenburg, ECRTS 2018 and 2019). Times are whole numbers of whatever
//! unit the file has.
//!
//! Claim and assumptions are those of the bound by orders of dispatch, with an SM of one block for each processor, and
//! least costs as shortest times (`docs/analysis.md`, "Sets of jobs on processors").

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::safe_bound::{ProcessorJob, bounds_on_processors};
use super::verdict::Verdict;
use crate::broken_bound::BrokenBound;
use crate::effort;
use crate::json::{JsonError, Problem, without_path};
use crate::limits::count_turn;

/// Times at most, so that all jobs one after the other end within 64 bits.
const MOST_TIME: u64 = 1 << 48;
/// Jobs at most: of so many the states are a few hundred.
const MOST_JOBS: usize = 5_000;
/// Runs to look for late jobs in, and jobs that these come to at most.
const MOST_RUNS: usize = 3_000;
const MOST_JOBS_RUN: usize = 300_000;

/// The columns of a file of jobs, and of one of precedence constraints.
const COLUMNS: [&str; 8] =
    ["task ID", "job ID", "earliest release", "latest release", "least cost", "greatest cost", "deadline", "priority"];
const EDGE_COLUMNS: [&str; 4] = ["predecessor's task ID", "predecessor's job ID", "task ID", "job ID"];

/// A job, and what is known of it; times in the unit of its file.
#[derive(Debug, Clone)]
pub(crate) struct SetJob {
    pub(crate) task: u64,
    pub(crate) job: u64,
    /// Not before, not after.
    pub(crate) released: (u64, u64),
    /// At least, at most.
    cost: (u64, u64),
    /// By when it should have finished, counted from 0 as releases are.
    pub(crate) deadline: u64,
    priority: i128,
    /// The latest finish of any run looked at.
    pub(crate) worst_found: u64,
    /// By when it has finished in all runs.
    pub(crate) bound: Option<u64>,
}

impl SetJob {
    pub(crate) fn verdict(&self) -> Verdict {
        Verdict::new(Some(self.worst_found), self.bound, self.deadline)
    }
}

/// A set, with what holds of its jobs on so many processors.
#[derive(Debug)]
pub(crate) struct JobSet {
    pub(crate) processors: u32,
    /// In the order of the file.
    pub(crate) jobs: Vec<SetJob>,
    /// By job: those that must have finished before it begins.
    predecessors: Vec<Vec<usize>>,
    /// By job: how many are more urgent.
    ranks: Vec<usize>,
    /// Jobs with all their predecessors before them.
    order: Vec<usize>,
    pub(crate) runs: usize,
}

/// A file of comma-separated values, the first line of which is for people.
struct Table<'t> {
    file: &'t str,
    text: &'t str,
}

impl<'t> Table<'t> {
    /// The rows, each as so many fields with their places in the text.
    fn rows<const N: usize>(&self, names: [&str; N]) -> Result<Vec<[(usize, &'t str); N]>, JsonError> {
        let mut rows = Vec::new();
        let mut offset = 0;
        for (number, line) in self.text.split_inclusive('\n').enumerate() {
            let begin = offset;
            offset += line.len();
            if number == 0 || line.trim().is_empty() {
                continue;
            }
            let mut at = begin;
            let mut fields = Vec::with_capacity(N);
            for field in line.split(',') {
                let blank = field.len() - field.trim_start().len();
                fields.push((at + blank, field.trim()));
                at += field.len() + 1;
            }
            let found = fields.len();
            let row = <[_; N]>::try_from(fields).map_err(|_| {
                self.error(begin, format!("expected {N} columns ({}), found {found}", names.join(", ")))
            })?;
            rows.push(row);
        }
        Ok(rows)
    }

    fn error(&self, offset: usize, what: String) -> JsonError {
        without_path(self.file, self.text, Problem::at(offset, what))
    }

    fn number(&self, (offset, field): (usize, &str), most: u64) -> Result<u64, JsonError> {
        let number = field.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| self.error(offset, format!("expected a whole number from 0 to {most}, found {field:?}")))
    }

    fn bounds(&self, least: (usize, &str), most: (usize, &str)) -> Result<(u64, u64), JsonError> {
        let bounds = (self.number(least, MOST_TIME)?, self.number(most, MOST_TIME)?);
        if bounds.0 > bounds.1 {
            return Err(
                self.error(most.0, format!("expected no less than the {} before it, found {}", bounds.0, bounds.1))
            );
        }
        Ok(bounds)
    }
}

impl JobSet {
    /// Whether a text begins as such a file does: with its eight columns, the first two of which are IDs.
    pub(crate) fn is_claimed_by(text: &str) -> bool {
        let header = text.lines().next().unwrap_or_default().to_lowercase();
        let columns: Vec<&str> = header.trim_start_matches('\u{feff}').split(',').map(str::trim).collect();
        columns.len() == COLUMNS.len() && [["task id", "job id"], ["tid", "jid"]].iter().any(|ids| columns[..2] == *ids)
    }

    /// Reads a file of jobs, and one of what must come before what; each by its name in errors and its text.
    pub(crate) fn read(
        (file, text): (&str, &str),
        precedence: Option<(&str, &str)>,
        processors: u32,
    ) -> Result<Self, JsonError> {
        let table = Table { file, text };
        let (mut jobs, mut known) = (Vec::new(), BTreeMap::new());
        for row in table.rows(COLUMNS)? {
            let [task, job, earliest, latest, least, most, deadline, (place, priority)] = row;
            let id = (table.number(task, u64::MAX)?, table.number(job, u64::MAX)?);
            if known.insert(id, jobs.len()).is_some() {
                return Err(table.error(task.0, format!("two jobs are job {} of task {}", id.1, id.0)));
            }
            if jobs.len() == MOST_JOBS {
                return Err(table.error(task.0, format!("expected at most {MOST_JOBS} jobs, found more")));
            }
            jobs.push(SetJob {
                task: id.0,
                job: id.1,
                released: table.bounds(earliest, latest)?,
                cost: table.bounds(least, most)?,
                deadline: table.number(deadline, MOST_TIME)?,
                priority: priority
                    .parse::<i64>()
                    .map(i128::from)
                    .map_err(|_| table.error(place, format!("expected a whole number, found {priority:?}")))?,
                worst_found: 0,
                bound: None,
            });
        }
        if jobs.is_empty() {
            return Err(table.error(0, "expected at least one job, found none".to_owned()));
        }
        let mut predecessors = vec![Vec::new(); jobs.len()];
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        if let Some((file, text)) = precedence {
            let table = Table { file, text };
            for [before_task, before_job, task, job] in table.rows(EDGE_COLUMNS)? {
                let find = |task: (usize, &str), job: (usize, &str)| {
                    let id = (table.number(task, u64::MAX)?, table.number(job, u64::MAX)?);
                    let unknown = || table.error(task.0, format!("there is no job {} of task {}", id.1, id.0));
                    known.get(&id).copied().ok_or_else(unknown)
                };
                let (before, after) = (find(before_task, before_job)?, find(task, job)?);
                predecessors[after].push(before);
            }
            order = with_predecessors_first(&predecessors).ok_or_else(|| {
                table.error(0, "these constraints have a circle: none of its jobs can be the first".to_owned())
            })?;
        }
        // What has the same priority goes by task and job, as in np-schedulability-analysis.
        let mut by_urgency: Vec<usize> = (0..jobs.len()).collect();
        by_urgency.sort_by_key(|&job| (jobs[job].priority, jobs[job].task, jobs[job].job));
        let mut ranks = vec![0; jobs.len()];
        by_urgency.into_iter().enumerate().for_each(|(rank, job)| ranks[job] = rank);
        Ok(Self { processors, jobs, predecessors, ranks, order, runs: 0 })
    }

    /// Bounds the finish of each job in all runs, and looks for late ones in some.
    pub(crate) fn judge(mut self) -> Result<Self, BrokenBound> {
        let mut places = vec![0; self.jobs.len()];
        self.order.iter().enumerate().for_each(|(place, &job)| places[job] = place);
        let on_processors = self.order.iter().map(|&job| ProcessorJob {
            released: self.jobs[job].released,
            cost: self.jobs[job].cost,
            rank: self.ranks[job],
            predecessors: self.predecessors[job].iter().map(|&before| places[before]).collect(),
        });
        let bounds = bounds_on_processors(self.processors, &on_processors.collect::<Vec<_>>());
        for (job, bound) in self.order.iter().zip(bounds) {
            self.jobs[*job].bound = bound;
        }
        self.search();
        for job in &self.jobs {
            let subject = || format!("job {} of task {} ends at", job.job, job.task);
            BrokenBound::check(Some(job.worst_found), ("the bound on all runs", job.bound), subject)?;
        }
        Ok(self)
    }

    /// Runs with all releases and costs at an end of what they may be, and then with any.
    fn search(&mut self) {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let most = (MOST_JOBS_RUN / self.jobs.len()).clamp(4, MOST_RUNS);
        for number in 0..most {
            let mut one_of = |(least, most): (u64, u64), at_most: bool| match number {
                0..4 => {
                    if at_most {
                        most
                    } else {
                        least
                    }
                }
                _ => match rng.random_range(0..3) {
                    0 => least,
                    1 => most,
                    _ => rng.random_range(least..=most),
                },
            };
            let given: Vec<(u64, u64)> = self
                .jobs
                .iter()
                .map(|job| (one_of(job.released, number & 1 == 0), one_of(job.cost, number & 2 == 0)))
                .collect();
            for (job, finish) in self.run(&given).into_iter().enumerate() {
                self.jobs[job].worst_found = self.jobs[job].worst_found.max(finish);
            }
            self.runs = number + 1;
            if effort::check().is_err() {
                break;
            }
        }
    }

    /// When each job finishes in the run with these releases and costs: whenever a processor is idle, the most urgent
    /// job that is ready gets it.
    fn run(&self, given: &[(u64, u64)]) -> Vec<u64> {
        let mut waits_for: Vec<usize> = self.predecessors.iter().map(Vec::len).collect();
        let successors = successors(&self.predecessors);
        let mut to_come: BTreeSet<(u64, usize)> = given.iter().enumerate().map(|(job, given)| (given.0, job)).collect();
        let mut ready: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut running: BTreeSet<(u64, usize)> = BTreeSet::new();
        let mut finish = vec![0; given.len()];
        let mut now = 0;
        loop {
            count_turn();
            while let Some((end, job)) = running.pop_first() {
                count_turn();
                if end > now {
                    running.insert((end, job));
                    break;
                }
                finish[job] = end;
                for &after in &successors[job] {
                    waits_for[after] -= 1;
                    if waits_for[after] == 0 && given[after].0 <= now && !to_come.contains(&(given[after].0, after)) {
                        ready.insert((self.ranks[after], after));
                    }
                }
            }
            while let Some(&(release, job)) = to_come.first().filter(|(release, _)| *release <= now) {
                count_turn();
                to_come.remove(&(release, job));
                if waits_for[job] == 0 {
                    ready.insert((self.ranks[job], job));
                }
            }
            while running.len() < self.processors as usize
                && let Some((_, job)) = ready.pop_first()
            {
                count_turn();
                running.insert((now + given[job].1, job));
            }
            let next = [running.first().map(|(end, _)| *end), to_come.first().map(|(release, _)| *release)];
            let Some(next) = next.into_iter().flatten().min() else { return finish };
            now = next;
        }
    }
}

/// By job: those that wait for it.
fn successors(predecessors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut successors = vec![Vec::new(); predecessors.len()];
    for (job, before) in predecessors.iter().enumerate() {
        for &before in before {
            successors[before].push(job);
        }
    }
    successors
}

/// The jobs in an order in which each comes after its predecessors; `None` if there is none.
fn with_predecessors_first(predecessors: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut waits_for: Vec<usize> = predecessors.iter().map(Vec::len).collect();
    let successors = successors(predecessors);
    let mut order: Vec<usize> = (0..predecessors.len()).filter(|&job| waits_for[job] == 0).collect();
    let mut next = 0;
    while let Some(&job) = order.get(next) {
        count_turn();
        next += 1;
        for &after in &successors[job] {
            waits_for[after] -= 1;
            if waits_for[after] == 0 {
                order.push(after);
            }
        }
    }
    (order.len() == predecessors.len()).then_some(order)
}
