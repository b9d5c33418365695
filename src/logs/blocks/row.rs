//! What stands in a row of a table of blocks.

use std::sync::Arc;

/// What one row says of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// Its number, or its place in the grid: 32 bits of x, 16 of y, 16 of z from below.
    pub(super) block: u64,
    pub(super) sm: u32,
    /// On the GPU's clock \[ns\].
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
}

/// What rows of one kernel have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Common {
    pub(super) run: Arc<str>,
    pub(super) gpu: Arc<str>,
    pub(super) process: Arc<str>,
    pub(super) stream: Arc<str>,
    pub(super) priority: Option<i32>,
    pub(super) non_blocking: bool,
    pub(super) kernel: Arc<str>,
    pub(super) launch: Arc<str>,
    pub(super) threads: Option<u32>,
    pub(super) shared_memory_bytes: Option<u32>,
    pub(super) registers_per_thread: Option<u32>,
    pub(super) launched_ns: Option<i64>,
}

/// Rows of one kernel, of one launch or of several.
pub(super) struct Rows {
    pub(super) shared: Common,
    pub(super) rows: Vec<Row>,
}
