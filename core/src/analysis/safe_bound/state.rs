//! What is known of all runs that have dispatched the same operations D.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::fill::{MayRun, adds_nothing, more_of};
use super::graph::{Graph, Node, Work};

/// How many operations of each stream are dispatched: (stream, operations) of those of which any is, ascending. So what
/// a state takes does not depend on how many streams there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Dispatched(Vec<(usize, u32)>);

impl Dispatched {
    /// Of one stream.
    pub(super) fn of(&self, stream: usize) -> u32 {
        self.place(stream).map_or(0, |place| self.0[place].1)
    }

    fn place(&self, stream: usize) -> Result<usize, usize> {
        self.0.binary_search_by_key(&stream, |(stream, _)| *stream)
    }

    /// The streams of which any is, ascending, with how many.
    pub(super) fn begun(&self) -> impl Iterator<Item = (usize, u32)> {
        self.0.iter().copied()
    }

    /// Of each of so many streams.
    pub(super) fn by_stream(&self, streams: usize) -> Vec<u32> {
        let mut all = vec![0; streams];
        self.begun().for_each(|(stream, operations)| all[stream] = operations);
        all
    }

    /// One more of a stream.
    pub(super) fn with_one_of(&self, stream: usize) -> Self {
        let mut more = self.clone();
        match self.place(stream) {
            Ok(place) => more.0[place].1 += 1,
            Err(place) => more.0.insert(place, (stream, 1)),
        }
        more
    }

    /// With the operations of each stream in the place of another one, no two in one place.
    pub(super) fn moved(&mut self, to: impl Fn(usize) -> usize) {
        self.0.iter_mut().for_each(|(stream, _)| *stream = to(*stream));
        self.0.sort_unstable();
    }
}

impl Ord for Dispatched {
    /// As the numbers of all streams compare, one after the other.
    fn cmp(&self, other: &Self) -> Ordering {
        match self.0.iter().zip(&other.0).find(|(one, other)| one != other) {
            // Of a stream that is left out none is dispatched.
            Some(((one, of_one), (other, of_other))) => other.cmp(one).then(of_one.cmp(of_other)),
            None => self.0.len().cmp(&other.0.len()),
        }
    }
}

impl PartialOrd for Dispatched {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// An interval of instants \[ns\]: not before, not after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Interval {
    pub(super) from: u64,
    pub(super) to: u64,
}

/// Until when so much of a dispatched kernel certainly runs \[ns\]; the second is not later than the first.
pub(super) type CertainUntil = [u64; 2];

/// What holds of every run once certain operations are dispatched and no others are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// When the kernel that was dispatched last was: from T- to T+.
    pub(super) kernel: Interval,
    /// That kernel, if it is the same in all of them.
    pub(super) last_kernel: Option<usize>,
    /// When the operation that was dispatched last was, not before \[ns\].
    pub(super) last: u64,
    /// What has ended by then is forgotten \[ns\]: no bound on what is dispatched later is before.
    pub(super) forgotten: u64,
    /// By priority level: the latest instant at which a kernel that is not dispatched may have assigned a block \[ns\];
    /// `None`: none has assigned any.
    pub(super) begun: Vec<Option<u64>>,
    /// When each copy engine is idle.
    pub(super) engines: Vec<Interval>,
    /// Blocks of dispatched kernels that may run after `forgotten`, by operation: (until \[ns\], blocks), ascending.
    pub(super) running: Vec<(usize, Vec<(u64, u32)>)>,
    /// Dispatched kernels of which at least one block certainly runs until then, and all of the last wave, by
    /// operation, ascending.
    pub(super) certain: Vec<(usize, CertainUntil)>,
    /// When dispatched operations finish for which others still wait.
    pub(super) finish: Vec<(usize, Interval)>,
}

impl State {
    /// Before any operation of the graph is dispatched. What else there may have been has ended by `over` \[ns\].
    pub(super) fn new(graph: &Graph, over: u64) -> Self {
        let start = Interval { from: 0, to: over };
        Self {
            kernel: start,
            last_kernel: None,
            last: 0,
            forgotten: over,
            begun: vec![None; graph.levels],
            engines: vec![start; graph.engines],
            running: Vec::new(),
            certain: Vec::new(),
            finish: Vec::new(),
        }
    }

    /// When an operation enters its EE or CE queue, from e- to e+, all its predecessors being dispatched.
    pub(super) fn entry(&self, graph: &Graph, node: usize) -> Interval {
        let mut entry = Interval { from: graph.nodes[node].launched.as_ns(), to: graph.nodes[node].launched_by };
        for before in &graph.nodes[node].predecessors {
            if let Some(finish) = known_of(&self.finish, *before) {
                entry = Interval { from: entry.from.max(finish.from), to: entry.to.max(finish.to) };
            }
        }
        entry
    }

    /// Whether an operation, all whose predecessors are dispatched, enters its queue by its launch, at a known instant:
    /// nothing that it waits for is left before that.
    pub(super) fn enters_at_launch(&self, graph: &Graph, node: usize) -> bool {
        let Node { launched, launched_by, predecessors, .. } = &graph.nodes[node];
        let is_over = |before: &usize| known_of(&self.finish, *before).is_some_and(|end| end.to < launched.as_ns());
        predecessors.is_empty() || *launched_by == launched.as_ns() && predecessors.iter().all(is_over)
    }

    /// Whether an operation enters its queue before anything is assigned at the instant.
    pub(super) fn enters_first(&self, graph: &Graph, node: usize) -> bool {
        graph.ready_first || self.enters_at_launch(graph, node)
    }

    /// Notes when an operation finishes.
    pub(super) fn set_finish(&mut self, node: usize, span: Interval) {
        if let Err(index) = place_of(&self.finish, node) {
            self.finish.insert(index, (node, span));
        }
    }

    /// Notes until when the blocks of a kernel may run that were assigned by `starts`.
    pub(super) fn set_running(&mut self, node: usize, starts: &[(u64, u32)], block_time: u64) {
        let until = starts.iter().map(|(start, blocks)| (start.saturating_add(block_time), *blocks)).collect();
        if let Err(index) = place_of(&self.running, node) {
            self.running.reserve_exact(1);
            self.running.insert(index, (node, until));
        }
    }

    /// Notes that a kernel does not finish before an instant, nor its last wave any block, and forgets those that may
    /// have by the last dispatch.
    pub(super) fn set_certain(&mut self, node: usize, until: CertainUntil) {
        self.certain.retain(|(_, until)| until[0] > self.last);
        if let (Err(index), true) = (place_of(&self.certain, node), until[0] > self.last) {
            self.certain.insert(index, (node, until));
        }
    }

    fn certain_until(&self, node: usize) -> CertainUntil {
        known_of(&self.certain, node).copied().unwrap_or_default()
    }

    /// Forgets blocks that have ended by the time that bounds are not before.
    pub(super) fn forget_ended(&mut self) {
        let now = self.forgotten;
        for (_, until) in &mut self.running {
            until.retain(|(until, _)| *until > now);
        }
        self.running.retain(|(_, until)| !until.is_empty());
    }

    /// What dispatched kernels may still have on the SMs after `forgotten`, but for those that have ended.
    pub(super) fn may_run(&self, graph: &Graph, ended: &[usize], into: &mut Vec<MayRun>) {
        for (node, ends) in self.running.iter().filter(|(node, _)| !ended.contains(node)) {
            let Work::Kernel { class, .. } = graph.nodes[*node].work else { continue };
            into.extend(ends.iter().map(|&(until, blocks)| MayRun { until, class, blocks }));
        }
    }

    /// Whether it holds of all runs of another state with the same operations: merging that into it would change
    /// nothing.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let within = |one: &Interval, other: &Interval| one.from <= other.from && other.to <= one.to;
        let now = self.forgotten;
        let has_finish =
            |(node, span): &(usize, Interval)| known_of(&self.finish, *node).is_some_and(|known| within(known, span));
        let has_running = |(node, ends): &(usize, Vec<(u64, u32)>)| match known_of(&self.running, *node) {
            Some(known) => adds_nothing(known, ends, now),
            None => ends.iter().all(|(until, _)| *until <= now),
        };
        // What is dispatched next is not before `other.last`, so what is over by then says nothing.
        let is_certain = |(node, until): &(usize, CertainUntil)| {
            let known = other.certain_until(*node);
            until.iter().zip(known).all(|(until, known)| *until <= other.last || *until <= known)
        };
        within(&self.kernel, &other.kernel)
            && (self.last_kernel.is_none() || self.last_kernel == other.last_kernel)
            && self.forgotten >= other.forgotten
            && self.last <= other.last
            && self.begun.iter().zip(&other.begun).all(|(one, other)| one >= other)
            && self.engines.iter().zip(&other.engines).all(|(one, other)| within(one, other))
            && other.finish.iter().all(has_finish)
            && other.running.iter().all(has_running)
            && self.certain.iter().all(is_certain)
    }

    /// Holds of the runs of both.
    pub(super) fn merge(&mut self, other: &Self) {
        let either = |one: &mut Interval, other: &Interval| {
            *one = Interval { from: one.from.min(other.from), to: one.to.max(other.to) };
        };
        either(&mut self.kernel, &other.kernel);
        self.last_kernel = self.last_kernel.filter(|_| self.last_kernel == other.last_kernel);
        self.forgotten = self.forgotten.max(other.forgotten);
        self.last = self.last.min(other.last);
        for (one, other) in self.begun.iter_mut().zip(&other.begun) {
            *one = (*one).max(*other);
        }
        for (one, other) in self.engines.iter_mut().zip(&other.engines) {
            either(one, other);
        }
        for (node, span) in &other.finish {
            match place_of(&self.finish, *node) {
                Ok(index) => either(&mut self.finish[index].1, span),
                Err(index) => self.finish.insert(index, (*node, *span)),
            }
        }
        for (node, ends) in &other.running {
            match place_of(&self.running, *node) {
                Ok(index) => self.running[index].1 = more_of(&self.running[index].1, ends),
                Err(index) => self.running.insert(index, (*node, ends.clone())),
            }
        }
        self.certain.retain_mut(|(node, until)| {
            let known = other.certain_until(*node);
            *until = [until[0].min(known[0]), until[1].min(known[1])];
            until[0] > self.last
        });
        self.forget_ended();
    }
}

/// Where an operation is, or would be, in what is known by operation, ascending.
fn place_of<T>(known: &[(usize, T)], node: usize) -> Result<usize, usize> {
    known.binary_search_by_key(&node, |(node, _)| *node)
}

/// What is known of an operation.
fn known_of<T>(known: &[(usize, T)], node: usize) -> Option<&T> {
    place_of(known, node).ok().map(|place| &known[place].1)
}

/// The head of a stream, all of whose predecessors are dispatched.
#[derive(Clone, Copy)]
pub(super) struct Eligible {
    pub(super) node: usize,
    pub(super) entry: Interval,
    /// Whether it is tried as the next one: of twins of which the same is known, one is.
    pub(super) tried: bool,
}

/// What is known together of the heads that enter one queue, so that not each of them is compared with each.
pub(super) struct Entries {
    heads: Vec<Eligible>,
    first: First,
}

/// The one of some heads that has entered first at the latest.
struct First {
    /// It has by then \[ns\]; never without heads.
    by: u64,
    node: Option<usize>,
    /// Of the others that have by then, too, and enter at their launch: the first one of each thread, or where their
    /// order is known of all threads.
    at_launch: BTreeMap<Option<u32>, usize>,
}

impl First {
    fn of(graph: &Graph, state: &State, heads: impl Iterator<Item = Eligible> + Clone) -> Self {
        let first = heads.clone().min_by_key(|head| head.entry.to);
        let by = first.map_or(u64::MAX, |head| head.entry.to);
        let mut at_launch = BTreeMap::new();
        for Eligible { node, entry, .. } in heads {
            if entry.to == by && state.enters_at_launch(graph, node) {
                let first = at_launch.entry(order_of(graph, node)).or_insert(node);
                *first = node.min(*first);
            }
        }
        Self { by, node: first.map(|head| head.node), at_launch }
    }

    /// Whether an operation can enter before all heads but itself, which is not the first.
    fn may_follow(&self, graph: &Graph, state: &State, node: usize, entry: Interval) -> bool {
        if entry.from != self.by || self.at_launch.is_empty() {
            return entry.from <= self.by;
        }
        if state.enters_at_launch(graph, node) {
            return self.at_launch.get(&order_of(graph, node)).is_none_or(|first| node <= *first);
        }
        !waits_for_later(graph, node, self.by)
    }
}

impl Entries {
    pub(super) fn new(graph: &Graph, state: &State, heads: Vec<Eligible>) -> Self {
        let first = First::of(graph, state, heads.iter().copied());
        Self { heads, first }
    }

    pub(super) fn heads(&self) -> &[Eligible] {
        &self.heads
    }

    /// One of them has entered by then \[ns\].
    pub(super) fn some_by(&self) -> u64 {
        self.first.by
    }

    /// Whether one of them can enter before all others.
    pub(super) fn may_be_first(&self, graph: &Graph, state: &State, node: usize, entry: Interval) -> bool {
        if self.first.node != Some(node) {
            return self.first.may_follow(graph, state, node, entry);
        }
        let others = self.heads.iter().copied().filter(|other| other.node != node);
        First::of(graph, state, others).may_follow(graph, state, node, entry)
    }
}

/// Operations that have the same are launched at one instant in their order.
fn order_of(graph: &Graph, node: usize) -> Option<u32> {
    graph.any_order.then(|| graph.nodes[node].thread)
}

/// Whether an operation waits for a kernel or copy that is launched at an instant or later. That begins when all
/// that is launched at the instant has entered its queue, so it ends after that even if it takes no time.
fn waits_for_later(graph: &Graph, node: usize, launch: u64) -> bool {
    let mut before = graph.nodes[node].predecessors.iter().map(|&before| &graph.nodes[before]);
    before.any(|before| before.work.needs_no_engine().is_none() && before.launched.as_ns() >= launch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dispatched_is_ordered_as_the_numbers_of_all_streams_are() {
        let all: Vec<Vec<u32>> = (0..64).map(|code: u32| vec![code % 4, code / 4 % 4, code / 16]).collect();
        let listed = |numbers: &Vec<u32>| {
            let listed = (0..).zip(numbers.iter().copied()).filter(|(_, number)| *number > 0);
            Dispatched(listed.collect())
        };
        for one in &all {
            assert_eq!(listed(one).by_stream(3), *one);
            for other in &all {
                assert_eq!(listed(one).cmp(&listed(other)), one.cmp(other), "{one:?} {other:?}");
            }
        }
    }
}
