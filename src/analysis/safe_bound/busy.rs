//! Bounds by work, counted from the last instant at which nothing that was launched before was unfinished.
//!
//! The critical chain to an operation ends with a launch. If something that was launched earlier is unfinished then,
//! the chain goes on with what that waited for, and so on until a launch at which nothing is: only what is launched
//! from there on counts, and of it everything once. `docs/analysis.md`, "Carried-over work", has the proof.

use super::graph::{Graph, Node, Work};
use super::weights::{ONE, Weights};
use crate::effort;
use crate::limits::count_steps;
use crate::time::Instant;

/// Operations between two instants at which all is over above which no such bound is computed there.
const MOST_UNFINISHED: usize = 512;

/// Classes of which all orders of lowering weights are tried.
const MOST_PERMUTED: usize = 3;

/// What operations weigh, by one choice of weights.
struct Measure {
    /// On a chain, by operation, in 1 / [`ONE`] ns.
    own: Vec<u128>,
    /// Of all operations before a number.
    before: Vec<u128>,
    /// By stream: of all its operations before a position.
    of_stream: Vec<Vec<u128>>,
}

impl Measure {
    /// `None`: more than can be counted.
    fn new(graph: &Graph, weights: &[u64]) -> Option<Self> {
        let (mut own, mut work) = (Vec::new(), Vec::new());
        for node in &graph.nodes {
            let (last, all) = match node.work {
                Work::Kernel { class, blocks, block_time, .. } => {
                    let (time, weight) = (u128::from(block_time.as_ns()), *weights.get(class)?);
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
        Some(Self { own, before, of_stream })
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
}

/// Lowers what is known of each operation to these bounds.
pub(super) fn lower(graph: &Graph, weights: &Weights<'_>, known: &mut [Option<Instant>]) {
    let measures: Vec<Measure> =
        choices(graph, weights).iter().filter_map(|chosen| Measure::new(graph, chosen)).collect();
    let mut starts: Vec<Start> = Vec::new();
    let mut is_given_up = false;
    // The latest end of what was launched so far; `None`: not known.
    let mut over = Some(Instant::ZERO);
    let mut first = 0;
    for together in graph.nodes.chunk_by(|one, other| one.launched == other.launched) {
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
            let chains = measures.iter().map(|_| Vec::new()).collect();
            starts.push(Start { at, first, chains });
            for start in &mut starts {
                start.extend(graph, &measures, (first, end), known);
            }
            for (number, known) in known.iter_mut().enumerate().take(end).skip(first) {
                *known = latest(graph, &measures, &starts, number).into_iter().chain(*known).min();
            }
        }
        for finish in &known[first..end] {
            over = over.zip(*finish).map(|(over, finish)| over.max(finish));
        }
        first = end;
    }
}

/// The latest finish over all starts.
fn latest(graph: &Graph, measures: &[Measure], starts: &[Start], number: usize) -> Option<Instant> {
    let mut latest = Instant::ZERO;
    for start in starts.iter().filter(|start| start.chains.iter().any(|ends| ends[number - start.first].is_some())) {
        let each = measures.iter().zip(&start.chains);
        let finishes =
            each.filter_map(|(measure, ends)| start.finish(graph, measure, number, ends[number - start.first]?));
        latest = latest.max(finishes.min()?);
    }
    Some(latest).filter(|_| !measures.is_empty())
}

impl Start {
    /// Looks at chains to the operations of one more instant.
    fn extend(&mut self, graph: &Graph, measures: &[Measure], (from, end): (usize, usize), known: &[Option<Instant>]) {
        let at = graph.nodes[from].launched;
        let may_last = |number: usize| known[number].is_none_or(|finish| finish >= at);
        count_steps(measures.len() * (end - self.first));
        for (measure, ends) in measures.iter().zip(&mut self.chains) {
            let unfinished = (self.first..from).filter(|&number| may_last(number));
            let carried = unfinished.filter_map(|number| ends[number - self.first]).max();
            let carried = if from == self.first { Some(0) } else { carried };
            for number in from..end {
                let Node { predecessors, .. } = &graph.nodes[number];
                let waited_for =
                    predecessors.iter().filter(|&&before| before >= from || before >= self.first && may_last(before));
                let longest = waited_for.filter_map(|before| ends[before - self.first]).chain(carried).max();
                ends.push(longest.map(|longest| longest.saturating_add(measure.own[number])));
            }
        }
    }

    /// By when an operation has finished in runs with a chain from here to it; what is launched later is looked at as
    /// far as it can come before that.
    fn finish(&self, graph: &Graph, measure: &Measure, number: usize, chain: u128) -> Option<Instant> {
        let Node { launched, stream, position, .. } = graph.nodes[number];
        let begun = (u128::from(self.at.as_ns()) * u128::from(ONE)).checked_add(chain)?;
        let mut end = number + graph.nodes[number..].iter().take_while(|node| node.launched == launched).count();
        loop {
            count_steps(1);
            // What comes after it in its stream begins later.
            let own = &graph.streams[stream];
            let later = own.partition_point(|&other| other < end);
            let of_stream = &measure.of_stream[stream];
            let left_out = of_stream[later] - of_stream[position + 1];
            let work = measure.before[end] - measure.before[self.first] - left_out;
            let finish = begun.checked_add(work)?.div_ceil(u128::from(ONE));
            let finish = u64::try_from(finish).ok()?;
            // What takes no time may begin just then, and what comes then may be before it.
            let reach = finish.checked_add(u64::from(!graph.nodes[number].takes_time()))?;
            let more = graph.nodes[end..].iter().take_while(|node| node.launched.as_ns() < reach).count();
            if more == 0 {
                return Some(Instant::from_ns(finish));
            }
            end += more;
        }
    }
}

/// Weights that are enough for all heads.
fn choices(graph: &Graph, weights: &Weights<'_>) -> Vec<Vec<u64>> {
    let mut blocks = vec![0_u64; graph.classes.len()];
    let mut load = vec![0_u128; graph.classes.len()];
    for node in &graph.nodes {
        if let Work::Kernel { class, blocks: grid, block_time, .. } = node.work {
            blocks[class] = blocks[class].saturating_add(u64::from(grid));
            load[class] = load[class].saturating_add(u128::from(grid) * u128::from(block_time.as_ns()));
        }
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
    let heads = vec![true; blocks.len()];
    orders.iter().map(|order| weights.lowered(order, &heads, &blocks)).collect()
}
