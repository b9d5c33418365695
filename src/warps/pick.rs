//! Which steps warps do in a cycle.

/// How many warps do which step in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pick {
    /// Index into the string's steps.
    pub(super) step: usize,
    /// How many warps do it; at least 1.
    pub(super) warps: u32,
}
