//! What the kinds of benchmark are told, and what they answer.

use std::sync::Arc;

use crate::device::Sided;
use crate::json::{Node, Problem};
use crate::scenario::examiner_logs::KernelSync;
use crate::scenario::fields::dimensions;
use crate::scenario::model::Step;
use crate::workload::StreamId;

/// One benchmark, as far as all kinds have it.
pub(super) struct Benchmark<'a> {
    pub(super) node: Node<'a>,
    /// File name without directory and `.so`.
    pub(super) kind: &'a str,
    /// The label, or else the kind.
    pub(super) title: Arc<str>,
    pub(super) threads: Node<'a>,
    pub(super) blocks: Node<'a>,
    pub(super) data_size: Node<'a>,
    pub(super) info: Option<Node<'a>>,
    pub(super) stream: StreamId,
    /// The NULL stream of its process.
    pub(super) null: StreamId,
}

impl Benchmark<'_> {
    /// Checks both counts where kernels state their own.
    pub(super) fn check_counts(&self) -> Result<(), Problem> {
        [self.threads, self.blocks].into_iter().try_for_each(|count| sides(count).map(drop))
    }

    /// The blocks that the file states.
    pub(super) fn stated_grid(&self) -> Result<u32, Problem> {
        dimensions(self.blocks, Sided::Grid)
    }

    pub(super) fn needs_info(&self) -> Problem {
        self.node.problem(format!("{}.so needs additional_info", self.kind))
    }
}

/// A number, or one to three of them: those of a count that may be left at 0 where nothing asks for it.
pub(super) fn sides(count: Node<'_>) -> Result<Vec<u32>, Problem> {
    let sides = if count.is_list() { count.filled_list()? } else { vec![count] };
    if sides.len() > 3 {
        return Err(count.expected("a number or a list of at most three numbers"));
    }
    sides.iter().map(|side| side.whole_u32(0, u32::MAX)).collect()
}

/// What a kind of benchmark does, and how the examiner calls it.
pub(super) struct Behaviour {
    pub(super) steps: Vec<Step>,
    pub(super) benchmark_name: &'static str,
    pub(super) sync: KernelSync,
}
