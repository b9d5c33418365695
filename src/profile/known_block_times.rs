//! Block times that are known from elsewhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::device::BlockShape;

/// By what a kernel is known in every profile: the function's name, the blocks of its grid, and what one of them takes.
pub(super) type KernelKey = (Arc<str>, u32, BlockShape);

/// Block times of kernels that ran alone, for other profiles of the same GPU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct KnownBlockTimes {
    pub(super) file: String,
    /// By kernel \[ns\].
    pub(super) times: BTreeMap<KernelKey, u64>,
}
