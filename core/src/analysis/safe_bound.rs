//! **Bound by work**: finish times that hold on any work-conserving placement, with priorities, several kernels per
//! stream, copies and masks, even if blocks run shorter than stated; and the other bounds on operations that are
//! launched at given instants.
//!
//! Claim: operation k ends by `f_k`, where
//!
//! `f_k` <= max over chains to k of (launch of its first + sum of `C_o` (1 - `v_o`)) + sum over j in J of `g_j` `C_j`
//! `v_j`,
//!
//! plus, if a copy is among k and what precedes it, the time of all copies once. Assumptions: launch times do not
//! depend on completions, streams need not wait for channels, copies share no link, and there is neither launch latency
//! nor kernel gap; one context, or MPS without EE queues or percentages under masks of a client's own.
//!
//! Step by step (`docs/analysis.md`, "A bound by work, for everything else"; Coq: `over_by_paths`):
//!
//! 1. *Critical chain.* Follow from k backwards what it waited for: a chain of operations, each of which was launched,
//!    or became the head of its stream, when the one before it had completed ([`Graph`]).
//! 2. *Heads.* While an operation of the chain waits for SMs, some head h fits on none of the `S_h` SMs that it may
//!    use.
//! 3. *Weights.* Every block of kernel j has a weight `v_j` such that blocks that keep h out of one SM weigh 1 / `S_h`
//!    or more ([`Weights`]). So the waits take no longer than what all blocks that run in them weigh together, times
//!    their lengths; the last block of each operation of the chain runs outside.
//! 4. *J* is what can run in the waits ([`Interference`]), of which lower priorities add no more than they can have
//!    there ([`LowerInWaits`]).
//!
//! It is of Graham's kind ("Bounds on multiprocessing timing anomalies", 1969).

use std::collections::{BTreeMap, BTreeSet};

use graph::{Graph, Node, Relatives};
use serde::Serialize;

use super::merged_resources::{Analysed, Costs};
use crate::device::BlockDemand;
use crate::effort;
use crate::limits::count_steps;
use crate::scenario::{ReleaseOrder, Scenario};
use crate::time::{Duration, Instant};

pub(super) use graph::{NullRule, Work, level_of, work_of};
pub(super) use weights::LowerInWaits;
pub(super) use weights::{Class, ONE, Weights};
pub(super) use windows::{Begin, Job, Operation, Phased};
pub(super) use windows::{ProcessorJob, bounds_on_processors};

mod carried_over;
mod explore;
mod fill;
mod graph;
mod release_orders;
mod state;
mod weights;
mod windows;

/// Operations above which bounds are not computed.
pub(super) const MOST_OPERATIONS: usize = 100_000;

/// Operations above which nothing is computed that looks at all of them for each of them, or for several orders.
const MOST_TOGETHER: usize = 5_000;

/// Rounds of looking at more of what is launched later, before all of it is.
const MOST_ROUNDS: usize = 64;

/// The bounds of all operations of a scenario.
#[derive(Debug)]
pub(super) struct SafeBounds {
    finish: Vec<Option<Instant>>,
    /// Of no operation anything is known, as too many may wait for one another.
    pub(super) waits_are_too_many: bool,
}

impl SafeBounds {
    /// Computes the bounds. The assumptions above must hold; `finish_bounds` looks whether they do. Where the order
    /// of what is launched at one instant is open, the order of `operations` there does not matter.
    pub(super) fn new(
        scenario: &Scenario,
        demands: &[BlockDemand],
        costs: &Costs,
        operations: &[Analysed],
        options: BoundOptions,
    ) -> Self {
        if operations.len() > MOST_OPERATIONS {
            return Self { finish: Vec::new(), waits_are_too_many: false };
        }
        let rules = NullRule::all(scenario);
        let graph = |operations: &[Analysed], predecessors: Vec<Vec<usize>>| {
            Graph::new(scenario, demands, costs, (operations, predecessors), options)
        };
        let known = |operations: &[Analysed], share: usize| {
            let graph = graph(operations, graph::in_this_order(operations, &rules));
            let weights = Weights::new(scenario.device(), &graph.classes);
            windows::window_bounds(&graph, &weights, share)
        };
        if options.order == ReleaseOrder::Declared {
            return Self { finish: known(operations, 1), waits_are_too_many: false };
        }
        let places = by_program(scenario, operations);
        let sorted: Vec<Analysed> = places.iter().map(|&place| operations[place]).collect();
        let most = MOST_TOGETHER.checked_div(sorted.len()).unwrap_or(1).max(1);
        let of_sorted = if let Some(orders) = release_orders::orders(&sorted, &rules, most) {
            // Every run has one of them.
            let mut latest: Vec<Option<Instant>> = vec![Some(Instant::ZERO); sorted.len()];
            for order in &orders {
                let ordered: Vec<Analysed> = order.iter().map(|&number| sorted[number]).collect();
                for (&number, finish) in order.iter().zip(known(&ordered, orders.len())) {
                    latest[number] = latest[number].zip(finish).map(|(latest, finish)| latest.max(finish));
                }
            }
            latest
        } else if let Some(predecessors) =
            graph::in_any_order(&sorted, &rules).filter(|_| sorted.len() <= MOST_TOGETHER)
        {
            let graph = graph(&sorted, predecessors).with_open_waits();
            let weights = Weights::new(scenario.device(), &graph.classes);
            by_work(&graph, &weights)
        } else {
            return Self { finish: Vec::new(), waits_are_too_many: true };
        };
        let mut finish = vec![None; operations.len()];
        for (place, bound) in places.into_iter().zip(of_sorted) {
            finish[place] = bound;
        }
        Self { finish, waits_are_too_many: false }
    }

    /// By when an operation has finished; `None` if that cannot be told.
    pub(super) fn finish(&self, operation: u32) -> Option<Instant> {
        self.finish.get(operation as usize).copied().flatten()
    }
}

/// The operations by launch, those of one instant by thread, in an order of the threads that does not depend on where
/// they stand in a file, and in program order.
fn by_program(scenario: &Scenario, operations: &[Analysed]) -> Vec<usize> {
    let ranks = scenario.thread_ranks();
    let mut places: Vec<usize> = (0..operations.len()).collect();
    places.sort_by_key(|&place| {
        let Analysed { launched, origin, .. } = operations[place];
        (launched, ranks.get(origin.thread as usize).copied(), place)
    });
    places
}

/// The bounds by work alone.
fn by_work(graph: &Graph, weights: &Weights<'_>) -> Vec<Option<Instant>> {
    let mut finish = vec![None; graph.nodes.len()];
    let mut looked = LookedUp::new(graph, &finish);
    for operation in 0..finish.len() {
        if effort::check().is_err() {
            break;
        }
        finish[operation] = bound(graph, weights, operation, (&finish, &looked));
        looked.note(graph, operation, &finish);
    }
    finish
}

/// The bound of operation `k` by work, given those of some operations. J leaves out what is launched at X or later,
/// where X grows from k's own launch on until the bound is at most X.
fn bound(
    graph: &Graph,
    weights: &Weights,
    k: usize,
    (known, looked): (&[Option<Instant>], &LookedUp),
) -> Option<Instant> {
    let relatives = graph.relatives(k, &looked.followers);
    let launched_before = |x: Instant| graph.nodes.partition_point(|node| node.launched < x);
    let mut x = graph.nodes[k].launched.saturating_add(Duration::from_ns(1));
    for round in 0.. {
        if round == MOST_ROUNDS {
            x = Instant::MAX;
        }
        count_steps(graph.nodes.len());
        let j = Interference::new(graph, &relatives, k, (known, looked), launched_before(x));
        let bound = j.bound(graph, weights, &relatives, k)?;
        // What takes no time may begin just then, and what comes then may be before it.
        let after = Duration::from_ns(u64::from(!graph.nodes[k].takes_time()));
        let reach = bound.saturating_add(after);
        if launched_before(x) >= launched_before(reach) {
            return Some(bound);
        }
        x = reach;
    }
    None
}

/// What is looked up of the operations of a graph, so that a bound does not go through all of them.
struct LookedUp {
    /// By operation: those that wait for it.
    followers: Vec<Vec<usize>>,
    /// Kernels of one level and class, and all copies.
    alike: Vec<Alike>,
    /// By operation: which of these it is of; 0 if it is of none.
    group: Vec<usize>,
    /// Those that are known to be over when they are launched.
    over_at_launch: BTreeSet<usize>,
}

/// Kernels of one level and class, or copies, which have neither.
struct Alike {
    of: Option<(usize, usize)>,
    /// Ascending.
    numbers: Vec<usize>,
    /// Of so many of them, the first ones.
    sums: Vec<Sum>,
}

/// Sums over some operations: of g C \[ns\], and of g; of a copy g is 1.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    g_c: u128,
    g: u64,
    operations: usize,
}

impl Sum {
    /// Of one operation, with its level and class; `None`: it needs no engine.
    fn of(node: &Node) -> Option<(Option<(usize, usize)>, Self)> {
        match node.work {
            Work::Kernel { class, blocks, block_time, .. } => {
                let g_c = u128::from(blocks) * u128::from(block_time.as_ns());
                Some((Some((node.level, class)), Self { g_c, g: u64::from(blocks), operations: 1 }))
            }
            Work::Copy { worst, .. } => Some((None, Self { g_c: u128::from(worst.as_ns()), g: 1, operations: 1 })),
            Work::Nothing | Work::Pause(_) | Work::Busy(_) | Work::Within(_) => None,
        }
    }

    fn add(&mut self, other: Self) {
        self.g_c += other.g_c;
        self.g += other.g;
        self.operations += other.operations;
    }

    fn take(&mut self, other: Self) {
        self.g_c -= other.g_c;
        self.g -= other.g;
        self.operations -= other.operations;
    }
}

impl LookedUp {
    fn new(graph: &Graph, known: &[Option<Instant>]) -> Self {
        let mut alike: BTreeMap<Option<(usize, usize)>, Alike> = BTreeMap::new();
        for (number, node) in graph.nodes.iter().enumerate() {
            let Some((of, sum)) = Sum::of(node) else { continue };
            let group =
                alike.entry(of).or_insert_with(|| Alike { of, numbers: Vec::new(), sums: vec![Sum::default()] });
            let mut so_far = group.sums.last().copied().unwrap_or_default();
            so_far.add(sum);
            group.numbers.push(number);
            group.sums.push(so_far);
        }
        let alike: Vec<Alike> = alike.into_values().collect();
        let mut group = vec![0; graph.nodes.len()];
        for (number, alike) in alike.iter().enumerate() {
            alike.numbers.iter().for_each(|&operation| group[operation] = number);
        }
        let mut looked = Self { followers: graph.followers(), alike, group, over_at_launch: BTreeSet::new() };
        (0..graph.nodes.len()).for_each(|number| looked.note(graph, number, known));
        looked
    }

    /// Takes note of what is known of an operation.
    fn note(&mut self, graph: &Graph, number: usize, known: &[Option<Instant>]) {
        if known[number].is_some_and(|over| over <= graph.nodes[number].launched) {
            self.over_at_launch.insert(number);
        }
    }
}

/// J: what can run while the chain to k waits, and what can be a blocked head then.
struct Interference {
    /// By class: sum of g C over J \[ns\], and of g.
    g_c: Vec<(u128, u64)>,
    /// Kernels of J below all that the chain waits for: (stream, class, g, C \[ns\]).
    lower: Vec<(usize, usize, u64, u64)>,
    /// By class: whether a head that holds the chain can be one of it.
    heads: Vec<bool>,
    /// Time of all copies, if one of them can be waited for \[ns\].
    copies: u128,
}

impl Interference {
    /// Of what is launched before X: so many operations, the first ones.
    fn new(
        graph: &Graph,
        relatives: &Relatives,
        k: usize,
        (known, looked): (&[Option<Instant>], &LookedUp),
        before_x: usize,
    ) -> Self {
        let (nodes, own) = (&graph.nodes, &graph.nodes[k]);
        // Without an ancestor k enters its queue at its launch; what comes later is behind it.
        let later = if graph.any_order { nodes.partition_point(|node| node.launched <= own.launched) } else { k + 1 };
        let is_behind =
            |of: Option<(usize, usize)>| !relatives.has_ancestor && of.is_none_or(|(level, _)| level >= own.level);
        let end_of = |of| if is_behind(of) { before_x.min(later) } else { before_x };
        // What is over before the chain begins can be launched then at the latest.
        let first = relatives.first_launch;
        let earlier = nodes.partition_point(|node| node.launched < first);
        let is_over = |j: &usize| known[*j].is_some_and(|over| over <= first);
        let at_launch = looked.over_at_launch.range(earlier..).copied();
        let over = (0..earlier).chain(at_launch.take_while(|&j| nodes[j].launched <= first)).filter(is_over);
        // In order already, but for successors.
        let mut left_out: Vec<usize> = over.chain(relatives.successors.iter().copied()).collect();
        left_out.sort_unstable();
        left_out.dedup();
        // Both ascend.
        let mut chain = relatives.chain.iter().peekable();
        left_out.retain(|j| {
            while chain.next_if(|own| *own < j).is_some() {}
            chain.peek() != Some(&j)
        });
        let mut less = vec![Sum::default(); looked.alike.len()];
        let ends: Vec<usize> = looked.alike.iter().map(|alike| end_of(alike.of)).collect();
        for &node in &left_out {
            if let Some((_, sum)) = Sum::of(&nodes[node]).filter(|_| node < ends[looked.group[node]]) {
                less[looked.group[node]].add(sum);
            }
        }
        let mut interference = Self {
            g_c: vec![(0_u128, 0_u64); graph.classes.len()],
            lower: Vec::new(),
            heads: vec![false; graph.classes.len()],
            copies: 0,
        };
        for ((alike, less), end) in looked.alike.iter().zip(less).zip(ends) {
            let count = alike.numbers.partition_point(|&j| j < end);
            let mut sum = alike.sums[count];
            sum.take(less);
            match alike.of {
                Some((level, class)) if relatives.has_kernel => {
                    let (time, blocks) = &mut interference.g_c[class];
                    (*time, *blocks) = (*time + sum.g_c, *blocks + sum.g);
                    if level <= relatives.lowest_level {
                        interference.heads[class] |= sum.operations > 0;
                        continue;
                    }
                    let in_j = alike.numbers[..count].iter().filter(|j| left_out.binary_search(j).is_err());
                    interference.lower.extend(in_j.filter_map(|&j| match nodes[j].work {
                        Work::Kernel { blocks, block_time, .. } => {
                            Some((nodes[j].stream, class, u64::from(blocks), block_time.as_ns()))
                        }
                        _ => None,
                    }));
                }
                None if relatives.has_copy => interference.copies += sum.g_c,
                _ => {}
            }
        }
        interference
    }

    /// The bound by the best of several choices of weights, each of which gives one that holds.
    fn bound(&self, graph: &Graph, weights: &Weights, relatives: &Relatives, k: usize) -> Option<Instant> {
        let present: Vec<usize> = (0..self.g_c.len()).filter(|&class| self.g_c[class].1 > 0).collect();
        let mut orders = [present.clone(), present];
        orders[0].sort_by_key(|&class| std::cmp::Reverse(self.g_c[class].0));
        orders[1].sort_by_key(|&class| self.g_c[class].0);
        let blocks: Vec<u64> = self.g_c.iter().map(|(_, blocks)| *blocks).collect();
        let [one, other] = orders.map(|order| weights.lowered(&order, &self.heads, &blocks));
        let first = self.f_k(graph, (weights, &one), relatives, k);
        if one == other && self.lower.is_empty() {
            // The same weights lead to the same, and count as much.
            count_steps(graph.nodes.len());
            count_steps(0);
            return first;
        }
        first.into_iter().chain(self.f_k(graph, (weights, &other), relatives, k)).min()
    }

    /// `f_k` with weights v.
    fn f_k(&self, graph: &Graph, (weights, v): (&Weights, &[u64]), relatives: &Relatives, k: usize) -> Option<Instant> {
        // In units of 1 / ONE ns: launch of the first of the chain and C_o (1 - v_o), the most over all chains.
        let mut total = graph.longest_chain(v, relatives, k)?;
        // All copies once.
        total = total.checked_add(self.copies.checked_mul(u128::from(ONE))?)?;
        // g C v over all of J.
        for (&(g_c, _), &v) in self.g_c.iter().zip(v) {
            total = total.checked_add(g_c.checked_mul(u128::from(v))?)?;
        }
        // Of lower priorities no more than they can have in the waits.
        let (mut in_waits, mut whole) = (LowerInWaits::default(), 0_u128);
        for &(stream, class, g, c) in &self.lower {
            whole = whole.checked_add((u128::from(g) * u128::from(c)).checked_mul(u128::from(v[class]))?)?;
            in_waits.add(stream, (g, c, v[class]), weights.resident(class), 1);
        }
        total -= whole.saturating_sub(in_waits.most(relatives.kernels, false));
        let end = u64::try_from(total.div_ceil(u128::from(ONE))).ok();
        // By the end of time nothing is known to have ended.
        end.filter(|end| *end < u64::MAX).map(Instant::from_ns)
    }
}

/// For how long blocks and copies may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockTimes {
    /// For any time up to the longest that is stated, blocks of one kernel for different times; copies likewise. What
    /// `safe_finish` means.
    #[default]
    UpToStated,
    /// For any time between the shortest and the longest that are stated; copies for just what is stated. A bound of
    /// this kind says nothing about blocks that run shorter than stated.
    #[serde(rename = "declared")]
    AsStated,
}

impl BlockTimes {
    /// The shortest time of what takes no less than that as it is stated.
    pub(super) fn shortest(self, stated: Duration) -> Duration {
        if self == Self::AsStated { stated } else { Duration::ZERO }
    }
}

/// What a bound must hold for. Every work-conserving placement is always among it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct BoundOptions {
    /// Block and copy times.
    pub block_times: BlockTimes,
    /// Orders of simultaneous releases.
    pub order: ReleaseOrder,
}

impl BoundOptions {
    /// What `safe_finish` holds for: shorter blocks and copies, and releases of one instant in the order of
    /// declaration.
    pub const DECLARED: Self = Self { block_times: BlockTimes::UpToStated, order: ReleaseOrder::Declared };

    /// What verdicts on a scenario are to hold for.
    pub fn of(scenario: &Scenario) -> Self {
        Self { block_times: BlockTimes::default(), order: scenario.release_order }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::prepared::Prepared;
    use super::*;
    use crate::campaign::config;
    use crate::generate::{self, Case, Limits};

    /// Each operation of a graph, and whether it is in J of operation `k`, as the definition has it.
    fn in_j(graph: &Graph, k: usize, known: &[Option<Instant>], x: Instant) -> Vec<bool> {
        let (nodes, own) = (&graph.nodes, &graph.nodes[k]);
        let mut on_chain = vec![false; nodes.len()];
        let mut open = vec![k];
        while let Some(next) = open.pop() {
            if !std::mem::replace(&mut on_chain[next], true) {
                open.extend(&nodes[next].predecessors);
            }
        }
        let chain = || nodes.iter().zip(&on_chain).filter(|(_, on_chain)| **on_chain).map(|(node, _)| node);
        let first_launch = chain().map(|node| node.launched).min().expect("k is on it");
        let mut is_successor = vec![false; nodes.len()];
        for (later, node) in nodes.iter().enumerate().skip(k + 1) {
            is_successor[later] = match graph.waits {
                graph::Waits::Known => node.predecessors.iter().any(|&before| before == k || is_successor[before]),
                graph::Waits::Open(_) => {
                    own.stream == node.stream && (own.launched < node.launched || own.thread == node.thread)
                }
            };
        }
        let is_in = |(j, node): (usize, &Node)| {
            let later = j > k && !(graph.any_order && node.launched == own.launched);
            let waits = !own.predecessors.is_empty() || own.launched_by > own.launched.as_ns();
            let behind = !waits && later && (node.level >= own.level || node.is_copy());
            let over = known[j].is_some_and(|over| over <= first_launch);
            on_chain[j] || !is_successor[j] && node.launched < x && !behind && !over
        };
        nodes.iter().enumerate().map(is_in).collect()
    }

    fn compare(graph: &Graph, known: &[Option<Instant>], extra: u64) -> Result<(), TestCaseError> {
        let looked = LookedUp::new(graph, known);
        for k in 0..graph.nodes.len() {
            let relatives = graph.relatives(k, &looked.followers);
            let x = graph.nodes[k].launched + Duration::from_ns(1 + extra);
            let before_x = graph.nodes.partition_point(|node| node.launched < x);
            let found = Interference::new(graph, &relatives, k, (known, &looked), before_x);
            let mut plain = Interference {
                g_c: vec![(0, 0); graph.classes.len()],
                lower: Vec::new(),
                heads: vec![false; graph.classes.len()],
                copies: 0,
            };
            for (node, _) in graph.nodes.iter().zip(in_j(graph, k, known, x)).filter(|(_, is_in)| *is_in) {
                match node.work {
                    Work::Kernel { class, blocks, block_time, .. } if relatives.has_kernel => {
                        let (blocks, time) = (u64::from(blocks), block_time.as_ns());
                        plain.g_c[class].0 += u128::from(blocks) * u128::from(time);
                        plain.g_c[class].1 += blocks;
                        plain.heads[class] |= node.level <= relatives.lowest_level;
                        if node.level > relatives.lowest_level {
                            plain.lower.push((node.stream, class, blocks, time));
                        }
                    }
                    Work::Copy { worst, .. } if relatives.has_copy => plain.copies += u128::from(worst.as_ns()),
                    _ => {}
                }
            }
            let sorted = |mut lower: Vec<(usize, usize, u64, u64)>| {
                lower.sort_unstable();
                lower
            };
            prop_assert_eq!((found.g_c, found.heads, found.copies), (plain.g_c, plain.heads, plain.copies));
            prop_assert_eq!(sorted(found.lower), sorted(plain.lower));
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(config(400))]

        #[test]
        fn what_is_looked_up_of_interference_is_what_all_operations_together_come_to(
            Case(scenario) in generate::scenario(Limits::ALL),
            finishes in prop::collection::vec(prop::option::of(0_u64..12), 1..9),
            extra in 0_u64..30,
        ) {
            let Ok(prepared) = Prepared::new(&scenario) else { return Ok(()) };
            let (rules, operations) = (NullRule::all(&scenario), &prepared.walked.operations);
            let places = by_program(&scenario, operations);
            let sorted: Vec<Analysed> = places.iter().map(|&place| operations[place]).collect();
            for order in ReleaseOrder::ALL {
                let options = BoundOptions { order, ..BoundOptions::DECLARED };
                let graph = |predecessors| {
                    Graph::new(&scenario, &prepared.demands, &prepared.costs, (&sorted, predecessors), options)
                };
                let finish = |(node, after): (&Node, &Option<u64>)| {
                    after.map(|after| node.launched + Duration::from_ns(after))
                };
                let in_this_order = graph(graph::in_this_order(&sorted, &rules));
                let known: Vec<_> = in_this_order.nodes.iter().zip(finishes.iter().cycle()).map(finish).collect();
                compare(&in_this_order, &known, extra)?;
                if let Some(predecessors) = graph::in_any_order(&sorted, &rules) {
                    compare(&graph(predecessors).with_open_waits(), &known, extra)?;
                }
            }
        }
    }
}
