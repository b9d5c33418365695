//! When each operation ran, and the audit's own account of resources: what a block takes of its SM, and what an SM has.

use std::collections::BTreeMap;

use super::finding::AuditRule;
use super::observed_run::{ObservedOperation, ObservedRun, ObservedWork};
use crate::device::{BlockShape, Device, RegisterDealing};
use crate::logs::{BlockList, LogTime};

/// When an operation ran, under which priority, and what it took.
#[derive(Debug, Clone)]
pub(super) struct Execution {
    /// When its first block, or the copy, started \[ns\].
    pub(super) first_start: Option<LogTime>,
    /// When its last block started \[ns\]; `LogTime::MAX` while some have not.
    pub(super) last_start: LogTime,
    /// When all of it had completed \[ns\].
    pub(super) finish: Option<LogTime>,
    /// Priority of its stream; 0 where nobody says.
    pub(super) priority: i32,
    /// What one block takes.
    pub(super) taken: Taken,
    /// Whether its blocks start in the order of their numbers.
    pub(super) starts_in_order: bool,
    /// Whether they end in that order.
    pub(super) ends_in_order: bool,
    /// Whether one of them ends before it starts.
    pub(super) runs_backwards: bool,
}

/// When the blocks of a kernel ran.
#[derive(Clone, Copy)]
struct BlockSpan {
    first_start: LogTime,
    last_start: LogTime,
    finish: LogTime,
    starts_in_order: bool,
    ends_in_order: bool,
    runs_backwards: bool,
}

impl BlockSpan {
    /// All in one pass; `None` without blocks.
    fn of(blocks: &BlockList) -> Option<Self> {
        let &[start, end] = blocks.times.first()?;
        let mut span = Self {
            first_start: start,
            last_start: start,
            finish: end,
            starts_in_order: true,
            ends_in_order: true,
            runs_backwards: false,
        };
        let mut before = [start, end];
        for &[start, end] in &blocks.times {
            span.first_start = span.first_start.min(start);
            span.last_start = span.last_start.max(start);
            span.finish = span.finish.max(end);
            span.starts_in_order &= before[0] <= start;
            span.ends_in_order &= before[1] <= end;
            span.runs_backwards |= end < start;
            before = [start, end];
        }
        Some(span)
    }
}

/// Of all operations, in their order.
pub(super) fn executions(observed: &ObservedRun) -> Vec<Execution> {
    let simulated = observed.is_simulated();
    let of = |operation: &ObservedOperation| {
        let priority = observed.stream_of(operation).and_then(|stream| stream.priority).unwrap_or(0);
        let kernel = operation.kernel();
        let span = kernel.and_then(|kernel| BlockSpan::of(&kernel.blocks));
        let (first_start, last_start, finish) = match &operation.work {
            ObservedWork::Kernel(kernel) => {
                // Where blocks are missing from a log, those that are there must do.
                let known = span.filter(|_| kernel.is_whole() || !simulated);
                (span.map(|span| span.first_start), known.map(|span| span.last_start), known.map(|span| span.finish))
            }
            ObservedWork::Copy(copy) => {
                let start = copy.times_ns.map(|[start, _]| start);
                (start, start, copy.times_ns.map(|[_, end]| end))
            }
            ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_) | ObservedWork::Value(_) => {
                (None, None, None)
            }
        };
        Execution {
            first_start,
            last_start: last_start.unwrap_or(LogTime::MAX),
            finish,
            priority,
            taken: kernel.map_or_else(Taken::default, |kernel| Taken::by(&kernel.shape, &observed.device)),
            starts_in_order: span.is_none_or(|span| span.starts_in_order),
            ends_in_order: span.is_none_or(|span| span.ends_in_order),
            runs_backwards: span.is_some_and(|span| span.runs_backwards),
        }
    };
    observed.operations.iter().map(of).collect()
}

/// The resources of an SM that are counted.
pub(super) const RESOURCES: [(AuditRule, &str); 4] = [
    (AuditRule::R2, "threads"),
    (AuditRule::R2, "block slots"),
    (AuditRule::R3, "bytes of shared memory"),
    (AuditRule::Registers, "registers"),
];

/// Threads (whole warps), block slots, shared memory \[bytes\].
type Amounts = [i64; 3];

/// What a block takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Taken {
    amounts: Amounts,
    warps: i64,
    /// Of each warp.
    registers: i64,
}

impl Taken {
    pub(super) fn by(shape: &BlockShape, device: &Device) -> Self {
        let up = |number: u32, unit: u32| (i64::from(number) + i64::from(unit) - 1) / i64::from(unit) * i64::from(unit);
        let threads = up(shape.threads, device.warp_size);
        let shared = up(shape.shared_memory_bytes, device.shared_memory_allocation.unit_bytes.max(1))
            + i64::from(device.shared_memory_allocation.reserved_per_block_bytes);
        let registers = up(
            shape.registers_per_thread.saturating_mul(device.warp_size),
            device.register_allocation.unit_per_warp.max(1),
        );
        Self { amounts: [threads, 1, shared], warps: threads / i64::from(device.warp_size), registers }
    }
}

/// What is on an SM.
#[derive(Debug, Clone)]
pub(super) struct Sm {
    /// What there is in all.
    all: Amounts,
    free: Amounts,
    /// By how many registers a warp takes: how many such warps are there.
    warps: BTreeMap<i64, i64>,
    /// Of each sub-partition, and how many there are.
    registers: (i64, i64),
    unit: i64,
}

impl Sm {
    /// Without blocks.
    pub(super) fn empty(device: &Device) -> Self {
        let (sm, allocation) = (&device.per_sm, &device.register_allocation);
        let warp = i64::from(device.warp_size);
        let threads = (i64::from(sm.threads) / warp).min(i64::from(sm.warps)) * warp;
        let parts = i64::from(allocation.sub_partitions.max(1));
        let all = [threads, i64::from(sm.blocks), i64::from(sm.shared_memory_bytes)];
        Self {
            all,
            free: all,
            warps: BTreeMap::new(),
            registers: (i64::from(sm.registers) / parts, parts),
            unit: i64::from(allocation.unit_per_warp.max(1)),
        }
    }

    /// A block begins, or (with -1) ends.
    pub(super) fn change(&mut self, taken: &Taken, sign: i64) {
        for (free, taken) in self.free.iter_mut().zip(taken.amounts) {
            *free -= sign * taken;
        }
        if taken.registers > 0 {
            *self.warps.entry(taken.registers).or_default() += sign * taken.warps;
        }
    }

    /// That more is taken of a resource than there is, in words.
    pub(super) fn holds_too_much(&self, sm: u32, resource: usize, excess: i64, unit: &str) -> String {
        match self.all.get(resource) {
            Some(all) => format!("with it SM {sm} holds {} {unit}, and it has {all}", all + excess),
            None => format!(
                "with it the warps on SM {sm} take {} registers, and of the {} of each of its sub-partitions whole warps \
                 come out",
                self.pieces(|registers| registers),
                self.registers.0
            ),
        }
    }

    /// By how much more is taken of each resource than there is; 0 or less: it is not.
    ///
    /// A sub-partition has so many whole pieces of any size, and a warp takes at least those that are in its registers.
    pub(super) fn excess(&self) -> [i64; 4] {
        let present = self.warps.iter().filter(|(_, warps)| **warps > 0);
        let sizes = present.map(|(size, _)| *size).chain([self.unit]);
        let registers = sizes.map(|size| (self.pieces(|other| other / size) - self.places(size)) * size).max();
        let [threads, slots, shared] = self.free.map(|free| -free);
        [threads, slots, shared, registers.unwrap_or(0)]
    }

    /// Pieces of registers that are taken, if `of_warp` says how many one warp takes.
    fn pieces(&self, of_warp: impl Fn(i64) -> i64) -> i64 {
        self.warps.iter().map(|(&registers, &warps)| of_warp(registers) * warps.max(0)).sum()
    }

    /// Pieces of that size in all sub-partitions.
    fn places(&self, size: i64) -> i64 {
        let (part, parts) = self.registers;
        part / size * parts
    }

    /// How many such blocks fit into what is free, if warps are dealt so.
    pub(super) fn room(&self, taken: &Taken, dealing: RegisterDealing) -> i64 {
        let each = self.free.iter().zip(taken.amounts).filter(|(_, taken)| *taken > 0);
        let by_amounts = each.map(|(free, taken)| free.max(&0) / taken).min().unwrap_or(0);
        let own = taken.registers;
        if own == 0 || by_amounts == 0 {
            return by_amounts;
        }
        let by_registers = match dealing {
            // Another warp may be so placed that it spoils one place more than its registers fill.
            RegisterDealing::Worst => {
                (self.places(own) - self.pieces(|other| (other + own - 1) / own)).max(0) / taken.warps
            }
            RegisterDealing::Best => {
                let present = self.warps.iter().filter(|(_, warps)| **warps > 0).map(|(size, _)| *size);
                let sizes = present.chain([self.unit, own]).filter(|size| *size <= own);
                let of_size = |size: i64| {
                    let free = self.places(size) - self.pieces(|other| other / size);
                    free.max(0) / (own / size * taken.warps)
                };
                sizes.map(of_size).min().unwrap_or(0)
            }
        };
        by_amounts.min(by_registers)
    }

    /// How many such blocks fit into what is free, however warps are dealt.
    pub(super) fn sure_room(&self, taken: &Taken) -> i64 {
        self.room(taken, RegisterDealing::Worst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_block_that_ends_before_it_starts_runs_backwards() {
        let backwards = |end| {
            let times = vec![[LogTime::from_ns(1), LogTime::from_ns(9)], [LogTime::from_ns(5), LogTime::from_ns(end)]];
            BlockSpan::of(&BlockList { times, sms: vec![0, 0] }).is_some_and(|span| span.runs_backwards)
        };
        assert_eq!([4, 5, 6].map(backwards), [true, false, false]);
    }
}
