//! Bounds by all orders of dispatch: on the operations of a scenario of any length, in **windows**; on one job beside
//! others of which only the earliest release is known; and on jobs on identical processors.
//!
//! A window begins with a launch, at X. What was launched before has ended by then, if its bound says so, and is left
//! out; the rest, U, is *open*, and may be at any point of its course. Where nothing is open the GPU is certainly idle,
//! and the window begins like a scenario of its own.
//!
//! Claims (`docs/analysis.md`, "Windows: from below, and from one idle instant to the next"): *from below*, a bound F
//! that is computed without the operations launched at X or later holds for the whole scenario if F < X, or F = X and
//! the operation takes time. *Restart*: if all that is launched before X ends before X, what is launched from X on has
//! the bounds that it has by itself. *Window*: else the bounds hold of U and what is launched from X on, as if that
//! were all.

use rustc_hash::FxHashMap;

use super::explore::{Extent, MOST_STATES, count};
use super::graph::{Graph, Node, Work};
use super::weights::{Class, Weights};
use super::{LookedUp, MOST_TOGETHER, bound, carried_over, explore};
use crate::effort;
use crate::limits::count_turn;
use crate::proven::Proven;
use crate::time::{Duration, Instant};

/// Operations that a window is to have beside those that are open.
const AT_ONCE: usize = 512;

/// Open operations with which no orders of dispatch are explored.
const MOST_OPEN: usize = 256;

/// Streams that cost about as much in a window as an operation does.
const STREAMS_AN_OPERATION: usize = 16;

/// States of all windows together, as a multiple of those of one.
const EXPLORATIONS: usize = 12;

/// Where an exploration was given up, those that follow it up to where all is over get this part of its states: they
/// have more orders, or begin with more that is open.
const AFTER_GIVING_UP: usize = 4;

/// By when each operation has finished in every run; `None`: not known.
pub(super) fn window_bounds(graph: &Graph, weights: &Weights<'_>, share: usize) -> Vec<Option<Instant>> {
    let mut known = vec![None; graph.nodes.len()];
    carried_over::tighten(graph, weights, &mut known);
    let restarts = restarts(graph, &known);
    let mut open: Vec<usize> = Vec::new();
    let mut states = EXPLORATIONS * MOST_STATES / share.max(1);
    let mut most = MOST_STATES / share.max(1);
    // Each operation is looked at beside all that are open.
    let most_open = (MOST_TOGETHER * MOST_TOGETHER / graph.nodes.len().max(1)).max(MOST_OPEN);
    let mut first = 0;
    while let Some(node) = graph.nodes.get(first) {
        count_turn();
        let from = node.launched;
        open.retain(|&before| known[before].is_none_or(|finish: Instant| finish >= from));
        if open.len() > most_open || effort::check().is_err() {
            break;
        }
        if restarts.binary_search(&first).is_ok() {
            most = MOST_STATES / share.max(1);
        }
        // A window costs as much as there are streams, too, so those of many streams are not cut as short.
        let least = first + graph.streams.len() / STREAMS_AN_OPERATION;
        let restart = restarts[restarts.partition_point(|&restart| restart <= least)..].first().copied();
        let last = end_of_instant(graph, first + AT_ONCE).min(restart.unwrap_or(usize::MAX));
        let members = open.iter().copied().chain(first..last).collect();
        let window = Window { graph, members, open: open.len(), from };
        let explored = window.explore(weights, &mut known, states.min(most));
        if explored.is_given_up {
            most = (most / AFTER_GIVING_UP).max(1);
        }
        states -= explored.states.min(states);
        let is_left = |number: &usize| !explored.complete.contains(number);
        let left = match explored.states {
            // By work each bound is the same in this window and in the next one.
            0 => Some(first + AT_ONCE / 2).filter(|half| *half < last),
            _ => (first..last).find(is_left),
        };
        let next = left.map_or(last, |left| start_of_instant(graph, left));
        let next = if next > first { next } else { end_of_instant(graph, first + 1) };
        window.by_work(weights, next - first, |_| true, &mut known);
        open.extend(first..next);
        first = next;
    }
    if graph.nodes.len() <= MOST_TOGETHER && known.contains(&None) {
        // Windows may end too early for them.
        let all = Window { graph, members: (0..graph.nodes.len()).collect(), open: 0, from: Instant::ZERO };
        all.by_work(weights, graph.nodes.len(), |known| known.is_none(), &mut known);
    }
    carried_over::tighten(graph, weights, &mut known);
    known
}

/// The operations that begin like a scenario of their own: all that is launched before has ended.
fn restarts(graph: &Graph, known: &[Option<Instant>]) -> Vec<usize> {
    let mut over = Some(Instant::ZERO);
    let mut restarts = Vec::new();
    for (number, node) in graph.nodes.iter().enumerate() {
        if over.is_some_and(|over| over < node.launched) {
            restarts.push(number);
        }
        over = over.zip(known[number]).map(|(over, finish)| over.max(finish));
    }
    restarts
}

/// The number of the first operation that is not launched together with the one before number `next`.
fn end_of_instant(graph: &Graph, next: usize) -> usize {
    let Some(launched) = graph.nodes.get(next - 1).map(|node| node.launched) else { return graph.nodes.len() };
    next + graph.nodes[next..].iter().take_while(|node| node.launched == launched).count()
}

/// The number of the first operation that is launched together with number `number`.
fn start_of_instant(graph: &Graph, number: usize) -> usize {
    let launched = graph.nodes[number].launched;
    number - graph.nodes[..number].iter().rev().take_while(|node| node.launched == launched).count()
}

/// Some operations of a graph of which all bounds are computed together.
struct Window<'a> {
    graph: &'a Graph,
    /// Ascending: U, those that are open, and all that is launched from X on, up to some instant.
    members: Vec<usize>,
    /// How many of them are in U.
    open: usize,
    /// X.
    from: Instant,
}

/// What came of exploring a window.
struct Explored {
    states: usize,
    /// Not all orders were looked at.
    is_given_up: bool,
    /// Those that have a bound by orders of dispatch which holds whatever comes after the window.
    complete: rustc_hash::FxHashSet<usize>,
}

impl Window<'_> {
    /// The first launch after the window.
    fn end(&self) -> Option<Instant> {
        let next = self.members.last().map_or(0, |last| last + 1);
        self.graph.nodes.get(next).map(|node| node.launched)
    }

    /// Whether nothing of what was launched before the window is left out.
    fn is_whole(&self) -> bool {
        self.members.get(self.open).is_none_or(|first| *first == self.open)
    }

    /// Takes a bound on what the window alone would do for one on all, if nothing that comes later is before it.
    fn accept(&self, number: usize, finish: Instant, known: &mut [Option<Instant>]) -> bool {
        // What takes no time may begin just then, and what comes then may be before it.
        let is_before = |end| finish < end || finish == end && self.graph.nodes[number].takes_time();
        let holds = self.end().is_none_or(is_before);
        if holds {
            known[number] = known[number].into_iter().chain([finish]).min();
        }
        holds
    }

    /// By orders of dispatch: those of the highest priority alone, then with the next one, and so on.
    fn explore(&self, weights: &Weights<'_>, known: &mut [Option<Instant>], mut most: usize) -> Explored {
        let mut explored = Explored { states: 0, is_given_up: false, complete: rustc_hash::FxHashSet::default() };
        if self.open > MOST_OPEN || most == 0 {
            return explored;
        }
        let mut levels: Vec<usize> = self.members.iter().map(|&number| self.graph.nodes[number].level).collect();
        levels.sort_unstable();
        levels.dedup();
        for &level in &levels {
            let Some((part, numbers)) = self.down_to(level, known) else { continue };
            let over = if self.is_whole() { 0 } else { self.from.as_ns() };
            let (bounds, states) =
                explore::explored_bounds(&part, weights, &Extent { over, most_states: most, ..Extent::all(&part) });
            explored.states += states;
            if states > most {
                explored.is_given_up = true;
                most = (most / AFTER_GIVING_UP).max(1);
            }
            let is_all = Some(&level) == levels.last();
            for (number, finish) in numbers.into_iter().zip(bounds) {
                if let Some((number, finish)) = number.zip(finish)
                    && self.accept(number, finish, known)
                    && is_all
                {
                    explored.complete.insert(number);
                }
            }
        }
        explored
    }

    /// The members of the priorities down to `level`, in a graph of their own, with the number of each of its nodes;
    /// `None`: those of lower priorities do more than to have blocks assigned when none of these waits.
    fn down_to(&self, level: usize, known: &[Option<Instant>]) -> Option<(Graph, Vec<Option<usize>>)> {
        let graph = self.graph;
        if !graph.engines_are_apart(level, self.members.iter().copied()) {
            return None;
        }
        let mut part = graph.without_nodes();
        let mut numbers = Vec::with_capacity(self.members.len());
        let mut places: FxHashMap<usize, usize> = FxHashMap::default();
        for &number in &self.members {
            let node = &graph.nodes[number];
            if node.level > level {
                let over = known[number].map_or(u64::MAX, Instant::as_ns);
                part.add_lower((node.stream, node.level), node.launched, over, node.work);
                continue;
            }
            let (mut predecessors, mut late) = (Vec::new(), None);
            for &before in &node.predecessors {
                if let Some(&place) = places.get(&before) {
                    predecessors.push(place);
                } else if self.members.binary_search(&before).is_ok() {
                    return None;
                } else {
                    // It has ended when the window begins.
                    late = late.max(known[before].filter(|finish| *finish >= node.launched));
                }
            }
            if let Some(late) = late {
                // Something takes its place that ends when it may end.
                let standing =
                    Node { launched_by: late.as_ns(), work: Work::Nothing, predecessors: Vec::new(), ..*node };
                predecessors.push(part.add(standing));
                numbers.push(None);
            }
            let launched_by = node.launched.as_ns();
            places.insert(number, part.add(Node { launched_by, predecessors, ..*node }));
            numbers.push(Some(number));
        }
        Some((part, numbers))
    }

    /// By work: the first `count` of those that are not open, if a bound on them `is_wanted`.
    fn by_work(
        &self,
        weights: &Weights<'_>,
        count: usize,
        is_wanted: impl Fn(Option<Instant>) -> bool,
        known: &mut [Option<Instant>],
    ) {
        let graph = self.graph;
        let mut part = graph.without_nodes();
        for (place, &number) in self.members.iter().enumerate() {
            let node = &graph.nodes[number];
            // Of what is open no new bound is computed.
            let before = node.predecessors.iter().filter(|_| place >= self.open);
            let predecessors = before.filter_map(|before| self.members.binary_search(before).ok()).collect();
            part.add(Node { launched_by: node.launched.as_ns(), predecessors, ..*node });
        }
        let mut finishes: Vec<Option<Instant>> = self.members.iter().map(|&number| known[number]).collect();
        let mut looked = LookedUp::new(&part, &finishes);
        for place in self.open..self.open + count {
            if effort::check().is_err() {
                return;
            }
            let number = self.members[place];
            self.cut(&mut part, place, &finishes);
            if is_wanted(known[number])
                && let Some(finish) = bound(&part, weights, place, (&finishes, &looked))
                && self.accept(number, finish, known)
            {
                finishes[place] = known[number];
                looked.note(&part, place, &finishes);
            }
        }
    }

    /// Lets the chain to a node begin with the end of what was launched earlier, if that is known.
    fn cut(&self, part: &mut Graph, place: usize, finishes: &[Option<Instant>]) {
        let launched = part.nodes[place].launched;
        let mut launched_by = launched.as_ns();
        let mut kept = Vec::new();
        for before in std::mem::take(&mut part.nodes[place].predecessors) {
            match finishes[before] {
                // It has ended by then.
                Some(finish) if finish < launched => {}
                Some(finish) if part.nodes[before].launched < launched => {
                    // What takes no time may end just when all that is launched then has entered its queue.
                    let is_late = finish == launched && !part.nodes[before].takes_time();
                    launched_by = launched_by.max(finish.as_ns().saturating_add(u64::from(is_late)));
                }
                // Nothing is known of what it waits for itself.
                None if before < self.open => launched_by = u64::MAX,
                _ => kept.push(before),
            }
        }
        part.nodes[place].predecessors = kept;
        part.nodes[place].launched_by = launched_by;
    }
}

/// States after which an exploration is given up.
const MOST_STATES_OF_A_JOB: usize = 4_000;

/// Operations above which none is begun.
const MOST_BESIDE: usize = 96;

/// One operation of a job, or a pause of its host thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::analysis) struct Operation {
    /// Pauses have streams of their own, one for each host thread.
    pub(in crate::analysis) stream: usize,
    /// Its EE queue, 0 is the highest priority.
    pub(in crate::analysis) level: usize,
    /// The context in which it runs, if several have turns, or SMs and EE queues, of their own.
    pub(in crate::analysis) context: usize,
    /// Whose it is among the threads that do the job.
    pub(in crate::analysis) member: usize,
    /// What it does.
    pub(in crate::analysis) work: Work,
    /// The numbers of those before it in the job that it waits for; with none it is launched when the job is released.
    pub(in crate::analysis) after: Vec<usize>,
}

/// How a job begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) enum Begin {
    /// By a timer: before any block is assigned at its instant.
    Timer,
    /// When something else has ended: blocks may have been assigned at its instant.
    Event,
}

/// A job that may come, of another task j. Its earliest release is `after` - `before` \[ns\] after r, that of the job
/// looked at: r - `R_j` + 1 ns + n `T_j`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) struct Job<'a> {
    /// What it does, in an order in which it can be done.
    pub(in crate::analysis) operations: &'a [Operation],
    pub(in crate::analysis) before: u64,
    pub(in crate::analysis) after: u64,
    pub(in crate::analysis) begin: Begin,
}

/// A job and those that may come beside it: the finish of one job whose release is given, among jobs of which only the
/// earliest release is known.
///
/// The orders of dispatch are those of given releases ([`super::explore`]), with launches that may come at any time, or
/// never. What happened before the release is unknown: other jobs may then have had the GPU, but have ended.
/// `docs/analysis.md`, "Releases that are not given", has the proof.
#[derive(Debug)]
pub(in crate::analysis) struct Phased<'a> {
    /// What the job looked at does from its release on.
    pub(in crate::analysis) job: &'a [Operation],
    pub(in crate::analysis) begin: Begin,
    /// By thread: its jobs, none of which is released before the one before it has ended. They have streams of their
    /// own.
    pub(in crate::analysis) others: Vec<Vec<Job<'a>>>,
    /// By thread: what it launches, at any times, in streams of priorities below those of all jobs.
    pub(in crate::analysis) lower: Vec<&'a [Operation]>,
    /// Streams of the scenario, and of pauses.
    pub(in crate::analysis) streams: usize,
    /// Priorities.
    pub(in crate::analysis) levels: usize,
    /// Copy engines.
    pub(in crate::analysis) engines: usize,
}

impl Phased<'_> {
    /// How long after its release each operation of the job has ended at the latest \[ns\]; `None`: too much to
    /// explore.
    pub(in crate::analysis) fn ends(&self, classes: &[Class], weights: &Weights<'_>) -> Option<Vec<u64>> {
        let others = self.others.iter().flatten();
        let operations = others.clone().map(|job| job.operations.len()).sum::<usize>() + self.job.len();
        if operations > MOST_BESIDE {
            return None;
        }
        // Late enough for every earlier instant to be one, and not the first.
        let release = others.map(|job| job.before).max().unwrap_or(0).checked_add(2)?;
        let mut graph = Graph {
            classes: classes.to_vec(),
            streams: vec![Vec::new(); self.streams],
            levels: self.levels,
            engines: self.engines,
            any_order: true,
            remembers: true,
            ..Graph::default()
        };
        let own = Released { first_thread: 0, begin: self.begin, earliest: release, latest: release };
        let (numbers, _) = own.add(&mut graph, self.job, &[]);
        let goal = graph.streams.iter().map(|stream| count(stream.len())).collect();
        let mut first_thread = members(self.job);
        for jobs in &self.others {
            let mut last = Vec::new();
            for job in jobs {
                let earliest = (release - job.before).checked_add(job.after)?;
                let released = Released { first_thread, begin: job.begin, earliest, latest: u64::MAX };
                (_, last) = released.add(&mut graph, job.operations, &last);
            }
            first_thread += jobs.first().map_or(0, |job| members(job.operations));
        }
        for &Operation { stream, level, work, .. } in self.lower.iter().copied().flatten() {
            graph.add_lower((stream, level), Instant::ZERO, u64::MAX, work);
        }
        let extent = Extent { over: release, goal, most_states: MOST_STATES_OF_A_JOB };
        let (finish, _) = explore::explored_bounds(&graph, weights, &extent);
        numbers.into_iter().map(|number| Some(finish[number]?.as_ns().saturating_sub(release))).collect()
    }
}

/// How many threads do a job, as far as its operations are theirs.
fn members(job: &[Operation]) -> usize {
    job.iter().map(|operation| operation.member + 1).max().unwrap_or(0)
}

/// When a job is released, in nanoseconds.
struct Released {
    /// The number of the first of the threads that do it.
    first_thread: usize,
    begin: Begin,
    earliest: u64,
    latest: u64,
}

impl Released {
    /// Adds a job after the operations `before`. Says the numbers of its operations, and those for which no other
    /// one of it waits.
    fn add(&self, graph: &mut Graph, job: &[Operation], before: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (mut numbers, mut is_last) = (Vec::with_capacity(job.len()), vec![true; job.len()]);
        let launched = Instant::from_ns(self.earliest);
        for &Operation { stream, level, work, member, ref after, .. } in job {
            // What several threads launch at one instant comes in any order.
            let thread = u32::try_from(self.first_thread + member).proven("as a scenario's threads, with 32 bits");
            let mut node = Node {
                launched,
                // It goes on at any time, or never.
                launched_by: if matches!(work, Work::Busy(_)) { u64::MAX } else { 0 },
                work,
                level,
                stream,
                position: 0,
                thread,
                predecessors: after.iter().map(|own: &usize| numbers[*own]).collect(),
            };
            if after.is_empty() {
                node.predecessors = before.to_vec();
                node.launched_by = self.latest;
                if self.begin == Begin::Event {
                    // Something stands before it that ends when the job is released.
                    let predecessors = std::mem::take(&mut node.predecessors);
                    let standing = graph.add(Node { work: Work::Nothing, predecessors, ..node });
                    node = Node { launched_by: 0, predecessors: vec![standing], ..node };
                }
            }
            for &own in after {
                is_last[own] = false;
            }
            numbers.push(graph.add(node));
        }
        let last = numbers.iter().zip(is_last).filter(|(_, is_last)| *is_last).map(|(number, _)| *number).collect();
        (numbers, last)
    }
}

/// States to look at, which count more where there are many jobs.
const MOST_STATES_ON_PROCESSORS: usize = 1_000_000;

/// A job; times \[ns\].
#[derive(Debug)]
pub(in crate::analysis) struct ProcessorJob {
    /// Not before, not after.
    pub(in crate::analysis) released: (u64, u64),
    /// At least, at most.
    pub(in crate::analysis) cost: (u64, u64),
    /// How many jobs are more urgent; no two have the same.
    pub(in crate::analysis) rank: usize,
    /// Those that must have finished before it begins, by number, all of them smaller than its own.
    pub(in crate::analysis) predecessors: Vec<usize>,
}

/// By when each of the jobs has finished in every run \[ns\]; `None`: not found.
///
/// Jobs on identical processors that are not preempted: kernels of one block on SMs that hold one block each.
pub(in crate::analysis) fn bounds_on_processors(processors: u32, jobs: &[ProcessorJob]) -> Vec<Option<u64>> {
    let class = Class { needs: [1; 4], allowed: u64::from(processors) };
    let mut graph = Graph {
        classes: vec![class],
        streams: vec![Vec::new(); jobs.len()],
        levels: jobs.len(),
        ready_first: true,
        ..Graph::default()
    };
    for (stream, (job, thread)) in jobs.iter().zip(0..).enumerate() {
        let (best, block_time) = (Duration::from_ns(job.cost.0), Duration::from_ns(job.cost.1));
        graph.add(Node {
            launched: Instant::from_ns(job.released.0),
            launched_by: job.released.1,
            work: Work::Kernel { class: 0, blocks: 1, block_time, best },
            level: job.rank,
            stream,
            position: 0,
            thread,
            predecessors: job.predecessors.clone(),
        });
    }
    let weights = Weights::of_places(processors, &graph.classes);
    let extent = Extent { most_states: MOST_STATES_ON_PROCESSORS, ..Extent::all(&graph) };
    let (bounds, _) = explore::explored_bounds(&graph, &weights, &extent);
    bounds.into_iter().map(|bound| bound.map(Instant::as_ns)).collect()
}
