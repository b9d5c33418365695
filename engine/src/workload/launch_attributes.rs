//! What launches may have besides grid and block: work items of persistent kernels, programmatic dependent launch,
//! clusters of blocks.

use std::fmt;
use std::sync::Arc;

use super::{BlockTime, WorkloadError};
use crate::time::Duration;

// Persistent kernels: blocks that take work items in a loop.

/// How the blocks of a persistent kernel take work items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkItems {
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

// Programmatic dependent launch: a kernel that begins before the one before it in its stream has ended.

/// A share of a block's run time, to 10^-9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share(u32);

/// All of it.
const WHOLE: u32 = 1_000_000_000;

impl Share {
    /// All of it.
    pub const ALL: Self = Self(WHOLE);
    /// Nothing of it.
    pub const NONE: Self = Self(0);

    /// So many parts of 10^9; `None` above that.
    pub const fn of_billion(parts: u32) -> Option<Self> {
        if parts <= WHOLE { Some(Self(parts)) } else { None }
    }

    /// That share of a time, rounded down to a nanosecond.
    pub fn of(self, time: Duration) -> Duration {
        let whole = u128::from(time.as_ns()) * u128::from(self.0) / u128::from(WHOLE);
        // No more than `time`.
        u64::try_from(whole).map_or(time, Duration::from_ns)
    }
}

/// As a decimal, as scenario files have it.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == WHOLE {
            return f.write_str("1");
        }
        let digits = format!("0.{:09}", self.0);
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// What a kernel has to do with programmatic dependent launch (PDL).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Programmatic {
    /// Where in its time each block triggers (`griddepcontrol.launch_dependents`), after its wait if that is not later;
    /// `None`: not before its end.
    pub trigger: Option<Share>,
    /// Where in its time each block waits (`griddepcontrol.wait`) until the kernel before it in its stream has ended.
    pub wait: Share,
    /// Whether it is launched with the attribute, so that it may begin once all blocks of the kernel before it in its
    /// stream have triggered.
    pub is_dependent: bool,
}

impl Programmatic {
    /// Neither triggers nor depends.
    pub const NONE: Self = Self { trigger: None, wait: Share::ALL, is_dependent: false };

    /// When a block triggers that began at 0, runs for `time` and stands at its wait for `stood`.
    #[doc(hidden)]
    pub fn triggers_after(&self, time: Duration, stood: Duration) -> Option<Duration> {
        let trigger = self.trigger?;
        let stood = if self.triggers_behind_wait(trigger) { stood } else { Duration::ZERO };
        Some(trigger.of(time) + stood)
    }

    fn triggers_behind_wait(&self, trigger: Share) -> bool {
        self.is_dependent && self.wait <= trigger
    }

    /// Whether a block that stands at its wait has yet to trigger.
    pub(crate) fn holds_its_trigger(&self) -> bool {
        self.trigger.is_some_and(|trigger| self.triggers_behind_wait(trigger))
    }
}

impl Default for Programmatic {
    fn default() -> Self {
        Self::NONE
    }
}

// Thread-block clusters: blocks that begin together on SMs of one GPC.

/// How the blocks of a kernel are grouped into clusters: each so many in the order of their numbers. All blocks of a
/// cluster begin at one instant, each on an SM of its own, and these SMs are of one GPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clusters {
    /// Blocks of each.
    pub size: u32,
    /// Blocks of each cluster that begins where no GPC has room for one of `size`; `None`: it waits.
    pub fallback: Option<u32>,
}

impl Clusters {
    /// The most blocks of a cluster, which a kernel has to ask for above 8 (CUDA C++ Programming Guide, NVIDIA).
    pub(crate) const MOST: u32 = 16;

    /// Blocks of the smallest one.
    #[doc(hidden)]
    pub fn least(&self) -> u32 {
        self.fallback.unwrap_or(self.size)
    }

    /// Of how many blocks the cluster may be that begins with block `first`, the size to be tried first in front.
    pub(crate) fn sizes_at(&self, first: u32) -> impl Iterator<Item = u32> + use<> {
        let whole = first.is_multiple_of(self.size).then_some(self.size);
        whole.into_iter().chain(self.fallback)
    }
}
