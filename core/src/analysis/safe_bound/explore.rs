//! **Bound by orders of dispatch**: all orders in which operations can be dispatched, with what holds of every run that
//! has one of them.
//!
//! Claim: an operation is over by the latest instant that any state which dispatches it has for it. Assumptions: those
//! of the bound by work. A state stands for all runs in which a set D of operations is dispatched (for a kernel: fully)
//! and no others; the next operation of the run leads to the next state, and states with the same D are merged. So it
//! is the schedule-abstraction graph of Nasri and Brandenburg ("An exact and sustainable analysis of non-preemptive
//! scheduling", RTSS 2017; with Nelissen, ECRTS 2018) with the rules of the GPU. `docs/analysis.md`, "A bound by orders
//! of dispatch", has the proof, and Coq `every_run_is_explored` and `explored_orders_bound`.

use std::collections::BTreeMap;

use super::fill::KeepOutTest;
use super::fill::{Filling, MayRun, later_of, latest_starts};
use super::graph::{Graph, Node, Work};
use super::release_orders::Twins;
use super::state::{Dispatched, Interval, State};
use super::state::{Eligible, Entries};
use super::weights::Weights;
use crate::effort;
use crate::limits::{count_steps, count_turn, count_turns};
use crate::proven::{OrMost, Proven};
use crate::time::Instant;

/// States after which the search for orders is given up; what is known of all states left by then holds. A state of
/// many streams takes longer, and counts once for every [`STREAMS_A_STATE`].
pub(super) const MOST_STATES: usize = 20_000;

/// Streams that are looked at as fast as a state of few streams is.
const STREAMS_A_STATE: usize = 16;

/// What a state comes to where work is counted, beside the questions of [`KeepOutTest`].
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
    pub(super) goal: Vec<u32>,
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
        self.goal.iter().zip(dispatched.by_stream(self.goal.len())).all(|(goal, done)| done >= *goal)
    }

    /// By stream: how many of those to be bounded are dispatched in each of several states.
    fn dispatched_in_all<'d>(&self, all: impl Iterator<Item = &'d Dispatched>) -> Vec<u32> {
        let (mut states, mut least) = (0_usize, vec![(0_usize, u32::MAX); self.goal.len()]);
        for dispatched in all {
            states += 1;
            for (stream, operations) in dispatched.begun() {
                let (having, least) = &mut least[stream];
                (*having, *least) = (*having + 1, operations.min(*least));
            }
        }
        let in_all = |(having, least)| if having == states { least } else { 0 };
        self.goal.iter().zip(least).map(|(goal, least)| in_all(least).min(*goal)).collect()
    }
}

/// Operations of one stream.
pub(super) fn count(operations: usize) -> u32 {
    u32::try_from(operations).proven("at most `MOST_OPERATIONS`")
}

/// By when each operation has finished in every run, under every work-conserving placement; `None`: not found. And how
/// many states were looked at.
pub(super) fn explored_bounds(graph: &Graph, weights: &Weights<'_>, extent: &Extent) -> (Vec<Option<Instant>>, usize) {
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
    keep_out: KeepOutTest<'a>,
    successors: Vec<Vec<usize>>,
    /// The latest finish in any state so far \[ns\].
    finish: Vec<u64>,
    counts: Vec<u32>,
    others: Vec<MayRun>,
}

/// A kernel i that may be the next to be dispatched.
struct Candidate {
    node: usize,
    /// From e- to e+.
    entry: Interval,
    /// The instants U, if nothing else is dispatched before: (not after \[ns\], blocks).
    starts: Vec<(u64, u32)>,
    /// Z by level: no kernel outside D has begun a block after this \[ns\].
    begun: Vec<Option<u64>>,
}

impl Candidate {
    /// The last U: by then it is dispatched.
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
        // Of many streams most states are alone, and room for more would be most of what is held.
        known.reserve_exact(1);
        known.push(state);
    } else if let Some(nearest) = known.iter_mut().min_by_key(|known| known.kernel.to.abs_diff(state.kernel.to)) {
        nearest.merge(&state);
    }
}

/// By level: by when a kernel is dispatched if no higher one that is ready is before it; `None`: one must be.
fn before_higher(graph: &Graph, state: &State, levels: &[Entries]) -> Vec<Option<u64>> {
    let mut latest = Some(u64::MAX);
    let mut before = Vec::with_capacity(levels.len());
    for entries in levels {
        before.push(latest);
        for Eligible { node, entry, .. } in entries.heads() {
            // What is launched at an instant enters its queue before anything is assigned then.
            let at_launch = state.enters_first(graph, *node);
            latest = latest.min(if at_launch { entry.to.checked_sub(1) } else { Some(entry.to) });
        }
    }
    before
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
        for (class, lower) in graph.set_apart.blocks() {
            blocks[class] += lower;
        }
        Self {
            graph,
            weights,
            twins,
            counts: vec![0; blocks.len()],
            keep_out: KeepOutTest::new(weights, blocks),
            successors,
            finish: vec![0; graph.nodes.len()],
            others: Vec::new(),
        }
    }

    /// Says of each stream how many operations are dispatched in all states that are left: those bounds are complete.
    /// And how many states were looked at.
    fn explore(&mut self, extent: &Extent) -> (Vec<u32>, usize) {
        let start = (Dispatched::default(), vec![State::new(self.graph, extent.over)]);
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
                        let complete = extent.dispatched_in_all(layers.values().flat_map(BTreeMap::keys));
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
        let done = dispatched.by_stream(graph.streams.len());
        // Only a head whose predecessors are all dispatched can be the next to be dispatched.
        let ready = |node: &usize| {
            let before = graph.nodes[*node].predecessors.iter().map(|&before| &graph.nodes[before]);
            before.into_iter().all(|before| done[before.stream] as usize > before.position)
        };
        let heads = graph.streams.iter().zip(&done).filter_map(|(stream, &done)| stream.get(done as usize).copied());
        let eligible: Vec<(usize, Interval)> =
            heads.filter(ready).map(|node| (node, state.entry(graph, node))).collect();
        for &(node, entry) in &eligible {
            let Some((least, most)) = graph.nodes[node].work.needs_no_engine() else { continue };
            // It is over when it enters or so long after it, and holds nobody else's place, so it need not be ordered
            // with the others.
            let finish =
                Interval { from: entry.from.saturating_add(least.as_ns()), to: entry.to.saturating_add(most.as_ns()) };
            return Some(vec![self.finished(dispatched, node, finish, state.clone())]);
        }
        let streams = eligible.iter().map(|(node, _)| graph.nodes[*node].stream);
        let firsts = self.twins.firsts(graph, (dispatched, state), streams);
        let eligible: Vec<Eligible> =
            eligible.into_iter().zip(firsts).map(|((node, entry), tried)| Eligible { node, entry, tried }).collect();
        let entries = |queue: &dyn Fn(&Node) -> bool| {
            let heads = eligible.iter().copied().filter(|one| queue(&graph.nodes[one.node]));
            Entries::new(graph, state, heads.collect())
        };
        let engines: Vec<Entries> =
            (0..graph.engines).map(|engine| entries(&|node| node.engine() == Some(engine))).collect();
        let levels: Vec<Entries> =
            (0..graph.levels).map(|level| entries(&|node| node.is_kernel() && node.level == level)).collect();
        // Some copy of the engine begins by then.
        let some_copy: Vec<u64> =
            engines.iter().zip(&state.engines).map(|(copies, idle)| copies.some_by().max(idle.to)).collect();
        let before_copies = some_copy.iter().copied().min().unwrap_or(u64::MAX);
        let before_higher = before_higher(graph, state, &levels);
        let (kernels, some_kernel) = self.kernels(state, &levels, (before_copies, &before_higher))?;
        let mut next = Vec::new();
        for kernel in kernels {
            let Some(before) = before_higher[graph.nodes[kernel.node].level] else { continue };
            // Something is dispatched by each of these instants, so this kernel is not the next one later than d.
            let d = before_copies.min(some_kernel).min(before);
            next.extend(self.after_kernel(dispatched, state, kernel, d));
        }
        for (engine, copies) in engines.iter().enumerate() {
            for &Eligible { node, entry, tried } in copies.heads() {
                if !tried || !copies.may_be_first(graph, state, node, entry) {
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
    /// is, and `before_higher` a kernel of each level if no higher one is before it.
    fn kernels(
        &mut self,
        state: &State,
        levels: &[Entries],
        (before_copies, before_higher): (u64, &[Option<u64>]),
    ) -> Option<(Vec<Candidate>, u64)> {
        let graph = self.graph;
        let mut candidates = Vec::new();
        // From the lowest level l upwards, M_(l + 1): by then a kernel is dispatched, or one above these has entered.
        let mut m = u64::MAX;
        for (entries, before) in levels.iter().zip(before_higher).rev() {
            // E_l = min(smallest e+ of the level, M_(l + 1)).
            let e_l = m.min(entries.some_by());
            let mut m_l = None;
            // If no kernel of this level is certain to come, one that does is dispatched before what is certain.
            let is_certain = e_l < u64::MAX;
            let Some(e_l) = (if is_certain { Some(e_l) } else { before.map(|before| before.min(before_copies)) })
            else {
                continue;
            };
            // Of twins of which the same is known, the first one tells when any of them is dispatched.
            for &Eligible { node, entry, .. } in entries.heads().iter().filter(|one| one.tried) {
                // e_i <= E_l.
                if entry.from <= e_l && entries.may_be_first(graph, state, node, entry) {
                    let candidate = self.candidate(state, levels, node, entry, e_l)?;
                    if is_certain {
                        m_l = m_l.max(Some(candidate.dispatched()));
                    }
                    candidates.push(candidate);
                }
            }
            m = m_l.unwrap_or(m);
        }
        Some((candidates, m))
    }

    /// The head of its queue from max(`E_l`, T+) on, with nothing dispatched before it: by the lemma.
    fn candidate(
        &mut self,
        state: &State,
        levels: &[Entries],
        node: usize,
        entry: Interval,
        e_l: u64,
    ) -> Option<Candidate> {
        let graph = self.graph;
        let Node { level, work: Work::Kernel { class, blocks, block_time, .. }, .. } = graph.nodes[node] else {
            return None;
        };
        // Where it is in its queue when the kernel before it is dispatched (E_l < T-), no kernel of a lower priority
        // can begin between the two: Z stays.
        let at_launch = state.enters_first(graph, node);
        let waits = e_l < state.kernel.from || (e_l == state.kernel.from && at_launch);
        let mut begun = state.begun.clone();
        if !waits {
            // What is launched at an instant enters its queue before anything is assigned then.
            let z = if at_launch { e_l.checked_sub(1) } else { Some(e_l) };
            for begun in &mut begun[level + 1..] {
                *begun = (*begun).max(z);
            }
        }
        begun[..=level].fill(None);
        // A(t): the blocks of D that may still run, and of eligible kernels of lower levels all but one, until Z + C_j.
        self.others.clear();
        let ended = graph.kernels_before(node);
        state.may_run(graph, &ended, &mut self.others);
        for (entries, z) in levels.iter().zip(&begun) {
            let Some(z) = *z else { continue };
            for Eligible { node: other, .. } in entries.heads().iter().filter(|other| other.entry.from <= z) {
                let Work::Kernel { class, blocks, block_time, .. } = graph.nodes[*other].work else { continue };
                let blocks = blocks.saturating_sub(1);
                self.others.push(MayRun { until: z.saturating_add(block_time.as_ns()), class, blocks });
            }
        }
        count_turns(2 * self.others.len() * self.others.len());
        // What it waits for has ended when it enters: by E_l. If the last kernel of D is among that, it was dispatched
        // before.
        let is_over = state.last_kernel.is_some_and(|last| ended.contains(&last));
        let t_plus = if is_over { state.kernel.to.min(e_l) } else { state.kernel.to };
        let h = e_l.max(t_plus).max(state.forgotten);
        let filling = Filling { class, blocks, block_time: block_time.as_ns(), from: h };
        // U_n is the latest over all choices of what is set apart.
        let mut starts = Vec::new();
        for mut others in graph.set_apart.choices(&begun, h) {
            others.extend_from_slice(&self.others);
            let mut of_choice = latest_starts(filling, &mut others, &mut self.keep_out, &mut self.counts)?;
            self.list_resident(filling, &mut of_choice);
            starts = later_of(&starts, &of_choice);
        }
        Some(Candidate { node, entry, starts, begun })
    }

    /// Blocks before those listed end when the last of these is assigned, by U, unless all are assigned earlier than
    /// that, by d: then more of them may run at once than are listed, and no more than an empty GPU holds.
    fn list_resident(&self, filling: Filling, starts: &mut Vec<(u64, u32)>) {
        let Filling { class, blocks, block_time, .. } = filling;
        let resident = u32::try_from(self.weights.resident(class)).or_most().min(blocks);
        let listed = starts.iter().map(|(_, blocks)| *blocks).sum::<u32>();
        if let Some(&(last, _)) = starts.last().filter(|_| resident > listed) {
            starts.insert(0, (last.saturating_sub(block_time), resident - listed));
        }
    }

    /// From `from` on, when a kernel's last block can be assigned at the earliest: not while blocks of which each
    /// certainly runs leave no room for it on all SMs together.
    fn earliest(&self, state: &State, class: usize, mut from: u64) -> u64 {
        let running = |node: usize, all: bool| match self.graph.nodes[node].work {
            Work::Kernel { class, blocks, .. } if all => Some((class, self.last_wave(class, blocks))),
            Work::Kernel { class, .. } => Some((class, 1)),
            _ => None,
        };
        loop {
            count_turn();
            let present = || state.certain.iter().filter(|(_, until)| until[0] > from);
            let blocks = present().filter_map(|(node, until)| running(*node, until[1] > from)).chain([(class, 1)]);
            let ends = present().flat_map(|(_, until)| until).filter(|until| **until > from);
            let Some(first) = ends.min().copied() else { return from };
            if self.weights.may_be_together(blocks) {
                return from;
            }
            from = first;
        }
    }

    /// g - m r with m = floor((g - 1) / r): blocks of the last wave of a kernel of g blocks, of which an empty GPU
    /// holds r.
    fn last_wave(&self, class: usize, blocks: u32) -> u64 {
        u64::from(blocks).checked_sub(1).map_or(0, |before| before % self.weights.resident(class) + 1)
    }

    /// The state after a kernel, dispatched by d; `None`: no run has this order.
    fn after_kernel(
        &mut self,
        dispatched: &Dispatched,
        state: &State,
        kernel: Candidate,
        d: u64,
    ) -> Option<(Dispatched, State)> {
        let node = kernel.node;
        let Work::Kernel { class, blocks, block_time, best } = self.graph.nodes[node].work else { return None };
        let mut starts = kernel.starts;
        for (start, _) in &mut starts {
            *start = (*start).min(d);
        }
        let last = starts.last()?.0;
        let from = self.earliest(state, class, kernel.entry.from.max(state.last));
        let waves = u64::from(blocks).div_ceil(self.weights.resident(class));
        let alone = kernel.entry.from.saturating_add(best.as_ns().saturating_mul(waves));
        let finish = Interval {
            from: from.saturating_add(best.as_ns()).max(alone),
            to: last.saturating_add(block_time.as_ns()),
        };
        if from > last || finish.from > finish.to {
            return None;
        }
        let mut next = State {
            kernel: Interval { from, to: last.max(state.forgotten) },
            last_kernel: Some(node).filter(|_| self.graph.remembers),
            last: from,
            forgotten: state.forgotten,
            begun: kernel.begun,
            engines: state.engines.clone(),
            running: state.running.clone(),
            certain: state.certain.clone(),
            finish: state.finish.clone(),
        };
        let ended = self.graph.kernels_before(node);
        next.running.retain(|(node, _)| !ended.contains(node));
        next.set_running(node, &starts, block_time.as_ns());
        next.set_certain(node, [finish.from, alone]);
        if !self.graph.remembers {
            next.forgotten = next.kernel.to;
        }
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
        let mut key = dispatched.with_one_of(self.graph.nodes[node].stream);
        next.set_finish(node, finish);
        let (graph, successors) = (self.graph, &self.successors);
        let is_open = |node: usize| key.of(graph.nodes[node].stream) as usize <= graph.nodes[node].position;
        next.finish.retain(|(node, _)| successors[*node].iter().any(|after| is_open(*after)));
        self.twins.sorted(graph, &mut key, &mut next);
        (key, next)
    }
}
