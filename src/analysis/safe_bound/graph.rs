//! What each operation waits for before it enters its EE or CE queue: stream order (G2, C1), N1, N2 and
//! E2.

use super::weights::{Class, ONE};
use crate::analysis::assumptions::allowed_sms;
use crate::analysis::bound_options::{BlockTimes, BoundOptions, SimultaneousLaunches};
use crate::analysis::merged_back::{Analysed, Costs};
use crate::analysis::pool::needs;
use crate::device::BlockDemand;
use crate::limits::look;
use crate::scenario::Scenario;
use crate::time::{Duration, Instant};
use crate::workload::{OperationKind, StreamId};

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) enum Work {
    /// Blocks of a class.
    Kernel { class: usize, blocks: u32, block_time: Duration, best: Duration },
    /// A copy, which takes at most and at least so long on an engine.
    Copy { worst: Duration, best: Duration, engine: usize },
    /// Nothing: a memset, a record, or a wait for an event, which is over when its predecessors are.
    Memset,
}

/// One operation.
#[derive(Debug)]
pub(super) struct Node {
    /// Not before.
    pub(super) launched: Instant,
    /// Not after \[ns\]; [`u64::MAX`]: perhaps never. What is always launched together with something before it in its
    /// stream need not be later than that, so it has 0.
    pub(super) launched_by: u64,
    pub(super) work: Work,
    /// Its EE queue, 0 is the highest priority.
    pub(super) level: usize,
    /// Its stream, and how many operations are before it there.
    pub(super) stream: usize,
    pub(super) position: usize,
    /// The host thread that launches it.
    pub(super) thread: u32,
    /// It enters its queue when it is launched and all of these have completed.
    pub(super) predecessors: Vec<usize>,
}

impl Node {
    pub(super) fn is_copy(&self) -> bool {
        matches!(self.work, Work::Copy { .. })
    }

    pub(super) fn is_kernel(&self) -> bool {
        matches!(self.work, Work::Kernel { .. })
    }

    /// The engine of a copy.
    pub(super) fn engine(&self) -> Option<usize> {
        match self.work {
            Work::Copy { engine, .. } => Some(engine),
            _ => None,
        }
    }
}

/// All operations, in launch order; predecessors come before their successors.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) classes: Vec<Class>,
    /// By stream.
    pub(super) streams: Vec<Vec<usize>>,
    pub(super) levels: usize,
    pub(super) engines: usize,
    /// Whether the order of threads that launch at one instant is open.
    pub(super) any_order: bool,
}

/// What stands before and behind one operation.
#[derive(Debug)]
pub(super) struct Relatives {
    pub(super) is_ancestor: Vec<bool>,
    pub(super) is_successor: Vec<bool>,
    pub(super) has_ancestor: bool,
    /// A kernel, or a copy, is among the operation and its ancestors.
    pub(super) has_kernel: bool,
    pub(super) has_copy: bool,
    /// The earliest launch of the operation and its ancestors.
    pub(super) first_launch: Instant,
    /// The lowest priority among their EE queues.
    pub(super) lowest_level: usize,
}

impl Graph {
    pub(super) fn new(
        scenario: &Scenario,
        demands: &[BlockDemand],
        costs: &Costs,
        operations: &[Analysed],
        options: BoundOptions,
    ) -> Self {
        let shortest = |declared: Duration| match options.block_times {
            BlockTimes::UpToStated => Duration::ZERO,
            BlockTimes::Declared => declared,
        };
        let priorities: Vec<i32> = scenario.device().priorities().collect();
        let blocking: Vec<bool> = scenario.streams().iter().map(|stream| stream.blocking).collect();
        let mut graph = Self {
            nodes: Vec::with_capacity(operations.len()),
            classes: Vec::new(),
            streams: vec![Vec::new(); scenario.streams().len()],
            levels: priorities.len() + 1,
            engines: scenario.device().copy.engines as usize,
            any_order: options.launches == SimultaneousLaunches::AnyOrder,
        };
        let mut last: Vec<Option<usize>> = vec![None; scenario.streams().len()];
        for (number, record) in operations.iter().enumerate() {
            let stream = record.stream.0 as usize;
            let mut predecessors: Vec<usize> = last[stream].into_iter().collect();
            if record.stream == StreamId::NULL {
                let others = last.iter().zip(&blocking).skip(1).filter(|(_, blocking)| **blocking);
                predecessors.extend(others.filter_map(|(last, _)| *last));
            } else if blocking[stream] {
                predecessors.extend(last[StreamId::NULL.0 as usize]);
            }
            predecessors.extend(record.awaits.map(|awaited| awaited.0 as usize));
            last[stream] = Some(number);
            let work = match record.kind {
                OperationKind::Kernel(kernel) => {
                    let allowed = u64::from(allowed_sms(scenario, kernel, record.stream).min(costs.sms));
                    let cost = &costs.kernels[kernel.0 as usize];
                    let class = graph.class(Class { needs: needs(&demands[kernel.0 as usize]), allowed });
                    let best = shortest(scenario.shortest_block_time(kernel).unwrap_or(Duration::ZERO));
                    Work::Kernel { class, blocks: cost.blocks, block_time: cost.block_time, best }
                }
                OperationKind::Copy(copy) => {
                    let (worst, engine) = costs.copies[copy.0 as usize];
                    Work::Copy { worst, best: shortest(worst), engine }
                }
                OperationKind::Memset | OperationKind::Record(_) | OperationKind::Wait(_) => Work::Memset,
            };
            let priority = scenario.streams()[stream].priority;
            let level = priorities.iter().position(|known| *known == priority).unwrap_or(priorities.len());
            let position = graph.streams[stream].len();
            graph.streams[stream].push(number);
            graph.nodes.push(Node {
                launched: record.launched,
                launched_by: record.launched.as_ns(),
                work,
                level,
                stream,
                position,
                thread: record.origin.thread,
                predecessors,
            });
        }
        graph
    }

    fn class(&mut self, class: Class) -> usize {
        self.classes.iter().position(|known| *known == class).unwrap_or_else(|| {
            self.classes.push(class);
            self.classes.len() - 1
        })
    }

    pub(super) fn relatives(&self, k: usize) -> Relatives {
        let mut is_ancestor = vec![false; self.nodes.len()];
        look();
        let mut open = self.nodes[k].predecessors.clone();
        while let Some(next) = open.pop() {
            if !std::mem::replace(&mut is_ancestor[next], true) {
                open.extend_from_slice(&self.nodes[next].predecessors);
            }
        }
        let mut is_successor = vec![false; self.nodes.len()];
        for later in k + 1..self.nodes.len() {
            is_successor[later] =
                self.nodes[later].predecessors.iter().any(|&before| before == k || is_successor[before]);
        }
        let mut relatives = Relatives {
            is_ancestor,
            is_successor,
            has_ancestor: !self.nodes[k].predecessors.is_empty(),
            has_kernel: false,
            has_copy: false,
            first_launch: self.nodes[k].launched,
            lowest_level: 0,
        };
        for chained in (0..=k).filter(|&chained| chained == k || relatives.is_ancestor[chained]) {
            let node = &self.nodes[chained];
            relatives.has_kernel |= matches!(node.work, Work::Kernel { .. });
            relatives.has_copy |= node.is_copy();
            relatives.first_launch = relatives.first_launch.min(node.launched);
            relatives.lowest_level = relatives.lowest_level.max(node.level);
        }
        relatives
    }

    /// The largest (launch of the first + sum of C (1 - v)) over chains that end with `k`, in 1 / ONE ns. A copy's own
    /// time is among that of all copies, so it counts like a kernel whose one block weighs 1.
    pub(super) fn longest_chain(&self, weights: &[u64], relatives: &Relatives, k: usize) -> Option<u128> {
        let mut ends: Vec<u128> = vec![0; k + 1];
        for node in (0..=k).filter(|&node| node == k || relatives.is_ancestor[node]) {
            let Node { launched, work, predecessors, .. } = &self.nodes[node];
            let begin = u128::from(launched.as_ns()) * u128::from(ONE);
            let begin = predecessors.iter().map(|&before| ends[before]).fold(begin, u128::max);
            let own = match work {
                Work::Kernel { class, block_time, .. } => {
                    u128::from(block_time.as_ns()) * u128::from(ONE.saturating_sub(*weights.get(*class)?))
                }
                Work::Copy { .. } | Work::Memset => 0,
            };
            ends[node] = begin.checked_add(own)?;
        }
        ends.last().copied()
    }
}
