//! **Early ends**: blocks that end just before an operation asks for the room they have, so that what waits in front of
//! it takes that room for as long as it may.
//!
//! A block that ends in the midst of its time is hardly drawn where others depend on it to the nanosecond: half of the
//! blocks of an SM have to end just before a more urgent kernel comes, and the others much later.

use rand::{Rng, RngExt};

use crate::run::Run;
use crate::time::Instant;
use crate::workload::{OperationId, OperationKind, Origin};

/// Operations of a job whose waits are looked at, the first ones.
const MOST_WAITS: usize = 8;

/// Blocks that may be cut before one wait.
const MOST_BLOCKS: usize = 64;

/// A block of a run, and how long it would take if it ended 1 ns before a wait begins \[ns\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EarlyEnd {
    pub(super) kernel: usize,
    pub(super) block: usize,
    pub(super) ns: u64,
}

/// By wait of a job's operations in a run: the blocks of other jobs that run when it begins.
pub(super) fn before_waits(run: &Run<'_>, is_own: impl Fn(Origin) -> bool) -> Vec<Vec<EarlyEnd>> {
    let operations = || (0..).map(OperationId).zip(run.trace.operations());
    let own = operations().filter(|(_, record)| is_own(record.origin));
    let mut begins: Vec<Instant> = own.filter_map(|(_, record)| record.queued()).take(MOST_WAITS).collect();
    begins.dedup();
    let of_wait = |at: Instant| {
        let before = Instant::from_ns(at.as_ns().saturating_sub(1));
        let others = operations().filter(|(_, record)| !is_own(record.origin) && record.launched() < at);
        let blocks = others.filter_map(|(id, record)| match record.kind {
            OperationKind::Kernel(kernel) => {
                Some(run.trace.blocks_within(id, before..at).map(move |block| (kernel, block)))
            }
            _ => None,
        });
        let early = blocks.flatten().filter_map(|(kernel, block)| {
            let ns = at.since(block.start).as_ns().checked_sub(1)?;
            let is_cut = block.start < at && at <= block.end;
            is_cut.then_some(EarlyEnd { kernel: kernel.index(), block: block.index as usize, ns })
        });
        early.take(MOST_BLOCKS).collect::<Vec<_>>()
    };
    begins.into_iter().map(of_wait).filter(|blocks| !blocks.is_empty()).collect()
}

/// Some of the blocks of one of the waits.
pub(super) fn drawn(waits: &[Vec<EarlyEnd>], numbers: &mut impl Rng) -> Vec<EarlyEnd> {
    let Some(most) = waits.len().checked_sub(1) else { return Vec::new() };
    let mut blocks = waits[numbers.random_range(0..=most)].clone();
    let count = numbers.random_range(1..=blocks.len());
    for place in 0..count {
        let other = numbers.random_range(place..blocks.len());
        blocks.swap(place, other);
    }
    blocks.truncate(count);
    blocks
}
