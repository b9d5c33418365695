//! The finish of one job whose release is given, among jobs of which only the earliest release is known.
//!
//! The orders of dispatch are those of given releases ([`super::explore`]), with launches that may come at any time, or
//! never. What happened before the release is unknown: other jobs may then have had the GPU, but have ended.
//! `docs/analysis.md`, "Releases that are not given", has the proof.

use super::explore::{Extent, count, finish_bounds};
use super::graph::{Graph, Node, Waits, Work};
use super::lower::Lower;
use super::weights::{Class, Weights};
use crate::proven::Proven;
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
    /// Whose it is among the threads that do the job.
    pub(in crate::analysis) member: usize,
    /// What it does.
    pub(in crate::analysis) work: Work,
    /// The numbers of those before it in the job that it waits for; with none it is launched when the job is released.
    pub(in crate::analysis) after: Vec<usize>,
}

/// How a job begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) enum Begin {
    /// By a timer: before any block is assigned at its instant.
    Timer,
    /// When something else has ended: blocks may have been assigned at its instant.
    Event,
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
    pub(in crate::analysis) begin: Begin,
}

/// A job and those that may come beside it.
#[derive(Debug)]
pub(in crate::analysis) struct Phased<'a> {
    /// What the job looked at does from its release on.
    pub(in crate::analysis) job: &'a [Operation],
    pub(in crate::analysis) begin: Begin,
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
            ready_first: false,
            waits: Waits::Known,
            lower: Lower::default(),
        };
        let own = Released { first_thread: 0, begin: self.begin, earliest: release, latest: release };
        let (numbers, _) = own.add(&mut graph, self.job, &[]);
        let goal = graph.streams.iter().map(|stream| count(stream.len())).collect();
        let mut first_thread = members(self.job);
        for jobs in &self.others {
            let mut last = Vec::new();
            for job in jobs {
                let earliest = (release - job.before).checked_add(job.after)?;
                let released = Released { first_thread, begin: job.begin, earliest, latest: u64::MAX };
                (_, last) = released.add(&mut graph, job.operations, &last);
            }
            first_thread += jobs.first().map_or(0, |job| members(job.operations));
        }
        for &Operation { stream, level, work, .. } in self.lower.iter().copied().flatten() {
            graph.add_lower((stream, level), Instant::ZERO, u64::MAX, work);
        }
        let extent = Extent { over: release, goal, most_states: MOST_STATES };
        let (finish, _) = finish_bounds(&graph, weights, &extent);
        numbers.into_iter().map(|number| Some(finish[number]?.as_ns().saturating_sub(release))).collect()
    }
}

/// How many threads do a job, as far as its operations are theirs.
fn members(job: &[Operation]) -> usize {
    job.iter().map(|operation| operation.member + 1).max().unwrap_or(0)
}

/// When a job is released, in nanoseconds.
struct Released {
    /// The number of the first of the threads that do it.
    first_thread: usize,
    begin: Begin,
    earliest: u64,
    latest: u64,
}

impl Released {
    /// Adds a job after the operations `before`. Says the numbers of its operations, and those for which no other
    /// one of it waits.
    fn add(&self, graph: &mut Graph, job: &[Operation], before: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (mut numbers, mut is_last) = (Vec::with_capacity(job.len()), vec![true; job.len()]);
        let launched = Instant::from_ns(self.earliest);
        for &Operation { stream, level, work, member, ref after, .. } in job {
            // What several threads launch at one instant comes in any order.
            let thread = u32::try_from(self.first_thread + member).proven("as a scenario's threads, with 32 bits");
            let mut node = Node {
                launched,
                // It goes on at any time, or never.
                launched_by: if matches!(work, Work::Busy(_)) { u64::MAX } else { 0 },
                work,
                level,
                stream,
                position: 0,
                thread,
                predecessors: after.iter().map(|own: &usize| numbers[*own]).collect(),
            };
            if after.is_empty() {
                node.predecessors = before.to_vec();
                node.launched_by = self.latest;
                if self.begin == Begin::Event {
                    // Something stands before it that ends when the job is released.
                    let predecessors = std::mem::take(&mut node.predecessors);
                    let standing = graph.add(Node { work: Work::Memset, predecessors, ..node });
                    node = Node { launched_by: 0, predecessors: vec![standing], ..node };
                }
            }
            for &own in after {
                is_last[own] = false;
            }
            numbers.push(graph.add(node));
        }
        let last = numbers.iter().zip(is_last).filter(|(_, is_last)| *is_last).map(|(number, _)| *number).collect();
        (numbers, last)
    }
}
