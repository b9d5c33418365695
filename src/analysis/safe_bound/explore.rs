//! All orders in which operations can be dispatched, with what holds of every run that has one of them.
//!
//! A state stands for all runs in which certain operations are dispatched (for a kernel: fully) and no others; the
//! next operation of the run leads to the next state, and states with the same operations are merged. So it is the
//! schedule-abstraction graph of Nasri and Brandenburg ("An exact and sustainable analysis of non-preemptive
//! scheduling", RTSS 2017; with Nelissen, ECRTS 2018) with the rules of the GPU. `docs/analysis.md` has the proof.

use std::collections::BTreeMap;

use super::blocking::Blocking;
use super::fill::{Filling, MayRun, later_of, latest_starts};
use super::graph::{Graph, Node, Work};
use super::state::{Dispatched, Interval, State};
use super::twins::Twins;
use super::weights::Weights;
use crate::effort;
use crate::limits::count_steps;
use crate::proven::{OrMost, Proven};
use crate::time::Instant;

/// States after which the search for orders is given up; what is known of all states left by then holds. A state of
/// many streams takes longer, and counts once for every [`STREAMS_A_STATE`].
pub(super) const MOST_STATES: usize = 20_000;

/// Streams that are looked at as fast as a state of few streams is.
const STREAMS_A_STATE: usize = 16;

/// What a state comes to where work is counted, beside the questions of [`Blocking`].
const STEPS_OF_A_STATE: usize = 256;

/// States with the same operations that are kept apart; one more is merged with one of them.
const MOST_APART: usize = 12;

/// States in which equally many operations are dispatched.
type Layer = BTreeMap<Dispatched, Vec<State>>;

/// How far to explore.
#[derive(Debug)]
pub(super) struct Extent {
    /// What is not in the graph has ended by this \[ns\], and nothing is known of the time before.
    pub(super) over: u64,
    /// By stream: how many operations are to be bounded. At any time one of them is certain to come.
    pub(super) goal: Dispatched,
    /// States after which to give up.
    pub(super) most_states: usize,
}

impl Extent {
    /// All operations, from the beginning.
    pub(super) fn all(graph: &Graph) -> Self {
        let goal = graph.streams.iter().map(|stream| count(stream.len())).collect();
        Self { over: 0, goal, most_states: MOST_STATES }
    }

    fn is_reached(&self, dispatched: &Dispatched) -> bool {
        self.goal.iter().zip(dispatched).all(|(goal, done)| done >= goal)
    }
}

/// Operations of one stream.
pub(super) fn count(operations: usize) -> u32 {
    u32::try_from(operations).proven("at most `MOST_OPERATIONS`")
}

/// By when each operation has finished in every run, under every work-conserving placement; `None`: not found. And how
/// many states were looked at.
pub(super) fn finish_bounds(graph: &Graph, weights: &Weights<'_>, extent: &Extent) -> (Vec<Option<Instant>>, usize) {
    let mut explorer = Explorer::new(graph, weights, Twins::new(graph, &extent.goal));
    let (mut complete, states) = explorer.explore(extent);
    explorer.twins.spread(graph, &mut explorer.finish, &mut complete);
    // A finish is the maximum over all states that were explored. It bounds every run only if no state in which the
    // operation is still to be dispatched was left out, which `complete` says by stream.
    let known = |node: &Node| complete[node.stream] > count(node.position);
    let bounds = graph.nodes.iter().zip(&explorer.finish);
    let bounds = bounds.map(|(node, &finish)| (known(node) && finish < u64::MAX).then(|| Instant::from_ns(finish)));
    (bounds.collect(), states)
}

struct Explorer<'a> {
    graph: &'a Graph,
    weights: &'a Weights<'a>,
    twins: Twins,
    blocking: Blocking<'a>,
    successors: Vec<Vec<usize>>,
    /// The latest finish in any state so far \[ns\].
    finish: Vec<u64>,
    counts: Vec<u32>,
    others: Vec<MayRun>,
}

/// The head of a stream, all of whose predecessors are dispatched.
#[derive(Clone, Copy)]
struct Eligible {
    node: usize,
    entry: Interval,
    /// Whether it is tried as the next one: of twins of which the same is known, one is.
    tried: bool,
}

/// An operation that may be the next to be dispatched.
struct Candidate {
    node: usize,
    entry: Interval,
    /// When its blocks are assigned, if nothing else is dispatched before: (not after \[ns\], blocks).
    starts: Vec<(u64, u32)>,
    /// By level: no kernel that is not dispatched has assigned a block after this \[ns\].
    begun: Vec<Option<u64>>,
}

impl Candidate {
    fn dispatched(&self) -> u64 {
        self.starts.last().map_or(0, |(start, _)| *start)
    }
}

/// Adds a state to those with the same operations, unless one of them holds of all its runs.
fn enter(known: &mut Vec<State>, state: State, apart: usize) {
    if known.iter().any(|known| known.covers(&state)) {
        return;
    }
    if known.len() < apart {
        known.push(state);
    } else if let Some(nearest) = known.iter_mut().min_by_key(|known| known.kernel.to.abs_diff(state.kernel.to)) {
        nearest.merge(&state);
    }
}

impl<'a> Explorer<'a> {
    fn new(graph: &'a Graph, weights: &'a Weights<'a>, twins: Twins) -> Self {
        let mut blocks = vec![0_u64; graph.classes.len()];
        let mut successors = vec![Vec::new(); graph.nodes.len()];
        for (number, node) in graph.nodes.iter().enumerate() {
            if let Work::Kernel { class, blocks: grid, .. } = node.work {
                blocks[class] += u64::from(grid);
            }
            for &before in &node.predecessors {
                successors[before].push(number);
            }
        }
        for (class, lower) in graph.lower.blocks() {
            blocks[class] += lower;
        }
        Self {
            graph,
            weights,
            twins,
            counts: vec![0; blocks.len()],
            blocking: Blocking::new(weights, blocks),
            successors,
            finish: vec![0; graph.nodes.len()],
            others: Vec::new(),
        }
    }

    /// Says of each stream how many operations are dispatched in all states that are left: those bounds are complete.
    /// And how many states were looked at.
    fn explore(&mut self, extent: &Extent) -> (Dispatched, usize) {
        let start = (vec![0; self.graph.streams.len()], vec![State::new(self.graph, extent.over)]);
        let mut layers: BTreeMap<u32, Layer> = BTreeMap::from([(0, BTreeMap::from([start]))]);
        let mut expanded = 0;
        let cost = 1 + self.graph.streams.len() / STREAMS_A_STATE;
        while let Some((depth, mut layer)) = layers.pop_first() {
            while let Some((dispatched, mut states)) = layer.pop_first() {
                if extent.is_reached(&dispatched) {
                    continue;
                }
                // Merging more states loses precision and never safety: a merged state holds of the runs of both.
                let apart = if expanded < extent.most_states / 2 { MOST_APART } else { 1 };
                while let Some(state) = states.pop() {
                    count_steps(STEPS_OF_A_STATE * cost);
                    expanded += cost;
                    let is_over = expanded > extent.most_states || effort::check().is_err();
                    let next = if is_over { None } else { self.expand(&dispatched, &state) };
                    let Some(next) = next else {
                        layer.insert(dispatched, Vec::new());
                        layers.insert(depth, layer);
                        // Given up: a stream's bounds are complete as far as it is dispatched in every state left.
                        let left = layers.values().flat_map(BTreeMap::keys);
                        let complete = left.fold(extent.goal.clone(), |least, key| {
                            least.iter().zip(key).map(|(one, other)| *one.min(other)).collect()
                        });
                        return (complete, expanded);
                    };
                    for (key, state) in next {
                        enter(layers.entry(depth + 1).or_default().entry(key).or_default(), state, apart);
                    }
                }
            }
        }
        (extent.goal.clone(), expanded)
    }

    /// What can be dispatched next, and what holds then. `None`: too much work, or past the end of time.
    fn expand(&mut self, dispatched: &Dispatched, state: &State) -> Option<Vec<(Dispatched, State)>> {
        let graph = self.graph;
        // Only a head whose predecessors are all dispatched can be the next to be dispatched.
        let ready = |node: &usize| {
            let before = graph.nodes[*node].predecessors.iter().map(|&before| &graph.nodes[before]);
            before.into_iter().all(|before| dispatched[before.stream] as usize > before.position)
        };
        let heads =
            graph.streams.iter().zip(dispatched).filter_map(|(stream, &done)| stream.get(done as usize).copied());
        let eligible: Vec<(usize, Interval)> =
            heads.filter(ready).map(|node| (node, state.entry(graph, node))).collect();
        for &(node, entry) in &eligible {
            let Some(time) = graph.nodes[node].work.needs_no_engine() else { continue };
            // It is over when it enters or so long after it, and holds nobody else's place, so it need not be ordered
            // with the others.
            let after = |at: u64| at.saturating_add(time.as_ns());
            let finish = Interval { from: after(entry.from), to: after(entry.to) };
            return Some(vec![self.finished(dispatched, node, finish, state.clone())]);
        }
        let streams = eligible.iter().map(|(node, _)| graph.nodes[*node].stream);
        let firsts = self.twins.firsts(graph, (dispatched, state), streams);
        let eligible: Vec<Eligible> =
            eligible.into_iter().zip(firsts).map(|((node, entry), tried)| Eligible { node, entry, tried }).collect();
        let engines: Vec<Vec<Eligible>> = (0..graph.engines)
            .map(|engine| {
                eligible.iter().copied().filter(|one| graph.nodes[one.node].engine() == Some(engine)).collect()
            })
            .collect();
        // Some copy of the engine begins by then.
        let some_copy: Vec<u64> = engines
            .iter()
            .zip(&state.engines)
            .map(|(copies, idle)| copies.iter().map(|copy| copy.entry.to.max(idle.to)).min().unwrap_or(u64::MAX))
            .collect();
        let before_copies = some_copy.iter().copied().min().unwrap_or(u64::MAX);
        let (kernels, some_kernel) = self.kernels(state, &eligible, before_copies)?;
        let mut next = Vec::new();
        for kernel in kernels {
            let Some(before) = self.before_higher(&eligible, kernel.node) else { continue };
            // Something is dispatched by each of these instants, so this kernel is not the next one later than that.
            let most = before_copies.min(some_kernel).min(before);
            next.extend(self.after_kernel(dispatched, state, kernel, most));
        }
        for (engine, copies) in engines.iter().enumerate() {
            for &Eligible { node, entry, tried } in copies {
                if !tried || !self.may_be_first(state, node, entry, copies) {
                    continue;
                }
                let idle = state.engines[engine];
                // Not before it has entered, the engine is idle, and what was dispatched before it has been; not after
                // something else would have been dispatched.
                let start = Interval {
                    from: entry.from.max(state.last).max(idle.from),
                    to: before_copies.min(some_copy[engine]).min(some_kernel),
                };
                if let (Work::Copy { worst, best, .. }, true) = (graph.nodes[node].work, start.from <= start.to) {
                    let finish = Interval {
                        from: start.from.checked_add(best.as_ns())?,
                        to: start.to.checked_add(worst.as_ns())?,
                    };
                    let mut after = State { last: start.from, ..state.clone() };
                    after.engines[engine] = finish;
                    next.push(self.finished(dispatched, node, finish, after));
                }
            }
        }
        Some(next)
    }

    /// The kernels that may be dispatched next, and an instant by which one of them is. By `before_copies` some copy
    /// is.
    fn kernels(&mut self, state: &State, eligible: &[Eligible], before_copies: u64) -> Option<(Vec<Candidate>, u64)> {
        let graph = self.graph;
        let mut candidates = Vec::new();
        // By then a kernel is dispatched, or one of a higher priority than the levels looked at has entered.
        let mut until = u64::MAX;
        for level in (0..graph.levels).rev() {
            let is_of_level = |node: &Node| node.is_kernel() && node.level == level;
            let of_level: Vec<Eligible> =
                eligible.iter().copied().filter(|one| is_of_level(&graph.nodes[one.node])).collect();
            let entered = of_level.iter().map(|one| one.entry.to).fold(until, u64::min);
            let mut last = None;
            // If no kernel of this level is certain to come, one that does is dispatched before what is certain.
            let is_certain = entered < u64::MAX;
            // Of twins of which the same is known, the first one tells when any of them is dispatched.
            for &Eligible { node, entry, .. } in of_level.iter().filter(|one| one.tried) {
                let before = || self.before_higher(eligible, node).map(|before| before.min(before_copies));
                let Some(entered) = (if is_certain { Some(entered) } else { before() }) else { continue };
                if entry.from <= entered && self.may_be_first(state, node, entry, &of_level) {
                    let candidate = self.candidate(state, eligible, node, entry, entered)?;
                    if is_certain {
                        last = last.max(Some(candidate.dispatched()));
                    }
                    candidates.push(candidate);
                }
            }
            until = last.unwrap_or(until);
        }
        Some((candidates, until))
    }

    /// The head of its queue from `entered` at the latest, with nothing dispatched before it.
    fn candidate(
        &mut self,
        state: &State,
        eligible: &[Eligible],
        node: usize,
        entry: Interval,
        entered: u64,
    ) -> Option<Candidate> {
        let graph = self.graph;
        let Node { level, work: Work::Kernel { class, blocks, block_time, .. }, .. } = graph.nodes[node] else {
            return None;
        };
        // It is in its queue when the kernel before it is dispatched, whose priority is not lower: no kernel of a lower
        // one can begin between the two.
        let at_launch = graph.nodes[node].predecessors.is_empty();
        let waits = entered < state.kernel.from || (entered == state.kernel.from && at_launch);
        let mut begun = state.begun.clone();
        if !waits || level < state.level {
            // What is launched at an instant enters its queue before anything is assigned then.
            let latest = if at_launch { entered.checked_sub(1) } else { Some(entered) };
            for begun in &mut begun[level + 1..] {
                *begun = (*begun).max(latest);
            }
        }
        begun[..=level].fill(None);
        self.others.clear();
        state.may_run(graph, &mut self.others);
        for Eligible { node: other, entry, .. } in eligible {
            let other = &graph.nodes[*other];
            if let Work::Kernel { class, blocks, block_time, .. } = other.work
                && let Some(latest) = begun[other.level].filter(|latest| entry.from <= *latest)
            {
                // At least one of its blocks is not assigned yet.
                let blocks = blocks.saturating_sub(1);
                self.others.push(MayRun { until: latest.saturating_add(block_time.as_ns()), class, blocks });
            }
        }
        // The head of its queue from then on at the latest; whatever of others may still run delays it the most.
        let from = entered.max(state.kernel.to);
        let filling = Filling { class, blocks, block_time: block_time.as_ns(), from };
        let mut starts = Vec::new();
        for mut others in graph.lower.choices(&begun, from) {
            others.extend_from_slice(&self.others);
            let mut of_choice = latest_starts(filling, &mut others, &mut self.blocking, &mut self.counts)?;
            self.list_resident(filling, &mut of_choice);
            starts = later_of(&starts, &of_choice);
        }
        Some(Candidate { node, entry, starts, begun })
    }

    /// Blocks before those listed end when the last of these is assigned, unless all are assigned earlier than that:
    /// then more of them may run at once than are listed, and no more than an empty GPU holds.
    fn list_resident(&self, filling: Filling, starts: &mut Vec<(u64, u32)>) {
        let Filling { class, blocks, block_time, .. } = filling;
        let resident = u32::try_from(self.weights.resident(class)).or_most().min(blocks);
        let listed = starts.iter().map(|(_, blocks)| *blocks).sum::<u32>();
        if let Some(&(last, _)) = starts.last().filter(|_| resident > listed) {
            starts.insert(0, (last.saturating_sub(block_time), resident - listed));
        }
    }

    /// By when a kernel is dispatched if no higher one that is ready is before it; `None`: one must be.
    fn before_higher(&self, eligible: &[Eligible], node: usize) -> Option<u64> {
        let graph = self.graph;
        let higher = |other: &Node| other.is_kernel() && other.level < graph.nodes[node].level;
        let mut latest = Some(u64::MAX);
        for Eligible { node: other, entry, .. } in eligible.iter().filter(|other| higher(&graph.nodes[other.node])) {
            // What is launched at an instant enters its queue before anything is assigned then.
            let at_launch = graph.nodes[*other].predecessors.is_empty();
            latest = latest.min(if at_launch { entry.to.checked_sub(1) } else { Some(entry.to) });
        }
        latest
    }

    /// Whether an operation can enter its queue before all `others`.
    fn may_be_first(&self, state: &State, node: usize, entry: Interval, others: &[Eligible]) -> bool {
        let nodes = &self.graph.nodes;
        others.iter().filter(|other| other.node != node).all(|&Eligible { node: other, entry: before, .. }| {
            if entry.from != before.to || !state.enters_at_launch(self.graph, other) {
                return entry.from <= before.to;
            }
            if state.enters_at_launch(self.graph, node) {
                let open = self.graph.any_order && nodes[node].thread != nodes[other].thread;
                return open || node < other;
            }
            !self.waits_for_later(node, before.to)
        })
    }

    /// Whether an operation waits for a kernel or copy that is launched at an instant or later. That begins when all
    /// that is launched at the instant has entered its queue, so it ends after that even if it takes no time.
    fn waits_for_later(&self, node: usize, launch: u64) -> bool {
        let nodes = &self.graph.nodes;
        nodes[node]
            .predecessors
            .iter()
            .map(|&before| &nodes[before])
            .any(|before| before.work.needs_no_engine().is_none() && before.launched.as_ns() >= launch)
    }

    /// The state after a kernel, dispatched at `most` at the latest; `None`: it cannot be.
    fn after_kernel(
        &mut self,
        dispatched: &Dispatched,
        state: &State,
        kernel: Candidate,
        most: u64,
    ) -> Option<(Dispatched, State)> {
        let node = kernel.node;
        let Work::Kernel { class, blocks, block_time, best } = self.graph.nodes[node].work else { return None };
        let mut starts = kernel.starts;
        for (start, _) in &mut starts {
            *start = (*start).min(most);
        }
        let last = starts.last()?.0;
        let from = kernel.entry.from.max(state.last);
        let waves = u64::from(blocks).div_ceil(self.weights.resident(class));
        let finish = Interval {
            from: from
                .saturating_add(best.as_ns())
                .max(kernel.entry.from.saturating_add(best.as_ns().saturating_mul(waves))),
            to: last.saturating_add(block_time.as_ns()),
        };
        if from > last || finish.from > finish.to {
            return None;
        }
        let mut next = State {
            // Not earlier than before: blocks that have ended by then are forgotten.
            kernel: Interval { from, to: last.max(state.kernel.to) },
            last: from,
            level: self.graph.nodes[node].level,
            begun: kernel.begun,
            engines: state.engines.clone(),
            running: state.running.clone(),
            finish: state.finish.clone(),
        };
        next.set_running(node, &starts, block_time.as_ns());
        next.forget_ended();
        Some(self.finished(dispatched, node, finish, next))
    }

    /// Enters an operation among the dispatched ones of `next`.
    fn finished(
        &mut self,
        dispatched: &Dispatched,
        node: usize,
        finish: Interval,
        mut next: State,
    ) -> (Dispatched, State) {
        self.finish[node] = self.finish[node].max(finish.to);
        let mut key = dispatched.clone();
        key[self.graph.nodes[node].stream] += 1;
        next.set_finish(node, finish);
        let (graph, successors) = (self.graph, &self.successors);
        let is_open = |node: usize| key[graph.nodes[node].stream] as usize <= graph.nodes[node].position;
        next.finish.retain(|(node, _)| successors[*node].iter().any(|after| is_open(*after)));
        self.twins.sorted(graph, &mut key, &mut next);
        (key, next)
    }
}
