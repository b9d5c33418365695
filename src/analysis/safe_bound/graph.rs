//! The operations of a scenario, what they do, and what each of them waits for before it enters its EE or CE queue.

use super::lower::Lower;
use super::weights::{Class, ONE};
use crate::analysis::assumptions::sms_of;
use crate::analysis::bound_options::BoundOptions;
use crate::analysis::merged_backend::{Analysed, Costs};
use crate::analysis::pool::needs;
use crate::device::BlockDemand;
use crate::limits::{count_steps, count_turn};
use crate::scenario::{ReleaseOrder, Scenario};
use crate::time::{Duration, Instant};
use crate::workload::OperationKind;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) enum Work {
    Kernel {
        class: usize,
        blocks: u32,
        block_time: Duration,
        best: Duration,
    },
    /// A copy, which takes at most and at least so long on an engine.
    Copy {
        worst: Duration,
        best: Duration,
        engine: usize,
    },
    /// Nothing: a memset, a record, or a wait for an event, which is over when its predecessors are.
    Memset,
    /// A host thread does something else for exactly so long once its predecessors are over: it sleeps, or, for no
    /// time, goes on after it has waited.
    Pause(Duration),
    /// A host thread works for no longer than this, or waits for its core besides, so that nobody knows when it goes
    /// on.
    Busy(Duration),
}

impl Work {
    /// Whether a host does it, and not the GPU.
    pub(in crate::analysis) fn is_of_host(&self) -> bool {
        matches!(self, Self::Pause(_) | Self::Busy(_))
    }

    /// How long what needs neither SMs nor a copy engine takes; `None`: it needs one.
    pub(super) fn needs_no_engine(&self) -> Option<Duration> {
        match *self {
            Self::Memset | Self::Busy(_) => Some(Duration::ZERO),
            Self::Pause(time) => Some(time),
            Self::Kernel { .. } | Self::Copy { .. } => None,
        }
    }
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
    /// It enters its queue when it is launched and all of these have completed; where the [waits](Waits) are open,
    /// those of them that were launched before it.
    pub(super) predecessors: Vec<usize>,
}

impl Node {
    pub(super) fn is_copy(&self) -> bool {
        matches!(self.work, Work::Copy { .. })
    }

    pub(super) fn is_kernel(&self) -> bool {
        matches!(self.work, Work::Kernel { .. })
    }

    /// Whether it may enter its queue later than it is launched.
    fn enters_late(&self) -> bool {
        !self.predecessors.is_empty() || self.launched_by > self.launched.as_ns()
    }

    /// Whether it may last.
    pub(super) fn takes_time(&self) -> bool {
        match self.work {
            Work::Kernel { block_time: time, .. } | Work::Copy { worst: time, .. } => time > Duration::ZERO,
            Work::Memset | Work::Pause(_) | Work::Busy(_) => false,
        }
    }

    /// The engine of a copy.
    pub(super) fn engine(&self) -> Option<usize> {
        match self.work {
            Work::Copy { engine, .. } => Some(engine),
            _ => None,
        }
    }
}

/// Who waits for whom.
#[derive(Debug, Default)]
pub(super) enum Waits {
    /// It is known: predecessors come before their successors.
    #[default]
    Known,
    /// It depends on the order of what is launched at one instant: predecessors are all that may be. The operations of
    /// an instant that may wait for one another have the same number here, others one of their own.
    Open(Vec<usize>),
}

/// All operations, by launch.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) classes: Vec<Class>,
    pub(super) streams: Vec<Vec<usize>>,
    pub(super) levels: usize,
    pub(super) engines: usize,
    /// Whether the order of threads that launch at one instant is open.
    pub(super) any_order: bool,
    /// Whether what has nothing left to wait for at an instant enters its queue before anything is assigned then, as
    /// what is launched then does.
    pub(super) ready_first: bool,
    pub(super) waits: Waits,
    /// Kernels beside the nodes, of priorities lower than all of these.
    pub(super) lower: Lower,
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
    /// How many of them are kernels.
    pub(super) kernels: u64,
}

impl Graph {
    /// Of operations that wait for their `predecessors`.
    pub(super) fn new(
        scenario: &Scenario,
        demands: &[BlockDemand],
        costs: &Costs,
        (operations, predecessors): (&[Analysed], Vec<Vec<usize>>),
        options: BoundOptions,
    ) -> Self {
        let shortest = |stated: Duration| options.block_times.shortest(stated);
        let priorities: Vec<i32> = scenario.device().priorities().collect();
        let mut graph = Self {
            nodes: Vec::with_capacity(operations.len()),
            classes: Vec::new(),
            streams: vec![Vec::new(); scenario.streams().len()],
            levels: priorities.len() + 1,
            engines: scenario.device().copy.engines as usize,
            any_order: options.order == ReleaseOrder::Any,
            ready_first: false,
            waits: Waits::Known,
            lower: Lower::default(),
        };
        for (record, predecessors) in operations.iter().zip(predecessors) {
            let stream = record.stream.index();
            let work = match record.kind {
                OperationKind::Kernel(kernel) => {
                    let allowed = u64::from(sms_of(scenario, kernel, record.stream).min(costs.sms));
                    let cost = &costs.kernels[kernel.index()];
                    let class = graph.class(Class { needs: needs(&demands[kernel.index()]), allowed });
                    let best = shortest(scenario.shortest_block_time(kernel).unwrap_or(Duration::ZERO));
                    Work::Kernel { class, blocks: cost.blocks, block_time: cost.block_time, best }
                }
                OperationKind::Copy(copy) => {
                    let (worst, engine) = costs.copies[copy.index()];
                    Work::Copy { worst, best: shortest(worst), engine }
                }
                OperationKind::Memset | OperationKind::Record(_) | OperationKind::Wait(_) => Work::Memset,
            };
            let priority = scenario.streams()[stream].priority;
            let level = priorities.iter().position(|known| *known == priority).unwrap_or(priorities.len());
            graph.add(Node {
                launched: record.launched,
                launched_by: record.launched.as_ns(),
                work,
                level,
                stream,
                position: 0,
                thread: record.origin.thread,
                predecessors,
            });
        }
        graph
    }

    /// The same without operations.
    pub(super) fn without_nodes(&self) -> Self {
        Self {
            nodes: Vec::new(),
            classes: self.classes.clone(),
            streams: vec![Vec::new(); self.streams.len()],
            levels: self.levels,
            engines: self.engines,
            any_order: self.any_order,
            ready_first: self.ready_first,
            waits: Waits::Known,
            lower: Lower::default(),
        }
    }

    /// Whether none of these operations down to a level uses a copy engine that one of them below it uses, too.
    pub(super) fn engines_are_apart(&self, level: usize, members: impl Iterator<Item = usize>) -> bool {
        let mut uses = vec![[false; 2]; self.engines];
        for node in members.map(|number| &self.nodes[number]) {
            if let Some(engine) = node.engine() {
                uses[engine][usize::from(node.level > level)] = true;
            }
        }
        uses.iter().all(|uses| *uses != [true, true])
    }

    /// Adds an operation as the last one of its stream; says its number.
    pub(super) fn add(&mut self, node: Node) -> usize {
        let number = self.nodes.len();
        let stream = &mut self.streams[node.stream];
        let position = stream.len();
        stream.push(number);
        self.nodes.push(Node { position, ..node });
        number
    }

    /// Adds an operation of a lower priority than all nodes, which no node waits for, and which is over by `over`
    /// \[ns\].
    pub(super) fn add_lower(&mut self, place: (usize, usize), launched: Instant, over: u64, work: Work) {
        if let Work::Kernel { class, blocks, block_time, .. } = work {
            self.lower.add(place, launched, over, (class, blocks, block_time.as_ns()));
        }
    }

    fn class(&mut self, class: Class) -> usize {
        self.classes.iter().position(|known| *known == class).unwrap_or_else(|| {
            self.classes.push(class);
            self.classes.len() - 1
        })
    }

    /// The same where predecessors are all that may be, so that who waits for whom is open.
    pub(super) fn with_open_waits(mut self) -> Self {
        let mut component: Vec<usize> = (0..self.nodes.len()).collect();
        let mut by_order = vec![false; self.nodes.len()];
        for (number, by_order) in by_order.iter_mut().enumerate() {
            for &before in &self.nodes[number].predecessors {
                if self.nodes[before].launched == self.nodes[number].launched {
                    let (one, other) = (root(&component, before), root(&component, number));
                    component[one.max(other)] = one.min(other);
                    *by_order |= self.nodes[before].thread != self.nodes[number].thread;
                }
            }
        }
        let roots: Vec<usize> = (0..self.nodes.len()).map(|number| root(&component, number)).collect();
        let mut is_open = vec![false; self.nodes.len()];
        for (&root, by_order) in roots.iter().zip(by_order) {
            is_open[root] |= by_order;
        }
        let own = roots.iter().enumerate().map(|(number, &root)| if is_open[root] { root } else { number });
        self.waits = Waits::Open(own.collect());
        self
    }

    pub(super) fn relatives(&self, k: usize) -> Relatives {
        let mut is_ancestor = vec![false; self.nodes.len()];
        count_steps(self.nodes.len());
        let mut open = self.nodes[k].predecessors.clone();
        while let Some(next) = open.pop() {
            count_turn();
            if !std::mem::replace(&mut is_ancestor[next], true) {
                open.extend_from_slice(&self.nodes[next].predecessors);
            }
        }
        let mut is_successor = vec![false; self.nodes.len()];
        for later in k + 1..self.nodes.len() {
            is_successor[later] = match self.waits {
                Waits::Known => {
                    self.nodes[later].predecessors.iter().any(|&before| before == k || is_successor[before])
                }
                // What certainly comes later in its stream.
                Waits::Open(_) => {
                    let (own, later) = (&self.nodes[k], &self.nodes[later]);
                    own.stream == later.stream && (own.launched < later.launched || own.thread == later.thread)
                }
            };
        }
        let mut relatives = Relatives {
            is_ancestor,
            is_successor,
            has_ancestor: self.nodes[k].enters_late(),
            has_kernel: false,
            has_copy: false,
            first_launch: self.nodes[k].launched,
            lowest_level: 0,
            kernels: 0,
        };
        for chained in (0..self.nodes.len()).filter(|&chained| chained == k || relatives.is_ancestor[chained]) {
            let node = &self.nodes[chained];
            relatives.has_kernel |= node.is_kernel();
            relatives.kernels += u64::from(node.is_kernel());
            relatives.has_copy |= node.is_copy();
            relatives.first_launch = relatives.first_launch.min(node.launched);
            relatives.lowest_level = relatives.lowest_level.max(node.level);
        }
        relatives
    }

    /// The largest (launch of the first + sum of C (1 - v)) over chains that end with `k`, in 1 / ONE ns. A copy's own
    /// time is among that of all copies, so it counts like a kernel whose one block weighs 1.
    pub(super) fn longest_chain(&self, weights: &[u64], relatives: &Relatives, k: usize) -> Option<u128> {
        count_steps(self.nodes.len());
        let on_chain = |node: &usize| *node == k || relatives.is_ancestor[*node];
        let mut ends: Vec<u128> = vec![0; self.nodes.len()];
        let mut done = vec![false; self.nodes.len()];
        for node in (0..self.nodes.len()).filter(on_chain) {
            if done[node] {
                continue;
            }
            // A chain may go through all of them, in any order, and through each of them once.
            let together: Vec<usize> = match &self.waits {
                Waits::Known => vec![node],
                Waits::Open(component) => {
                    let launched = self.nodes[node].launched;
                    let same = |other: &usize| component[*other] == component[node];
                    let of_instant =
                        (node..self.nodes.len()).take_while(|&other| self.nodes[other].launched == launched);
                    of_instant.filter(same).filter(on_chain).collect()
                }
            };
            let (mut begin, mut own) = (0, 0_u128);
            for &member in &together {
                let Node { launched, launched_by, work, predecessors, .. } = &self.nodes[member];
                begin = begin.max(u128::from(launched.as_ns().max(*launched_by)) * u128::from(ONE));
                begin = predecessors.iter().map(|&before| ends[before]).fold(begin, u128::max);
                own = own.checked_add(match work {
                    Work::Kernel { class, block_time, .. } => {
                        u128::from(block_time.as_ns()) * u128::from(ONE.saturating_sub(*weights.get(*class)?))
                    }
                    Work::Copy { .. } | Work::Memset | Work::Pause(_) | Work::Busy(_) => 0,
                })?;
            }
            let end = begin.checked_add(own)?;
            for member in together {
                ends[member] = end;
                done[member] = true;
            }
        }
        Some(ends[k])
    }
}

/// The first of the operations that `number` is together with.
fn root(component: &[usize], mut number: usize) -> usize {
    while component[number] != number {
        count_turn();
        number = component[number];
    }
    number
}
