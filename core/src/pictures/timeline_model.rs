//! The timeline model: what pictures of one run have in common before anything has a place on paper, on a canvas or in
//! a file. The printed timeline and the page paint it; Perfetto's trace takes its lanes and copies, not its boxes.
//!
//! It says which blocks are one box (those of a launch that start on an SM at one instant, with as many as follow them
//! there without a pause), when they run and what they take, and so how much is in use over time; and in which lane
//! each copy lies. Where boxes stand above one another on an SM is in `pack`. Sums over time are for
//! pictures in which single changes are too many to be seen.

mod pack;

use std::convert::Infallible;
use std::ops::Range;

pub(super) use pack::{most_at_once, packed_apart};

use rustc_hash::FxHashMap;

use super::looks::bytes;
use crate::device::{BlockDemand, Device};
use crate::gpu::Ended;
use crate::named::named;
use crate::proven::{OrMost, Proven};
use crate::run::{Recorded, Standstill, Summary};
use crate::time::{Duration, Instant};
use crate::trace::{OperationRecord, RepeatedRun, SumOverTime, Trace};
use crate::workload::{CheckedKernel, Copy, KernelId, OperationId, OperationKind};

named! {
    /// The resource of an SM that the height of a block stands for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum HeightBy: ALL {
        /// Thread slots, which are whole warps.
        #[default]
        Threads = "threads",
        /// Shared memory as allocated \[bytes\].
        SharedMemory = "shared memory",
        /// Registers as allocated.
        Registers = "registers",
    }
}

impl HeightBy {
    /// What one block takes.
    pub fn of_block(self, demand: &BlockDemand, device: &Device) -> u32 {
        match self {
            Self::Threads => demand.warps * device.warp_size,
            Self::SharedMemory => demand.shared_memory_bytes,
            Self::Registers => demand.registers,
        }
    }

    /// What is taken whole: a warp of threads, a byte, a register.
    pub(crate) fn unit(self, device: &Device) -> u32 {
        if self == Self::Threads { device.warp_size } else { 1 }
    }

    /// Some of it as pictures write it.
    pub(crate) fn amount(self, amount: u32) -> String {
        if self == Self::SharedMemory { bytes(amount.into()) } else { amount.to_string() }
    }

    /// What an SM has.
    pub fn of_sm(self, device: &Device) -> u32 {
        match self {
            Self::Threads => device.warps_per_sm() * device.warp_size,
            Self::SharedMemory => device.per_sm.shared_memory_bytes,
            Self::Registers => device.per_sm.registers,
        }
    }
}

/// Operations of a stream that wait at one time have lanes up to so many; the others are counted. On paper each lane is
/// taken from the blocks' room; a page can be scrolled.
pub(super) const MOST_WAIT_LANES_ON_PAPER: usize = 4;
pub(super) const MOST_WAIT_LANES_ON_PAGE: usize = 5;

/// Lanes, and from when on each is free: what comes in order of its start takes the first lane that is, so that there
/// are no more than overlap at once.
#[derive(Debug, Clone, Default)]
pub(super) struct FreeLanes(Vec<Instant>);

impl FreeLanes {
    /// The first lane that is free when `time` begins, which is taken until it ends; a new one if there is none.
    pub(super) fn take(&mut self, time: &Range<Instant>) -> usize {
        let lane = self.0.iter().position(|free_from| *free_from <= time.start).unwrap_or(self.0.len());
        self.0.resize(self.0.len().max(lane + 1), time.end);
        self.0[lane] = time.end;
        lane
    }

    /// The same where there are no more than `most` lanes; `None` if all are taken.
    pub(super) fn take_of(&mut self, most: usize, time: &Range<Instant>) -> Option<usize> {
        let is_any = self.0.len() < most || self.0.iter().any(|free_from| *free_from <= time.start);
        is_any.then(|| self.take(time))
    }
}

/// Whether something from `start` to `end` is seen in a window; what has no length is seen at both edges.
pub(super) fn is_seen(window: &Range<Instant>, start: Instant, end: Instant) -> bool {
    let begins = start < window.end || start == end && start == window.end;
    begins && (end > window.start || start >= window.start)
}

/// Until when a run is shown from some instant on that stands still: beyond its end, so that what waits from then on is
/// seen to wait. `None` if it does not stand still.
pub(super) fn still_until(summary: &Summary<'_>, from: Instant) -> Option<Instant> {
    let end = summary.trace.end();
    let more = Duration::from_ns((end.since(from).as_ns() / 3).max(1));
    (summary.ended == Ended::Done && Standstill::is_of(summary)).then(|| end.saturating_add(more))
}

/// A copy that began, from when to when it was on its engine, and its lane there.
pub(super) struct CopyInLane {
    pub(super) id: OperationId,
    pub(super) copy: Copy,
    pub(super) engine: u32,
    pub(super) time: Range<Instant>,
    pub(super) lane: u32,
}

/// The copies that began and are seen in a window, in the order of their beginnings. An engine has one lane, or as many
/// as copies share its link at once. What is cut off by the horizon ends there.
pub(super) fn copies(summary: &Summary<'_>, window: &Range<Instant>) -> Vec<CopyInLane> {
    let mut copies: Vec<_> = summary.copies().collect();
    // Copies without length come before those that begin when they end.
    crate::sorted::sort_by_key(&mut copies, |Recorded { record, .. }| (record.first_start(), record.queue_order()));
    let mut lanes: FxHashMap<u32, FreeLanes> = FxHashMap::default();
    let began = copies.into_iter().filter_map(|Recorded { id, record, work: copy }| {
        let time = record.first_start()?..record.finish().unwrap_or(summary.trace.end());
        let engine = summary.scenario.device().copy.engine_for(copy.direction);
        is_seen(window, time.start, time.end).then(|| {
            let lane = lanes.entry(engine).or_default().take(&time);
            let lane = u32::try_from(lane).proven("no more lanes than copies, whose numbers have 32 bits");
            CopyInLane { id, copy, engine, time, lane }
        })
    });
    began.collect()
}

/// What a block takes of an SM. Kernels that fit no SM never got into a scenario.
pub(super) fn demand_of(kernel: &CheckedKernel, device: &Device) -> BlockDemand {
    let none = BlockDemand { warps: 0, registers: 0, shared_memory_bytes: 0 };
    BlockDemand::new(&kernel.shape, device).unwrap_or(none)
}

/// All of time.
pub(super) const ALWAYS: Range<Instant> = Instant::ZERO..Instant::MAX;

/// The blocks of a launch.
#[derive(Clone, Copy)]
pub(super) struct LaunchBlocks<'a> {
    pub(super) operation: OperationId,
    pub(super) record: &'a OperationRecord,
    pub(super) id: KernelId,
    pub(super) kernel: &'a CheckedKernel,
    /// What one of them takes of an SM.
    pub(super) demand: BlockDemand,
    trace: &'a Trace,
}

/// The blocks of all launches, in launch order.
pub(super) fn launches<'a>(summary: &Summary<'a>) -> impl Iterator<Item = LaunchBlocks<'a>> + use<'a> {
    let Summary { trace, scenario, .. } = *summary;
    summary.launches().filter_map(move |Recorded { id: operation, record, work: kernel }| {
        let OperationKind::Kernel(id) = record.kind else { return None };
        Some(LaunchBlocks { operation, record, id, kernel, demand: demand_of(kernel, scenario.device()), trace })
    })
}

impl<'a> LaunchBlocks<'a> {
    /// Those that do the same as one, as far as a window shows them.
    pub(super) fn runs(&self, window: Range<Instant>) -> impl Iterator<Item = RepeatedRun> + use<'a> {
        self.trace.repeated_runs(self.operation).filter_map(move |mut run| {
            let (start, duration) = (run.first.start, run.duration());
            if !is_seen(&window, start, run.end()) {
                return None;
            }
            if run.times > 1 && duration > Duration::ZERO {
                let ns = duration.as_ns();
                let before = window.start.since(start).as_ns() / ns;
                let until = window.end.since(start).as_ns().div_ceil(ns).min(u64::from(run.times));
                run.times = u32::try_from(until.saturating_sub(before))
                    .proven("at most as often as before, which 32 bits count")
                    .max(1);
                run.first.start = start + duration.repeated(before);
                run.first.end = run.first.start + duration;
            }
            Some(run)
        })
    }
}

/// What blocks take of all resources in a window, in the order of [`HeightBy::ALL`], and when: while it is the turn of
/// another context they are suspended (T4) and take nothing.
pub(super) fn in_use<'a>(
    summary: &Summary<'a>,
    window: &Range<Instant>,
) -> impl Iterator<Item = (Range<Instant>, [u64; 3])> + use<'a> {
    let (device, trace, window) = (summary.scenario.device(), summary.trace, window.clone());
    launches(summary).flat_map(move |launch| {
        let each = HeightBy::ALL.map(|resource| u64::from(resource.of_block(&launch.demand, device)));
        launch.runs(window.clone()).flat_map(move |run| {
            let all = each.map(|units| units * u64::from(run.first.blocks));
            let parts = trace.in_turn(trace.process_of_known(launch.operation), run.first.start..run.end());
            parts.map(move |part| (part, all))
        })
    })
}

/// How much there is at once of some amounts, which are in the order of their beginnings: the instants at which that
/// changes, and how much it is from there on. What takes no time is left out.
pub(super) fn changes(amounts: impl Iterator<Item = (Range<Instant>, u64)>) -> Vec<(Instant, u64)> {
    let mut changes: Vec<(Instant, u64)> = Vec::new();
    let mut emit = |at, sum| {
        if changes.last().is_none_or(|(_, last)| *last != sum) {
            changes.push((at, sum));
        }
        Ok::<(), Infallible>(())
    };
    let mut sums = SumOverTime::default();
    for (time, amount) in amounts {
        let Ok(()) = sums.add(time, amount, &mut emit);
    }
    let Ok(()) = sums.finish(&mut emit);
    changes
}

/// A window of time, divided into steps.
pub(super) struct TimeSteps {
    window: Range<Instant>,
    count: usize,
    /// Where they begin, and where the last ends \[ns from the beginning of the window\]; `None`: they are equal.
    edges: Option<Vec<u64>>,
}

impl TimeSteps {
    /// At most `most` equal steps, none of them shorter than 1 ns.
    pub(super) fn new(window: Range<Instant>, most: u64) -> Self {
        let mut steps = Self { window, count: 1, edges: None };
        steps.count = usize::try_from(most.min(steps.span_ns())).unwrap_or(1).max(1);
        steps
    }

    /// Steps from one edge to the next; those in the window, in order, and those of the window.
    pub(super) fn between(window: Range<Instant>, edges: &[Instant]) -> Self {
        let mut steps = Self { window, count: 1, edges: None };
        let ns = |at: &Instant| at.since(steps.window.start).as_ns();
        let mut all = vec![0];
        all.extend(edges.iter().filter(|at| **at < steps.window.end).map(ns));
        all.push(steps.span_ns());
        all.dedup();
        steps.count = all.len() - 1;
        steps.edges = Some(all);
        steps
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// How long a step is \[ns\], at least 1.
    pub(super) fn length(&self, step: usize) -> u128 {
        (self.edge(step + 1) - self.edge(step)).max(1)
    }

    /// Length of the window \[ns\], at least 1.
    fn span_ns(&self) -> u64 {
        self.window.end.since(self.window.start).as_ns().max(1)
    }

    /// When a step begins, or the last one ends.
    pub(super) fn begin(&self, step: usize) -> Instant {
        self.window.start + Duration::from_ns(u64::try_from(self.edge(step)).or_most())
    }

    /// Whether all are of one length, but for what does not divide.
    pub(super) const fn are_equal(&self) -> bool {
        self.edges.is_none()
    }

    /// The beginning of a step, or the end of the last one \[ns from the beginning of the window\].
    fn edge(&self, step: usize) -> u128 {
        if let Some(edges) = &self.edges {
            return edges.get(step).copied().unwrap_or_else(|| self.span_ns()).into();
        }
        u128::from(self.span_ns()) * step as u128 / self.count as u128
    }

    /// The step in which a time lies.
    fn of(&self, ns: u128) -> usize {
        if let Some(edges) = &self.edges {
            return edges.partition_point(|edge| u128::from(*edge) <= ns).clamp(1, self.count) - 1;
        }
        let guess = ns * self.count as u128 / u128::from(self.span_ns());
        let guess = usize::try_from(guess).or_most().min(self.count - 1);
        if guess + 1 < self.count && self.edge(guess + 1) <= ns { guess + 1 } else { guess }
    }
}

/// Sums of units times time, by step.
pub(super) struct StepSums {
    /// What reaches over part of a step \[units x ns\].
    partial: Vec<u128>,
    /// What reaches over whole steps: units that begin and end \[units\].
    begins: Vec<u64>,
    ends: Vec<u64>,
}

impl StepSums {
    pub(super) fn new(steps: &TimeSteps) -> Self {
        let count = steps.count;
        Self { partial: vec![0; count], begins: vec![0; count + 1], ends: vec![0; count + 1] }
    }

    /// Adds `units` for the part of `time` that is in the window. The end is not in it.
    pub(super) fn add(&mut self, time: Range<Instant>, units: u64, steps: &TimeSteps) {
        let window = &steps.window;
        let ns = |instant: Instant| u128::from(window.end.min(instant).since(window.start).as_ns());
        let (start, end) = (ns(time.start), ns(time.end));
        if start >= end {
            return;
        }
        let (first, last) = (steps.of(start), steps.of(end - 1));
        if first == last {
            self.partial[first] += u128::from(units) * (end - start);
            return;
        }
        self.partial[first] += u128::from(units) * (steps.edge(first + 1) - start);
        self.partial[last] += u128::from(units) * (end - steps.edge(last));
        self.begins[first + 1] += units;
        self.ends[last] += units;
    }

    /// Units x ns of each step.
    pub(super) fn totals(&self, steps: &TimeSteps) -> Vec<u128> {
        let mut units: u64 = 0;
        (0..steps.count)
            .map(|step| {
                units = units + self.begins[step] - self.ends[step];
                self.partial[step] + u128::from(units) * (steps.edge(step + 1) - steps.edge(step))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_lies_across_steps_counts_in_each_of_them() {
        let at = Instant::from_ns;
        let steps = TimeSteps::new(at(10)..at(40), 3);
        let mut sums = StepSums::new(&steps);
        sums.add(at(0)..at(15), 2, &steps);
        sums.add(at(15)..at(35), 4, &steps);
        sums.add(at(39)..at(90), 8, &steps);
        // By hand: 2 x 5 + 4 x 5; 4 x 10; 4 x 5 + 8 x 1.
        assert_eq!(sums.totals(&steps), [30, 40, 28]);
    }

    proptest! {
        /// Steps of one nanosecond, summed up, are the plain algorithm.
        #[test]
        fn totals_are_the_units_of_every_nanosecond(
            start in 0..50_u64,
            length in 1..200_u64,
            most in 1..60_u64,
            edges in prop::option::of(prop::collection::btree_set(0..300_u64, 0..12)),
            amounts in prop::collection::vec((0..260_u64, 0..100_u64, 0..9_u64), 0..20),
        ) {
            let at = Instant::from_ns;
            let window = at(start)..at(start + length);
            let steps = match &edges {
                None => TimeSteps::new(window, most),
                Some(edges) => TimeSteps::between(window, &edges.iter().map(|ns| at(*ns)).collect::<Vec<_>>()),
            };
            let mut sums = StepSums::new(&steps);
            let mut plain = vec![0_u128; usize::try_from(length).expect("small")];
            for (from, lasts, units) in amounts {
                sums.add(at(from)..at(from + lasts), units, &steps);
                for ns in from.max(start)..(from + lasts).min(start + length) {
                    plain[usize::try_from(ns - start).expect("small")] += u128::from(units);
                }
            }
            let edges: Vec<usize> =
                (0..=steps.count()).map(|step| usize::try_from(steps.edge(step)).expect("small")).collect();
            let expected: Vec<u128> = edges.windows(2).map(|pair| plain[pair[0]..pair[1]].iter().sum()).collect();
            prop_assert_eq!(sums.totals(&steps), expected);
        }
    }
}
