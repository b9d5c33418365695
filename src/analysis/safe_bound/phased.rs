//! The finish of one job whose release is given, among jobs of which only the earliest release is known.
//!
//! The orders of dispatch are those of given releases ([`super::explore`]), with launches that may come at any time, or
//! never. What happened before the release is unknown: other jobs may then have had the GPU, but have ended.
//! `docs/analysis.md`, "Releases that are not given", has the proof.

use super::explore::{Extent, finish_bounds};
use super::graph::{Graph, Node, Waits, Work};
use super::lower::Lower;
use super::weights::{Class, Weights};
use crate::time::Instant;

/// States after which an exploration is given up.
const MOST_STATES: usize = 4_000;

/// Operations above which none is begun.
const MOST_OPERATIONS: usize = 96;

/// One operation of a job, or a pause of its host thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::analysis) struct Operation {
    /// Pauses have streams of their own, one for each host thread.
    pub(in crate::analysis) stream: usize,
    /// Its EE queue, 0 is the highest priority.
    pub(in crate::analysis) level: usize,
    /// The process in whose context it runs.
    pub(in crate::analysis) process: usize,
    /// What it does.
    pub(in crate::analysis) work: Work,
    /// The numbers of those before it in the job that it waits for; with none it is launched when the job is released.
    pub(in crate::analysis) after: Vec<usize>,
}

/// A job that may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) struct Job<'a> {
    /// What it does, in an order in which it can be done.
    pub(in crate::analysis) operations: &'a [Operation],
    /// So long before the release of the job looked at \[ns\], or
    pub(in crate::analysis) before: u64,
    /// so long after it \[ns\], it is released at the earliest.
    pub(in crate::analysis) after: u64,
}

/// A job and those that may come beside it.
#[derive(Debug)]
pub(in crate::analysis) struct Phased<'a> {
    /// What the job looked at does from its release on.
    pub(in crate::analysis) job: &'a [Operation],
    /// By thread: its jobs, none of which is released before the one before it has ended. They have streams of their
    /// own.
    pub(in crate::analysis) others: Vec<Vec<Job<'a>>>,
    /// By thread: what it launches, at any times, in streams of priorities below those of all jobs.
    pub(in crate::analysis) lower: Vec<&'a [Operation]>,
    /// Streams of the scenario, and of pauses.
    pub(in crate::analysis) streams: usize,
    /// Priorities.
    pub(in crate::analysis) levels: usize,
    /// Copy engines.
    pub(in crate::analysis) engines: usize,
}

impl Phased<'_> {
    /// How long after its release each operation of the job has ended at the latest \[ns\]; `None`: too much to
    /// explore.
    pub(in crate::analysis) fn ends(&self, classes: &[Class], weights: &Weights<'_>) -> Option<Vec<u64>> {
        let others = self.others.iter().flatten();
        let operations = others.clone().map(|job| job.operations.len()).sum::<usize>() + self.job.len();
        if operations > MOST_OPERATIONS {
            return None;
        }
        // Late enough for every earlier instant to be one, and not the first.
        let release = others.map(|job| job.before).max().unwrap_or(0).checked_add(2)?;
        let mut graph = Graph {
            nodes: Vec::with_capacity(operations),
            classes: classes.to_vec(),
            streams: vec![Vec::new(); self.streams],
            levels: self.levels,
            engines: self.engines,
            any_order: true,
            waits: Waits::Known,
            lower: Lower::default(),
        };
        add(&mut graph, 0, self.job, release, release, &[]);
        let goal = graph.streams.iter().map(|stream| u32::try_from(stream.len()).unwrap_or(u32::MAX)).collect();
        for (thread, jobs) in (1..).zip(&self.others) {
            let mut last = Vec::new();
            for job in jobs {
                let earliest = (release - job.before).checked_add(job.after)?;
                last = add(&mut graph, thread, job.operations, earliest, u64::MAX, &last);
            }
        }
        for &Operation { stream, level, work, .. } in self.lower.iter().copied().flatten() {
            graph.add_lower((stream, level), Instant::ZERO, u64::MAX, work);
        }
        let extent = Extent { over: release, goal, most_states: MOST_STATES };
        let (finish, _) = finish_bounds(&graph, weights, &extent);
        finish[..self.job.len()].iter().map(|end| Some((*end)?.as_ns().saturating_sub(release))).collect()
    }
}

/// Adds a job, released in the interval and after the operations `before`. Those of its operations for which no other
/// one of it waits.
fn add(graph: &mut Graph, thread: u32, job: &[Operation], earliest: u64, latest: u64, before: &[usize]) -> Vec<usize> {
    let first = graph.nodes.len();
    let mut is_last = vec![true; job.len()];
    for &Operation { stream, level, work, ref after, .. } in job {
        let (predecessors, launched_by) = if after.is_empty() {
            (before.to_vec(), latest)
        } else {
            (after.iter().map(|own| first + own).collect(), 0)
        };
        for &own in after {
            is_last[own] = false;
        }
        let launched = Instant::from_ns(earliest);
        graph.add(Node { launched, launched_by, work, level, stream, position: 0, thread, predecessors });
    }
    (first..).zip(is_last).filter(|(_, is_last)| *is_last).map(|(number, _)| number).collect()
}
