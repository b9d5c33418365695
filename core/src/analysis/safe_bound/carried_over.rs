//! **Carried-over work**: the bound by work, counted from a launch before which all is over (`docs/analysis.md`,
//! "Carried-over work"; of the lower priorities Coq has `lower_blocks_in_waits`).
//!
//! Claim: operation k ends by the largest `F_x(k)` over the launches x, from the last instant at which all is over up
//! to k's launch, from which there is a chain to k, where
//!
//! `F_x(k)` = x + `L_x(k)` + sum of g C v over what is launched from x on and before `F_x(k)`,
//!
//! and `L_x(k)` is the most that C (1 - v) sums up to over chains from x to k.
//!
//! Assumptions: launches do not depend on completions. For the highest priorities alone: none of their operations, the
//! upper ones, waits for a lower one, nor do copies of both use one engine. Then `F_x(k)` has the upper work only, and
//! what lower kernels can add to n waits, with n the most kernels that a chain from x to k has.

use rustc_hash::FxHashMap;

use super::graph::{Graph, Node, Work};
use super::weights::LowerInWaits;
use super::weights::{ONE, Weights};
use crate::effort;
use crate::limits::count_steps;
use crate::proven::OrMost;
use crate::time::Instant;

/// Operations between two instants at which all is over above which no such bound is computed there.
const MOST_UNFINISHED: usize = 512;

/// Lower kernels that may run from an instant on above which no such bound is computed there.
const MOST_LOWER: usize = 256;

/// How often it is computed, for one level, what lower kernels can add to waits.
const MOST_TABLES: usize = 4_000;

/// Short steps that a look at what comes before an operation has finished takes, and one at a start of chains.
const A_LOOK: usize = 128;
const A_START: usize = 8;

/// Classes of which all orders of lowering weights are tried.
const MOST_PERMUTED: usize = 3;

/// A lower kernel.
struct LowerKernel {
    launched: Instant,
    stream: usize,
    class: usize,
    blocks: u64,
    /// Of one block, at most \[ns\].
    block_time: u64,
    /// It has ended by then; `None`: not known.
    over: Option<Instant>,
}

/// The upper operations, those of the highest priorities, and the lower kernels.
struct Upper<'a> {
    graph: &'a Graph,
    /// By launch.
    lower: Vec<LowerKernel>,
    weights: &'a Weights<'a>,
    choices: Vec<Weighed>,
}

/// The upper operations by one choice of the weights v, in 1 / [`ONE`] ns.
struct Weighed {
    /// By operation: C (1 - v); of a copy 0.
    c_1_v: Vec<u128>,
    /// The sum of g C v, of a copy C, over all operations before a number.
    g_c_v_before: Vec<u128>,
    /// By stream: the same over its operations before a position.
    g_c_v_of_stream: Vec<Vec<u128>>,
    /// By class: of one block.
    v: Vec<u64>,
}

impl Weighed {
    /// `None`: more than can be counted.
    fn new(graph: &Graph, v: Vec<u64>) -> Option<Self> {
        let (mut c_1_v, mut g_c_v) = (Vec::new(), Vec::new());
        for node in &graph.nodes {
            let (outside, inside) = match node.work {
                Work::Kernel { class, blocks, block_time, .. } => {
                    let (c, v) = (u128::from(block_time.as_ns()), *v.get(class)?);
                    let g_c_v = c.checked_mul(u128::from(blocks))?.checked_mul(u128::from(v))?;
                    (c * u128::from(ONE.saturating_sub(v)), g_c_v)
                }
                Work::Copy { worst, .. } => (0, u128::from(worst.as_ns()) * u128::from(ONE)),
                // Only what waits for it is delayed by it.
                Work::Nothing | Work::Pause(_) | Work::Busy(_) | Work::Within(_) => {
                    let time = node.work.needs_no_engine().map_or(0, |(_, time)| u128::from(time.as_ns()));
                    (time * u128::from(ONE), 0)
                }
            };
            c_1_v.push(outside);
            g_c_v.push(inside);
        }
        let sums = |numbers: &mut dyn Iterator<Item = usize>| {
            let mut sums = vec![0_u128];
            for number in numbers {
                sums.push(sums.last()?.checked_add(g_c_v[number])?);
            }
            Some(sums)
        };
        let g_c_v_before = sums(&mut (0..g_c_v.len()))?;
        let g_c_v_of_stream =
            graph.streams.iter().map(|stream| sums(&mut stream.iter().copied())).collect::<Option<Vec<_>>>()?;
        Some(Self { c_1_v, g_c_v_before, g_c_v_of_stream, v })
    }
}

/// A launch x, and the chains from it.
struct Start {
    x: Instant,
    /// Its first operation.
    first: usize,
    /// By choice of weights, then operation o from `first` on: `L_x(o)`; `None`: there is no chain from x to it.
    l_x: Vec<Vec<Option<u128>>>,
    /// By operation o from `first` on: n, the most kernels that a chain from x to it has.
    n: Vec<u64>,
    /// The first lower kernel that may end after x.
    first_lower: usize,
    /// By choice of weights, and how many of the lower kernels are launched by then: what these can add to no wait, to
    /// one, to two, ...
    lower_in_waits: FxHashMap<(usize, usize), Vec<u128>>,
}

/// Makes what is known of each operation no later than these bounds: those of all operations, then those of the highest
/// priorities alone, down to a level.
pub(super) fn tighten(graph: &Graph, weights: &Weights<'_>, known: &mut [Option<Instant>]) {
    let mut levels: Vec<usize> = graph.nodes.iter().map(|node| node.level).collect();
    levels.sort_unstable();
    levels.dedup();
    for level in levels.into_iter().rev() {
        let Some((upper, numbers, lower)) = down_to(graph, level, known) else { continue };
        let mut finishes: Vec<Option<Instant>> = numbers.iter().map(|&number| known[number]).collect();
        Upper::new(&upper, lower, weights).tighten(&mut finishes);
        for (number, finish) in numbers.into_iter().zip(finishes) {
            known[number] = finish;
        }
    }
}

/// The upper operations, of the priorities down to `level`, in a graph of their own, with their numbers in the whole,
/// and the lower kernels; `None`: one of them waits for what is lower, or for a copy of it.
fn down_to(graph: &Graph, level: usize, known: &[Option<Instant>]) -> Option<(Graph, Vec<usize>, Vec<LowerKernel>)> {
    if !graph.engines_are_apart(level, 0..graph.nodes.len()) {
        return None;
    }
    let (mut upper, mut numbers, mut lower) = (graph.without_nodes(), Vec::new(), Vec::new());
    for (number, node) in graph.nodes.iter().enumerate() {
        if node.level <= level {
            let place = |before: &usize| numbers.binary_search(before).ok();
            let predecessors = node.predecessors.iter().map(place).collect::<Option<_>>()?;
            upper.add(Node { predecessors, ..*node });
            numbers.push(number);
        } else if let Work::Kernel { class, blocks, block_time, .. } = node.work {
            let (blocks, block_time) = (u64::from(blocks), block_time.as_ns());
            let Node { launched, stream, .. } = *node;
            lower.push(LowerKernel { launched, stream, class, blocks, block_time, over: known[number] });
        }
    }
    Some((upper, numbers, lower))
}

impl<'a> Upper<'a> {
    fn new(graph: &'a Graph, lower: Vec<LowerKernel>, weights: &'a Weights<'a>) -> Self {
        let choices = choices(graph, &lower, weights).into_iter().filter_map(|v| Weighed::new(graph, v)).collect();
        Self { graph, lower, weights, choices }
    }

    /// From launch to launch: each is an x of its own operations and of all that come until all is over.
    fn tighten(&self, known: &mut [Option<Instant>]) {
        let mut starts: Vec<Start> = Vec::new();
        let (mut is_given_up, mut first_lower, mut tables) = (false, 0, MOST_TABLES);
        // The latest end of what was launched so far; `None`: not known.
        let mut over = Some(Instant::ZERO);
        let mut first = 0;
        for together in self.graph.nodes.chunk_by(|one, other| one.launched == other.launched) {
            if effort::check().is_err() {
                break;
            }
            let (x, end) = (together[0].launched, first + together.len());
            if first == 0 || over.is_some_and(|over| over < x) {
                starts.clear();
                is_given_up = false;
            }
            is_given_up |= starts.first().is_some_and(|start| end - start.first > MOST_UNFINISHED);
            if is_given_up {
                starts.clear();
            } else {
                let l_x = self.choices.iter().map(|_| Vec::new()).collect();
                let is_over = |kernel: &&LowerKernel| kernel.over.is_some_and(|over| over <= x);
                first_lower += self.lower[first_lower..].iter().take_while(is_over).count();
                let (n, lower_in_waits) = (Vec::new(), FxHashMap::default());
                starts.push(Start { x, first, l_x, n, first_lower, lower_in_waits });
                for start in &mut starts {
                    start.extend(self, (first, end), known);
                }
                for (number, known) in known.iter_mut().enumerate().take(end).skip(first) {
                    *known = self.latest(&mut starts, number, &mut tables).into_iter().chain(*known).min();
                }
            }
            for finish in &known[first..end] {
                over = over.zip(*finish).map(|(over, finish)| over.max(finish));
            }
            first = end;
        }
    }

    /// The largest `F_x(k)` over all x; of each the smallest over the choices of weights.
    fn latest(&self, starts: &mut [Start], k: usize, tables: &mut usize) -> Option<Instant> {
        count_steps(A_START * starts.len());
        let mut latest = Instant::ZERO;
        for start in starts {
            let l_x: Vec<Option<u128>> = start.l_x.iter().map(|l_x| l_x[k - start.first]).collect();
            if l_x.iter().any(Option::is_some) {
                let each = l_x.into_iter().enumerate();
                let f_x = each.filter_map(|(choice, l_x)| start.f_x(self, choice, (k, l_x?), tables));
                latest = latest.max(f_x.min()?);
            }
        }
        Some(latest).filter(|_| !self.choices.is_empty())
    }
}

impl Start {
    /// `L_x` and n of the operations of one more instant. A chain may go from p to o if o waits for p, or p is launched
    /// before o, and either is not bounded to end before o's launch.
    fn extend(&mut self, upper: &Upper<'_>, (from, end): (usize, usize), known: &[Option<Instant>]) {
        let Upper { graph, choices, .. } = upper;
        let launched = graph.nodes[from].launched;
        let may_last = |number: usize| known[number].is_none_or(|finish| finish >= launched);
        count_steps((choices.len() + 1) * (end - self.first));
        let first = self.first;
        let unfinished = (first..from).filter(|&number| may_last(number));
        for (weighed, l_x) in choices.iter().zip(&mut self.l_x) {
            let carried = unfinished.clone().filter_map(|number| l_x[number - first]).max();
            let carried = if from == first { Some(0) } else { carried };
            for number in from..end {
                let waited_for = graph.nodes[number].predecessors.iter();
                let waited_for = waited_for.filter(|&&before| before >= from || before >= first && may_last(before));
                let longest = waited_for.filter_map(|before| l_x[before - first]).chain(carried).max();
                l_x.push(longest.map(|longest| longest.saturating_add(weighed.c_1_v[number])));
            }
        }
        let carried = unfinished.map(|number| self.n[number - first]).max().unwrap_or(0);
        for number in from..end {
            let Node { predecessors, .. } = &graph.nodes[number];
            let waited_for = predecessors.iter().filter(|&&before| before >= first);
            let most = waited_for.map(|before| self.n[before - first]).fold(carried, u64::max);
            self.n.push(most + u64::from(graph.nodes[number].is_kernel()));
        }
    }

    /// `F_x(k)` by one of the choices of weights: the least fixed point, from k's launch on.
    fn f_x(
        &mut self,
        upper: &Upper<'_>,
        choice: usize,
        (k, l_x): (usize, u128),
        tables: &mut usize,
    ) -> Option<Instant> {
        let (graph, Weighed { g_c_v_before, g_c_v_of_stream, .. }) = (upper.graph, &upper.choices[choice]);
        let Node { launched, stream, position, .. } = graph.nodes[k];
        // x + L_x(k).
        let chain = (u128::from(self.x.as_ns()) * u128::from(ONE)).checked_add(l_x)?;
        // What is launched before this counts.
        let mut reach = launched.as_ns().checked_add(1)?;
        let mut end = k;
        loop {
            count_steps(A_LOOK);
            end += graph.nodes[end..].partition_point(|node| node.launched.as_ns() < reach);
            let lower = upper.lower.partition_point(|kernel| kernel.launched.as_ns() < reach);
            // The sum of g C v, later ones of k's stream left out.
            let own = &graph.streams[stream];
            let later = own.partition_point(|&other| other < end);
            let of_stream = &g_c_v_of_stream[stream];
            let left_out = of_stream[later] - of_stream[position + 1];
            let g_c_v = g_c_v_before[end] - g_c_v_before[self.first] - left_out;
            // What lower kernels can add to n waits.
            let n = self.n[k - self.first];
            let lower_in_waits = self.lower_in_waits(upper, (choice, lower), n, tables)?;
            let f_x = chain.checked_add(g_c_v.checked_add(lower_in_waits)?)?.div_ceil(u128::from(ONE));
            let f_x = u64::try_from(f_x).ok()?;
            // What takes no time may begin just then, and what comes then may be before it.
            let next = f_x.checked_add(u64::from(!graph.nodes[k].takes_time()))?;
            let is_before = |launched: Option<Instant>| launched.is_some_and(|launched| launched.as_ns() < next);
            if !is_before(graph.nodes.get(end).map(|node| node.launched))
                && !is_before(upper.lower.get(lower).map(|kernel| kernel.launched))
            {
                return Some(Instant::from_ns(f_x));
            }
            reach = next;
        }
    }

    /// What the first `count` lower kernels can add to n waits, but for those that are over by x, with a choice of
    /// weights, in 1 / [`ONE`] ns; `None`: they are too many.
    fn lower_in_waits(
        &mut self,
        upper: &Upper<'_>,
        (choice, count): (usize, usize),
        n: u64,
        tables: &mut usize,
    ) -> Option<u128> {
        let kernels = upper.lower.get(self.first_lower..count).unwrap_or(&[]);
        if kernels.is_empty() {
            return Some(0);
        }
        let n = usize::try_from(n).or_most();
        let known = self.lower_in_waits.entry((choice, count)).or_default();
        if known.len() <= n {
            *tables = tables.checked_sub(1).filter(|_| kernels.len() <= MOST_LOWER)?;
            let mut added = LowerInWaits::default();
            for kernel in kernels.iter().filter(|kernel| kernel.over.is_none_or(|over| over > self.x)) {
                let of_block = (kernel.blocks, kernel.block_time, upper.choices[choice].v[kernel.class]);
                added.add(kernel.stream, of_block, upper.weights.resident(kernel.class), 1);
            }
            *known = added.up_to(n.next_power_of_two());
        }
        known.get(n).copied()
    }
}

/// Weights that are enough for all heads.
fn choices(graph: &Graph, lower: &[LowerKernel], weights: &Weights<'_>) -> Vec<Vec<u64>> {
    let mut blocks = vec![0_u64; graph.classes.len()];
    let mut load = vec![0_u128; graph.classes.len()];
    let mut add = |class: usize, grid: u64, block_time: u64| {
        blocks[class] = blocks[class].saturating_add(grid);
        load[class] = load[class].saturating_add(u128::from(grid) * u128::from(block_time));
    };
    let mut heads = vec![false; graph.classes.len()];
    for node in &graph.nodes {
        if let Work::Kernel { class, blocks: grid, block_time, .. } = node.work {
            add(class, u64::from(grid), block_time.as_ns());
            heads[class] = true;
        }
    }
    for kernel in lower {
        add(kernel.class, kernel.blocks, kernel.block_time);
    }
    let mut present: Vec<usize> = (0..blocks.len()).filter(|&class| blocks[class] > 0).collect();
    present.sort_by_key(|&class| load[class]);
    let mut orders = vec![Vec::new()];
    if present.len() <= MOST_PERMUTED {
        for &class in &present {
            let with = |order: &Vec<usize>| {
                let places = 0..=order.len();
                places.map(|place| [&order[..place], &[class], &order[place..]].concat()).collect::<Vec<_>>()
            };
            orders = orders.iter().flat_map(with).collect();
        }
    } else {
        orders = vec![present.clone(), present.into_iter().rev().collect()];
    }
    orders.iter().map(|order| weights.lowered(order, &heads, &blocks)).collect()
}
