//! The published rules read literally: every pair, every instant, no cleverness. Where two things happen at one instant
//! and the rules leave their order open, nobody is accused.

use gpusched::audit::{ObservedKernel, ObservedOperation, ObservedRun, ObservedWork};
use gpusched::device::{BlockDemand, CopySharing, RegisterDealing};
use gpusched::logs::{LogTime, LoggedBlock};

use crate::reference::{Free, Need};

/// The name of a rule that this trace of a finished run breaks, if there is one.
pub(crate) fn broken_rule<'a>(observation: &'a ObservedRun) -> Option<&'static str> {
    let plain = Plain::new(observation);
    let checks: [(Check<'a>, &'static str); 8] = [
        (Plain::all_ran_as_stated, "completeness, SM ids, masks or durations"),
        (Plain::nothing_starts_before_it_is_ready, "G1, G4, N1, N2, E2, L1 or L2"),
        (Plain::demands_are_possible, "limits per block"),
        (Plain::sms_are_never_overfull, "R1, R2 or R3"),
        (Plain::nobody_overtakes, "X1"),
        (Plain::higher_priorities_go_first, "A2"),
        (Plain::nobody_waits_who_fits, "work conservation"),
        (Plain::copies_take_turns, "C2"),
    ];
    checks.into_iter().find(|(holds, _)| !holds(&plain)).map(|(_, rule)| rule)
}

/// Whether a rule holds.
type Check<'a> = fn(&Plain<'a>) -> bool;

struct Plain<'a> {
    observation: &'a ObservedRun,
    /// When each operation could enter its EE or CE queue.
    ready: Vec<i64>,
}

fn kernel(operation: &ObservedOperation) -> Option<&ObservedKernel> {
    match &operation.work {
        ObservedWork::Kernel(kernel) => Some(kernel),
        _ => None,
    }
}

fn last_start(kernel: &ObservedKernel) -> i64 {
    kernel.blocks.times.iter().map(|time| time[0].as_ns()).max().unwrap_or(i64::MAX)
}

/// When the launch latency of an operation is over, and the gap behind the kernel before it in its stream.
fn latest_by_latency(observation: &ObservedRun, index: usize, finish: &[i64]) -> i64 {
    let operation = &observation.operations[index];
    let ns = |latency: gpusched::time::Duration| i64::try_from(latency.as_ns()).expect("short");
    let launched = match operation.work {
        ObservedWork::Kernel(_) | ObservedWork::Copy(_) => {
            operation.called_ns.as_ns() + ns(observation.device.launch_latency)
        }
        _ => 0,
    };
    let is_before = |&other: &usize| {
        let before = &observation.operations[other];
        before.stream == operation.stream && kernel(before).is_some() && kernel(operation).is_some()
    };
    let gap =
        (0..index).rev().find(is_before).map(|other| finish[other].saturating_add(ns(observation.device.kernel_gap)));
    launched.max(gap.unwrap_or(0))
}

impl<'a> Plain<'a> {
    fn new(observation: &'a ObservedRun) -> Self {
        let mut finish: Vec<i64> = Vec::new();
        let mut ready: Vec<i64> = Vec::new();
        for (index, operation) in observation.operations.iter().enumerate() {
            let is_blocking = |stream: usize| observation.streams[stream].blocking;
            let waits_for = |other: &ObservedOperation| {
                other.stream == operation.stream
                    || (operation.stream == 0 && is_blocking(other.stream))
                    || (other.stream == 0 && is_blocking(operation.stream))
            };
            let recorded =
                (0..index).rev().find(|&other| match (&operation.work, &observation.operations[other].work) {
                    (ObservedWork::Wait(awaited), ObservedWork::Record(event)) => awaited == event,
                    _ => false,
                });
            let before = (0..index).filter(|&other| waits_for(&observation.operations[other]));
            let at =
                before.chain(recorded).map(|other| finish[other]).max().unwrap_or(0).max(operation.called_ns.as_ns());
            let at = at.max(latest_by_latency(observation, index, &finish));
            ready.push(at);
            finish.push(match &operation.work {
                ObservedWork::Kernel(kernel) => {
                    kernel.blocks.times.iter().map(|time| time[1].as_ns()).max().unwrap_or(i64::MAX)
                }
                ObservedWork::Copy(copy) => copy.times_ns.map_or(i64::MAX, |time| time[1].as_ns()),
                ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_) | ObservedWork::Value(_) => at,
            });
        }
        Self { observation, ready }
    }

    fn kernels(&self) -> impl Iterator<Item = (usize, &'a ObservedKernel)> {
        self.observation
            .operations
            .iter()
            .enumerate()
            .filter_map(|(index, operation)| Some((index, kernel(operation)?)))
    }

    fn priority(&self, operation: usize) -> i32 {
        self.observation.streams[self.observation.operations[operation].stream].priority.unwrap_or(0)
    }

    fn demand(&self, kernel: &ObservedKernel) -> Option<BlockDemand> {
        BlockDemand::new(&kernel.shape, &self.observation.device).ok()
    }

    fn demands_are_possible(&self) -> bool {
        self.kernels().all(|(_, kernel)| self.demand(kernel).is_some())
    }

    fn all_ran_as_stated(&self) -> bool {
        let device = &self.observation.device;
        self.kernels().all(|(_, kernel)| {
            kernel.blocks.len() == kernel.grid as usize
                && kernel.blocks.iter().all(|block| {
                    let stated = kernel.duration.expect("it is simulated");
                    let took = u64::try_from(block.end_ns.since(block.start_ns)).unwrap_or(0);
                    block.sm < device.sms
                        && kernel.sm_mask.is_none_or(|mask| mask.enables_sm(block.sm, device))
                        && (stated.best.as_ns()..=stated.worst.as_ns()).contains(&took)
                })
        })
    }

    fn nothing_starts_before_it_is_ready(&self) -> bool {
        self.observation.operations.iter().zip(&self.ready).all(|(operation, &ready)| match &operation.work {
            ObservedWork::Kernel(kernel) => kernel.blocks.times.iter().all(|time| time[0].as_ns() >= ready),
            ObservedWork::Copy(copy) => copy.times_ns.is_some_and(|time| time[0].as_ns() >= ready),
            ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_) | ObservedWork::Value(_) => true,
        })
    }

    /// What is taken on an SM right after everything of an instant: warps, slots, shared memory.
    fn taken(&self, sm: u32, at: i64) -> [u32; 3] {
        let mut taken = [0; 3];
        for (_, kernel) in self.kernels() {
            let Some(demand) = self.demand(kernel) else { continue };
            let here = kernel
                .blocks
                .iter()
                .filter(|block| block.sm == sm && block.start_ns.as_ns() <= at && at < block.end_ns.as_ns());
            let blocks = u32::try_from(here.count()).unwrap_or(u32::MAX);
            let each = [demand.warps, 1, demand.shared_memory_bytes];
            taken.iter_mut().zip(each).for_each(|(taken, each)| *taken += each * blocks);
        }
        taken
    }

    fn limits(&self) -> [u32; 3] {
        let device = &self.observation.device;
        [device.warps_per_sm(), device.per_sm.blocks, device.per_sm.shared_memory_bytes]
    }

    /// How many registers a block, or none of its warps, lacks on an SM then, if warps are dealt so.
    fn lacking_registers(&self, sm: u32, at: i64, kernel: &ObservedKernel, new: bool, dealing: RegisterDealing) -> u64 {
        let device = self.observation.device.with(|spec| spec.register_allocation.dealing = dealing).expect("a device");
        let mut holds = Free::empty_sm(&device);
        for (_, other) in self.kernels() {
            let is_here =
                |block: &LoggedBlock| block.sm == sm && block.start_ns.as_ns() <= at && at < block.end_ns.as_ns();
            for _ in other.blocks.iter().filter(is_here) {
                holds = holds.with(&Need::of(&other.shape, &device));
            }
        }
        let mut need = Need::of(&kernel.shape, &device);
        need.warps *= u64::from(new);
        holds.lacking_registers(&need)
    }

    fn sms_are_never_overfull(&self) -> bool {
        let blocks = self.kernels().flat_map(|(_, kernel)| kernel.blocks.iter().map(move |block| (kernel, block)));
        blocks.into_iter().all(|(kernel, block)| {
            let (sm, at) = (block.sm, block.start_ns.as_ns());
            self.taken(sm, at).iter().zip(self.limits()).all(|(taken, limit)| *taken <= limit)
                && self.lacking_registers(sm, at, kernel, false, RegisterDealing::Best) == 0
        })
    }

    /// Whether `one` surely entered its EE queue before `other`.
    fn is_ahead(&self, one: usize, other: usize) -> bool {
        let launched = |operation: usize| self.observation.operations[operation].called_ns;
        let at_launch = |operation: usize| self.ready[operation] == launched(operation).as_ns();
        let one_ready = self.ready[one];
        one_ready < self.ready[other]
            || (one_ready == self.ready[other]
                && one < other
                // Made ready by nothing but their own launches, which have an order.
                && [one, other].into_iter().all(|operation| at_launch(operation) && self.alone(operation)))
    }

    /// Whether nothing completed at the instant at which `operation` became ready.
    fn alone(&self, operation: usize) -> bool {
        let at = self.ready[operation];
        self.observation.operations.iter().all(|other| match &other.work {
            ObservedWork::Kernel(kernel) => kernel.blocks.times.iter().all(|time| time[1].as_ns() != at),
            ObservedWork::Copy(copy) => copy.times_ns.is_none_or(|time| time[1].as_ns() != at),
            ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_) | ObservedWork::Value(_) => true,
        })
    }

    fn pairs(&self) -> impl Iterator<Item = ((usize, &'a ObservedKernel), (usize, &'a ObservedKernel))> {
        let all: Vec<_> = self.kernels().collect();
        let second = all.clone();
        all.into_iter().flat_map(move |one| second.clone().into_iter().map(move |two| (one, two)))
    }

    fn nobody_overtakes(&self) -> bool {
        self.pairs().all(|((one, first), (other, second))| {
            self.priority(one) != self.priority(other)
                || !self.is_ahead(one, other)
                || second.blocks.times.iter().all(|time| time[0].as_ns() >= last_start(first))
        })
    }

    fn higher_priorities_go_first(&self) -> bool {
        self.pairs().all(|((one, first), (other, second))| {
            let waits = |at: i64| self.ready[one] <= at && at < last_start(first);
            self.priority(one) >= self.priority(other) || !second.blocks.times.iter().any(|time| waits(time[0].as_ns()))
        })
    }

    fn nobody_waits_who_fits(&self) -> bool {
        let times = self.kernels().flat_map(|(_, kernel)| kernel.blocks.times.iter().flatten().copied());
        let instants: Vec<i64> =
            times.map(LogTime::as_ns).chain(self.ready.iter().copied()).filter(|&at| at < i64::MAX).collect();
        instants.into_iter().all(|at| {
            let waiting: Vec<_> =
                self.kernels().filter(|&(index, kernel)| self.ready[index] <= at && at < last_start(kernel)).collect();
            let Some(level) = waiting.iter().map(|&(index, _)| self.priority(index)).min() else { return true };
            let level: Vec<_> = waiting.into_iter().filter(|&(index, _)| self.priority(index) == level).collect();
            let first = level.iter().map(|&(index, _)| self.ready[index]).min();
            // One of these is the head. If all of them fit, so does the head.
            let mut heads = level.iter().filter(|&&(index, _)| Some(self.ready[index]) == first);
            !heads.all(|&(_, kernel)| self.fits(kernel, at))
        })
    }

    fn fits(&self, kernel: &ObservedKernel, at: i64) -> bool {
        let device = &self.observation.device;
        let Some(demand) = self.demand(kernel) else { return false };
        let more = [demand.warps, 1, demand.shared_memory_bytes];
        (0..device.sms).filter(|&sm| kernel.sm_mask.is_none_or(|mask| mask.enables_sm(sm, device))).any(|sm| {
            self.taken(sm, at).iter().zip(more).zip(self.limits()).all(|((taken, more), limit)| taken + more <= limit)
                && self.lacking_registers(sm, at, kernel, true, RegisterDealing::Worst) == 0
        })
    }

    fn copies_take_turns(&self) -> bool {
        let copies: Vec<_> = self
            .observation
            .operations
            .iter()
            .zip(&self.ready)
            .filter_map(|(operation, &ready)| match &operation.work {
                ObservedWork::Copy(copy) => {
                    Some((copy.engine, ready, copy.times_ns?.map(LogTime::as_ns), copy.duration_ns))
                }
                _ => None,
            })
            .collect();
        if self.observation.device.copy.sharing == CopySharing::SharedLink {
            return copies.iter().all(|&(engine, ready, [start, end], stated)| {
                let times = copies.iter().filter(|copy| copy.0 == engine).map(|copy| copy.2);
                let alone = i128::from(stated.expect("it is simulated")) * PARTS;
                let had = |until| had_of_link(&times.clone().collect::<Vec<_>>(), start, until);
                start == ready && had(end) >= alone && had(end - 1) < alone
            });
        }
        copies.iter().enumerate().all(|(index, &(engine, ready, [start, end], stated))| {
            let others = || copies.iter().enumerate().filter(|&(other, copy)| other != index && copy.0 == engine);
            let overlaps = others().any(|(_, &(.., [from, to], _))| from < end && start < to);
            let overtaken = others().any(|(_, &(_, other, [from, _], _))| other < ready && from > start);
            // It starts when it is ready or when the engine falls idle.
            let prompt = start == ready || others().any(|(_, &(.., [_, to], _))| to == start);
            !overlaps && !overtaken && prompt && stated.is_none_or(|stated| stated == end - start)
        })
    }
}

/// Of a nanosecond; every number up to 16 divides it.
const PARTS: i128 = 720_720;

/// What a copy had of a link in some time, with all that were on the link, in parts of a nanosecond: an equal share of
/// it in each piece of that time.
fn had_of_link(copies: &[[i64; 2]], from: i64, until: i64) -> i128 {
    let mut edges: Vec<i64> = copies.iter().flatten().copied().filter(|at| from < *at && *at < until).collect();
    edges.extend([from, until]);
    edges.sort_unstable();
    let pieces = edges.windows(2).map(|piece| {
        let on_link = copies.iter().filter(|copy| copy[0] <= piece[0] && piece[0] < copy[1]).count();
        i128::from(piece[1] - piece[0]) * PARTS / i128::try_from(on_link.max(1)).expect("few")
    });
    pieces.sum()
}
