//! Waves: blocks of one kernel that were assigned at one instant, as one compact record.

use crate::time::{Duration, Instant};

/// Blocks of one kernel assigned in one go. They end together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wave {
    /// The kernel launch, by operation number.
    pub(crate) operation: u32,
    /// Number of its first block (blocks are numbered in the order of assignment).
    pub(crate) first_block: u32,
    /// How many blocks.
    pub(crate) blocks: u32,
    /// Where its parts begin in the trace, and how many there are.
    pub(crate) parts: (u32, u32),
    /// The round-robin pointer before the wave.
    pub(crate) cursor: u32,
    /// The stretch that it belongs to, or [`NO_STRETCH`].
    pub(crate) stretch: u32,
    pub(crate) start: Instant,
    pub(crate) duration: Duration,
}

/// Marks a wave that happens once.
pub(crate) const NO_STRETCH: u32 = u32::MAX;

/// Adjacent waves of one kernel that repeat as a whole: a kernel that fills the GPU repeats itself with the duration
/// of its blocks for a period, and such a stretch is stored once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// The first of its waves.
    pub(crate) first_wave: u32,
    /// How many waves make up one cycle.
    pub(crate) waves: u32,
    /// How often the cycle happens.
    pub(crate) cycles: u32,
    /// From one cycle to the next.
    pub(crate) period: Duration,
    /// Blocks of one cycle.
    pub(crate) blocks: u32,
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
    /// When it completed.
    pub end: Instant,
}
