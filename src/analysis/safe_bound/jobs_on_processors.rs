//! Jobs on identical processors that are not preempted: kernels of one block on SMs that hold one block each.

use super::explore::{self, Extent};
use super::graph::{Graph, Node, Waits, Work};
use super::lower::Lower;
use super::weights::{Class, Weights};
use crate::time::{Duration, Instant};

/// States to look at, which count more where there are many jobs.
const MOST_STATES: usize = 1_000_000;

/// A job; times \[ns\].
#[derive(Debug)]
pub(in crate::analysis) struct ProcessorJob {
    /// Not before, not after.
    pub(in crate::analysis) released: (u64, u64),
    /// At least, at most.
    pub(in crate::analysis) cost: (u64, u64),
    /// How many jobs are more urgent; no two have the same.
    pub(in crate::analysis) rank: usize,
    /// Those that must have finished before it begins, by number, all of them smaller than its own.
    pub(in crate::analysis) predecessors: Vec<usize>,
}

/// By when each of the jobs has finished in every run \[ns\]; `None`: not found.
pub(in crate::analysis) fn bounds_on_processors(processors: u32, jobs: &[ProcessorJob]) -> Vec<Option<u64>> {
    let class = Class { needs: [1; 4], allowed: u64::from(processors) };
    let mut graph = Graph {
        nodes: Vec::with_capacity(jobs.len()),
        classes: vec![class],
        streams: vec![Vec::new(); jobs.len()],
        levels: jobs.len(),
        engines: 0,
        any_order: false,
        ready_first: true,
        waits: Waits::Known,
        lower: Lower::default(),
    };
    for (stream, (job, thread)) in jobs.iter().zip(0..).enumerate() {
        let (best, block_time) = (Duration::from_ns(job.cost.0), Duration::from_ns(job.cost.1));
        graph.add(Node {
            launched: Instant::from_ns(job.released.0),
            launched_by: job.released.1,
            work: Work::Kernel { class: 0, blocks: 1, block_time, best },
            level: job.rank,
            stream,
            position: 0,
            thread,
            predecessors: job.predecessors.clone(),
        });
    }
    let weights = Weights::of_places(processors, &graph.classes);
    let extent = Extent { most_states: MOST_STATES, ..Extent::all(&graph) };
    let (bounds, _) = explore::finish_bounds(&graph, &weights, &extent);
    bounds.into_iter().map(|bound| bound.map(Instant::as_ns)).collect()
}
