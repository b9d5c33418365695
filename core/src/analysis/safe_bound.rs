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

use graph::{Graph, Relatives};
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
    for operation in 0..finish.len() {
        if effort::check().is_err() {
            break;
        }
        finish[operation] = bound(graph, weights, operation, &finish);
    }
    finish
}

/// The bound of operation `k` by work, given those of some operations. J leaves out what is launched at X or later,
/// where X grows from k's own launch on until the bound is at most X.
fn bound(graph: &Graph, weights: &Weights, k: usize, known: &[Option<Instant>]) -> Option<Instant> {
    let relatives = graph.relatives(k);
    let mut x = graph.nodes[k].launched.saturating_add(Duration::from_ns(1));
    for round in 0.. {
        if round == MOST_ROUNDS {
            x = Instant::MAX;
        }
        let bound = Interference::new(graph, &relatives, k, known, x).bound(graph, weights, &relatives, k)?;
        // What takes no time may begin just then, and what comes then may be before it.
        let after = Duration::from_ns(u64::from(!graph.nodes[k].takes_time()));
        let reach = bound.saturating_add(after);
        if !graph.nodes.iter().any(|node| (x..reach).contains(&node.launched)) {
            return Some(bound);
        }
        x = reach;
    }
    None
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
    /// Of what is launched before X.
    fn new(graph: &Graph, relatives: &Relatives, k: usize, known: &[Option<Instant>], x: Instant) -> Self {
        let mut g_c = vec![(0_u128, 0_u64); graph.classes.len()];
        let mut heads = vec![false; graph.classes.len()];
        let mut lower = Vec::new();
        let mut copies = 0;
        count_steps(graph.nodes.len());
        for (j, node) in graph.nodes.iter().enumerate() {
            let on_chain = j == k || relatives.is_ancestor[j];
            let too_late = node.launched >= x;
            // Without an ancestor k enters its queue at its launch; what comes later is behind it.
            let later = j > k && !(graph.any_order && node.launched == graph.nodes[k].launched);
            let behind = !relatives.has_ancestor && later && (node.level >= graph.nodes[k].level || node.is_copy());
            let over = known.get(j).copied().flatten().is_some_and(|over| over <= relatives.first_launch);
            if !on_chain && (relatives.is_successor[j] || too_late || behind || over) {
                continue;
            }
            match node.work {
                Work::Kernel { class, blocks, block_time, .. } if relatives.has_kernel => {
                    let (time, count) = &mut g_c[class];
                    *time += u128::from(blocks) * u128::from(block_time.as_ns());
                    *count += u64::from(blocks);
                    heads[class] |= node.level <= relatives.lowest_level;
                    if node.level > relatives.lowest_level {
                        lower.push((node.stream, class, u64::from(blocks), block_time.as_ns()));
                    }
                }
                Work::Copy { worst, .. } if relatives.has_copy => copies += u128::from(worst.as_ns()),
                _ => {}
            }
        }
        Self { g_c, lower, heads, copies }
    }

    /// The bound by the best of several choices of weights, each of which gives one that holds.
    fn bound(&self, graph: &Graph, weights: &Weights, relatives: &Relatives, k: usize) -> Option<Instant> {
        let present: Vec<usize> = (0..self.g_c.len()).filter(|&class| self.g_c[class].1 > 0).collect();
        let mut orders = [present.clone(), present];
        orders[0].sort_by_key(|&class| std::cmp::Reverse(self.g_c[class].0));
        orders[1].sort_by_key(|&class| self.g_c[class].0);
        let blocks: Vec<u64> = self.g_c.iter().map(|(_, blocks)| *blocks).collect();
        let choices = orders.iter().map(|order| weights.lowered(order, &self.heads, &blocks));
        choices.filter_map(|v| self.f_k(graph, (weights, &v), relatives, k)).min()
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
