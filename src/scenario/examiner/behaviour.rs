//! What the kinds of benchmark are told, and what they answer.

use std::sync::Arc;

use crate::json::{Node, Problem};
use crate::scenario::examiner_logs::KernelSync;
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
    pub(super) info: Option<Node<'a>>,
    pub(super) stream: StreamId,
    /// The NULL stream of its process.
    pub(super) null: StreamId,
}

impl Benchmark<'_> {
    /// Checks counts that may be left at 0 because the kernels state their own: a number, or one to three of them.
    pub(super) fn check_counts(&self) -> Result<(), Problem> {
        for count in [self.threads, self.blocks] {
            let sides = if count.is_list() { count.filled_list()? } else { vec![count] };
            if sides.len() > 3 {
                return Err(count.expected("a number or a list of at most three numbers"));
            }
            sides.iter().try_for_each(|side| side.whole_u32(0, u32::MAX).map(drop))?;
        }
        Ok(())
    }
}

/// What a kind of benchmark does, and how the examiner calls it.
pub(super) struct Behaviour {
    pub(super) steps: Vec<Step>,
    pub(super) benchmark_name: &'static str,
    pub(super) sync: KernelSync,
}
