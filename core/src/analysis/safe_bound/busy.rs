//! Bounds by work, counted from the last instant at which nothing that was launched before was unfinished.
//!
//! The critical chain to an operation ends with a launch. If something that was launched earlier is unfinished then,
//! the chain goes on with what that waited for, and so on back to a launch before which nothing is unfinished. Only
//! operations launched from there on count, each once. The same is done for the highest priorities alone: then lower
//! ones count only as far as their blocks can run during the waits of one chain. `docs/analysis.md`, "Carried-over
//! work", has the proofs.

use rustc_hash::FxHashMap;

use super::graph::{Graph, Node, Work};
use super::weights::Background;
use super::weights::{ONE, Weights};
use crate::effort;
use crate::limits::count_steps;
use crate::proven::OrMost;
use crate::time::Instant;

/// Operations between two instants at which all is over above which no such bound is computed there.
const MOST_UNFINISHED: usize = 512;

/// Kernels below that may run from an instant on above which no such bound is computed there.
const MOST_BELOW: usize = 256;

/// How often it is computed, for one level, what kernels below can add to waits.
const MOST_TABLES: usize = 4_000;

/// Short steps that a look at what comes before an operation has finished takes, and one at a start of chains.
const A_LOOK: usize = 128;
const A_START: usize = 8;

/// Classes of which all orders of lowering weights are tried.
const MOST_PERMUTED: usize = 3;

/// A kernel of a lower priority than all operations that are looked at.
struct Below {
    launched: Instant,
    stream: usize,
    class: usize,
    blocks: u64,
    /// Of one block, at most \[ns\].
    block_time: u64,
    /// It has ended by then; `None`: not known.
    over: Option<Instant>,
}

/// The operations of the highest priorities, and the kernels below them.
struct Part<'a> {
    graph: &'a Graph,
    /// By launch.
    below: Vec<Below>,
    weights: &'a Weights<'a>,
    measures: Vec<Measure>,
}

/// What operations weigh, by one choice of weights.
struct Measure {
    /// On a chain, by operation, in 1 / [`ONE`] ns.
    own: Vec<u128>,
    /// Of all operations before a number.
    before: Vec<u128>,
    /// By stream: of all its operations before a position.
    of_stream: Vec<Vec<u128>>,
    /// By class: of one block.
    chosen: Vec<u64>,
}

impl Measure {
    /// `None`: more than can be counted.
    fn new(graph: &Graph, chosen: Vec<u64>) -> Option<Self> {
        let (mut own, mut work) = (Vec::new(), Vec::new());
        for node in &graph.nodes {
            let (last, all) = match node.work {
                Work::Kernel { class, blocks, block_time, .. } => {
                    let (time, weight) = (u128::from(block_time.as_ns()), *chosen.get(class)?);
                    let all = time.checked_mul(u128::from(blocks))?.checked_mul(u128::from(weight))?;
                    (time * u128::from(ONE.saturating_sub(weight)), all)
                }
                Work::Copy { worst, .. } => (0, u128::from(worst.as_ns()) * u128::from(ONE)),
                // Only what waits for it is delayed by it.
                Work::Memset | Work::Pause(_) | Work::Busy(_) => {
                    let time = node.work.needs_no_engine().map_or(0, |time| u128::from(time.as_ns()));
                    (time * u128::from(ONE), 0)
                }
            };
            own.push(last);
            work.push(all);
        }
        let sums = |numbers: &mut dyn Iterator<Item = usize>| {
            let mut sums = vec![0_u128];
            for number in numbers {
                sums.push(sums.last()?.checked_add(work[number])?);
            }
            Some(sums)
        };
        let before = sums(&mut (0..work.len()))?;
        let of_stream =
            graph.streams.iter().map(|stream| sums(&mut stream.iter().copied())).collect::<Option<Vec<_>>>()?;
        Some(Self { own, before, of_stream, chosen })
    }
}

/// A launch from which on chains are looked at, before which all is over.
struct Start {
    at: Instant,
    /// Its first operation.
    first: usize,
    /// By choice of weights, then operation from `first` on: the most that a chain from here to it has of its own;
    /// `None`: there is none.
    chains: Vec<Vec<Option<u128>>>,
    /// By operation from `first` on: the most kernels that such a chain has.
    kernels: Vec<u64>,
    /// The first kernel below that may end later.
    first_below: usize,
    /// By choice of weights, and how many of the kernels below are launched by then: what these can add to no wait, to
    /// one, to two, ...
    of_below: FxHashMap<(usize, usize), Vec<u128>>,
}

/// Lowers what is known of each operation to these bounds: those of all operations, then those of the highest
/// priorities alone, down to a level.
pub(super) fn lower(graph: &Graph, weights: &Weights<'_>, known: &mut [Option<Instant>]) {
    let mut levels: Vec<usize> = graph.nodes.iter().map(|node| node.level).collect();
    levels.sort_unstable();
    levels.dedup();
    for level in levels.into_iter().rev() {
        let Some((highest, numbers, below)) = down_to(graph, level, known) else { continue };
        let mut finishes: Vec<Option<Instant>> = numbers.iter().map(|&number| known[number]).collect();
        Part::new(&highest, below, weights).lower(&mut finishes);
        for (number, finish) in numbers.into_iter().zip(finishes) {
            known[number] = finish;
        }
    }
}

/// The operations of the priorities down to `level`, in a graph of their own, with their numbers in the whole, and the
/// kernels below; `None`: one of them waits for what is below, or for a copy of it.
fn down_to(graph: &Graph, level: usize, known: &[Option<Instant>]) -> Option<(Graph, Vec<usize>, Vec<Below>)> {
    if !graph.engines_are_apart(level, 0..graph.nodes.len()) {
        return None;
    }
    let (mut highest, mut numbers, mut below) = (graph.without_nodes(), Vec::new(), Vec::new());
    for (number, node) in graph.nodes.iter().enumerate() {
        if node.level <= level {
            let place = |before: &usize| numbers.binary_search(before).ok();
            let predecessors = node.predecessors.iter().map(place).collect::<Option<_>>()?;
            highest.add(Node { predecessors, ..*node });
            numbers.push(number);
        } else if let Work::Kernel { class, blocks, block_time, .. } = node.work {
            let (blocks, block_time) = (u64::from(blocks), block_time.as_ns());
            let Node { launched, stream, .. } = *node;
            below.push(Below { launched, stream, class, blocks, block_time, over: known[number] });
        }
    }
    Some((highest, numbers, below))
}

impl<'a> Part<'a> {
    fn new(graph: &'a Graph, below: Vec<Below>, weights: &'a Weights<'a>) -> Self {
        let chosen = choices(graph, &below, weights);
        let measures = chosen.into_iter().filter_map(|chosen| Measure::new(graph, chosen)).collect();
        Self { graph, below, weights, measures }
    }

    fn lower(&self, known: &mut [Option<Instant>]) {
        let mut starts: Vec<Start> = Vec::new();
        let (mut is_given_up, mut first_below, mut tables) = (false, 0, MOST_TABLES);
        // The latest end of what was launched so far; `None`: not known.
        let mut over = Some(Instant::ZERO);
        let mut first = 0;
        for together in self.graph.nodes.chunk_by(|one, other| one.launched == other.launched) {
            if effort::check().is_err() {
                break;
            }
            let (at, end) = (together[0].launched, first + together.len());
            if first == 0 || over.is_some_and(|over| over < at) {
                starts.clear();
                is_given_up = false;
            }
            is_given_up |= starts.first().is_some_and(|start| end - start.first > MOST_UNFINISHED);
            if is_given_up {
                starts.clear();
            } else {
                let chains = self.measures.iter().map(|_| Vec::new()).collect();
                let is_over = |kernel: &&Below| kernel.over.is_some_and(|over| over <= at);
                first_below += self.below[first_below..].iter().take_while(is_over).count();
                let (kernels, of_below) = (Vec::new(), FxHashMap::default());
                starts.push(Start { at, first, chains, kernels, first_below, of_below });
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

    /// The latest finish over all starts.
    fn latest(&self, starts: &mut [Start], number: usize, tables: &mut usize) -> Option<Instant> {
        count_steps(A_START * starts.len());
        let mut latest = Instant::ZERO;
        for start in starts {
            let chains: Vec<Option<u128>> = start.chains.iter().map(|ends| ends[number - start.first]).collect();
            if chains.iter().any(Option::is_some) {
                let each = chains.into_iter().enumerate();
                let finishes =
                    each.filter_map(|(measure, chain)| start.finish(self, measure, (number, chain?), tables));
                latest = latest.max(finishes.min()?);
            }
        }
        Some(latest).filter(|_| !self.measures.is_empty())
    }
}

impl Start {
    /// Looks at chains to the operations of one more instant.
    fn extend(&mut self, part: &Part<'_>, (from, end): (usize, usize), known: &[Option<Instant>]) {
        let Part { graph, measures, .. } = part;
        let at = graph.nodes[from].launched;
        let may_last = |number: usize| known[number].is_none_or(|finish| finish >= at);
        count_steps((measures.len() + 1) * (end - self.first));
        let first = self.first;
        let unfinished = (first..from).filter(|&number| may_last(number));
        for (measure, ends) in measures.iter().zip(&mut self.chains) {
            let carried = unfinished.clone().filter_map(|number| ends[number - first]).max();
            let carried = if from == first { Some(0) } else { carried };
            for number in from..end {
                let waited_for = graph.nodes[number].predecessors.iter();
                let waited_for = waited_for.filter(|&&before| before >= from || before >= first && may_last(before));
                let longest = waited_for.filter_map(|before| ends[before - first]).chain(carried).max();
                ends.push(longest.map(|longest| longest.saturating_add(measure.own[number])));
            }
        }
        let carried = unfinished.map(|number| self.kernels[number - first]).max().unwrap_or(0);
        for number in from..end {
            let Node { predecessors, .. } = &graph.nodes[number];
            let waited_for = predecessors.iter().filter(|&&before| before >= first);
            let most = waited_for.map(|before| self.kernels[before - first]).fold(carried, u64::max);
            self.kernels.push(most + u64::from(graph.nodes[number].is_kernel()));
        }
    }

    /// By when an operation has finished in runs with a chain from here to it; what is launched later is looked at as
    /// far as it can come before that.
    fn finish(
        &mut self,
        part: &Part<'_>,
        which: usize,
        (number, chain): (usize, u128),
        tables: &mut usize,
    ) -> Option<Instant> {
        let (graph, measure) = (part.graph, &part.measures[which]);
        let Node { launched, stream, position, .. } = graph.nodes[number];
        let begun = (u128::from(self.at.as_ns()) * u128::from(ONE)).checked_add(chain)?;
        // What is launched before this counts.
        let mut reach = launched.as_ns().checked_add(1)?;
        let mut end = number;
        loop {
            count_steps(A_LOOK);
            end += graph.nodes[end..].partition_point(|node| node.launched.as_ns() < reach);
            let below = part.below.partition_point(|kernel| kernel.launched.as_ns() < reach);
            // What comes after it in its stream begins later.
            let own = &graph.streams[stream];
            let later = own.partition_point(|&other| other < end);
            let of_stream = &measure.of_stream[stream];
            let left_out = of_stream[later] - of_stream[position + 1];
            let work = measure.before[end] - measure.before[self.first] - left_out;
            let waits = self.kernels[number - self.first];
            let work = work.checked_add(self.below(part, (which, below), waits, tables)?)?;
            let finish = begun.checked_add(work)?.div_ceil(u128::from(ONE));
            let finish = u64::try_from(finish).ok()?;
            // What takes no time may begin just then, and what comes then may be before it.
            let next = finish.checked_add(u64::from(!graph.nodes[number].takes_time()))?;
            let is_before = |launched: Option<Instant>| launched.is_some_and(|launched| launched.as_ns() < next);
            if !is_before(graph.nodes.get(end).map(|node| node.launched))
                && !is_before(part.below.get(below).map(|kernel| kernel.launched))
            {
                return Some(Instant::from_ns(finish));
            }
            reach = next;
        }
    }

    /// What the first `count` kernels below can add to so many waits from here on, by a choice of weights, in
    /// 1 / [`ONE`] ns; `None`: they are too many.
    fn below(
        &mut self,
        part: &Part<'_>,
        (which, count): (usize, usize),
        waits: u64,
        tables: &mut usize,
    ) -> Option<u128> {
        let kernels = part.below.get(self.first_below..count).unwrap_or(&[]);
        if kernels.is_empty() {
            return Some(0);
        }
        let waits = usize::try_from(waits).or_most();
        let known = self.of_below.entry((which, count)).or_default();
        if known.len() <= waits {
            *tables = tables.checked_sub(1).filter(|_| kernels.len() <= MOST_BELOW)?;
            let mut background = Background::default();
            for kernel in kernels.iter().filter(|kernel| kernel.over.is_none_or(|over| over > self.at)) {
                let of_block = (kernel.blocks, kernel.block_time, part.measures[which].chosen[kernel.class]);
                background.add(kernel.stream, of_block, part.weights.resident(kernel.class), 1);
            }
            *known = background.up_to(waits.next_power_of_two());
        }
        known.get(waits).copied()
    }
}

/// Weights that are enough for all heads.
fn choices(graph: &Graph, below: &[Below], weights: &Weights<'_>) -> Vec<Vec<u64>> {
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
    for kernel in below {
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
