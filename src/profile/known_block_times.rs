//! Block times that are known from elsewhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::device::BlockShape;

/// By what a kernel is known in every profile: the function's name, the blocks of its grid, and what one of them takes.
pub(super) type KernelKey = (Arc<str>, u32, BlockShape);

/// Block times of kernels that ran alone, for other profiles of the same GPU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownBlockTimes {
    /// The file that they are of.
    pub file: String,
    /// By kernel \[ns\].
    pub(super) times: BTreeMap<KernelKey, u64>,
}

impl KnownBlockTimes {
    /// How many kernels are known; the same function with another grid or block is another one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether none is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }
}
