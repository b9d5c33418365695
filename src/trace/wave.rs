//! Waves: blocks of one kernel that were assigned at one instant, as one compact record.

use crate::time::{Duration, Instant};

/// Blocks of one kernel assigned in one go. They end together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wave {
    /// The kernel launch, by operation number.
    pub(super) operation: u32,
    /// Number of its first block (blocks are numbered in the order of assignment).
    pub(super) first_block: u32,
    /// Where its parts, which have its blocks, begin in the trace, and how many there are.
    pub(super) parts: (u32, u32),
    /// The round-robin pointer before the wave.
    pub(super) cursor: u32,
    /// The stretch that it belongs to, or [`NO_STRETCH`].
    pub(super) stretch: u32,
    pub(super) start: Instant,
    pub(super) duration: Duration,
}

/// Marks a wave that happens once.
pub(super) const NO_STRETCH: u32 = u32::MAX;

/// Adjacent waves of one kernel that repeat as a whole: a kernel that fills the GPU repeats itself with the duration
/// of its blocks for a period, and such a stretch is stored once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(super) first_wave: u32,
    /// How many waves make up one cycle.
    pub(super) waves: u32,
    /// How often the cycle happens.
    pub(super) cycles: u32,
    /// From one cycle to the next.
    pub(super) period: Duration,
    /// Blocks of one cycle.
    pub(super) blocks: u32,
}

/// One block, as the trace's iterators expand it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Number within its kernel, in the order of assignment, from 0.
    pub index: u32,
    /// The SM it ran on.
    pub sm: u16,
    /// When it was assigned.
    pub start: Instant,
    /// When it completes; past the end of a run that was ended before ([`Trace::completed`](super::Trace::completed)).
    pub end: Instant,
}
