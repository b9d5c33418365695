//! Persistent kernels: blocks that take work items in a loop.

use std::sync::Arc;

use super::{BlockTime, WorkloadError};
use crate::time::Duration;

/// How the blocks of a persistent kernel take work items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkItems {
    /// Each block begins with the item of its own number and goes on with every item a whole grid further
    /// (`item += gridDim.x`).
    Loop {
        /// How many items there are.
        items: u32,
        /// How long a block is at each.
        time: Duration,
    },
    /// Each block of the grid is an item: one that has run takes the next in place of a block that has not begun
    /// (`clusterlaunchcontrol.try_cancel`), and ends where it is refused one. It is, as long as blocks of higher
    /// priority wait; so what runs when is as if each item were a block by itself.
    TryCancel,
}

/// How long blocks run, and each by itself where that differs.
type OfBlocks = (BlockTime, Option<Arc<[Duration]>>);

impl WorkItems {
    /// Blocks at most that take unequal numbers of items.
    const MOST_BLOCKS: u32 = 1_000_000;

    /// How long blocks run in a loop over items, and each by itself where they do not run equally long; `None`: as
    /// stated.
    pub(crate) fn block_times(self, blocks: u32) -> Result<Option<OfBlocks>, WorkloadError> {
        let Self::Loop { items, time } = self else { return Ok(None) };
        if blocks == 0 || blocks > items {
            return Err(WorkloadError::FewItems { items, blocks });
        }
        let (least, more) = (items / blocks, items % blocks);
        let of = |items: u32| time.checked_mul(u64::from(items)).ok_or(WorkloadError::ItemsTooLong { items });
        let short = of(least)?;
        if more == 0 {
            return Ok(Some((BlockTime::fixed(short), None)));
        }
        if blocks > Self::MOST_BLOCKS {
            return Err(WorkloadError::ManyLoops { most: Self::MOST_BLOCKS });
        }
        let long = of(least + 1)?;
        let each = (0..blocks).map(|block| if block < more { long } else { short }).collect();
        Ok(Some((BlockTime { best: short, worst: long }, Some(each))))
    }
}
